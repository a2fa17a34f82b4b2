"""Which words a dictionary knows, and which are given names: what a name's shape alone cannot say.

The dictionary is the lemma tables that ship inside the spaCy models (English: WordNet's index, French: lefff),
so nothing is added to the distribution for it. Given names come from `given_names.txt.xz` (docs/models.md).

May import: recognizers.base, spacy, the standard library.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from recognizers.base import fold
from recognizers.words import FUNCTION

_TABLES = ("lemma_index", "lemma_exc")
_ENDINGS = (("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
            ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ly", ""))  # fmt: skip


@dataclass(frozen=True)
class Lexicon:
    """Folded words of one or more languages. An empty one knows only the grammar words."""

    words: frozenset[str] = field(default=frozenset(), repr=False)
    given: frozenset[str] = field(default=frozenset(), repr=False)

    def is_common(self, word: str) -> bool:
        """True if `word` (any case) is in the dictionary or is an English inflection of a word that is."""
        folded = fold(word)
        if folded in FUNCTION or folded in self.words:
            return True
        if not self.words or not folded.isascii():
            return False
        for ending, instead in _ENDINGS:
            stem = folded[: -len(ending)]
            if folded.endswith(ending) and len(stem) >= 3 and (
                stem + instead in self.words or (stem[-1] == stem[-2] and stem[:-1] in self.words)
            ):
                return True
        return False

    def is_given(self, word: str) -> bool:
        """True if `word` (any case), or the first half of a double name, is a registered given name."""
        folded = fold(word)
        return folded in self.given or folded.partition("-")[0] in self.given


@cache
def given_names() -> frozenset[str]:
    """Names given to at least 400 children in France or the United States since 1880."""
    packed = (Path(__file__).parent / "given_names.txt.xz").read_bytes()
    return frozenset(lzma.decompress(packed).decode("ascii").split())


def dictionary(model: Path) -> frozenset[str]:
    """The folded words of the lemma tables of a spaCy model directory, at least two letters long."""
    from spacy.lookups import Lookups

    lookups = Lookups()
    lookups.from_disk(model / "lemmatizer" / "lookups")
    found: set[str] = set()
    for name in _TABLES:
        for words in lookups.get_table(name).values():
            found.update(fold(word) for word in words if len(word) > 1 and word.isalpha() and word.islower())
    return frozenset(found)

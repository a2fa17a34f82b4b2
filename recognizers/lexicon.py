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
from typing import Any

from recognizers.base import fold
from recognizers.words import FUNCTION

_TABLES = ("lemma_index", "lemma_exc")
_FREQUENT = 5_700
_ENDINGS = (
    *(("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", "")),
    *(("ing", "e"), ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ly", "")),
)


@dataclass(frozen=True)
class Lexicon:
    """Folded words of one or more languages. An empty one knows only the grammar words."""

    words: frozenset[str] = field(default=frozenset(), repr=False)
    given: frozenset[str] = field(default=frozenset(), repr=False)
    frequent: frozenset[str] = field(default=frozenset(), repr=False)

    def is_common(self, word: str) -> bool:
        """True if `word` (any case) is in the dictionary or is an English inflection of a word that is."""
        folded = fold(word)
        if folded in FUNCTION or folded in self.words:
            return True
        if "-" in folded:
            return all(self.is_common(part) for part in folded.split("-"))
        if not self.words or not folded.isascii():
            return False
        for ending, instead in _ENDINGS:
            stem = folded[: -len(ending)]
            if (
                folded.endswith(ending)
                and len(stem) >= 3
                and (stem + instead in self.words or (stem[-1] == stem[-2] and stem[:-1] in self.words))
            ):
                return True
        return False

    def is_given(self, word: str) -> bool:
        """True if `word` (any case), or the first half of a double name, is a registered given name."""
        folded = fold(word)
        return folded in self.given or folded.partition("-")[0] in self.given

    def is_name(self, word: str) -> bool:
        """A given name that is no plain word."""
        return self.is_given(word) and not self.is_common(word)


@cache
def _shipped(name: str) -> tuple[str, ...]:
    packed = (Path(__file__).parent / name).read_bytes()
    return tuple(lzma.decompress(packed).decode("ascii").split())


@cache
def build(dictionary_words: frozenset[str]) -> Lexicon:
    """The lexicon over some dictionary, without the entries that running text knows only as proper names.

    Given names are those of at least 400 children in France or the United States since 1880, most frequent first.
    """
    given = _shipped("given_names.txt.xz")
    words = dictionary_words - frozenset(_shipped("proper_words.txt.xz"))
    return Lexicon(words, frozenset(given), frozenset(given[:_FREQUENT]))


@cache
def dictionary(model: Path, strings: Any) -> frozenset[str]:
    """The folded words of the lemma tables of a spaCy model directory, at least two letters long.

    `strings` is the model's string store: one of the French tables names its words by hash only.
    """
    from spacy.lookups import Lookups

    lookups = Lookups()
    lookups.from_disk(model / "lemmatizer" / "lookups")
    found: set[str] = set()
    for name in _TABLES:
        for words in lookups.get_table(name).values():
            found.update(fold(word) for word in words if len(word) > 1 and word.isalpha() and word.islower())
    if lookups.has_table("lemma_lookup"):
        hashes = (key for key in lookups.get_table("lemma_lookup") if key in strings)
        forms = {fold(word) for word in map(strings.__getitem__, hashes) if word.isalpha() and word.islower()}
        # Rare verb forms (`mira`, `versa`) would hide more names than they save false alarms.
        found |= forms.difference(_shipped("given_names.txt.xz"))
    return frozenset(found)

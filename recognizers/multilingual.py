"""What the model of German, Spanish and Italian sees of a word: its tokenizer, and in which lists the word stands.

The model has no word vectors. Beside spelling and shape it is told, word by word, whether lists hold it as a given
name, a family name, a place or a frequent word (`european_names.txt.xz`, `european_words.txt.xz`, docs/models.md).

May import: recognizers.base, spacy, the standard library.
"""

from __future__ import annotations

import hashlib
import itertools
import lzma
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recognizers.base import fold

LANGUAGES = ("de", "es", "it")
LISTS: Mapping[str, str] = MappingProxyType(
    {
        "european_names.txt.xz": "590b771dcb9857fa06681d62db95ec783b9307d5cd0904ff73e858f579ed97e3",
        "european_words.txt.xz": "c0e261964c2dfd26eaaefd4521e6ec3f1ac91834cbf418a9e137d2d2215b34a8",
    }
)
"""sha256 of the lists: weights were learned with these and read nonsense with others."""
_VERY, _QUITE = 500, 4_000
_DIGIT = re.compile(r"\d")
_ELISION = r"(?<=[a-zA-ZÀ-ÿ]['’])(?=[\wÀ-ÿ])"
_GLUE = r"(?<=[\w.'’\)])[/|_;=<>:,•·\t+](?=[\w(])"
_SENTENCE = r"(?<=[a-zß-ÿ])\.(?=[A-ZÀ-Þ])"


class ListsRefused(RuntimeError):
    """A list is missing or is not the pinned one."""


@cache
def lists(name: str) -> Mapping[str, tuple[str, ...]]:
    """The lines of a packed list by their first word. Raises `ListsRefused` on a changed byte."""
    try:
        packed = (Path(__file__).parent / name).read_bytes()
    except OSError:
        raise ListsRefused(f"{name} is missing; install the package again") from None
    if hashlib.sha256(packed).hexdigest() != LISTS[name]:
        raise ListsRefused(f"{name} is not the pinned list; install the package again")
    lines = (line.split(" ") for line in lzma.decompress(packed).decode("utf-8").split("\n"))
    return MappingProxyType({key: tuple(words) for key, *words in lines})


@cache
def word_kinds() -> Callable[[str], str]:
    """A function from a word to the lists that it is in: `GSP` and how frequent it is, `1` to `3`, or ``."""
    names = lists("european_names.txt.xz")
    kinds = tuple((sign, frozenset(names[key])) for sign, key in (("G", "given"), ("S", "surname"), ("P", "place")))
    rank: dict[str, int] = {}
    for ordered in lists("european_words.txt.xz").values():
        for place, word in enumerate(ordered):
            rank[word] = min(place, rank.get(word, place))

    def kind(word: str) -> str:
        folded = fold(word).rstrip("'’")
        place = rank.get(folded)
        frequent = "" if place is None else "1" if place < _VERY else "2" if place < _QUITE else "3"
        return "".join(sign for sign, known in kinds if folded in known) + frequent

    return kind


def blank() -> Any:
    """An empty pipeline with the tokenizer and the word features that the weights were learned with."""
    import spacy
    from spacy.attrs import LANG, NORM
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

    nlp: Any = spacy.blank("xx")
    defaults = nlp.Defaults
    tokenizer = nlp.tokenizer
    tokenizer.rules = {}
    tokenizer.infix_finditer = compile_infix_regex([*(defaults.infixes or ()), _ELISION, _GLUE, _SENTENCE]).finditer
    tokenizer.prefix_search = compile_prefix_regex([*(defaults.prefixes or ()), "[-–—/|_•·]"]).search
    tokenizer.suffix_search = compile_suffix_regex([*(defaults.suffixes or ()), "[-–—/|_•·:]"]).search
    tokenizer.token_match = tokenizer.url_match = None
    # `LANG` of a word means nothing in a pipeline of several languages: it carries the lists to the embedding.
    nlp.vocab.lex_attr_getters[LANG] = _feature(nlp.vocab.strings)
    nlp.vocab.lex_attr_getters[NORM] = _norm
    for lexeme in nlp.vocab:
        lexeme.lang, lexeme.norm_ = nlp.vocab.lex_attr_getters[LANG](lexeme.orth_), _norm(lexeme.orth_)
    return nlp


def _norm(word: str) -> str:
    """How a word is looked up in the embedding: without case, accents and the value of its digits."""
    return _DIGIT.sub("0", fold(word))


def _feature(strings: Any) -> Callable[[str], int]:
    kind = word_kinds()
    sets = ("".join(signs) for signs in itertools.product(("", "G"), ("", "S"), ("", "P"), ("", "1", "2", "3")))
    known = {signs: strings.add(signs) if signs else 0 for signs in sets}
    return lambda word: known[kind(word)]


def check_lists() -> None:
    """Raises `ListsRefused` if a list is not the pinned one."""
    for name in LISTS:
        lists(name)

"""Words that a tokenizer knows before the first request: the frequent ones of its languages.

spaCy remembers how it split a word, except inside a memory zone, and every request is read inside one, so that nothing
of it stays. What is split here, once and outside of any zone, depends on lists alone and stays for all requests.

May import: multilingual, spacy, the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recognizers import multilingual

_WORDS = 4_000
"""Of each pipeline. With their capitals they fit into the tokenizer's cache."""


def learn(nlp: Any, languages: Sequence[str]) -> None:
    """Splits frequent words of the languages, so that this pipeline finds them in its cache. In no memory zone."""
    _forget_features(nlp.vocab)
    lists = multilingual.lists("european_words.txt.xz")
    each = _WORDS // len(languages)
    words = [word for language in languages for word in lists[language][:each]]
    for word in (*words, *_accented(nlp.vocab)):
        nlp.tokenizer(word)
        nlp.tokenizer(word[0].upper() + word[1:])


def _forget_features(vocab: Any) -> None:
    """What no name model reads of a new word (is it like a URL, a number, a quote?) is not worked out for it."""
    from spacy.attrs import IS_SPACE, LANG, LOWER, NORM, PREFIX, SHAPE, SUFFIX

    read = {IS_SPACE, LANG, LOWER, NORM, PREFIX, SHAPE, SUFFIX}
    vocab.lex_attr_getters = {code: getter for code, getter in vocab.lex_attr_getters.items() if code in read}


def _accented(vocab: Any) -> list[str]:
    """What the lists have without accents, from the words of the vectors; their rows are in order of frequency."""
    first: dict[int, Any] = {}
    for key, row in vocab.vectors.key2row.items():
        if row < _WORDS:
            first.setdefault(row, key)
    words = (vocab.strings[key] for key in first.values())
    return [word for word in words if word.islower() and not word.isascii()]

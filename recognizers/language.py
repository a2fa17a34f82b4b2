"""Which language is a text in? A pure function of its words and letters, good for a line as for a page.

Evidence of a word is how frequent it is in each language (`multilingual.lists`); letters that one language writes and
others do not count besides. May import: recognizers.base, recognizers.multilingual, the standard library.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from recognizers import multilingual
from recognizers.base import fold

LANGUAGES = ("en", "fr")

_ORDER = ("de", "en", "es", "fr", "it")
_WORD = re.compile(r"[^\W\d_]+")
_SIGNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "fr": re.compile(r"[çœêîûëÇŒÊ]|\b[dlnsj]['’](?=[aeiouyhéè])|\bqu['’]", re.IGNORECASE),
        "de": re.compile(r"[ßäöüÄÖÜ]"),
        "es": re.compile(r"[ñ¿¡Ñ]|[íóú]|ción\b"),
        "it": re.compile(r"[ìò]|[àùè]\b|\b(?:l|dell|all|nell|dall|sull|un|quest)['’](?=[aeiouàèh])", re.IGNORECASE),
    }
)
_SAMPLE = 2_000
_RANKS = 6_000
_SMOOTH = 20
_UNKNOWN = math.log(60_000)
_SIGN, _MOST_SIGNS = 1.5, 6
_LEAST, _CLEAR = 6.0, 3.0
"""Evidence that the likeliest language must have, and its lead over the next. One very frequent word is worth 8."""


@cache
def _evidence() -> Mapping[str, tuple[float, ...]]:
    """Word -> its worth in each of `_ORDER`, by rank (Zipf's law)."""
    ranks: dict[str, dict[str, int]] = {}
    for language, words in multilingual.lists("european_words.txt.xz").items():
        for rank, word in enumerate(words[:_RANKS]):
            ranks.setdefault(word, {})[language] = rank
    return MappingProxyType(
        {word: tuple(_worth(found.get(language)) for language in _ORDER) for word, found in ranks.items()}
    )


def _worth(rank: int | None) -> float:
    return 0.0 if rank is None else _UNKNOWN - math.log(rank + _SMOOTH)


def scores(text: str) -> dict[str, float]:
    """Evidence for each of the five languages in the first 2,000 code points of `text`, zero or more."""
    sample = text[:_SAMPLE]
    known = _evidence()
    found = [known[word] for word in _WORD.findall(fold(sample)) if word in known]
    columns = zip(*found, strict=True) if found else [()] * len(_ORDER)
    totals = {language: sum(worths, 0.0) for language, worths in zip(_ORDER, columns, strict=True)}
    for language, sign in _SIGNS.items():
        totals[language] += _SIGN * min(_MOST_SIGNS, len(sign.findall(sample)))
    return totals


def candidates(text: str, languages: Sequence[str] = LANGUAGES) -> tuple[str, ...]:
    """The languages to read `text` in, likeliest first; one of them when the evidence is clear.

    Without clear evidence (a bare name, numbers, two words) the two likeliest are given; German, Spanish and Italian
    share a model, so that two of them are never both named.
    """
    if len(languages) < 2:
        return tuple(languages)
    found = scores(text)
    ordered = sorted(languages, key=lambda language: (-found[language], languages.index(language)))
    first = ordered[0]
    rest = [code for code in ordered[1:] if not _same_model(first, code)]
    if not rest or (found[first] >= _LEAST and found[first] - found[rest[0]] >= _CLEAR):
        return (first,)
    return first, rest[0]


def _same_model(left: str, right: str) -> bool:
    return left in multilingual.LANGUAGES and right in multilingual.LANGUAGES

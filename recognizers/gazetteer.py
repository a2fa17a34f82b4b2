"""Capitalised given names, alone or before (or, in forms, behind) a family name, that no model marked.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from recognizers.base import fold
from recognizers.code import is_camel, is_code
from recognizers.lexicon import Lexicon
from recognizers.shape import ORGANISATION_WORDS, Token, joined, tokens
from recognizers.words import CALENDAR, COMMON, FUNCTION, OFFICES, PARTICLES, TECHNICAL, TITLES

_CANDIDATE = re.compile(
    r"(?<![\w@.\-/\\#$_'’])[A-ZÀ-ÖØ-Þ][^\W\d_'’]+(?:[\-'’][^\W\d_]+)*"
    r"(?: (?:(?:de la|de|du|van der|van|von|der|den|el|al|bin|ben|da|dos|"
    r"di) )?[A-ZÀ-ÖØ-Þ][^\W\d_]*\.?(?:[\-'’][^\W\d_]+)*){0,3}"
)
_INITIALS = re.compile(
    r"(?<![\w.\n@/])((?:[A-Z]\.[- ]?){1,3})((?:(?:de|du|van|von|El|Le|La|De|Al|Mc|"
    r"O['’]) ?)?[A-ZÀ-ÖØ-Þ][^\W\d_]{2,30}(?:-[^\W\d_]{2,30})?)(?![\w(])"
)
_LEAD = re.compile(
    r"(?:[,;:&(]|\b(?:by|and|with|from|to|par|et|de|avec|pour|dr|pr|prof|mr|mrs|ms|mme))\.?[ ]$", re.IGNORECASE
)
_NOT = FUNCTION | CALENDAR | TECHNICAL | TITLES | OFFICES | ORGANISATION_WORDS


def listed(text: str, others: Sequence[tuple[int, int]], lexicon: Lexicon) -> Iterator[tuple[int, int, str]]:
    """`(start, end, why)` of names with a registered given name; `others` are places, left alone."""
    if not lexicon.given:
        return
    for match in _CANDIDATE.finditer(text):
        words = tokens(text, *match.span())
        hit = _pair(words, text, lexicon) or _single(words, lexicon) or _signed(words, text, lexicon)
        if hit is None:
            continue
        start, end, why = hit
        taken = any(a < end and start < b for a, b in others)
        if not is_code(text, start, end) and not (taken and why == "given name"):
            yield start, end, why


def initials(text: str, lexicon: Lexicon) -> Iterator[tuple[int, int, str]]:
    """`reviewed by K. Wood`: initials before a capitalised word."""
    for match in _INITIALS.finditer(text):
        word = match.group(2)
        if fold(word) in _NOT - ORGANISATION_WORDS or match.end(2) - match.start(1) > 60:
            continue
        if match.group(1).strip() == "M." and lexicon.is_given(word):
            continue
        if re.search(r"[A-ZÀ-Þ][^\W\d_]+ $", text[max(0, match.start(1) - 20) : match.start(1)]):
            continue
        lead = _LEAD.search(text[max(0, match.start(1) - 12) : match.start(1)])
        if lead or not lexicon.is_common(word):
            yield match.start(1), match.end(2), "initials and family name"


def _pair(words: list[Token], text: str, lexicon: Lexicon) -> tuple[int, int, str] | None:
    """`Thibault Marchand`, `BLOT Alexandrie`: every word a name's, at least one registered."""
    while words and words[0].folded in TITLES | FUNCTION:
        words = words[1:]
    if not 2 <= len(words) <= 6 or not all(joined(text, a, b) for a, b in itertools.pairwise(words)):
        return None
    bare = [word for word in words if word.folded not in PARTICLES and len(word.folded) > 1]
    if len(bare) < 2 or any(word.folded in _NOT or word.folded in COMMON or is_camel(word.text) for word in bare):
        return None
    shouted_first = bare[0].text.isupper() and len(bare[0].folded) > 2
    if not (lexicon.is_name(bare[0].folded) or (shouted_first and lexicon.is_name(bare[-1].folded))):
        return None
    return words[0].start, words[-1].end, "given and family name"


def _signed(words: list[Token], text: str, lexicon: Lexicon) -> tuple[int, int, str] | None:
    """`Arnaude HEBERT` alone in its line or before a comma: how French forms and signatures write a name."""
    if len(words) != 2 or not joined(text, *words):
        return None
    (first, last), after = words, text[words[1].end : words[1].end + 2].lstrip(" ")
    shape = first.text.istitle() and last.text.isupper() and len(last.folded) >= 4 and len(first.folded) >= 3
    plain = any(word.folded in _NOT or lexicon.is_common(word.folded) for word in words)
    if not shape or plain or after[:1] not in {"", "\n", "\r", ",", "("}:
        return None
    return first.start, last.end, "given and family name"


def _single(words: list[Token], lexicon: Lexicon) -> tuple[int, int, str] | None:
    if len(words) != 1:
        return None
    word = words[0]
    plain = word.folded in _NOT or word.folded in COMMON or lexicon.is_common(word.folded)
    if plain or word.folded not in lexicon.frequent or (word.text.isupper() and len(word.folded) < 5):
        return None
    return word.start, word.end, "given name"

"""Names in quick notes: `thx mark`, `w/ hassan`, `ask Will and Grace`, and lists: `smith, john; doe, jane`.

Each of these words is also a plain word or has no capital; where it stands it can yet be only a name.
May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recognizers.base import fold
from recognizers.lexicon import Lexicon
from recognizers.words import FUNCTION, TECHNICAL, TITLES

_THANKED = re.compile(
    r"(?im)(?:^|[.,!?;:][ ])(?:thx|thanks|thank you|ty|tysm|cheers|merci|danke|gracias|grazie)[,!]?[ ]"
    r"(?P<first>[^\W\d_]{3,20})[.!]{0,3}[ ]?$"
)
_ASKED = re.compile(
    r"\b(?:[Aa]sk|[Tt]ell|[Ii]nvite|[Ee]mail|[Rr]emind|[Tt]hank|[Cc]c|[Pp]ing|[Cc]ontact)[ ]"
    r"(?P<first>[A-ZÀ-Þ][^\W\d_]{1,20})[ ](?:and|&)[ ](?P<second>[A-ZÀ-Þ][^\W\d_]{1,20})\b(?![ ][A-ZÀ-Þ])"
)
_ROW = re.compile(
    r"(?m)(?:^|;)[ ]{0,2}(?P<first>[^\W\d_A-ZÀ-Þ][^\W\d_]{0,20}(?:['’\-][^\W\d_]{1,20})?), "
    r"(?P<second>[^\W\d_A-ZÀ-Þ][^\W\d_]{1,20})(?=[ ]?(?:;|$))"
)
_WITH = re.compile(r"(?<![\w/])w/[ ]?(?P<first>[^\W\d_]{3,20})\b(?![/.@\-])", re.IGNORECASE)
_LEAST_ROWS = 2
_NOT = FUNCTION - {"will"} | TECHNICAL | TITLES


def informal(text: str, lexicon: Lexicon) -> Iterator[tuple[int, int, str]]:
    """`(start, end, why)` of the names; nothing without a list of given names."""
    for match in _THANKED.finditer(text):
        if _first_name(match["first"], lexicon):
            yield *match.span("first"), "closing"
    for match in _WITH.finditer(text):
        if _first_name(match["first"], lexicon) and lexicon.is_name(match["first"]):
            yield *match.span("first"), "given name"
    for match in _ASKED.finditer(text):
        if all(_first_name(match[part], lexicon) for part in ("first", "second")):
            yield *match.span("first"), "given name"
            yield *match.span("second"), "given name"
    rows = [match for match in _ROW.finditer(text) if _first_name(match["second"], lexicon) and _family(match["first"])]
    if len(rows) >= _LEAST_ROWS:
        for match in rows:
            yield match.start("first"), match.end("second"), "given and family name"


def _first_name(word: str, lexicon: Lexicon) -> bool:
    return fold(word) in lexicon.frequent and fold(word) not in _NOT


def _family(word: str) -> bool:
    return len(word) > 1 and fold(word) not in _NOT

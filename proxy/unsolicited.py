"""Values in an answer that nobody in the request wrote. Pure.

A model may make up a name or a date, and repeat what it was told; a number with a right check digit that was in no
text of the request is more likely somebody's. Only those are looked at: what has no check digit would cry wolf.

May import: the standard library.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d")
_LEAST_DIGITS = 5

PUBLISHED = frozenset(
    {
        # Card numbers that payment providers publish for tests.
        *("4242424242424242", "4111111111111111", "4012888888881881", "5555555555554444", "5105105105105100"),
        *("378282246310005", "371449635398431", "6011111111111117", "3530111333300000", "30569309025904"),
        # Example accounts of the IBAN registry and of national banks' documentation.
        *("de89370400440532013000", "gb29nwbk60161331926819", "gb82west12345698765432", "ch9300762011623852957"),
        *("fr1420041010050500013m02606", "fr7630006000011234567890189", "es9121000418450200051332"),
        *("it60x0542811101000000123456", "nl91abna0417164300", "be68539007547034", "at611904300234573201"),
        *("lu280019400644750000", "pt50000201231234567890154", "ie29aibk93115212345678", "se4550000000058398257466"),
    }
)
"""Values that manuals print, and answers about forms and tests therefore too. Compact form."""


def worth_a_look(text: str) -> bool:
    """Whether the text could hold such a value at all: each has at least five digits."""
    return sum(1 for _ in zip(range(_LEAST_DIGITS), _DIGIT.finditer(text), strict=False)) == _LEAST_DIGITS


def unsolicited(values: Iterable[str], texts: Sequence[str]) -> int:
    """How many different values are in none of `texts`, whatever signs stand between their characters."""
    wanted = {compact(value) for value in values} - PUBLISHED
    if not wanted:
        return 0
    written = "\0".join(compact(text) for text in texts)
    return sum(value not in written for value in wanted)


def compact(text: str) -> str:
    """Letters and digits only, one case, one form of each."""
    return _SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())

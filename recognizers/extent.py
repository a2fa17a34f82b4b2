"""What every match of a pattern is like, read off its syntax: at least so many digits, at most so many characters.

A pattern that says this needs to be searched only where digits stand close together (`excerpt`). What cannot be read
gives the weakest statement, which is always true: no digit, any length.

May import: the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as syntax  # type: ignore[attr-defined]
from typing import Any, NamedTuple


class Extent(NamedTuple):
    """`digits`: how many ASCII digits every match has at least; `width`: its most characters, None if any number."""

    digits: int
    width: int | None


_HEX = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
# Classes of one character in RE2 that Python does not know: any class of one character measures the same.
_ONE_CHARACTER = re.compile(r"\\[pP](?:\{\^?\w+\}|[A-Z])")
_FLAGS = re.compile(r"\(\?[imsU]+\)")
_MOST = 10_000


@cache
def extent(regex: str) -> Extent:
    """The extent of a pattern in RE2's syntax."""
    flat = _HEX.sub(lambda code: f"\\U{int(code[1], 16):08x}", regex)
    flat = _FLAGS.sub("", _ONE_CHARACTER.sub(r"\\w", flat)).replace(r"\z", r"\Z")
    try:
        parsed = syntax.parse(flat)
        width = parsed.getwidth()[1]
    except (re.error, OverflowError, RecursionError):
        return Extent(0, None)
    return Extent(_digits(parsed), width if width <= _MOST else None)


def _digits(parsed: Iterable[tuple[Any, Any]]) -> int:
    return sum(_least(kind, value) for kind, value in parsed)


def _least(kind: Any, value: Any) -> int:
    if kind is op.IN:
        return int(all(_only_digits(*member) for member in value))
    if kind is op.LITERAL:
        return int(_is_digit(value))
    if kind is op.SUBPATTERN:
        return _digits(value[-1])
    if kind is op.BRANCH:
        return min(_digits(branch) for branch in value[1])
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        return int(value[0]) * _digits(value[2])
    return 0


def _only_digits(kind: Any, value: Any) -> bool:
    if kind is op.LITERAL:
        return _is_digit(value)
    if kind is op.RANGE:
        return _is_digit(value[0]) and _is_digit(value[1])
    return kind is op.CATEGORY and value is op.CATEGORY_DIGIT


def _is_digit(code: int) -> bool:
    return ord("0") <= code <= ord("9")

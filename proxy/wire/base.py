"""JSON in and out: parsed so strictly that every reader agrees on it, written so that no digit changes.

What another parser could read differently (duplicate keys, NaN, a byte order mark, bytes after the end, lone
surrogates, fields of the body that differ in case only) is refused, since the upstream is sent the re-serialised
tree: it then reads exactly what was inspected. RFC 8259, and the part of RFC 7493 (I-JSON) that is about
interoperability.

May import: model, errors, jiter, the standard library.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

import jiter

from proxy.errors import BadRequest
from proxy.model import JSON

_MOST_DIGITS = 1000
_LONGEST_VALUE = 40
_MINUS_ZERO = re.compile(rb"-0(?![.0-9eE])")
_STRING_OR_MINUS_ZERO = re.compile(rb'"(?:[^"\\]|\\.)*+"|-0(?![.0-9eE])', re.DOTALL)
_AT = re.compile(r" at line (\d+) column (\d+)\Z")
_MARKED = b"-0E-00000000000"
"""A spelling of minus zero that nobody else uses, and that is no integer to the parser."""
_quoted = json.encoder.encode_basestring


class Exact(float):
    """A JSON number with a fraction or an exponent, which remembers how it was written (`1.10`, `1E5`)."""

    __slots__ = ("digits",)

    digits: str

    def __new__(cls, digits: str) -> Exact:
        number = super().__new__(cls, digits)
        number.digits = digits
        return number

    def __repr__(self) -> str:
        return self.digits


def parse_strict(data: bytes) -> JSON:
    """The tree of a request body. Fractions are `Exact`. Raises `BadRequest`; no message holds a value."""
    try:
        tree = _parse(data, unique=True)
    except ValueError as error:
        raise BadRequest(
            f"The body is not strict JSON{_place(error, data)}: UTF-8 without a byte order mark, unique keys, "
            "no NaN or lone surrogates, at most 200 levels, nothing after the end."
        ) from None
    if isinstance(tree, dict) and len({key.casefold() for key in tree}) < len(tree):
        # Deeper down every value is inspected, and the walk refuses a known field in another case; but what is counted
        # and what is streamed is read here by its exact name.
        raise BadRequest("The body has fields that differ in case only.")
    return _exact(tree)


def _place(error: ValueError, data: bytes) -> str:
    """Where the parser stopped. Only the numbers at the end of its message, since the rest may quote the body."""
    match = _AT.search(str(error))
    if match is None:
        return ""
    # What was put in for a minus zero shifts columns, and no lines.
    return f" (line {match[1]})" if _MINUS_ZERO.search(data) else f" (line {match[1]}, byte {match[2]} of it)"


def parse_answer(data: bytes) -> JSON:
    """The tree of an answer or of one event. Raises `BadRequest` like `parse_strict`: what it means is the caller's."""
    try:
        return _exact(_parse(data, unique=False))
    except ValueError:
        raise BadRequest("The answer is not JSON that can be read.") from None


def _parse(data: bytes, *, unique: bool) -> Any:
    if _MINUS_ZERO.search(data):
        # The parser would make an integer of it, which has no sign.
        data = _STRING_OR_MINUS_ZERO.sub(lambda match: match[0] if match[0][:1] == b'"' else _MARKED, data)
    return jiter.from_json(
        data, allow_inf_nan=False, catch_duplicate_keys=unique, float_mode="lossless-float", cache_mode="none"
    )


def _exact(node: Any) -> JSON:
    """Replaces jiter's own numbers, in place; checks what jiter does not. Depth is bounded by the parser."""
    if isinstance(node, dict):
        for key, value in node.items():
            if not isinstance(value, str):
                node[key] = _exact(value)
    elif isinstance(node, list):
        node[:] = [_exact(value) for value in node]
    elif isinstance(node, jiter.LosslessFloat):
        digits = "-0" if str(node) == _MARKED.decode() else str(node)
        if len(digits) > _MOST_DIGITS or not math.isfinite(float(node)):
            raise BadRequest("A number in the body is out of range.")
        return Exact(digits)
    return node  # type: ignore[no-any-return]


def serialise(node: JSON) -> bytes:
    """Compact UTF-8 JSON: key order, nulls and the digits of numbers as parsed."""
    out: list[str] = []
    _write(node, out.append)
    return "".join(out).encode()


def number_text(node: int | float) -> str:
    """The digits of a number as they are written."""
    if isinstance(node, Exact):
        return node.digits
    if isinstance(node, float) and not math.isfinite(node):
        raise ValueError("JSON has no such number")
    return repr(node)


def inspected_number(digits: str) -> str:
    """A number as it is inspected: a whole one without fraction and exponent.

    Tables export whole numbers as `4000005260181590.0`, and `4000005260181590e0` is the same value.
    """
    if digits.lstrip("-").isdigit():
        return digits
    try:
        value = Decimal(digits)
        whole = value.adjusted() < _LONGEST_VALUE and value == value.to_integral_value()
    except ArithmeticError:
        return digits
    return str(int(value)) if whole else digits


def _write(node: JSON, put: Any) -> None:
    if isinstance(node, str):
        put(_quoted(node))
    elif node is None:
        put("null")
    elif isinstance(node, bool):
        put("true" if node else "false")
    elif isinstance(node, int | float):
        put(number_text(node))
    elif isinstance(node, list):
        put("[")
        for position, value in enumerate(node):
            if position:
                put(",")
            _write(value, put)
        put("]")
    else:
        put("{")
        for position, (key, value) in enumerate(node.items()):
            put(f"{',' if position else ''}{_quoted(key)}:")
            _write(value, put)
        put("}")

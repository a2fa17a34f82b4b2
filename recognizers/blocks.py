"""Cuts a text into blocks of two to four thousand code points for the name models.

Blocks end at an empty line, else at a line's, sentence's or word's end; they cover the text and do not overlap.
May import: the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator

LEAST, MOST = 2_000, 4_000
_ENDS = ("\n\n", "\r\n\r\n", "\n", ". ", " ")


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """`[start, end)` of each block, in order."""
    start = 0
    while len(text) - start > MOST:
        end = _end(text, start)
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def _end(text: str, start: int) -> int:
    for sign in _ENDS:
        at = text.rfind(sign, start + LEAST, start + MOST)
        if at >= 0:
            return at + len(sign)
    return start + MOST

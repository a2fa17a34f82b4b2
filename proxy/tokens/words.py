"""How many words a text has at least: a lower bound of its tokens, at a gigabyte a second. Pure.

A pre-token of an OpenAI-style pattern holds letters or digits without white space between them: white space can only
stand before the first. So two letters or digits that each follow white space are in two pre-tokens, and tokens do
not reach across pre-tokens.

May import: the standard library.
"""

from __future__ import annotations

from typing import Final

_CHUNK = 1 << 18
_LETTERS: Final = (
    *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    *(0xD0, 0xD1),  # U+0400 to U+047F, Cyrillic
    *range(0xE5, 0xE9),  # U+5000 to U+8FFF, Han
    *(0xEB, 0xEC),  # U+B000 to U+CFFF, Hangul
)
"""Bytes that begin a letter or digit in UTF-8, and never anything else."""
_CLASSES: Final = bytes(
    ord("a") if value in _LETTERS else ord(" ") if value in b" \t\n\r\v\f" else ord(".") for value in range(256)
)


def word_starts(raw: bytes) -> int:
    """Letters and digits of UTF-8 text that follow ASCII white space; fewer than there are words in any alphabet."""
    total = 0
    for start in range(0, len(raw), _CHUNK):  # with one byte of the next chunk: no start is lost, none counted twice
        total += raw[start : start + _CHUNK + 1].translate(_CLASSES).count(b" a")
    return total

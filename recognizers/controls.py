"""Control characters: nobody sees them, and most of them stand in a text by accident.

The colours of a terminal, a backspace in a log, the zero bytes of UTF-16 that was read as something else. A zero byte
alone is how lists are separated (`find -print0`), unless what stands beside it shows that it is inside a value.

May import: the standard library.
"""

from __future__ import annotations

import re

COLOURS = r"\x1b\[[0-9;?]{0,20}[A-Za-z]"
"""A terminal's sequence for colours and the like (ECMA-48)."""
CONTROLS = frozenset(map(chr, (*range(9), *range(14, 28), 127)))
"""Those without a glyph that do not separate either, unlike tabs, line ends and the separators of ASCII."""
_INSIDE = frozenset("@.+-_/")
SMUGGLED = re.compile("[\U000e0020-\U000e007e]{8,}|[\U000e0110-\U000e016e]{8,}")
"""ASCII text in characters without a glyph, tags or variation selectors, which models read. Flags have fewer tags."""


def smuggled(run: str) -> str:
    """The ASCII text that a run of tags or of variation selectors says, character for character."""
    return "".join(chr((ord(char) & 0xFF) + (0x10 if ord(char) >= _SELECTORS else 0)) for char in run)


_SELECTORS = 0xE0100


def separates(text: str, place: int) -> bool:
    """Whether the control character at `place` is a zero byte between two entries of a list."""
    if text[place] != "\0" or "\0" in (text[place - 2 : place - 1], text[place + 2 : place + 3]):
        return False
    beside = text[place - 1 : place], text[place + 1 : place + 2]
    return all(beside) and _INSIDE.isdisjoint(beside)

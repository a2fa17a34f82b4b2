"""Control characters: nobody sees them, and most of them stand in a text by accident.

The colours of a terminal, a backspace in a log, the zero bytes of UTF-16 that was read as something else. A zero byte
alone is how lists are separated (`find -print0`), unless what stands beside it shows that it is inside a value.

May import: the standard library.
"""

from __future__ import annotations

COLOURS = r"\x1b\[[0-9;?]{0,20}[A-Za-z]"
"""A terminal's sequence for colours and the like (ECMA-48)."""
CONTROLS = frozenset(map(chr, (*range(9), *range(14, 28), 127)))
"""Those without a glyph that do not separate either, unlike tabs, line ends and the separators of ASCII."""
_INSIDE = frozenset("@.+-_/")


def separates(text: str, place: int) -> bool:
    """Whether the control character at `place` is a zero byte between two entries of a list."""
    if text[place] != "\0" or "\0" in (text[place - 2 : place - 1], text[place + 2 : place + 3]):
        return False
    beside = text[place - 1 : place], text[place + 1 : place + 2]
    return all(beside) and _INSIDE.isdisjoint(beside)

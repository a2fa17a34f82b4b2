"""Backslashes that hide a value besides those of JSON: octal and CSS escapes, and a sign that was escaped.

Octal escapes (`\\100`) are written by C, shells, PDF and git (whose paths hold UTF-8 in them), `\\40 ` by style sheets;
`mira\\_tallow@example\\.org` comes out of every converter to Markdown, `4000\\,0052` out of LaTeX.

A single escape is read only where it can be nothing else: `@` before a domain. A digit behind a backslash
is otherwise the number of a group, or a directory.

May import: the standard library. Linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OCTAL = r"[0-3][0-7]{2}"
_HIGH = r"[23][0-7]{2}"
_CSS = r"(?:0{4}[0-9A-Fa-f]{2} ?|[2-7][0-9A-Fa-f] )"
_RUNS = "|".join(rf"\\?{one}(?:\\{{1,2}}{one}){{{more},}}" for one, more in ((_OCTAL, 3), (_CSS, 3), (_HIGH, 1)))
_AT = r"\\?(?:100|0{0,4}40 |000040)(?=[A-Za-z0-9\-]{1,63}\.[A-Za-z])"
_SIGN = r"\\?(?=[.@_+/ -][A-Za-z0-9])"
_THIN = r"[,;:!](?<=[0-9]\\.)(?=[0-9])"
BACKSLASHED = rf"\\(?<!\\\\)(?:{_RUNS}|(?<=[A-Za-z0-9]\\)(?:{_AT}|{_SIGN}|{_THIN}))"
"""A pattern that begins with a backslash, before it looks at what is around."""

_ONE = re.compile(r"\\{1,2}([0-9A-Fa-f]+) ?")
_OF_OCTAL = 3


def backslashed(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """What `[start, end)`, a match of `BACKSLASHED`, says: characters ("" if removed), each with where it stands."""
    escapes = list(_ONE.finditer(text, start, end))
    if not escapes:
        yield (" " if text[end - 1] in ",;:!" else ""), start, end
        return
    octal = all(len(escape[1]) == _OF_OCTAL for escape in escapes)
    if not octal:
        for escape in escapes:
            yield chr(int(escape[1], 16)), *escape.span()
        return
    data = bytes(int(escape[1], 8) for escape in escapes)
    at = 0
    for char in data.decode("utf-8", "surrogateescape"):
        wide = 1 if "\ud800" <= char <= "\udfff" else len(char.encode())
        if wide > 1 or char.isascii():
            yield char, escapes[at].start(), escapes[at + wide - 1].end()
        else:
            yield chr(data[at]), *escapes[at].span()
        at += wide

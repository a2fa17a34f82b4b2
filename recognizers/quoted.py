"""Where a text is quoted-printable (RFC 2045 6.7), and what its escapes say.

A line counts as such only if no `=` in it stands for anything else, and something in it is unlikely by chance: an
escaped `=`, an escaped `@` before a domain, a letter beyond ASCII in UTF-8, or a line that was broken for its length
(and does not end in base64). So `a=20` of a program stays as it is, and so does a key that ends in `=`.

May import: the standard library. Linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

ESCAPES = r"(?:=[0-9A-F]{2}|=\r?\n)+"
_LINE = re.compile(r"(?:[^\n]*=\r?\n)*+[^\n]*")
_ANY = re.compile("=[0-9A-F]{2}|=\r?\n")
_ONE = re.compile("=(?:([0-9A-F]{2})|\r?\n)")
_OTHER = re.compile(r"(?<!\?)=(?!\?|[0-9A-F]{2}|\r?\n|$)")
_SURE = re.compile(r"=3D|=40(?=[A-Za-z0-9\-]{1,63}\.[A-Za-z])|=[C-F][0-9A-F](?:=\r?\n)?=[89AB][0-9A-F]")
_WRAPPED = re.compile(r"^[^\n]{59,75}(?<![A-Za-z0-9+/]{20})=\r?\n", re.MULTILINE)


class Quoted:
    """The stretches of one text that are quoted-printable."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _LINE.finditer(text) if _is_quoted(match[0])] if _ANY.search(text) else []
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def holds(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]


def _is_quoted(line: str) -> bool:
    return not _OTHER.search(line) and bool(_SURE.search(line) or _WRAPPED.search(line))


def characters(escapes: str) -> Iterator[tuple[str, int, int]]:
    """What a run of escapes says, each character with where it stands; line breaks in between are not there."""
    octets = [(match[1], match.start(), match.end()) for match in _ONE.finditer(escapes) if match[1]]
    data = bytes.fromhex("".join(digits for digits, _, _ in octets))
    charset = "utf-8" if _says(data) else "latin-1"
    at = 0
    for char in data.decode(charset):
        upto = at + len(char.encode(charset))
        yield char, octets[at][1], octets[upto - 1][2]
        at = upto


def _says(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

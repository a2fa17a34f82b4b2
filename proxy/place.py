"""Where a restored value lands in a text, and so how it must be written there. Sans-I/O.

Prose takes a value as it is. Inside a JSON string it is escaped, and inside JSON text that is itself the content of a
JSON string once for every level: what is open at a level is read, unescaped, by a place of its own one level down.

May import: model, vault, the standard library.
"""

from __future__ import annotations

import html
import re
from urllib.parse import quote

from proxy.model import Context
from proxy.vault import JSON_BEGINS, Entry, is_percent, json_escaped

_UNDECIDED = re.compile(r'(?:[\[{]?|"(?:\\{1,15}"){0,3}(?:[\[{]\{?)?\\{0,15})\Z')
_TOKEN = re.compile(r'\\u[0-9A-Fa-f]{4}|\\[^u]|"', re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_DEEPEST = 8


class Place:
    """Follows a text as it is released. `in_json`: it is JSON text; text in prose context is, if it begins so."""

    def __init__(self, context: Context, depth: int = 0) -> None:
        self.in_json = context is Context.JSON
        self._is_url = context is Context.URL
        self._begun: str | None = "" if context is Context.PLAIN else None
        self._depth = depth
        self._escape = ""
        self._inside: Place | None = None

    def passed(self, literal: str) -> None:
        """Takes note of literal text that was released."""
        if self._begun is not None:
            self._begun += "".join(literal.split())
            literal = ""
            if JSON_BEGINS.match(self._begun):
                self.in_json, literal, self._begun = True, self._begun, None
            elif not _UNDECIDED.match(self._begun):
                self._begun = None
        if self.in_json and literal:
            self._scan(self._escape + literal)

    @property
    def in_string(self) -> bool:
        """Whether a JSON string is open."""
        return self._inside is not None

    def at_a_value(self, quotes: str) -> bool:
        """True if `quotes`, not yet passed, would open a string where any JSON value may stand.

        At a depth of d a quote is written behind 2**d - 1 backslashes.
        """
        depth = len(quotes).bit_length() - 1
        place: Place | None = self
        for _ in range(depth):
            place = place._inside if place is not None else None
        if len(quotes) != 2**depth or place is None or place._inside is not None:
            return False
        return place.in_json or (place._begun is not None and JSON_BEGINS.match(place._begun + '"') is not None)

    def write(self, entry: Entry, opening: str) -> str:
        """The value of `entry` as it must stand here; `opening` is how its placeholder's bracket was written."""
        lowered = opening.lower()
        if lowered in ("%3c", "&lt;") and entry.spelled is not None and is_percent(entry.spelled) == (lowered == "%3c"):
            return self._escaped(entry.spelled, entry.written)
        written = entry.written if entry.spelled is None else None
        if lowered == "%3c" or self._is_url:
            return self._escaped(quote(entry.text, safe=""), None)
        if lowered == "&lt;":
            return self._escaped(html.escape(entry.text, quote=False), None)
        if lowered.endswith("u003c") and self._inside is None:
            return written if written is not None else json_escaped(entry.text)
        return self._escaped(entry.text, written)

    def write_encoded(self, entry: Entry) -> str:
        """The encoded text of `entry`, which needs no further encoding but a JSON string's."""
        return self._escaped(entry.text, entry.written)

    def _escaped(self, text: str, written: str | None) -> str:
        """`text` for as many strings as are open here; `written` is its own form inside the innermost one."""
        self._begun = None  # JSON has a quote before every text, so a value here means prose
        if self._inside is None:
            return text
        if self._inside.in_json and self._inside._inside is not None:
            return json_escaped(self._inside._escaped(text, written))
        self._inside._begun = None
        return written if written is not None else json_escaped(text)

    def _scan(self, text: str) -> None:
        """Follows strings and, inside them, their unescaped content."""
        self._escape = ""
        content: list[str] = []
        at = 0
        for match in _TOKEN.finditer(text):
            content.append(text[at : match.start()])
            at = match.end()
            if match[0] != '"':
                content.append(_unescaped(match[0]))
                continue
            self._hand_down(content)
            content = []
            is_open = self._inside is not None
            self._inside = None if is_open else Place(Context.PLAIN, self._depth + 1)
        rest = text[at:]
        cut = rest.find("\\")
        if cut >= 0:
            rest, self._escape = rest[:cut], rest[cut:]
        self._hand_down([*content, rest])

    def _hand_down(self, content: list[str]) -> None:
        if self._inside is not None and self._depth < _DEEPEST:
            self._inside.passed("".join(content))


def _unescaped(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return _ESCAPES.get(escape[1], escape[1])

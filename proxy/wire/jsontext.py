"""JSON text inside a string (tool-call arguments, tool results): taken apart and put together letter for letter.

The text is never re-serialised. A scanner notes where values, keys and numbers stand; what changes is spliced in
there, escaped for the string that it lands in, and every other byte stays: white space, escapes, digits, even
duplicate keys. JSON text inside such a string is taken apart again, down to `DEEPEST` levels. JSON lines, each an
object or an array, are several such texts.

The scanner follows RFC 8259 without recursion, and accepts lone surrogate escapes (read as U+FFFD), which some
serialisers write. May import: model, errors, labels, base, the standard library.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NamedTuple

from proxy.errors import UnsupportedByPolicy
from proxy.model import Kind, Leaf, Moved, Rewritten, Visit
from proxy.wire.base import inspected_number
from proxy.wire.labels import field_path, hidden_path, label_of

DEEPEST = 8
"""How often JSON text may be nested in strings of JSON text."""
MOST_LEVELS = 500
"""How deep the arrays and objects of one JSON text may be nested; keeps paths, hence time, in proportion."""

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"([^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+\-]?[0-9]++)?")
_LITERAL = re.compile(r"true|false|null")
_PAIR = r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
_ESCAPE = re.compile(rf"{_PAIR}|\\u[0-9A-Fa-f]{{4}}|\\.", re.DOTALL)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def decode(raw: str) -> str:
    """What the inside of a JSON string says. One escape (or surrogate pair) is one code point."""
    return raw if "\\" not in raw else _ESCAPE.sub(lambda match: _unescaped(match[0]), raw)


def offsets(raw: str) -> list[int]:
    """For every code point offset of `decode(raw)`, its end included, the offset in `raw`."""
    if "\\" not in raw:
        return list(range(len(raw) + 1))
    found: list[int] = []
    at = 0
    for match in _ESCAPE.finditer(raw):
        found.extend(range(at, match.start()))
        found.append(match.start())
        at = match.end()
    found.extend(range(at, len(raw) + 1))
    return found


def escape(text: str) -> str:
    """`text` as it stands between the quotes of a JSON string; characters outside ASCII stay."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def is_content(text: str) -> bool:
    """Whether `text` may stand between the quotes of a JSON string as it is."""
    return _STRING.fullmatch(f'"{text}"') is not None


def _unescaped(written: str) -> str:
    if written[1] != "u":
        return _SIMPLE.get(written[1], written[1])
    code = int(written[2:6], 16)
    if len(written) > 6:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(written[8:12], 16) - 0xDC00)
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)


@dataclass(slots=True, eq=False, repr=False)
class _Place:
    """A container's or value's place; the segment of one whose key was replaced shows its position only."""

    above: _Place | None
    segment: str
    label: str

    def path(self) -> str:
        parts: list[str] = []
        place: _Place | None = self
        while place is not None:
            parts.append(place.segment)
            place = place.above
        return "".join(reversed(parts))


class Token(NamedTuple):
    """`text[start:end]` is a number, or what stands between the quotes of a key or a string."""

    kind: Kind
    start: int
    end: int
    place: _Place
    position: int


@dataclass(frozen=True, slots=True, repr=False)
class Edit:
    """`[start, end)` of a text is to become `new`."""

    start: int
    end: int
    new: str


def rewrite(text: str, path: str, label: str, visit: Visit) -> str | None:
    """`text` with every leaf visited and replaced in place; None if it is not a JSON object or array.

    Leaves carry `raw` and paths such as `<path>#$.card`. Raises `UnsupportedByPolicy` below `DEEPEST` levels.
    """
    edits = _edits(text, path, label, visit, 0)
    return None if edits is None else _spliced(text, edits)


def _edits(text: str, path: str, label: str, visit: Visit, depth: int) -> list[Edit] | None:
    tokens = scan(text, _Place(None, f"{path}#$", label))
    if tokens is None:
        tokens = _of_lines(text, path, label)
    if tokens is None:
        return None
    if depth == DEEPEST:
        raise UnsupportedByPolicy(f"JSON text is nested more than {DEEPEST} times at {path}.", param=path)
    if _is_scalar(text, tokens):
        return _inner_edits(text, tokens[0], path, visit, depth)
    edits: list[Edit] = []
    for token in tokens:
        edits += _visited(text, token, visit, depth)
    return edits


def _of_lines(text: str, path: str, label: str) -> list[Token] | None:
    """The tokens of JSON lines: at least two lines that each are an object or an array; None if they are not."""
    if text.lstrip(" \t\n\r")[:1] not in {"{", "["}:
        return None
    tokens: list[Token] = []
    lines = at = 0
    for line in text.split("\n"):
        if line.strip():
            found = scan(line, _Place(None, f"{path}#{lines}$", label)) if line.lstrip()[:1] in {"{", "["} else None
            if found is None:
                return None
            tokens += (token._replace(start=token.start + at, end=token.end + at) for token in found)
            lines += 1
        at += len(line) + 1
    return tokens if lines > 1 else None


def _is_scalar(text: str, tokens: list[Token]) -> bool:
    return len(tokens) == 1 and text[: tokens[0].start].lstrip(" \t\n\r") == '"'


def _visited(text: str, token: Token, visit: Visit, depth: int) -> list[Edit]:
    raw = text[token.start : token.end]
    if not raw:
        return []
    if token.kind is Kind.KEY:
        return _visited_key(raw, token, visit)
    path = token.place.path()
    if token.kind is Kind.TEXT:
        inner = _inner_edits(text, token, path, visit, depth)
        if inner is not None:
            return inner
    shown = inspected_number(raw) if token.kind is Kind.NUMBER else decode(raw)
    new = visit(Leaf(path, shown, token.kind, token.place.label, raw))
    return [] if new == raw else _changes(token, new)


def _changes(token: Token, new: str) -> list[Edit]:
    """What became of a token, as small as it is known."""
    if not isinstance(new, Rewritten):
        return [Edit(token.start, token.end, new)]
    return [
        Edit(token.start + span.start, token.start + span.end, new[span.new_start : span.new_end]) for span in new.moved
    ]


def _visited_key(raw: str, token: Token, visit: Visit) -> list[Edit]:
    above = token.place.above
    base = above.path() if above is not None else ""
    new = visit(Leaf(hidden_path(base, token.position), decode(raw), Kind.KEY, "", raw))
    if new == raw:
        return []
    token.place.segment = hidden_path("", token.position)
    return [Edit(token.start, token.end, new)]


def _inner_edits(text: str, token: Token, path: str, visit: Visit, depth: int) -> list[Edit] | None:
    """The edits inside a string that is itself JSON text, in the offsets of the text around it."""
    raw = text[token.start : token.end]
    inner = decode(raw)
    if inner.lstrip(" \t\n\r")[:1] not in {"{", "[", '"'}:
        return None
    edits = _edits(inner, path, token.place.label, visit, depth + 1)
    if not edits:
        return edits
    at = offsets(raw)
    return [Edit(token.start + at[edit.start], token.start + at[edit.end], escape(edit.new)) for edit in edits]


def _spliced(text: str, edits: list[Edit]) -> str:
    if not edits:
        return text
    pieces: list[str] = []
    moved: list[Moved] = []
    done = size = 0
    for edit in edits:
        size += edit.start - done
        moved.append(Moved(edit.start, edit.end, size, size + len(edit.new)))
        size += len(edit.new)
        pieces += text[done : edit.start], edit.new
        done = edit.end
    return Rewritten("".join(pieces) + text[done:], moved)


@dataclass(slots=True, eq=False, repr=False)
class _Frame:
    """An open container. `position` counts its members."""

    is_object: bool
    place: _Place
    position: int = 0


def scan(text: str, root: _Place) -> list[Token] | None:
    """Every key, string and number of a JSON text in order; None if it is not a JSON object, array or string."""
    at = _end_of_space(text, 0)
    if text[at : at + 1] not in {"{", "[", '"'}:
        return None
    return _Scanner(text, root).run(at)


def _end_of_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


class _Scanner:
    """One pass over one text. `at` is -1 once the text has turned out not to be JSON."""

    def __init__(self, text: str, root: _Place) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.frames: list[_Frame] = []
        self.root = self.place = root
        self.deepest = 0

    def run(self, at: int) -> list[Token] | None:
        at = self._value(at)
        while at >= 0 and self.frames:
            at = self._member_or_end(_end_of_space(self.text, at))
        if at < 0 or _end_of_space(self.text, at) < len(self.text):
            return None
        if self.deepest > MOST_LEVELS:
            path = self.root.path()
            raise UnsupportedByPolicy(f"The JSON text at {path} has more than {MOST_LEVELS} levels.", param=path)
        return self.tokens

    def _value(self, at: int) -> int:
        """Reads a scalar whole, or opens a container."""
        char = self.text[at : at + 1]
        if char == "{" or char == "[":
            self.frames.append(_Frame(char == "{", self.place))
            self.deepest = max(self.deepest, len(self.frames))
            return at + 1
        if char == '"':
            return self._token(_STRING, 1, Kind.TEXT, at)
        if char in "-0123456789" and char:
            return self._token(_NUMBER, 0, Kind.NUMBER, at)
        match = _LITERAL.match(self.text, at)
        return match.end() if match else -1

    def _token(self, pattern: re.Pattern[str], group: int, kind: Kind, at: int) -> int:
        match = pattern.match(self.text, at)
        if match is None:
            return -1
        position = self.frames[-1].position if self.frames else 0
        self.tokens.append(Token(kind, match.start(group), match.end(group), self.place, position))
        return match.end()

    def _member_or_end(self, at: int) -> int:
        """In a container: its end, or a comma where one is due, then a member."""
        frame = self.frames[-1]
        char = self.text[at : at + 1]
        if char == ("}" if frame.is_object else "]"):
            self.frames.pop()
            return at + 1
        if frame.position:
            if char != ",":
                return -1
            at = _end_of_space(self.text, at + 1)
        at = self._key(frame, at) if frame.is_object else self._element(frame, at)
        frame.position += 1
        return at if at < 0 else self._value(at)

    def _element(self, frame: _Frame, at: int) -> int:
        self.place = _Place(frame.place, f"[{frame.position}]", frame.place.label)
        return at

    def _key(self, frame: _Frame, at: int) -> int:
        match = _STRING.match(self.text, at)
        if match is None:
            return -1
        key = decode(match[1])
        segment = field_path("", key, frame.position)
        self.place = _Place(frame.place, segment, label_of(key, frame.place.label))
        self.tokens.append(Token(Kind.KEY, match.start(1), match.end(1), self.place, frame.position))
        at = _end_of_space(self.text, match.end())
        return _end_of_space(self.text, at + 1) if self.text[at : at + 1] == ":" else -1

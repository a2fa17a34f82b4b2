"""Server-sent events, read byte by byte and written in the one form that every client accepts.

Reading follows the WHATWG standard (HTML, "Server-sent events"), with two deviations: an event that the end of
the stream left open is still handed out by `finish`, and bytes that are no UTF-8 are an error. Writing never emits
`id:`, `retry:`, empty data or an `event:` without data, on which official clients fail; what an upstream says in
comments is dropped. May import: errors, the standard library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from proxy.errors import BadAnswer

KEEP_ALIVE = b": keep-alive\n\n"
LARGEST = 16 << 20

_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"
_EVENT_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Event:
    """`data` with its lines joined by line feeds; `comment` marks a sign of life without data."""

    data: str = field(default="", repr=False)
    name: str | None = None
    comment: bool = False


class SSEParser:
    """One stream, cut anywhere. `feed` and `finish` raise `BadAnswer` (event too large, no UTF-8)."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._start: bytes | None = b""
        self._skip_line_feed = False
        self._line: list[bytes] = []
        self._data: list[str] = []
        self._name: str | None = None
        self._fields = False
        self._size = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that `chunk` completes, in order."""
        chunk = self._without_bom(chunk)
        if chunk and self._skip_line_feed:
            self._skip_line_feed = False
            chunk = chunk.removeprefix(b"\n")
        events: list[Event] = []
        at = 0
        for match in _LINE_END.finditer(chunk):
            self._keep(chunk[at : match.start()])
            at = match.end()
            event = self._end_of_line()
            if event is not None:
                events.append(event)
            self._skip_line_feed = match[0] == b"\r" and at == len(chunk)
        self._keep(chunk[at:])
        return events

    def finish(self) -> list[Event]:
        """What the end of the stream left open."""
        events = self.feed(b"\n\n" if self._start is None else b"")
        return [event for event in events if not event.comment]

    def _without_bom(self, chunk: bytes) -> bytes:
        if self._start is None:
            return chunk
        self._start += chunk
        if len(self._start) < len(_BOM) and _BOM.startswith(self._start):
            return b""
        chunk, self._start = self._start.removeprefix(_BOM), None
        return chunk

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._largest:
            raise BadAnswer("An event of the upstream's stream is too large.", code="event_too_large")
        if piece:
            self._line.append(piece)

    def _end_of_line(self) -> Event | None:
        line = b"".join(self._line)
        self._line.clear()
        if not line:
            return self._end_of_event()
        if line.startswith(b":"):
            return None if self._fields else self._reset(Event(comment=True))
        name, _, value = line.partition(b":")
        self._fields = True
        try:
            self._field(name, value.removeprefix(b" ").decode())
        except UnicodeDecodeError:
            raise BadAnswer("The upstream's stream is not UTF-8.", code="unreadable_answer") from None
        return None

    def _field(self, name: bytes, value: str) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value

    def _end_of_event(self) -> Event | None:
        if not self._fields:
            return self._reset(None)
        data = "\n".join(self._data)
        return self._reset(Event(data, self._name or None) if data.strip("\n") else Event(comment=True))

    def _reset(self, event: Event | None) -> Event | None:
        self._data, self._name, self._fields, self._size = [], None, False, 0
        return event


def written(data: str, name: str | None = None) -> bytes:
    """One event. Raises `BadAnswer` for an event name that is not a plain word, which none of these APIs has."""
    if name is not None and not _EVENT_NAME.match(name):
        raise BadAnswer("An event of the upstream's stream has an unreadable name.", code="unreadable_answer")
    head = f"event: {name}\n" if name else ""
    return (head + "".join(f"data: {line}\n" for line in data.split("\n")) + "\n").encode()

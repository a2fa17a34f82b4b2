"""Restoring an event stream, whatever the API: bytes in, events held until their texts are decided, bytes out.

An API says in a subclass what its events are and where texts grow in them. Sans-I/O, one instance a stream.
May import: model, errors, base, sse, hold, the standard library.
"""

from __future__ import annotations

from proxy.errors import BadAnswer, BadRequest, Refusal
from proxy.model import JSON, Restoring, Seen
from proxy.wire.base import parse_answer, serialise
from proxy.wire.hold import Held, HoldBack
from proxy.wire.sse import KEEP_ALIVE, Event, SSEParser, written

_DONE = "[DONE]"


class EventStream:
    """Bytes of the upstream's stream in, bytes of the client's stream out. One per request, sans-I/O.

    `feed` and `finish` raise `BadAnswer`; the stream must then be broken off. So it must when `seen.done` is False
    after `finish`: the upstream stopped in the middle.
    """

    def __init__(self, restoring: Restoring, seen: Seen) -> None:
        self._restoring = restoring
        self._seen = seen
        self._parser = SSEParser()
        self._hold = HoldBack()

    def feed(self, chunk: bytes) -> bytes:
        return b"".join([self._event(event) for event in self._parser.feed(chunk)])

    def finish(self) -> bytes:
        """What is left when the upstream has ended; a last event that was cut off is dropped."""
        try:
            out = [self._event(event) for event in self._parser.finish()]
        except BadAnswer:
            out = []
        if not self._seen.done and not self._seen.upstream_error:
            self._seen.done = self._is_complete()
        self._hold.finish()
        return b"".join(out) + self._released()

    def broken(self, refusal: Refusal) -> bytes:
        """The last event of a stream that is broken off, in the API's form."""
        raise NotImplementedError

    def _event(self, event: Event) -> bytes:
        if self._seen.done:
            return b""
        if event.comment:
            return KEEP_ALIVE
        if event.data.startswith(_DONE):
            return self._done(event)
        payload = self._payload(event.data)
        held = self._hold.add(payload, event.name, len(event.data))
        self._restore(held)
        return self._released()

    def _done(self, event: Event) -> bytes:
        """`[DONE]`: the end, to APIs that have it."""
        self._hold.finish()
        self._seen.done = True
        return self._released() + written(_DONE)

    def _released(self) -> bytes:
        return b"".join([self._written(held) for held in self._hold.release()])

    def _written(self, held: Held) -> bytes:
        """A restored event as the client gets it."""
        return written(serialise(held.payload).decode(), held.name)

    def _payload(self, data: str) -> dict[str, JSON]:
        try:
            payload = parse_answer(data.encode())
        except BadRequest:
            payload = None
        if not isinstance(payload, dict) or not self._is_known(payload):
            raise BadAnswer("The upstream's stream holds an event of an unknown kind.", code="unreadable_answer")
        return payload

    def _is_known(self, payload: dict[str, JSON]) -> bool:
        """Whether the payload is one of the API's events."""
        raise NotImplementedError

    def _restore(self, held: Held) -> None:
        """Takes down what the event says about the answer, and gives its texts to `_hold` or restores them."""
        raise NotImplementedError

    def _is_complete(self) -> bool:
        """Whether a stream that ends here without the API's last event was complete."""
        return False

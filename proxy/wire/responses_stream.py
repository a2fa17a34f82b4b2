"""The event stream of POST /responses, restored as it comes.

One growing text per item and field; it ends with its `done` event, its part, its item or the response. What an
event repeats whole is restored whole, by the same rules, so that the sum of the deltas, `done`, item and response
agree. Events keep their number, order and sequence numbers. What is not understood stops the stream.

May import: model, errors, base, sse, hold, identity, seals, responses_answers, responses_events, the standard
library.
"""

from __future__ import annotations

from typing import cast

from proxy.errors import BadAnswer, BadRequest, Refusal
from proxy.model import JSON, Restoring, Seen
from proxy.wire.answers import InTool, citations, context_of, rekey
from proxy.wire.base import parse_answer, serialise
from proxy.wire.hold import Held, HoldBack, Key, Track
from proxy.wire.identity import Identity
from proxy.wire.responses_answers import ENDS, identify, note, probabilities, remember, restored, tool_of
from proxy.wire.responses_events import ANNOTATION, ENDED, ERROR, GROWING, ITEM_DONE, OF_TOOLS, PARTS_DONE, is_known
from proxy.wire.seals import NO_SEALS, Seals
from proxy.wire.sse import KEEP_ALIVE, Event, SSEParser, written

_DONE = "[DONE]"


class ResponsesStream:
    """Bytes of the upstream's stream in, bytes of the client's stream out. One per request, sans-I/O.

    `feed` and `finish` raise `BadAnswer`; the stream must then be broken off. So it must when `seen.done` is False
    after `finish` and no error was told: the upstream stopped in the middle.

    `after`: events up to this sequence number are read and not handed on. So a client takes up a stream where it was
    cut off, in the middle of a placeholder too.
    """

    def __init__(self, restoring: Restoring, seen: Seen, after: int = -1, seals: Seals = NO_SEALS) -> None:
        self._after = after
        self._seals = seals
        self._restoring = restoring
        self._seen = seen
        self._parser = SSEParser()
        self._hold = HoldBack()
        self._tools: dict[int | str, str] = {}
        self._tracks: dict[Key, Track] = {}
        self._next = 0
        self._identity = Identity(seen)
        self._resumable = False

    def feed(self, chunk: bytes) -> bytes:
        return b"".join([self._event(event) for event in self._parser.feed(chunk)])

    def finish(self) -> bytes:
        """What is left when the upstream has ended; a last event that was cut off is dropped."""
        try:
            out = [self._event(event) for event in self._parser.finish()]
        except BadAnswer:
            out = []
        if self._seen.done or self._seen.upstream_error:
            self._hold.finish()
        # Else the stream broke off: what could be half of a placeholder is not told, so that a client which takes the
        # stream up behind the last event that it has seen gets all of it.
        return b"".join(out) + self._released()

    def broken(self, refusal: Refusal) -> bytes:
        """The last event of a stream that is broken off; where that can be taken up again, it takes no number."""
        number = max(0, self._next - 1) if self._resumable else self._next
        error = {"code": refusal.code, "message": refusal.message, "param": refusal.param}
        payload = {"type": ERROR, **error, "sequence_number": number}
        return written(serialise(cast(JSON, payload)).decode(), ERROR)

    def _event(self, event: Event) -> bytes:
        if event.data.startswith(_DONE):
            return self._end()
        if self._seen.done:
            return b""
        if event.comment:
            return KEEP_ALIVE
        payload = _payload(event.data)
        held = self._hold.add(payload, event.name, len(event.data))
        self._read(held, str(payload.get("type", ERROR)))
        return self._released()

    def _end(self) -> bytes:
        """Some gateways add `[DONE]`, as in chat; alone it would make a cut answer look complete."""
        if not self._seen.done and not self._seen.upstream_error:
            raise BadAnswer("The upstream's stream ended without its last event.", code="upstream_stream_broken")
        self._hold.finish()
        return self._released() + written(_DONE)

    def _released(self) -> bytes:
        out: list[bytes] = []
        for held in self._hold.release():
            number = held.payload.get("sequence_number")
            self._next = number + 1 if isinstance(number, int) else self._next
            if isinstance(number, int) and number <= self._after:
                continue
            out.append(written(serialise(held.payload).decode(), held.name))
        return b"".join(out)

    def _read(self, held: Held, kind: str) -> None:
        event = held.payload
        rekey(event, self._restoring)
        self._note(event, kind)
        name, _, end = kind.rpartition(".")
        if name in GROWING and end == "delta":
            self._grow(held, name)
            return
        self._finish(event, kind, name)
        if kind == ANNOTATION:
            self._annotation(held)
        elif kind != "response.audio.delta":
            within = self._within(event, name)
            for field, value in event.items():
                event[field] = self._member(field, value, GROWING.get(name, ("",))[0], within)

    def _member(self, field: str, value: JSON, text: str, within: Restoring) -> JSON:
        if field == "logprobs":
            return probabilities(value, self._restoring)
        return restored(value, field, within if field == text else self._restoring)

    def _note(self, event: dict[str, JSON], kind: str) -> None:
        self._identity.event(event)
        item = event.get("item")
        remember(item, self._seals)
        tool = tool_of(item)
        if tool is not None:
            self._tools[_index(event, "output_index")] = tool
        if kind == ERROR:
            self._seen.upstream_error = True
        response = event.get("response")
        identify(response, self._seen)
        self._resumable |= isinstance(response, dict) and response.get("background") is True
        if kind in ENDED:
            note(event.get("response"), self._seen)
            self._seen.done = True

    def _finish(self, event: dict[str, JSON], kind: str, name: str) -> None:
        """Ends the texts that this event says are complete."""
        output = _index(event, "output_index")
        if name in GROWING:
            own = _key(event, name)
            self._hold.finish(lambda key: key[:3] == own)
        elif kind in PARTS_DONE:
            index = PARTS_DONE[kind]
            at = _index(event, index)
            self._hold.finish(lambda key: key[0] == output and GROWING[str(key[1])][1] == index and key[2] == at)
        elif kind == ITEM_DONE:
            self._hold.finish(lambda key: key[0] == output)
        elif kind in ENDED or kind == ERROR:
            self._hold.finish()

    def _grow(self, held: Held, name: str) -> None:
        event, key = held.payload, _key(held.payload, name)
        for field, value in event.items():
            if field == "delta" and isinstance(value, str):
                self._piece(held, event, field, key)
            elif field == "delta" and isinstance(value, dict):
                rekey(value, self._restoring)
                for stream in value:
                    self._piece(held, value, stream, (*key, stream))
            else:
                event[field] = self._member(field, value, "", self._restoring)

    def _piece(self, held: Held, container: dict[str, JSON], field: str, key: Key) -> None:
        value, name = container[field], str(key[1])
        if not isinstance(value, str) or not value:
            container[field] = restored(value, field, self._restoring)
            return
        within = self._within(held.payload, name)
        text = self._hold.grow(held, key, container, field, lambda: within.growing(context_of(GROWING[name][0])))
        self._tracks.setdefault(key, Track()).took(text, len(value))

    def _within(self, event: dict[str, JSON], name: str) -> Restoring:
        tool = self._tools.get(_index(event, "output_index")) if name in OF_TOOLS else None
        return self._restoring if tool is None else InTool(self._restoring, tool)

    def _annotation(self, held: Held) -> None:
        """Mapped when the event leaves: all text before it is decided by then."""
        event = held.payload
        track = self._tracks.get(_key(event, "response.output_text"), Track())

        def act() -> None:
            event["annotation"] = citations(event["annotation"], track.moved(), self._restoring, ENDS)

        if "annotation" in event:
            held.late.append(act)


def _key(event: dict[str, JSON], name: str) -> Key:
    index = GROWING[name][1]
    return (_index(event, "output_index"), name, _index(event, index) if index else "")


def _index(event: dict[str, JSON], name: str) -> int | str:
    index = event.get(name)
    return index if isinstance(index, int | str) else ""


def _payload(data: str) -> dict[str, JSON]:
    try:
        payload = parse_answer(data.encode())
    except BadRequest:
        payload = None
    if not isinstance(payload, dict) or not is_known(payload):
        raise BadAnswer("The upstream's stream holds an event of an unknown kind.", code="unreadable_answer")
    return payload

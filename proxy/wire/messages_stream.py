"""The event stream of Anthropic's Messages API, restored as it comes.

A text grows per block and kind of delta, and ends with its block: what is held goes out in front of
`content_block_stop`. Signed thinking passes as it came, or is restored where it is remembered how to undo that.
Events of an unknown type are restored and passed, since the API adds some; what is no event stops the stream.
Source: the Messages API's streaming reference and its SDKs.

May import: model, errors, answers, base, events, hold, identity, messages_answers, messages_errors, pointers, seals,
sse.
"""

from __future__ import annotations

from proxy.errors import Refusal
from proxy.model import JSON, Context, Moved, Restoring, Seen, TextRestorer
from proxy.wire.answers import PROTOCOL, InTool, rekey, restored
from proxy.wire.base import serialise
from proxy.wire.events import EventStream
from proxy.wire.hold import Held
from proxy.wire.identity import Identity
from proxy.wire.messages_answers import block, message, note
from proxy.wire.messages_errors import error_body
from proxy.wire.pointers import Documents, cited, pointed
from proxy.wire.seals import SIGNED, TEXT, NoSeals, Seals
from proxy.wire.sse import Event, written

_ENDS = frozenset({"message_delta", "message_stop", "error"})


class _Shown:
    """A growing text that keeps what it was restored to."""

    def __init__(self, inner: TextRestorer) -> None:
        self._inner = inner
        self._out: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._out)

    @property
    def pending(self) -> bool:
        return self._inner.pending

    @property
    def moved(self) -> list[Moved]:
        return self._inner.moved

    def feed(self, text: str) -> str:
        self._out.append(self._inner.feed(text))
        return self._out[-1]

    def finish(self) -> str:
        self._out.append(self._inner.finish())
        return self._out[-1]


class MessagesStream(EventStream):
    """Events by name: `message_start`, `content_block_*`, `message_delta`, `message_stop`, `ping`, `error`."""

    def __init__(self, restoring: Restoring, seen: Seen, seals: Seals | None = None, documents: Documents = ()) -> None:
        super().__init__(restoring, seen)
        self._documents = documents
        self._identity = Identity(seen)
        self._seals = seals or NoSeals()
        self._signed: dict[int, dict[str, JSON]] = {}
        self._tools: dict[int, str] = {}
        self._shown: dict[int, _Shown] = {}

    def broken(self, refusal: Refusal) -> bytes:
        return written(serialise(error_body(refusal)).decode(), "error")

    def _is_known(self, payload: dict[str, JSON]) -> bool:
        return isinstance(payload.get("type"), str) or bool(payload.get("error"))

    def _done(self, event: Event) -> bytes:
        """Some gateways put it behind `message_stop`; before that it is not the end."""
        self._hold.finish()
        return self._released() + written(event.data, event.name)

    def _restore(self, held: Held) -> None:
        payload = held.payload
        self._identity.block(payload)
        rekey(payload, self._restoring)
        kind, index = str(payload.get("type")), _index(payload)
        if kind in _ENDS or payload.get("error"):
            self._hold.finish()
        if kind == "content_block_start":
            self._start(held, index)
        elif kind == "content_block_delta":
            self._delta(held, index)
        elif kind == "content_block_stop":
            self._stop(index)
        elif kind == "message_start" and isinstance(payload.get("message"), dict):
            self._message(payload)
        else:
            note(payload, self._seen)
            self._whole(payload)
        if kind == "message_stop":
            self._seen.done = True

    def _whole(self, payload: dict[str, JSON]) -> None:
        for key, value in payload.items():
            payload[key] = restored(value, key, self._restoring)

    def _message(self, payload: dict[str, JSON]) -> None:
        started = payload["message"]
        if isinstance(started, dict):
            note(started, self._seen)
            payload["message"] = dict(message(started, self._restoring, self._seals, self._documents))

    def _start(self, held: Held, index: int) -> None:
        begun = held.payload.get("content_block")
        if not isinstance(begun, dict):
            return self._whole(held.payload)
        kind, name = str(begun.get("type")), begun.get("name")
        if kind not in SIGNED:
            rekey(begun, self._restoring)
        if isinstance(name, str):
            self._tools[index] = name
        if kind in SIGNED:
            self._signed[index] = dict(begun)
            self._show(held, begun, index)
            return None
        if kind != "text" or not isinstance(begun.get("text"), str):
            held.payload["content_block"] = cited(block(begun, self._restoring, self._seals), self._documents)
            return None
        for key, value in begun.items():
            if key != "text":
                begun[key] = pointed(restored(value, key, self._restoring), self._documents)
        self._grow(held, begun, "text", index)
        return None

    def _delta(self, held: Held, index: int) -> None:
        delta = held.payload.get("delta")
        if not isinstance(delta, dict):
            return self._whole(held.payload)
        if index in self._signed:
            self._sign(self._signed[index], delta)
            self._show(held, delta, index)
            return None
        rekey(delta, self._restoring)
        for key, value in delta.items():
            if isinstance(value, str) and key not in PROTOCOL:
                self._grow(held, delta, key, index)
            else:
                delta[key] = pointed(restored(value, key, self._restoring), self._documents)
        return None

    def _grow(self, held: Held, container: dict[str, JSON], name: str, index: int) -> None:
        """One piece of a text of this block. Its restorer depends on the block, whose first event came before."""
        if not container[name]:
            return
        is_json, tool = name == "partial_json", self._tools.get(index)
        within = InTool(self._restoring, tool) if is_json and tool is not None else self._restoring
        context = Context.JSON if is_json else Context.PLAIN
        self._hold.grow(held, (index, name), container, name, lambda: within.growing(context))

    def _sign(self, signed: dict[str, JSON], delta: dict[str, JSON]) -> None:
        """Puts a signed block together as the client does: texts grow, the signature replaces an earlier one."""
        for key, value in delta.items():
            if isinstance(value, str) and key != "type":
                before = signed.get(key) if key == TEXT else ""
                signed[key] = f"{before or ''}{value}"

    def _show(self, held: Held, container: dict[str, JSON], index: int) -> None:
        """Restores a piece of thinking for display, where that can be undone when it comes back."""
        if not self._seals.shows or not container.get(TEXT) or not isinstance(container[TEXT], str):
            return
        if index not in self._shown:
            self._shown[index] = _Shown(self._restoring.growing(Context.PLAIN))
        shown = self._shown[index]
        self._hold.grow(held, (index, TEXT), container, TEXT, lambda: shown)

    def _stop(self, index: int) -> None:
        self._hold.finish(lambda key: key[0] == index)
        self._tools.pop(index, None)
        signed = self._signed.pop(index, None)
        shown = self._shown.pop(index, None)
        if signed is not None and shown is not None:
            self._seals.remember(signed, shown.text, shown.moved)
        elif signed is not None:
            self._seals.remember(signed)


def _index(payload: dict[str, JSON]) -> int:
    index = payload.get("index")
    return index if isinstance(index, int) else 0

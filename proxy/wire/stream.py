"""The event stream of POST /chat/completions, restored as it comes.

One growing text per choice and field of its delta, tool calls apart. A text ends with its choice, or when another
field of the choice goes on (reasoning, then content, then a tool call); parallel tool calls may interleave, so one
does not end the other. What is no chunk, error or `[DONE]` stops the stream: nothing passes that is not understood.

May import: model, errors, base, events, sse, hold, identity, answers, the standard library.
"""

from __future__ import annotations

from typing import ClassVar, cast

from proxy.errors import BadAnswer, Refusal
from proxy.model import JSON, Restoring, Seen, TextRestorer
from proxy.wire.answers import (
    PROBABILITIES,
    PROTOCOL,
    TOOL_TEXTS,
    InTool,
    citations,
    context_of,
    message,
    note,
    rekey,
    restored,
)
from proxy.wire.base import serialise
from proxy.wire.events import EventStream
from proxy.wire.hold import Held, Key, Track
from proxy.wire.identity import Identity
from proxy.wire.sse import written

_CHUNK_FIELDS = frozenset({"usage", "prompt_filter_results"})
_CALLED = frozenset({"function", "custom", "function_call"})
_BLOBS = frozenset({("audio", "data"), ("reasoning_details", "data")})


class ChatStream(EventStream):
    """The chunks of a chat. `GROWING` names the texts that grow in a choice itself, beside those in its delta.

    `hides_usage`: the client did not ask for the provider's counts, the proxy did; what only tells them is left out.
    """

    GROWING: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, restoring: Restoring, seen: Seen, *, hides_usage: bool = False) -> None:
        super().__init__(restoring, seen)
        self._identity = Identity(seen, seen.choices)
        self._hides_usage = hides_usage
        self._contents: dict[int | str, Track] = {}
        self._calls: set[Key] = set()
        self._tools: dict[Key, str] = {}
        self._unfinished: dict[int | str, bool] = {}

    def broken(self, refusal: Refusal) -> bytes:
        return written(serialise(cast(JSON, refusal.body())).decode())

    def _written(self, held: Held) -> bytes:
        if self._hides_usage and "usage" in held.payload:
            if not held.payload.get("choices"):
                return b""
            if held.payload["usage"] is None:
                del held.payload["usage"]
        return super()._written(held)

    def _is_complete(self) -> bool:
        return bool(self._unfinished) and not any(self._unfinished.values())

    def _is_known(self, payload: dict[str, JSON]) -> bool:
        return _is_known(payload)

    def _restore(self, held: Held) -> None:
        note(held.payload, self._seen)
        self._identity.chunk(held.payload)
        rekey(held.payload, self._restoring)
        choices = held.payload.get("choices")
        if not isinstance(choices, list):
            if "usage" not in held.payload:
                self._hold.finish()
            choices = []
        for key, value in held.payload.items():
            if key != "choices":
                held.payload[key] = restored(value, key, self._restoring)
        for position, choice in enumerate(choices):
            if not isinstance(choice, dict):
                raise BadAnswer("A choice in the upstream's stream is no object.", code="unreadable_answer")
            self._choice(held, choice, _index(choice, position))

    def _choice(self, held: Held, choice: dict[str, JSON], index: int | str) -> None:
        rekey(choice, self._restoring)
        ended = choice.get("finish_reason") is not None
        self._unfinished[index] = self._unfinished.get(index, True) and not ended
        for key, value in choice.items():
            if key == "delta" and isinstance(value, dict):
                self._delta(held, value, index)
            elif key == "message" and isinstance(value, dict):
                choice[key] = cast(JSON, message(value, self._restoring))
            elif key in self.GROWING and isinstance(value, str):
                self._grow(held, choice, key, value, (index, key))
            else:
                drop = key in PROBABILITIES and not self._restoring.idle
                choice[key] = None if drop else restored(value, key, self._restoring)
        if ended:
            self._hold.finish(lambda key: key[0] == index)

    def _delta(self, held: Held, delta: dict[str, JSON], index: int | str) -> None:
        rekey(delta, self._restoring)
        grown: set[int | str] = set()
        for key, value in delta.items():
            if key == "annotations":
                self._citations(held, delta, index)
            elif self._grow(held, delta, key, value, (index, key)):
                grown.add(key)
        if grown:
            self._hold.finish(lambda key: key[0] == index and key[1] not in grown)

    def _citations(self, held: Held, delta: dict[str, JSON], index: int | str) -> None:
        """Mapped when the event leaves: all text before it is decided by then."""

        def act() -> None:
            content = self._contents.get(index)
            delta["annotations"] = citations(delta["annotations"], content.moved() if content else [], self._restoring)

        held.late.append(act)

    def _grow(self, held: Held, container: dict[str, JSON], name: str, value: JSON, key: Key) -> bool:
        """Gives every string below one member of a delta to its growing text; True if any of it was not empty."""
        if isinstance(value, str):
            if name == "name" and not _CALLED.isdisjoint(key):
                self._tools[key[:-1]] = value
            if not value or _stays(name, key):
                return False
            text = self._hold.grow(held, key, container, name, lambda: self._begin(container, name, key))
            if key[1:] == ("content",):
                self._contents.setdefault(key[0], Track()).took(text, len(value))
            return True
        if isinstance(value, dict):
            rekey(value, self._restoring)
            return _some([self._grow(held, value, field, inner, (*key, field)) for field, inner in value.items()])
        if isinstance(value, list):
            return _some([self._element(held, value, at, key) for at in range(len(value))])
        return False

    def _begin(self, container: dict[str, JSON], name: str, key: Key) -> TextRestorer:
        tool = container.get("name") or self._tools.get(key[:-1])
        within = InTool(self._restoring, tool) if name in TOOL_TEXTS and isinstance(tool, str) else self._restoring
        return within.growing(context_of(name))

    def _element(self, held: Held, parent: list[JSON], at: int, key: Key) -> bool:
        """An element of a list in a delta; its own `index` says which text it continues."""
        value = parent[at]
        if isinstance(value, str):
            parent[at] = self._restoring.whole(value, context_of(str(key[-1])))[0]
            return bool(value)
        key = (*key, _index(value, at) if isinstance(value, dict) else at)
        if key[1:2] == ("tool_calls",) and len(key) == 3 and key not in self._calls:
            self._calls.add(key)
            self._hold.finish(lambda other: other[:2] == key[:2] and other[2] != key[2] and other[-1] == "input")
        return self._grow(held, {}, "", value, key)


def _some(grew: list[bool]) -> bool:
    """`any` over a list that is already made, since every element must have been read."""
    return True in grew


def _is_known(payload: dict[str, JSON]) -> bool:
    """A chunk, or an error."""
    choices = payload.get("choices")
    if isinstance(choices, list):
        return True
    is_error = bool(payload.get("error")) or payload.get("object") == "error"
    return choices is None and (is_error or not _CHUNK_FIELDS.isdisjoint(payload))


def _index(node: dict[str, JSON], position: int) -> int | str:
    index = node.get("index")
    return index if isinstance(index, int | str) else position


def _stays(name: str, key: Key) -> bool:
    """Ids, words of the protocol, function names, blobs."""
    if name in PROTOCOL or (name == "name" and not _CALLED.isdisjoint(key)):
        return True
    return len(key) > 1 and (key[1], name) in _BLOBS

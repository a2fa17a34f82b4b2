"""Answers of Ollama's own API, whole and as a stream of JSON objects, one a line.

A line holds a piece of `message.content`, `message.thinking` or `response`, or whole tool calls; the last one says
`done`, why, and what it cost. May import: errors, model, answers, base, hold, toolinput, the standard library.
"""

from __future__ import annotations

from typing import cast

from proxy.errors import BadAnswer, BadRequest, Refusal
from proxy.model import JSON, Context, Restoring, Seen, Usage
from proxy.wire.answers import count, restored, restored_key
from proxy.wire.base import parse_answer, serialise
from proxy.wire.hold import Held, HoldBack
from proxy.wire.toolinput import restored_input

NDJSON = "application/x-ndjson"
LARGEST = 16 << 20
"""Bytes of one line."""
_GROWING = ("thinking", "content", "response")


def error_body(refusal: Refusal) -> dict[str, JSON]:
    """A refusal in Ollama's form; `code` and `param` say what ours say elsewhere."""
    return {"error": refusal.message, "code": refusal.code, "param": refusal.param}


def restore_answer(body: JSON, restoring: Restoring, seen: Seen) -> JSON:
    """The answer as the client may read it. The tree passed in is not reused."""
    if not isinstance(body, dict):
        return restored(body, "", restoring)
    note(body, seen)
    return {key: _member(key, value, restoring) for key, value in _keyed(body, restoring).items()}


def note(body: dict[str, JSON], seen: Seen) -> None:
    """Takes down usage, model, how it ended, and whether it is an error."""
    if isinstance(body.get("model"), str):
        seen.model = str(body["model"])
    prompt, completion = count(body.get("prompt_eval_count")), count(body.get("eval_count"))
    if prompt is not None or completion is not None:
        seen.usage = Usage(prompt, completion)
    if body.get("error"):
        seen.upstream_error = True
    if isinstance(body.get("done_reason"), str):
        seen.finish_reasons.append(str(body["done_reason"]))


def _keyed(node: dict[str, JSON], restoring: Restoring) -> dict[str, JSON]:
    return {restored_key(key, restoring): value for key, value in node.items()}


def _member(key: str, value: JSON, restoring: Restoring) -> JSON:
    if key in ("embeddings", "embedding", "context"):
        return value
    if key == "message" and isinstance(value, dict):
        return {name: _member(name, inner, restoring) for name, inner in _keyed(value, restoring).items()}
    if key == "tool_calls" and isinstance(value, list):
        return [_call(call, restoring) for call in value]
    return restored(value, key, restoring)


def _call(call: JSON, restoring: Restoring) -> JSON:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return restored(call, "", restoring)
    name = function.get("name")
    tool = name if isinstance(name, str) else None
    called: dict[str, JSON] = {
        key: value
        if key == "name"
        else restored_input(value, restoring, tool)
        if key == "arguments" and not isinstance(value, str)
        else restored(value, key, restoring)
        for key, value in function.items()
    }
    return {key: called if key == "function" else restored(value, key, restoring) for key, value in call.items()}


class OllamaStream:
    """Bytes of the upstream's stream in, bytes of the client's stream out. One per request, sans-I/O.

    `feed` and `finish` raise `BadAnswer`; the stream must then be broken off. So it must when `seen.done` is False
    after `finish`: the upstream stopped in the middle.
    """

    def __init__(self, restoring: Restoring, seen: Seen) -> None:
        self._restoring = restoring
        self._seen = seen
        self._hold = HoldBack()
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> bytes:
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for piece in ended:
            lines.append(b"".join([*self._rest, piece]))
            self._rest.clear()
            self._size = 0
        self._rest.append(rest)
        self._size += len(rest)
        if self._size > LARGEST:
            raise BadAnswer("A line of the upstream's stream is too large.", code="event_too_large")
        return b"".join([self._line(line) for line in lines])

    def finish(self) -> bytes:
        """What is left when the upstream has ended; a last line that was cut off is dropped."""
        try:
            out = self._line(b"".join(self._rest))
        except BadAnswer:
            out = b""
        self._hold.finish()
        return out + self._released()

    def broken(self, refusal: Refusal) -> bytes:
        """The last line of a stream that is broken off."""
        return serialise(cast(JSON, error_body(refusal))) + b"\n"

    def _line(self, line: bytes) -> bytes:
        if not line.strip() or self._seen.done:
            return b""
        payload = _payload(line)
        held = self._hold.add(payload, None, len(line))
        self._read(held)
        return self._released()

    def _released(self) -> bytes:
        return b"".join([serialise(held.payload) + b"\n" for held in self._hold.release()])

    def _read(self, held: Held) -> None:
        note(held.payload, self._seen)
        grown: set[str] = set()
        self._grow(held, held.payload, grown)
        if grown:
            self._hold.finish(lambda key: key[0] not in grown)
        if held.payload.get("error"):
            self._hold.finish()
        if held.payload.get("done") is True:
            self._hold.finish()
            self._seen.done = True

    def _grow(self, held: Held, node: dict[str, JSON], grown: set[str]) -> None:
        members = _keyed(node, self._restoring)
        node.clear()
        node.update(members)
        for key, value in members.items():
            if key in _GROWING and isinstance(value, str):
                if value:
                    grown.add(key)
                    self._hold.grow(held, (key,), node, key, lambda: self._restoring.growing(Context.PLAIN))
            elif key == "message" and isinstance(value, dict):
                self._grow(held, value, grown)
            else:
                node[key] = _member(key, value, self._restoring)


def _payload(line: bytes) -> dict[str, JSON]:
    try:
        payload = parse_answer(line)
    except BadRequest:
        payload = None
    if not isinstance(payload, dict) or not ("done" in payload or payload.get("error")):
        raise BadAnswer("The upstream's stream holds a line of an unknown kind.", code="unreadable_answer")
    return payload

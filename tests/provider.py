"""A provider that records all it receives, for tests with other people's clients.

It answers with the last user text, so a client that gets exactly its own words back has been restored exactly.
`model` steers it, `echo;chunk=1;slow=0.01`:

chunk=N     characters a piece of a stream (5)           slow=S   seconds before each piece
wait=S      seconds before the answer                    die=N    cut the connection after N events
status=N    answer with that status, and fail=K only the first K times of `key=X`; retry=S adds `retry-after`
calls=N     call the first tool N times (1)              mix=1    pieces of parallel calls take turns
json=1      the text inside a JSON object                ascii=1  every non-ASCII character of it escaped
probe=M     say the string that holds M, in whatever form the endpoint answers
extra=T.N   the answer goes on with the placeholder `<T_N>`  broken=1 an event that is no JSON in the middle
linger=S    seconds after the last event until the answer's body ends
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

from proxy import echo
from proxy.echo import Loopback
from tests import probe_answers, provider_messages, provider_responses

HEADERS = [(b"x-request-id", b"req_upstream"), (b"x-ratelimit-remaining-requests", b"99")]


@dataclass(frozen=True)
class Received:
    """One request as the provider reads it."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    complete: bool

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def tenant(self) -> str:
        return dict(self.headers).get("authorization", "")

    def texts(self) -> Iterator[str]:
        """Everything that can be read in it: as written, and decoded, JSON inside strings too."""
        yield from (self.path, self.query, *(value for header in self.headers for value in header))
        yield self.body.decode("utf-8", "replace")
        if self.body and self.complete:
            yield from strings(self.json)


def strings(node: Any) -> Iterator[str]:
    """Every string and key of a JSON tree, and of the trees that its strings hold."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)
    elif isinstance(node, str):
        yield node
        if node.lstrip()[:1] in ("{", "["):
            try:
                yield from strings(json.loads(node))
            except ValueError:
                return


def spellings(value: str) -> set[str]:
    """The ways in which a value could travel: itself, JSON-escaped, percent-encoded, in base64 at any offset."""
    raw = value.encode()
    found = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    found |= {quote(value), quote(value, safe=""), quote_plus(value), quote(value).lower()}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode()
        found.add(encoded[(0, 2, 3)[shift] : (shift + len(raw)) * 8 // 6])
    return {spelling for spelling in found if len(spelling) >= 4}


class Provider:
    """`with Provider() as provider:` runs it on a loopback port; what it saw is in `received`."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.active = 0
        self.peak = 0
        self.disconnects = 0
        self._failed: Counter[str] = Counter()
        self._loopback = Loopback(self._app)
        self._server = self._loopback._server
        self._server.config.timeout_keep_alive = 75  # as long as real ones do, so that idle connections are used again
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        return f"{self._loopback.url}/v1"

    @property
    def connections(self) -> int:
        """Connections that are open, busy or not."""
        return len(self._server.server_state.connections)

    @property
    def last(self) -> Received:
        return self.received[-1]

    def __enter__(self) -> Provider:
        self._loopback.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loopback.__exit__()

    def reset(self) -> None:
        self.received.clear()
        self._failed.clear()
        self.disconnects = 0

    def close_idle(self) -> None:
        """Closes the connections on which nothing is going on; what `connections` counts afterwards is busy."""
        if self._loop is not None:
            for connection in list(self._server.server_state.connections):
                self._loop.call_soon_threadsafe(connection.shutdown)

    def leaks(self, *values: str) -> list[str]:
        """Which of the values can be read in anything that was received, in any spelling."""
        seen = "\n".join(text for request in self.received for text in request.texts())
        return [value for value in values if any(spelling in seen for spelling in spellings(value))]

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self._loop = asyncio.get_running_loop()
        self.active += 1
        self.peak = max(self.peak, self.active)
        try:
            await self._exchange(scope, receive, send)
        finally:
            self.active -= 1

    async def _exchange(self, scope: Any, receive: Any, send: Any) -> None:
        raw, complete = await _body(receive)
        headers = tuple((name.decode(), value.decode("latin-1")) for name, value in scope["headers"])
        self.received.append(
            Received(scope["method"], scope["path"], scope["query_string"].decode(), headers, raw, complete)
        )
        if not complete:
            self.disconnects += 1
            return
        body = json.loads(raw) if raw else {}
        gone = asyncio.ensure_future(_disconnected(receive))
        work = asyncio.ensure_future(self._answer(scope["path"], body, knobs_of(body), send))
        await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            self.disconnects += 1
            work.cancel()
        gone.cancel()
        await asyncio.wait({gone, work})
        if not work.cancelled():
            work.result()

    async def _answer(self, path: str, body: dict[str, Any], knobs: dict[str, str], send: Any) -> None:
        await asyncio.sleep(float(knobs.get("wait", 0)))
        if "probe" in knobs:
            status, pieces = probe_answers.answer(path, body, knobs["probe"])
        else:
            status = self._status(knobs)
            pieces = _pieces(path, body, knobs, status)
        kind = b"text/event-stream" if body.get("stream") and status == 200 else b"application/json"
        headers = [*HEADERS, (b"content-type", kind)]
        if status != 200 and "retry" in knobs:
            headers.append((b"retry-after", knobs["retry"].encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for count, piece in enumerate(pieces):
            if count == int(knobs.get("die", -1)):
                return
            await asyncio.sleep(float(knobs.get("slow", 0)))
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(float(knobs.get("linger", 0)))
        await send({"type": "http.response.body", "body": b""})

    def _status(self, knobs: dict[str, str]) -> int:
        if "status" not in knobs:
            return 200
        key = knobs.get("key", "")
        self._failed[key] += 1
        return int(knobs["status"]) if self._failed[key] <= int(knobs.get("fail", 1_000_000)) else 200


def knobs_of(body: dict[str, Any]) -> dict[str, str]:
    return dict(part.split("=", 1) for part in str(body.get("model", "")).split(";")[1:])


def answer_text(body: dict[str, Any], knobs: dict[str, str]) -> str:
    """The words of the answer."""
    text = echo.last_user_text(body)
    if "extra" in knobs:
        text += f" <{knobs['extra'].replace('.', '_')}>"
    if "json" in knobs or (body.get("response_format") or {}).get("type") == "json_schema":
        return json.dumps({"text": text, "items": [text, "x"]}, ensure_ascii="ascii" in knobs)
    return text


def _pieces(path: str, body: dict[str, Any], knobs: dict[str, str], status: int) -> Iterator[bytes]:
    if status != 200:
        said = echo.last_user_text(body)
        error = {"message": f"cannot read {said}", "type": "server_error", "param": None, "code": f"u{status}"}
        return iter([json.dumps({"error": error}).encode()])
    if provider_messages.is_asked(path):
        return provider_messages.pieces(path, body, knobs)
    if path.endswith("/embeddings"):
        return iter([json.dumps(_embeddings(body)).encode()])
    if "input" in body:
        return provider_responses.pieces(body, knobs)
    if body.get("stream"):
        return _broken(_stream(body, knobs)) if "broken" in knobs else _stream(body, knobs)
    return iter([json.dumps(_whole(body, knobs), ensure_ascii="ascii" in knobs).encode()])


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """A vector a text, the same for the same text: how long it is, and what its characters sum up to."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    vectors = [[float(len(text)), float(sum(map(ord, text)))] for text in texts]
    packed = body.get("encoding_format") == "base64"
    written = [base64.b64encode(struct.pack("<2f", *one)).decode() if packed else one for one in vectors]
    data = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(written)]
    return {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 9, "total_tokens": 9}}


def _broken(events: Iterator[bytes]) -> Iterator[bytes]:
    for count, event in enumerate(events):
        yield event if count != 4 else b'data: {"choices": [\n\n'


def _choices(body: dict[str, Any]) -> range:
    return range(body.get("n") or 1)


def _calls(body: dict[str, Any], knobs: dict[str, str]) -> list[dict[str, Any]]:
    functions = [tool["function"]["name"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
    if not functions or body["messages"][-1]["role"] == "tool" or body.get("tool_choice") == "none":
        return []
    arguments = json.dumps({"text": answer_text(body, knobs), "count": 1}, ensure_ascii="ascii" in knobs)
    return [
        {"id": f"call_{at}", "type": "function", "function": {"name": functions[0], "arguments": arguments}}
        for at in range(int(knobs.get("calls", 1)))
    ]


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": echo.CREATED, "model": body.get("model")}


def _usage(body: dict[str, Any], knobs: dict[str, str]) -> dict[str, int]:
    told = echo.usage(body)
    return {**told, "prompt_tokens": int(knobs.get("prompt_tokens", told["prompt_tokens"]))}


def _whole(body: dict[str, Any], knobs: dict[str, str]) -> dict[str, Any]:
    if "model" not in body:
        return {"object": "list", "data": [{"id": "echo", "object": "model", "created": 1, "owned_by": "echo"}]}
    calls = _calls(body, knobs)
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else answer_text(body, knobs)}
    if calls:
        message["tool_calls"] = calls
    end = "tool_calls" if calls else "stop"
    choices = [{"index": at, "message": message, "finish_reason": end} for at in _choices(body)]
    return {**_head(body, "chat.completion"), "choices": choices, "usage": _usage(body, knobs)}


def _stream(body: dict[str, Any], knobs: dict[str, str]) -> Iterator[bytes]:
    calls = _calls(body, knobs)
    deltas = list(_call_deltas(calls, knobs)) if calls else list(_text_deltas(answer_text(body, knobs), knobs))
    end = "tool_calls" if calls else "stop"
    for delta in [{"role": "assistant", "content": None if calls else ""}, *deltas]:
        for at in _choices(body):
            yield _chunk(body, at, delta, None)
    for at in _choices(body):
        yield _chunk(body, at, {}, end)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield echo.event({**_head(body, "chat.completion.chunk"), "choices": [], "usage": _usage(body, knobs)})
    yield echo.event(None)


def _chunk(body: dict[str, Any], index: int, delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return echo.event({**_head(body, "chat.completion.chunk"), "choices": [choice]})


def _cut(text: str, knobs: dict[str, str]) -> list[str]:
    size = int(knobs.get("chunk", 5))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _text_deltas(text: str, knobs: dict[str, str]) -> Iterator[dict[str, Any]]:
    return ({"content": piece} for piece in _cut(text, knobs))


def _call_deltas(calls: list[dict[str, Any]], knobs: dict[str, str]) -> Iterator[dict[str, Any]]:
    pieces = [_call_pieces(at, call, knobs) for at, call in enumerate(calls)]
    turns = zip(*pieces, strict=True) if "mix" in knobs else pieces
    return ({"tool_calls": [piece]} for turn in turns for piece in turn)


def _call_pieces(at: int, call: dict[str, Any], knobs: dict[str, str]) -> list[dict[str, Any]]:
    function = call["function"]
    first = {"index": at, **call, "function": {"name": function["name"], "arguments": ""}}
    return [first, *({"index": at, "function": {"arguments": piece}} for piece in _cut(function["arguments"], knobs))]


async def _body(receive: Any) -> tuple[bytes, bool]:
    """What came of the body, and whether that is all of it: a proxy whose client left may stop in the middle."""
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return b"".join(parts), message["type"] != "http.disconnect"


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Recorder(threading.Thread):
    """Reads a pipe to its end, so that whoever writes to it never waits; `text` is what came."""

    def __init__(self, pipe: Any) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._parts: list[bytes] = []
        self.start()

    @property
    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "replace")

    def run(self) -> None:
        with self._pipe:
            for line in self._pipe:
                self._parts.append(line)

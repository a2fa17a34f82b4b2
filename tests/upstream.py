"""A provider that misbehaves on request: `model` says how, as in `echo;slow=0.05;status=429`.

status=N          answer with that status and an error body        retry=S     with `retry-after: S`
wait=S            seconds before the headers                       slow=S      seconds before each piece
die=N             cut the connection after N pieces                encoding=E  gzip, deflate, br, zstd, or a lie
size=N            a JSON answer of N bytes                         html=1      an error page instead of JSON
location=1        a redirect to itself                             tag=T       a word that comes back in the answer
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import brotli  # type: ignore[import-untyped]
from backports import zstd

from proxy import echo
from proxy.echo import Loopback

ENCODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
HEADERS = [
    (b"x-request-id", b"req_upstream"),
    (b"x-ratelimit-remaining-requests", b"99"),
    (b"openai-processing-ms", b"12"),
    (b"set-cookie", b"__cf_bm=session"),
    (b"server", b"provider"),
    (b"x-internal", b"secret"),
]


class Upstream:
    """`with Upstream() as upstream:` runs it; what it saw is in `received` as (method, path, headers, body)."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []
        self.disconnects = 0
        self.active = 0
        self._loopback = Loopback(self._app)

    @property
    def url(self) -> str:
        return f"{self._loopback.url}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, _, _, body in self.received if body]

    def __enter__(self) -> Upstream:
        self._loopback.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loopback.__exit__()

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.active += 1
        try:
            await self._respond(scope, receive, send)
        finally:
            self.active -= 1

    async def _respond(self, scope: Any, receive: Any, send: Any) -> None:
        raw = await _body(receive)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.received.append((scope["method"], scope["path"], headers, raw))
        body = json.loads(raw) if raw else {}
        knobs = dict(part.split("=", 1) for part in str(body.get("model", "")).split(";")[1:])
        gone = asyncio.ensure_future(_disconnect(receive))
        work = asyncio.ensure_future(self._answer(scope, body, knobs, send))
        await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            self.disconnects += 1
            work.cancel()
        gone.cancel()
        await asyncio.wait({gone, work})
        if not work.cancelled():
            work.result()

    async def _answer(self, scope: Any, body: dict[str, Any], knobs: dict[str, str], send: Any) -> None:
        await asyncio.sleep(float(knobs.get("wait", 0)))
        status, headers = int(knobs.get("status", 200)), list(HEADERS)
        if "retry" in knobs:
            headers.append((b"retry-after", knobs["retry"].encode()))
        if "location" in knobs:
            headers.append((b"location", f"{self.url}/chat/completions".encode()))
        pieces, kind = _pieces(scope, body, knobs, status)
        if "encoding" in knobs:
            headers.append((b"content-encoding", knobs["encoding"].encode()))
            pieces = iter([ENCODERS.get(knobs["encoding"], bytes)(b"".join(pieces))])
        await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"content-type", kind)]})
        for count, piece in enumerate(pieces):
            if count == int(knobs.get("die", -1)):
                return
            await asyncio.sleep(float(knobs.get("slow", 0)))
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _pieces(scope: Any, body: dict[str, Any], knobs: dict[str, str], status: int) -> tuple[Iterator[bytes], bytes]:
    if "html" in knobs:
        return iter([b"<html>overloaded</html>"]), b"text/html"
    if status >= 300:
        error = {"message": f"upstream says {status}", "type": "server_error", "param": None, "code": f"u{status}"}
        return iter([json.dumps({"error": error}).encode()]), b"application/json"
    if "size" in knobs:
        return iter([b'"', *[b"x" * 65536] * (int(knobs["size"]) // 65536), b'"']), b"application/json"
    if scope["method"] == "GET":
        return iter([json.dumps({"object": "list", "data": []}).encode()]), b"application/json"
    if body.get("stream"):
        return map(echo.event, echo.stream(body)), b"text/event-stream"
    return iter([json.dumps(echo.completion(body), ensure_ascii=False).encode()]), b"application/json"


async def _body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def chat(text: str, *, knobs: str = "", **more: Any) -> bytes:
    """A chat-completions body whose last user message is `text`."""
    model = f"echo;{knobs}" if knobs else "echo"
    return json.dumps({"model": model, "messages": [{"role": "user", "content": text}], **more}).encode()

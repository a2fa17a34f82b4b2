"""HTTP in: pure ASGI between a client and the pipeline.

May import: door, routes, inflate, headers, logs, errors, the standard library.

What is fixed here: which endpoints exist, what a body may be, who the tenant is, and that a client which goes
away takes its request with it. One task handles and answers; a second one only watches for the disconnect and
cancels the first, whatever that is doing: detecting, waiting for the upstream, or in the middle of a stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from proxy.door import Door, Handler, Headers, OpenDoor
from proxy.errors import BadRequest, Refusal, Unavailable, UnsupportedByPolicy
from proxy.headers import REQUEST_ID
from proxy.inflate import Inflater, too_large
from proxy.logs import Log, describe
from proxy.model import JSON
from proxy.routes import Target, find
from proxy.trip import Inbound, Outbound, StreamBroken
from proxy.wire.dialects import USUAL, Dialects
from proxy.wire.endpoints import plain_error

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

REQUEST_ID_HEADER = "x-caviardage-request-id"
STREAM_HEADERS = (("cache-control", "no-cache"), ("x-accel-buffering", "no"))
"""Intermediaries must hand on each event as it comes."""

_JSON = re.compile(r'application/json(?:\s*;\s*charset\s*=\s*"?utf-?8"?)?\s*;?', re.IGNORECASE)
_FORM = re.compile(r'multipart/form-data\s*;\s*boundary="?[A-Za-z0-9\'()+_,./:=? -]{1,70}"?', re.IGNORECASE)
_LARGE_PART = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes as received, bytes once unpacked, and seconds for the whole body to arrive."""

    max_body_bytes: int = 32 << 20
    max_decompressed_bytes: int = 32 << 20
    receive_timeout: float = 120.0


class ClientGone(Exception):
    """The client closed its connection before its request was complete."""


class Ingress:
    """The ASGI application for HTTP and WebSocket scopes; the lifespan belongs to `app`.

    `own` answers the service's own endpoints. `refused` is told of every refusal made here (request id, tenant,
    refusal), since the pipeline never sees those requests. While `ready` is false nothing reaches the pipeline.
    `door` says who comes in; without one everybody does, and `handler` answers.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        secret: bytes,
        limits: Limits,
        own: Mapping[Target, Callable[[], Outbound]],
        ready: Callable[[], bool],
        refused: Callable[[str, str, Refusal], None],
        log: Log,
        dialects: Dialects = USUAL,
        door: Door | None = None,
    ) -> None:
        self._dialects = dialects
        self._door = door or OpenDoor(handler, secret)
        self._limits = limits
        self._own = own
        self._ready = ready
        self._refused = refused
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # A tunnel would carry text past the inspection. Closed before it was accepted, it is a 403.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
        request_id, tenant = request_id_of(headers), self._door.known_as(headers)
        async with contextlib.AsyncExitStack() as place:
            try:
                accepted = await self._accept(scope, headers, request_id, receive, place)
            except ClientGone:
                return
            except Refusal as refusal:
                self._refused(request_id, tenant, refusal)
                accepted = answer_to(refusal, self._dialects.error_for(str(scope["path"]), headers))
            if isinstance(accepted, Outbound):
                await _Answer(request_id, send, self._log).send(accepted)
            else:
                await self._exchange(*accepted, receive, send)

    async def _accept(
        self,
        scope: Scope,
        headers: Headers,
        request_id: str,
        receive: Receive,
        place: contextlib.AsyncExitStack,
    ) -> tuple[Handler, Inbound] | Outbound:
        """Who handles the request, and the request once its whole body is in; or the service's own answer."""
        if one(headers, "upgrade") is not None:
            raise UnsupportedByPolicy("Upgrades (WebSocket, HTTP/2) are not inspected, so they are refused.")
        if {"content-length", "transfer-encoding"} <= {name for name, _ in headers}:
            # Two servers may disagree where such a body ends (RFC 9112, 6.3).
            raise BadRequest("A request has a content-length or a transfer-encoding, not both.")
        raw_path = scope.get("raw_path") or scope["path"].encode("utf-8")
        query = scope.get("query_string", b"")
        route, path = find(scope["method"], raw_path, query, self._dialects.names)
        if route.target is not Target.PIPELINE:
            return self._own[route.target]()
        if scope.get("http_version") == "1.0":
            # Without chunked transfer a stream that broke off looks like one that ended.
            raise UnsupportedByPolicy("HTTP/1.1 is needed.")
        if not self._ready():
            raise Unavailable("The service is not ready.", code="not_ready", retry=True)
        admitted = await place.enter_async_context(self._door.admit(headers))
        try:
            async with asyncio.timeout(self._limits.receive_timeout):
                body = await (
                    self._body(headers, receive, _FORM if route.form else _JSON) if route.body else _no_body(receive)
                )
        except TimeoutError:
            raise BadRequest("The request body did not arrive in time.") from None
        names = (request_id, admitted.tenant, route.method, path, query.decode("ascii"))
        return admitted.handler, Inbound(*names, admitted.headers, body)

    async def _body(self, headers: Headers, receive: Receive, kind: re.Pattern[str]) -> bytes:
        """The unpacked JSON text, or form. Raises `BodyTooLarge` as soon as a limit is passed, or announced to be."""
        limits = self._limits
        if not kind.fullmatch((one(headers, "content-type") or "").strip()):
            raise UnsupportedByPolicy(
                "The content-type must be application/json in UTF-8."
                if kind is _JSON
                else "The content-type must be multipart/form-data."
            )
        announced = one(headers, "content-length") or ""
        if announced.isdecimal() and int(announced) > limits.max_body_bytes:
            raise too_large(limits.max_body_bytes)
        encoding = one(headers, "content-encoding") or ""
        inflater = Inflater(encoding, max_in=limits.max_body_bytes, max_out=limits.max_decompressed_bytes)
        parts: list[bytes] = []
        async for data in _received(receive):
            for part in inflater.feed(data):
                parts.append(part)
                if len(part) >= _LARGE_PART:
                    await asyncio.sleep(0)
        inflater.finish()
        return b"".join(parts)

    async def _exchange(self, handler: Handler, inbound: Inbound, receive: Receive, send: Send) -> None:
        """Handles and answers, unless the client goes away first."""
        answer = _Answer(inbound.request_id, send, self._log)
        work = asyncio.create_task(answer.run(handler, inbound))
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # Only the server cancels from outside: its time to finish what was running is over.
            inbound.leaving.reason = "drain_timeout"
            raise
        finally:
            gone.cancel()
            if not answer.complete:
                work.cancel()
            await asyncio.wait({work, gone})
        if not work.cancelled():
            work.result()


class _Answer:
    """The way back to one client. `complete` is true once only the last message remains to be sent."""

    def __init__(self, request_id: str, send: Send, log: Log) -> None:
        self.complete = False
        self._begun = False
        self._request_id = request_id
        self._send = send
        self._log = log

    async def run(self, handler: Handler, inbound: Inbound) -> None:
        """Handles the request and sends what comes of it."""
        try:
            outbound = await handler.handle(inbound)
        except Exception as error:
            outbound = self._fault(error)
        await self.send(outbound)

    async def send(self, outbound: Outbound) -> None:
        """Sends an answer, complete or growing."""
        if not isinstance(outbound.body, bytes):
            await self._stream(outbound, outbound.body)
            return
        self.complete = True
        await self._begin(outbound, ("content-length", str(len(outbound.body))))
        await self._send({"type": "http.response.body", "body": outbound.body, "more_body": False})

    async def _stream(self, outbound: Outbound, body: AsyncIterator[bytes]) -> None:
        """Sends pieces as they come; raises `StreamBroken`, which ends the connection, if the body does not end well.

        The first piece is awaited before the headers go out: a generator that was never started could not close
        what it holds, and a fault before the first piece can still be told with a status.
        """
        fault: Outbound | None = None
        try:
            async for chunk in body:
                await self._begin(outbound, *STREAM_HEADERS)
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        except Exception as error:
            fault = self._fault(error)
        finally:
            await self._close(body)
        if fault is None:
            await self._begin(outbound, *STREAM_HEADERS)
            self.complete = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif self._begun:
            raise StreamBroken
        else:
            await self.send(fault)

    async def _begin(self, outbound: Outbound, *more: tuple[str, str]) -> None:
        if self._begun:
            return
        self._begun = True
        headers = dict([*outbound.headers, *more, (REQUEST_ID_HEADER, self._request_id)])
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": outbound.status, "headers": encoded})

    async def _close(self, body: AsyncIterator[bytes]) -> None:
        close = getattr(body, "aclose", None)
        try:
            if close is not None:
                await close()
        except Exception as error:
            self._fault(error)

    def _fault(self, error: Exception) -> Outbound:
        """Notes an error that should not have come this far, without its text, and makes it a refusal."""
        self._log.error("fault", request_id=self._request_id, **describe(error))
        return answer_to(error if isinstance(error, Refusal) else Unavailable("Internal fault.", code="internal_fault"))


def answer_to(refusal: Refusal, form: Callable[[Refusal], JSON] = plain_error) -> Outbound:
    """A refusal as an answer, in the form that the client expects."""
    headers = [("content-type", "application/json"), *refusal.headers().items()]
    return Outbound(refusal.status, headers, json.dumps(form(refusal)).encode("ascii"))


def one(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The value of a header that may be sent only once; raises `UnsupportedByPolicy` if it was repeated."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise UnsupportedByPolicy(f"The header {name} may be sent only once.")
    return values[0] if values else None


def request_id_of(headers: Iterable[tuple[str, str]]) -> str:
    """The client's `x-request-id` if it is one plain word of at most 64 characters, else a new random one."""
    values = [value for key, value in headers if key == "x-request-id"]
    if len(values) == 1 and REQUEST_ID.fullmatch(values[0]):
        return values[0]
    return uuid.uuid4().hex


async def _received(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


async def _no_body(receive: Receive) -> bytes:
    async for data in _received(receive):
        if data:
            raise UnsupportedByPolicy("This endpoint takes no body.")
    return b""


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

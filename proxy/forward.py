"""The only HTTP client: one upstream, HTTP/1.1, nothing followed, nothing retried, nothing remembered.

May import: httpx2, headers, errors, the standard library.

The transport is used without httpx2's client on top, because a client keeps what must not be kept between
requests (cookies), follows what must not be followed (redirects) and reads what must not be read (proxy and
netrc settings of the environment).

Slots. A pool that hands out connections can lose one when a waiter is cancelled at the wrong moment
(encode/httpcore#1093). So the number of exchanges is held down by a semaphore of our own, taken before the
pool is asked and given back when the answer is closed, and the pool itself never makes anyone wait.

Closing. A connection is used again only when its response was read to the end; h11 knows. On anything else,
cancellation included, it is closed. The close runs in a task of its own, so that a second cancellation cannot
interrupt it half-way.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from proxy.errors import BadAnswer, Refusal, Unavailable, UpstreamUnreachable
from proxy.headers import Headers, client_headers, upstream_headers

__all__ = ["Upstream", "UpstreamAnswer", "UpstreamSettings", "client_headers"]

ACCEPTED_ENCODINGS = frozenset(("identity", "gzip", "x-gzip", "deflate", "br", "zstd"))
EVENT_STREAM = "text/event-stream"
_UNTYPED = frozenset(("", "text/plain", "application/octet-stream"))
PREFIX = "/v1/"
_ROOT = re.compile(rb"(?:/openai)?(?:/v1)?/?\Z")
"""What base URLs end with, in front of which other dialects' paths begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """Times in seconds (`read_timeout`: between two pieces of the answer), sizes in bytes. `cert`: and its key."""

    connect_timeout: float = 5.0
    read_timeout: float = 600.0
    write_timeout: float = 60.0
    pool_timeout: float = 10.0
    max_connections: int = 100
    max_answer_bytes: int = 64 << 20
    ca_file: Path | None = None
    cert: tuple[Path, Path] | None = None

    def timeouts(self) -> dict[str, float]:
        return {
            "connect": self.connect_timeout,
            "read": self.read_timeout,
            "write": self.write_timeout,
            "pool": self.pool_timeout,
        }


class Upstream:
    """One provider. `base_url` stands for the clients' `/v1`: `/v1/models` goes to `<base_url>/models`, and
    `/openai/...` or `/api/...` to the same place without the `/v1` or `/openai/v1` that the base URL ends with.

    `transport` replaces the network in tests. `in_use` is the number of exchanges in flight. Close with `aclose()`.
    """

    def __init__(
        self, base_url: str, settings: UpstreamSettings, *, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._base = httpx2.URL(base_url.rstrip("/"))
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.max_connections)
        self.in_use = 0
        self._closing: set[asyncio.Task[None]] = set()
        self._transport = transport or _transport(settings)

    async def send(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None,
        query: str = "",
        content_type: str = "application/json",
    ) -> UpstreamAnswer:
        """Sends one request and returns once the answer's headers are in.

        `path` and `query` are the client's, already checked; `headers` are the client's, filtered here; `body` is
        of `content_type`, or None. Raises `Unavailable` when no slot is free in time, `UpstreamUnreachable` when there
        is no connection or no answer in time, `BadAnswer` for a redirect or an answer that cannot be read.
        """
        request = self._request(method, path, headers, body, query, content_type)
        await self._take_slot()
        try:
            response = await self._transport.handle_async_request(request)
        except BaseException as error:
            self._give_slot_back()
            if isinstance(error, httpx2.HTTPError | httpx2.StreamError | httpx2.InvalidURL):
                raise _as_refusal(error, answered=False) from None
            raise
        answer = UpstreamAnswer(response, self)
        try:
            answer.check()
        except BaseException:
            await answer.aclose()
            raise
        return answer

    @property
    def max_answer_bytes(self) -> int:
        return self._settings.max_answer_bytes

    async def aclose(self) -> None:
        """Closes every connection; answers still open break."""
        if self._closing:
            await asyncio.wait(self._closing)
        await self._transport.aclose()

    def _request(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None,
        query: str,
        content_type: str,
    ) -> httpx2.Request:
        sent: Headers = [*upstream_headers(headers), ("accept-encoding", "gzip, br, zstd")]
        if body is not None:
            sent.append(("content-type", content_type))
        url = self._base.copy_with(raw_path=self._place(path) + (f"?{query}".encode("ascii") if query else b""))
        return httpx2.Request(
            method, url, headers=sent, content=body, extensions={"timeout": self._settings.timeouts()}
        )

    def _place(self, path: str) -> bytes:
        """Where a path of the client's is at the upstream: `/v1/` there is the base URL, all else is beside it."""
        base = self._base.raw_path.rstrip(b"/")
        if path.startswith(PREFIX):
            path = path.removeprefix(PREFIX[:-1])
        else:
            base = _ROOT.sub(b"", base)
        return base + quote(path, safe="/:@._~-;=+").encode("ascii")

    async def _take_slot(self) -> None:
        try:
            async with asyncio.timeout(self._settings.pool_timeout):
                await self._slots.acquire()
        except TimeoutError:
            raise Unavailable(
                "Too many requests are waiting for the upstream.", code="upstream_busy", retry=True
            ) from None
        self.in_use += 1

    def _give_slot_back(self) -> None:
        self.in_use -= 1
        self._slots.release()

    async def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` to its end and gives one slot back, whatever happens to the caller meanwhile."""
        task = asyncio.ensure_future(self._release_after(work))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        await asyncio.shield(task)

    async def _release_after(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._give_slot_back()


class UpstreamAnswer:
    """An answer whose headers are in. Read it with `chunks()` or `read()`, and close it in every case."""

    def __init__(self, response: httpx2.Response, upstream: Upstream) -> None:
        self.status = response.status_code
        self.headers: Headers = [(name.lower(), value) for name, value in response.headers.multi_items()]
        self._response = response
        self._upstream = upstream
        self._reader: AsyncGenerator[bytes, None] | None = None
        self._closed = False

    def check(self) -> None:
        """Raises `BadAnswer` for what may not be read on: redirects, switched protocols, unknown encodings."""
        if 300 <= self.status < 400:
            raise BadAnswer("The upstream answered with a redirect, which is not followed.", code="upstream_redirect")
        if not 200 <= self.status < 600:
            raise BadAnswer("The upstream answered with a status that is not an answer.", code="upstream_status")
        for encoding in self._response.headers.get_list("content-encoding", split_commas=True):
            if encoding.strip().lower() not in ACCEPTED_ENCODINGS:
                raise BadAnswer("The upstream's answer is encoded in an unknown way.", code="upstream_encoding")

    def header(self, name: str) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def media_type(self) -> str:
        """What the body is, without parameters, in lower case."""
        return (self.header("content-type") or "").split(";")[0].strip().lower()

    @property
    def is_event_stream(self) -> bool:
        """True if the body is said to be server-sent events."""
        return self.media_type == EVENT_STREAM

    @property
    def is_untyped(self) -> bool:
        """True if nothing is said about what the body is; some gateways stream so."""
        return self.media_type in _UNTYPED

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, content encoding undone; closes the answer at its end, early or not.

        Raises `UpstreamUnreachable` when the upstream breaks off or falls silent, `BadAnswer` for a body that
        is not in its announced encoding.
        """
        self._reader = self._response.aiter_bytes()
        try:
            async for chunk in self._reader:
                yield chunk
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise _as_refusal(error, answered=True) from None
        finally:
            await self.aclose()

    async def read(self) -> bytes:
        """The whole body; raises as `chunks` does, and `BadAnswer` for more than `max_answer_bytes`."""
        parts: list[bytes] = []
        size = 0
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > self._upstream.max_answer_bytes:
                    raise BadAnswer("The upstream's answer is larger than allowed.", code="answer_too_large")
        return b"".join(parts)

    async def aclose(self) -> None:
        """Closes the connection unless the body was read to its end. Can be called more than once."""
        if not self._closed:
            self._closed = True
            await self._upstream.finish(self._close())

    async def _close(self) -> None:
        try:
            if self._reader is not None:
                await self._reader.aclose()
            await self._response.aclose()
        except (httpx2.HTTPError, OSError):
            # A connection that breaks while it is being closed is closed.
            return


def _transport(settings: UpstreamSettings) -> httpx2.AsyncHTTPTransport:
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=settings.max_connections, keepalive_expiry=4.0
    )
    if settings.ca_file is not None:
        verify = ssl.create_default_context(cafile=str(settings.ca_file))
    else:
        verify = httpx2.create_ssl_context(trust_env=False)
    if settings.cert is not None:
        verify.load_cert_chain(*settings.cert)
    return httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, http1=True, http2=False, limits=limits, retries=0)


def _as_refusal(error: Exception, *, answered: bool) -> Refusal:
    """httpx2's error as ours. Its text is left behind: it may quote headers, hosts or bytes of a body."""
    if isinstance(error, httpx2.PoolTimeout):
        return Unavailable("Too many requests are waiting for the upstream.", code="upstream_busy", retry=True)
    if isinstance(error, httpx2.TimeoutException):
        return UpstreamUnreachable("The upstream did not answer in time.", timed_out=True)
    if isinstance(error, httpx2.DecodingError):
        return BadAnswer("The upstream's answer is not in its announced encoding.", code="upstream_encoding")
    if isinstance(error, httpx2.RemoteProtocolError):
        refusal = UpstreamUnreachable("The upstream broke off its answer.")
    else:
        refusal = UpstreamUnreachable("The upstream cannot be reached.")
    # A kept connection can close while a request goes out on it. A client that talks to the upstream itself tries
    # again then, so it may here; not once the upstream has begun to answer.
    closed = isinstance(error, httpx2.ConnectError | httpx2.ReadError) or "without sending a response" in str(error)
    refusal.retry = closed and not answered
    return refusal


class DeadEnd(Upstream):
    """Stands where the provider would be, for rehearsals: keeps the body that it is sent, and cannot be reached."""

    def __init__(self) -> None:
        self.body: bytes | None = None
        self.in_use = 0

    async def send(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None,
        query: str = "",
        content_type: str = "application/json",
    ) -> UpstreamAnswer:
        self.body = body
        raise UpstreamUnreachable("Nothing is sent.")

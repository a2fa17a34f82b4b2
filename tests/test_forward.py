"""The upstream client against a real server on loopback, and against a transport that misbehaves."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from proxy.errors import BadAnswer, Refusal, Unavailable, UnsupportedByPolicy, UpstreamUnreachable
from proxy.forward import Upstream, UpstreamSettings, client_headers
from tests.upstream import Upstream as Provider
from tests.upstream import chat

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


class Client:
    """`async with Client(url) as upstream`: an upstream client that is closed at the end."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.upstream = Upstream(url, UpstreamSettings(**settings))

    async def __aenter__(self) -> Upstream:
        return self.upstream

    async def __aexit__(self, *_: object) -> None:
        await self.upstream.aclose()


async def ask(upstream: Upstream, text: str, knobs: str = "", **more: Any) -> bytes:
    answer = await upstream.send("POST", CHAT, [], chat(text, knobs=knobs, **more))
    return await answer.read()


def content(raw: bytes) -> str:
    return str(json.loads(raw)["choices"][0]["message"]["content"])


async def settled(check: Any) -> None:
    """Waits until `check()` is true, for what a server notices a moment later; pytest fails a test that hangs."""
    while not check():  # noqa: ASYNC110 - what is waited for happens in another thread
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate", "br", "zstd"])
def test_an_answer_arrives_decoded(provider: Provider, encoding: str) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            knobs = f"encoding={encoding}" if encoding else ""
            assert content(await ask(upstream, "hello " * 5000, knobs)) == "hello " * 5000
            assert upstream.in_use == 0

    asyncio.run(run())


def test_the_base_url_stands_for_v1(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url + "/") as upstream:
            await (await upstream.send("GET", "/v1/models/gpt-4o", [], None)).read()
        assert provider.received[-1][:2] == ("GET", "/v1/models/gpt-4o")
        async with Client(provider.url.removesuffix("v1") + "a/openai%20x/v1") as upstream:
            await (await upstream.send("GET", "/v1/models", [], None)).read()
        assert provider.received[-1][1] == "/a/openai x/v1/models"

    asyncio.run(run())


def test_only_listed_headers_reach_the_upstream(provider: Provider) -> None:
    sent = [
        ("Authorization", "Bearer sk-1"),
        ("openai-organization", "org-1"),
        ("idempotency-key", "idem-1"),
        ("x-client-request-id", "crid-1"),
        ("x-stainless-retry-count", "0"),
        ("user-agent", "OpenAI/Python 3.57.0"),
        ("accept", "application/json"),
        ("x-request-id", "abc"),
        ("host", "proxy.internal"),
        ("content-length", "3"),
        ("content-encoding", "gzip"),
        ("cookie", "session=1"),
        ("x-forwarded-for", "10.0.0.1"),
        ("x-user-email", "mira.tallow@example.com"),
        ("x-stainless-mira", "tallow"),
        ("connection", "keep-alive, x-user-email"),
        ("te", "trailers"),
        ("proxy-authorization", "Basic x"),
    ]

    async def run() -> None:
        async with Client(provider.url) as upstream:
            await (await upstream.send("POST", CHAT, sent, chat("hi"))).read()
        _, _, headers, body = provider.received[-1]
        own = {
            "host": provider.url.removeprefix("http://").removesuffix("/v1"),
            "content-type": "application/json",
            "content-length": str(len(body)),
            "accept-encoding": "gzip, br, zstd",
        }
        assert headers == {**{name.lower(): value for name, value in sent[:8]}, **own}

    asyncio.run(run())


def test_a_malformed_header_that_matters_refuses_the_request(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            before = len(provider.received)
            with pytest.raises(UnsupportedByPolicy):
                await upstream.send("POST", CHAT, [("openai-project", "mira@example.com")], chat("hi"))
            assert (len(provider.received), upstream.in_use) == (before, 0)

    asyncio.run(run())


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_redirects_are_neither_followed_nor_handed_on(provider: Provider, status: int) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            before = len(provider.received)
            with pytest.raises(BadAnswer) as refused:
                await ask(upstream, "hi", f"status={status};location=1")
            assert (refused.value.code, refused.value.status) == ("upstream_redirect", 502)
            assert provider.url not in str(refused.value.body())
            assert (len(provider.received) - before, upstream.in_use) == (1, 0)

    asyncio.run(run())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500, 503, 529])
def test_errors_are_answers_with_their_retry_headers(provider: Provider, status: int) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            answer = await upstream.send("POST", CHAT, [], chat("hi", knobs=f"status={status};retry=7"))
            assert (answer.status, json.loads(await answer.read())["error"]["code"]) == (status, f"u{status}")
            assert ("retry-after", "7") in client_headers(answer.headers)

    asyncio.run(run())


def test_only_listed_headers_reach_the_client(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            answer = await upstream.send("POST", CHAT, [], chat("hi", knobs="encoding=gzip"))
            await answer.read()
            assert dict(client_headers(answer.headers)) == {
                "content-type": "application/json",
                "x-request-id": "req_upstream",
                "x-ratelimit-remaining-requests": "99",
                "openai-processing-ms": "12",
            }

    asyncio.run(run())


def test_a_stream_is_handed_on_piece_by_piece(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            answer = await upstream.send("POST", CHAT, [], chat("x" * 50, knobs="slow=0.01", stream=True))
            assert answer.is_event_stream
            pieces = [piece async for piece in answer.chunks()]
            assert len(pieces) > 3
            assert b"".join(pieces).endswith(b"data: [DONE]\n\n")
            assert upstream.in_use == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("knobs", "settings", "kind", "code"),
    [
        ("wait=5", {"read_timeout": 0.05}, UpstreamUnreachable, "upstream_timeout"),
        ("slow=5", {"read_timeout": 0.05}, UpstreamUnreachable, "upstream_timeout"),
        ("die=0", {}, UpstreamUnreachable, "upstream_unreachable"),
        ("size=1000000", {"max_answer_bytes": 100_000}, BadAnswer, "answer_too_large"),
        ("encoding=compress", {}, BadAnswer, "upstream_encoding"),
    ],
)
def test_a_bad_answer_is_a_refusal(
    provider: Provider, knobs: str, settings: dict[str, Any], kind: type[Refusal], code: str
) -> None:
    async def run() -> None:
        async with Client(provider.url, **settings) as upstream:
            with pytest.raises(kind) as refused:
                await ask(upstream, "hi", knobs)
            assert (refused.value.code, upstream.in_use) == (code, 0)
            assert not refused.value.retry  # the upstream had begun to answer, or the answer itself is at fault
            assert upstream._transport._pool.connections == []  # type: ignore[attr-defined]

    asyncio.run(run())


def test_a_lie_about_the_encoding_is_a_refusal() -> None:
    async def run() -> None:
        answer = httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=Body([b"not gzip"]))
        with pytest.raises(BadAnswer) as refused:
            await ask(Upstream("http://provider", UpstreamSettings(), transport=Canned(answer)), "hi")
        assert refused.value.code == "upstream_encoding"

    asyncio.run(run())


@pytest.mark.parametrize("status", [101, 199, 600])
def test_a_status_that_is_no_answer_is_a_refusal(status: int) -> None:
    async def run() -> None:
        upstream = Upstream("http://provider", UpstreamSettings(), transport=Canned(httpx2.Response(status)))
        with pytest.raises(BadAnswer) as refused:
            await ask(upstream, "hi")
        assert (refused.value.code, upstream.in_use) == ("upstream_status", 0)

    asyncio.run(run())


def test_no_connection_is_worth_a_retry() -> None:
    async def run() -> None:
        async with Client("http://127.0.0.1:1/v1", connect_timeout=5) as upstream:
            with pytest.raises(UpstreamUnreachable) as refused:
                await ask(upstream, "hi")
            assert (refused.value.status, refused.value.retry, upstream.in_use) == (502, True, 0)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "retry"),
    [
        (b"", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", False),
    ],
)
def test_a_connection_that_closes_is_worth_a_retry_only_without_an_answer(answer: bytes, retry: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, Client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1") as upstream:
            with pytest.raises(UpstreamUnreachable) as refused:
                await ask(upstream, "hi")
            assert (refused.value.status, refused.value.retry, upstream.in_use) == (502, retry, 0)

    asyncio.run(run())


def test_errors_carry_no_text_of_the_library() -> None:
    async def run() -> None:
        upstream = Upstream("http://provider", UpstreamSettings(), transport=Failing(httpx2.ReadError("Mira Tallow")))
        with pytest.raises(UpstreamUnreachable) as refused:
            await ask(upstream, "hi")
        assert "Mira" not in repr(refused.value) + str(refused.value.__cause__) + str(refused.value.body())
        assert refused.value.__suppress_context__

    asyncio.run(run())


def test_a_full_house_is_unavailable_and_frees_itself(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url, max_connections=1, pool_timeout=0.05) as upstream:
            held = await upstream.send("POST", CHAT, [], chat("hi"))
            with pytest.raises(Unavailable) as refused:
                await ask(upstream, "hi")
            assert (refused.value.code, refused.value.retry) == ("upstream_busy", True)
            await held.aclose()
            await held.aclose()
            assert content(await ask(upstream, "after")) == "after"
            assert upstream.in_use == 0

    asyncio.run(run())


def test_a_cancelled_request_never_leaves_its_answer_to_the_next(provider: Provider) -> None:
    async def one(upstream: Upstream, number: int, chance: random.Random) -> None:
        text = f"secret-{number}-" * 20
        stream = chance.random() < 0.5
        answer = await upstream.send("POST", CHAT, [], chat(text, knobs="wait=0.005;slow=0.002", stream=stream))
        try:
            raw = b"".join([piece async for piece in answer.chunks()])
        finally:
            await answer.aclose()
        for other in range(200):
            assert (f"secret-{other}-".encode() in raw) <= (other == number)

    async def run() -> None:
        chance = random.Random(7)
        async with Client(provider.url, max_connections=10) as upstream:
            tasks = []
            for number in range(200):
                task = asyncio.ensure_future(one(upstream, number, chance))
                asyncio.get_running_loop().call_later(chance.random() * 0.2, task.cancel)
                tasks.append(task)
                if number % 10 == 0:
                    await asyncio.sleep(0.005)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(result) for result in results} <= {asyncio.CancelledError, type(None)}
            assert sum(isinstance(result, asyncio.CancelledError) for result in results) > 50
            assert content(await ask(upstream, "my own answer")) == "my own answer"
            assert upstream.in_use == 0
            busy = [c for c in upstream._transport._pool.connections if not c.is_idle()]  # type: ignore[attr-defined]
            assert busy == []
        await settled(lambda: provider.active == 0)

    asyncio.run(run())


def test_an_answer_that_was_not_read_closes_its_connection(provider: Provider) -> None:
    async def run() -> None:
        async with Client(provider.url) as upstream:
            left = provider.disconnects
            answer = await upstream.send("POST", CHAT, [], chat("x" * 500, knobs="slow=0.05", stream=True))
            chunks = answer.chunks()
            await anext(chunks)
            await chunks.aclose()
            await settled(lambda: provider.disconnects > left)
            assert upstream._transport._pool.connections == []  # type: ignore[attr-defined]

    asyncio.run(run())


def test_a_second_cancellation_does_not_interrupt_the_close() -> None:
    async def run() -> None:
        body = Body([b"x"] * 3, close_takes=0.05)
        upstream = Upstream("http://provider", UpstreamSettings(), transport=Canned(httpx2.Response(200, stream=body)))
        answer = await upstream.send("POST", CHAT, [], chat("hi"))
        closing = asyncio.ensure_future(answer.aclose())
        await asyncio.sleep(0.01)
        closing.cancel()
        await upstream.aclose()
        assert (body.closed, upstream.in_use) == (True, 0)

    asyncio.run(run())


def test_a_private_certificate_authority_can_be_named(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("no certificate")
    with pytest.raises(OSError, match=r"X509|SSL|certificate"):
        Upstream("https://provider", UpstreamSettings(ca_file=empty))


class Body(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes], close_takes: float = 0) -> None:
        self._pieces = pieces
        self._close_takes = close_takes
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        await asyncio.sleep(self._close_takes)
        self.closed = True


class Canned(httpx2.AsyncBaseTransport):
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._response


class Failing(httpx2.AsyncBaseTransport):
    def __init__(self, error: Exception) -> None:
        self._error = error

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        raise self._error

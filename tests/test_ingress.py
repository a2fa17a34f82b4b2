"""HTTP in, through a real server: what is let in, what is refused, and what a client that leaves takes with it."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import socket
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import brotli  # type: ignore[import-untyped]
import httpx2
import pytest
from backports import zstd

from proxy.door import tenant_of
from proxy.echo import Loopback
from proxy.errors import Refusal, Unavailable
from proxy.forward import Upstream, UpstreamAnswer, UpstreamSettings, client_headers
from proxy.ingress import Ingress, Limits, request_id_of
from proxy.logs import service_log
from proxy.routes import ROUTES, Target
from proxy.trip import Inbound, Outbound, StreamBroken
from proxy.wire.azure import NAME
from tests.upstream import Upstream as Provider
from tests.upstream import chat

SECRET = b"0123456789abcdef"
JSON = {"content-type": "application/json"}
CHAT = "/v1/chat/completions"
EMAIL = "mira.tallow@example.com"


class Echoing:
    """A pipeline that forwards what it is given; the real one inspects it on the way."""

    def __init__(self, url: str) -> None:
        self.seen: list[Inbound] = []
        self.upstream = Upstream(url, UpstreamSettings())
        self.reset()

    def reset(self) -> None:
        self.seen.clear()
        self.detecting = 0.0
        self.cancelled = 0

    async def handle(self, inbound: Inbound) -> Outbound:
        self.seen.append(inbound)
        try:
            await asyncio.sleep(self.detecting)
            answer = await self.upstream.send(inbound.method, inbound.path, inbound.headers, inbound.body or None)
        except Refusal as refusal:
            return Outbound(refusal.status, list(refusal.headers().items()), json.dumps(refusal.body()).encode())
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        headers = client_headers(answer.headers)
        if answer.is_event_stream:
            return Outbound(answer.status, headers, self._stream(answer))
        return Outbound(answer.status, headers, await answer.read())

    async def _stream(self, answer: UpstreamAnswer) -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.chunks():
                yield chunk
        except Refusal as refusal:
            yield b"data: " + json.dumps(refusal.body()).encode() + b"\n\n"
            raise StreamBroken from None
        finally:
            await answer.aclose()


class Service:
    """Ingress in front of `Echoing`, on a port of its own."""

    def __init__(self, handler: Any, limits: Limits | None = None) -> None:
        self.handler = handler
        self.ready = True
        self.refusals: list[tuple[str, str, str]] = []
        self.log = io.StringIO()
        self.ingress = Ingress(
            handler,
            secret=SECRET,
            limits=limits or Limits(),
            own={target: lambda: Outbound(200, [], b"own") for target in Target if target is not Target.PIPELINE},
            ready=lambda: self.ready,
            refused=lambda request, tenant, refusal: self.refusals.append((request, tenant, refusal.code)),
            log=service_log("debug", self.log),
        )
        self.loopback = Loopback(self._app)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self.ingress(scope, receive, send)
            return
        for stage in ("startup", "shutdown"):
            await receive()
            if stage == "shutdown" and hasattr(self.handler, "upstream"):
                await self.handler.upstream.aclose()
            await send({"type": f"lifespan.{stage}.complete"})

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        with httpx2.Client(base_url=self.loopback.url, trust_env=False, timeout=10) as client:
            return client.request(method, path, **options)

    def post(self, body: bytes, **headers: str) -> httpx2.Response:
        return self.request("POST", CHAT, content=body, headers={**JSON, **headers})


@contextmanager
def serving(handler: Any, **limits: Any) -> Iterator[Service]:
    service = Service(handler, Limits(**limits))
    with service.loopback:
        yield service


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def running(provider: Provider) -> Iterator[Service]:
    with serving(Echoing(provider.url), max_body_bytes=300_000, max_decompressed_bytes=400_000) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    running.handler.reset()
    running.refusals.clear()
    running.ready = True
    return running


def error(response: httpx2.Response) -> str:
    assert response.headers["content-type"] == "application/json"
    return str(response.json()["error"]["code"])


def raw(service: Service, request: bytes) -> bytes:
    """Sends bytes as they are and reads until the server closes or has said enough."""
    with socket.create_connection(("127.0.0.1", service.loopback.port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


ID = r"[A-Za-z0-9_\-]{1,200}"


def test_the_table_of_routes() -> None:
    assert [(route.method, route.pattern.pattern, route.target.name) for route in ROUTES] == [
        ("POST", "/v1/chat/completions", "PIPELINE"),
        ("POST", "/v1/responses", "PIPELINE"),
        ("POST", "/v1/responses/(?:input_tokens|compact)", "PIPELINE"),
        ("POST", "/v1/(?:completions|embeddings)", "PIPELINE"),
        ("POST", "/v1/moderations", "PIPELINE"),
        ("POST", "/v1/messages", "PIPELINE"),
        ("POST", "/v1/messages/count_tokens", "PIPELINE"),
        ("GET", rf"/v1/responses/{ID}(?:/input_items)?", "PIPELINE"),
        ("DELETE", rf"/v1/responses/{ID}", "PIPELINE"),
        ("POST", rf"/v1/responses/{ID}/cancel", "PIPELINE"),
        ("POST", rf"/v1/conversations(?:/{ID})?", "PIPELINE"),
        ("POST", rf"/v1/conversations/{ID}/items", "PIPELINE"),
        ("GET", rf"/v1/conversations/{ID}(?:/items(?:/{ID})?)?", "PIPELINE"),
        ("DELETE", rf"/v1/conversations/{ID}(?:/items/{ID})?", "PIPELINE"),
        ("GET", rf"/v1/chat/completions/{ID}(?:/messages)?", "PIPELINE"),
        ("POST", rf"/v1/chat/completions/{ID}", "PIPELINE"),
        ("DELETE", rf"/v1/chat/completions/{ID}", "PIPELINE"),
        ("POST", "/v1/files", "PIPELINE"),
        ("GET", rf"/v1/files/{ID}(?:/content)?", "PIPELINE"),
        ("DELETE", rf"/v1/files/{ID}", "PIPELINE"),
        ("POST", "/v1/batches", "PIPELINE"),
        ("GET", rf"/v1/batches/{ID}", "PIPELINE"),
        ("POST", rf"/v1/batches/{ID}/cancel", "PIPELINE"),
        ("GET", "/v1/models", "PIPELINE"),
        ("GET", "/v1/models/[A-Za-z0-9._:-]{1,128}", "PIPELINE"),
        ("POST", f"/openai/deployments/{NAME}/(?:chat/completions|completions|embeddings)", "PIPELINE"),
        ("POST", "/openai/(?:v1/)?responses(?:/(?:input_tokens|compact))?", "PIPELINE"),
        ("POST", "/openai/v1/(?:chat/completions|completions|embeddings)", "PIPELINE"),
        ("GET", "/openai/(?:v1/)?models", "PIPELINE"),
        ("POST", "/api/(?:chat|generate|embed|embeddings|show)", "PIPELINE"),
        ("GET", "/api/(?:tags|ps|version)", "PIPELINE"),
        ("GET", "/healthz", "HEALTH"),
        ("GET", "/readyz", "READY"),
        ("GET", "/metrics", "METRICS"),
    ]


def test_refusals_speak_the_dialect_of_the_path(service: Service) -> None:
    ours = service.request("POST", "/v1/messages", headers={"content-type": "text/plain"}, content=b"{}")
    assert ours.json()["type"] == "error"
    assert ours.json()["error"]["type"] == "invalid_request_error"
    assert "type" not in service.request("POST", CHAT, headers={"content-type": "text/plain"}, content=b"{}").json()


def test_what_is_in_the_table_is_answered(service: Service) -> None:
    assert service.post(chat("hello")).json()["choices"][0]["message"]["content"] == "hello"
    assert service.request("GET", "/v1/models").json()["object"] == "list"
    assert service.request("GET", "/v1/models/gpt-4o:latest").status_code == 200
    assert service.request("GET", "/v1/%6dodels").status_code == 200
    for own in ("/healthz", "/readyz", "/metrics"):
        assert service.request("GET", own).content == b"own"
    assert [(seen.method, seen.path) for seen in service.handler.seen] == [
        ("POST", CHAT),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/gpt-4o:latest"),
        ("GET", "/v1/models"),
    ]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", CHAT),
        ("PUT", CHAT),
        ("OPTIONS", CHAT),
        ("POST", CHAT + "/"),
        ("POST", "/v1//chat/completions"),
        ("POST", "/v1/chat%2Fcompletions"),
        ("POST", "/v1/chat%252Fcompletions"),
        ("POST", "/v1/chat\\completions"),
        ("POST", "/V1/chat/completions"),
        ("POST", CHAT + "?note=mira.tallow%40example.com"),
        ("POST", CHAT + "?api-version=2024-10-21"),
        ("POST", "/chat/completions"),
        ("GET", "/v1/models?x=1"),
        ("GET", f"/v1/models/{EMAIL}"),
        ("GET", "/v1/models/a/b"),
        ("DELETE", "/v1/models/gpt-4o"),
        ("HEAD", "/v1/models"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/rerank"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/responses"),
        ("GET", "/v1/responses/resp_1/output"),
        ("POST", "/v1/responses/resp_1"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/files"),
        ("POST", "/v1/audio/transcriptions"),
        ("GET", "/v1/%ff"),
        ("GET", f"/v1/users/{EMAIL}"),
        ("MIRA", "/v1/models"),
        ("POST", "/healthz"),
        ("GET", "/"),
    ],
)
def test_what_is_not_in_the_table_is_refused_and_not_repeated(service: Service, method: str, path: str) -> None:
    answer = service.request(method, path, headers=JSON, content=chat("hi") if method == "POST" else None)
    assert answer.status_code == 400
    assert answer.headers["x-should-retry"] == "false"
    if method != "HEAD":
        assert error(answer) == "unsupported_by_policy"
        assert not [word for word in ("mira", "tallow", "MIRA", "example") if word in answer.text]
    assert service.handler.seen == []
    assert [code for _, _, code in service.refusals] == ["unsupported_by_policy"]


def test_an_endpoint_is_named_by_its_known_words(service: Service) -> None:
    answer = service.request("POST", "/v1/files/mira", content=b"{}", headers=JSON)
    assert "POST /v1/files/... is not inspected" in answer.json()["error"]["message"]


def test_dots_in_a_path_are_not_resolved(service: Service) -> None:
    for path in (
        *("/v1/x/../chat/completions", "/v1/%2e%2e/v1/chat/completions", "/./v1/chat/completions"),
        *("/v1/./chat/completions", "/v1/%2E/chat/completions", "/v1/chat/completions/.", "/v1/.%2e/completions"),
    ):
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
        assert raw(service, head.encode()).startswith(b"HTTP/1.1 400 ")
    for model in (".", "..", "%2e", "%2E%2e", "gpt-4%2e1", ".%2e"):
        answer = raw(service, f"GET /v1/models/{model} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 400 ")
    assert service.handler.seen == []
    assert service.request("GET", "/v1/models/gpt-4.1").status_code == 200


def test_two_ways_to_say_where_a_body_ends_are_refused(service: Service) -> None:
    for method, path in (("POST", CHAT), ("GET", "/v1/models")):
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        for both in (
            "content-length: 2\r\ntransfer-encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 7",
        ):
            answer = raw(service, f"{head}{both}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 400 ")
    assert service.handler.seen == []


def test_an_upgrade_is_refused(service: Service) -> None:
    for path in ("/v1/models", "/v1/responses", "/v1/realtime"):
        answer = raw(
            service,
            f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode(),
        )
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"unsupported_by_policy" in answer
    assert service.handler.seen == []


def test_a_websocket_scope_is_closed_before_it_is_accepted(service: Service) -> None:
    async def run() -> list[Any]:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await service.ingress({"type": "websocket", "path": "/v1/responses", "headers": []}, receive, send)
        return sent

    assert asyncio.run(run()) == [{"type": "websocket.close", "code": 1008}]


def test_http_1_0_is_refused(service: Service) -> None:
    assert raw(service, b"GET /v1/models HTTP/1.0\r\nhost: x\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(service, b"GET /healthz HTTP/1.0\r\nhost: x\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF8"']
)
def test_json_in_utf8_is_taken(service: Service, kind: str) -> None:
    assert service.request("POST", CHAT, content=chat("hi"), headers={"content-type": kind}).status_code == 200


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/json; charset=utf-16", "multipart/form-data; boundary=x", "application/json; a=b", ""],
)
def test_other_content_types_are_refused(service: Service, kind: str) -> None:
    answer = service.request("POST", CHAT, content=chat("hi"), headers={"content-type": kind})
    assert (answer.status_code, error(answer), service.handler.seen) == (400, "unsupported_by_policy", [])


def test_a_body_on_get_is_refused(service: Service) -> None:
    answer = service.request("GET", "/v1/models", content=b"{}")
    assert (answer.status_code, error(answer), service.handler.seen) == (400, "unsupported_by_policy", [])


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", ENCODERS)
def test_an_encoded_body_is_decoded(service: Service, encoding: str) -> None:
    body = chat("hello " * 3000)
    assert service.post(ENCODERS[encoding](body), **{"content-encoding": encoding}).status_code == 200
    assert service.handler.seen[-1].body == body


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_an_encoded_body_that_is_damaged_is_refused(service: Service, encoding: str) -> None:
    good = ENCODERS[encoding](chat("hello"))
    for bad in (good[:-3], good + b"trailing", good + good, b"no such thing", b""):
        answer = service.post(bad, **{"content-encoding": encoding})
        assert (answer.status_code, error(answer)) == (400, "invalid_json")
    assert service.handler.seen == []


@pytest.mark.parametrize("encoding", ["compress", "gzip, br", "mira"])
def test_an_unknown_encoding_is_refused(service: Service, encoding: str) -> None:
    answer = service.post(chat("hi"), **{"content-encoding": encoding})
    assert (answer.status_code, error(answer)) == (400, "unsupported_by_policy")
    assert "mira" not in answer.text


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_stopped(service: Service, encoding: str) -> None:
    bomb = ENCODERS[encoding](bytes(50_000_000))
    assert len(bomb) < 300_000
    answer = service.post(bomb, **{"content-encoding": encoding})
    assert (answer.status_code, error(answer), service.handler.seen) == (413, "body_too_large", [])


def test_a_zstd_window_that_would_need_much_memory_is_refused(service: Service) -> None:
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    wide = zstd.ZstdCompressor(options=options)
    body = wide.compress(chat("hello")) + wide.flush()
    assert error(service.post(body, **{"content-encoding": "zstd"})) == "invalid_json"


def test_a_body_over_the_limit_is_stopped_before_it_is_read(service: Service) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    answer = raw(service, f"{head}content-length: 300001\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413 ")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert raw(service, f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunk * 5).startswith(b"HTTP/1.1 413 ")
    assert service.handler.seen == []


def test_a_client_that_sends_too_much_still_reads_the_refusal(service: Service) -> None:
    answer = service.post(chat("x" * 3_000_000))
    assert (answer.status_code, error(answer)) == (413, "body_too_large")


def test_a_chunked_body_is_normal(service: Service) -> None:
    body = chat("hello")

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 7):
            yield body[start : start + 7]

    assert service.request("POST", CHAT, content=pieces(), headers=JSON).status_code == 200
    assert service.handler.seen[-1].body == body


def test_a_body_that_does_not_arrive_is_not_waited_for(provider: Provider) -> None:
    with serving(Echoing(provider.url), receive_timeout=0.05) as service:
        head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.loopback.port), timeout=10) as connection:
            connection.sendall(head.encode() + b"{")
            assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_nothing_is_taken_before_the_service_is_ready(service: Service) -> None:
    service.ready = False
    answer = service.post(chat("hi"))
    assert (answer.status_code, error(answer), answer.headers["x-should-retry"]) == (503, "not_ready", "true")
    assert answer.headers["retry-after"] == "1"
    assert service.handler.seen == []


def test_the_request_id_is_the_clients_if_it_is_plain(service: Service) -> None:
    assert service.post(chat("hi"), **{"x-request-id": "abc-1"}).headers["x-caviardage-request-id"] == "abc-1"
    for odd in (EMAIL, "x" * 65, "a b"):
        given = service.post(chat("hi"), **{"x-request-id": odd}).headers["x-caviardage-request-id"]
        assert len(given) == 32
        int(given, 16)
    assert request_id_of([("x-request-id", "a"), ("x-request-id", "b")]) not in ("a", "b")


def test_a_tenant_is_a_keyed_hash_of_the_credential(service: Service) -> None:
    for key in ("sk-1", "sk-1", "sk-2"):
        service.post(chat("hi"), authorization=f"Bearer {key}")
    service.post(chat("hi"), **{"api-key": "sk-1"})
    service.post(chat("hi"))
    first, again, other, azure, nobody = (seen.tenant for seen in service.handler.seen)
    assert first == again
    assert len({first, other, azure, nobody}) == 4
    assert nobody == "anonymous"
    assert len(first) == 16
    assert tenant_of([("authorization", "Bearer sk-1")], b"another secret..") != first


def test_a_stream_flows_and_ends(service: Service) -> None:
    answer = service.post(chat("hello world", stream=True))
    assert answer.text.endswith("data: [DONE]\n\n")
    assert answer.headers["content-type"] == "text/event-stream"
    assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == ("no-cache", "no")
    assert "content-length" not in answer.headers


def test_a_stream_that_breaks_upstream_never_ends_cleanly(service: Service) -> None:
    url, body = service.loopback.url + CHAT, chat("hello world", stream=True, knobs="die=3")
    pieces: list[bytes] = []
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream("POST", url, content=body, headers=JSON) as answer,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        pieces.extend(answer.iter_raw())
    received = b"".join(pieces)
    assert b'"code": "upstream_unreachable"' in received
    assert b"[DONE]" not in received


async def _empty() -> AsyncIterator[bytes]:
    return
    yield b""


async def _fails_at_once() -> AsyncIterator[bytes]:
    raise ValueError(f"about {EMAIL}")
    yield b""


async def _fails_later() -> AsyncIterator[bytes]:
    yield b"data: 1\n\n"
    raise ValueError(f"about {EMAIL}")


class _Faulty:
    """A pipeline that does what it must not do."""

    def __init__(self, act: Callable[[], Awaitable[Outbound]]) -> None:
        self._act = act

    async def handle(self, inbound: Inbound) -> Outbound:
        return await self._act()


def _answering(body: Any) -> _Faulty:
    async def act() -> Outbound:
        return Outbound(200, [("content-type", "text/event-stream")], body())

    return _Faulty(act)


def _raising(error: Exception) -> _Faulty:
    async def act() -> Outbound:
        raise error

    return _Faulty(act)


def test_an_empty_stream_is_an_answer() -> None:
    with serving(_answering(_empty)) as service:
        assert (service.post(b"{}").status_code, service.post(b"{}").content) == (200, b"")


@pytest.mark.parametrize(
    ("handler", "status", "code"),
    [
        (_raising(ValueError(EMAIL)), 503, "internal_fault"),
        (_raising(Unavailable("Busy.", code="busy", retry=True)), 503, "busy"),
        (_answering(_fails_at_once), 503, "internal_fault"),
    ],
)
def test_a_fault_before_the_first_byte_is_told_without_its_text(handler: _Faulty, status: int, code: str) -> None:
    with serving(handler) as service:
        answer = service.post(b"{}")
        assert (answer.status_code, error(answer)) == (status, code)
        assert "mira" not in answer.text + service.log.getvalue()
        assert '"event":"fault"' in service.log.getvalue().replace(" ", "")


def test_a_fault_in_mid_stream_cuts_the_connection_and_logs_no_text(caplog: pytest.LogCaptureFixture) -> None:
    with serving(_answering(_fails_later)) as service:
        with pytest.raises(httpx2.RemoteProtocolError):
            service.post(b"{}")
        assert "mira" not in service.log.getvalue() + caplog.text


def leave(service: Service, body: bytes, *, after: bytes = b"", until: Callable[[], bool] = lambda: True) -> None:
    """Sends a request, waits until `after` was received and `until()` is true, and drops the connection."""
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.loopback.port), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        answer = b""
        while after not in answer:
            answer += connection.recv(65536)
        if not after:
            wait_for(lambda: bool(service.handler.seen))
        wait_for(until)


def wait_for(check: Callable[[], bool]) -> None:
    """Until `check()` is true; a minute is far more than any of these takes."""
    end = time.monotonic() + 60
    while not check():
        assert time.monotonic() < end, "waited for a minute"
        time.sleep(0.01)


def test_a_client_that_leaves_during_detection_stops_it(service: Service, provider: Provider) -> None:
    service.handler.detecting = 60.0
    forwarded = len(provider.received)
    leave(service, chat("hi"))
    wait_for(lambda: service.handler.cancelled == 1)
    assert len(provider.received) == forwarded


def test_a_client_that_leaves_while_the_upstream_thinks_stops_it(service: Service, provider: Provider) -> None:
    left, asked = provider.disconnects, len(provider.received)
    leave(service, chat("hi", knobs="wait=60"), until=lambda: len(provider.received) > asked)
    wait_for(lambda: provider.disconnects > left and service.handler.upstream.in_use == 0)
    assert service.handler.cancelled == 1


def test_a_client_that_leaves_in_mid_stream_stops_the_upstream(service: Service, provider: Provider) -> None:
    left = provider.disconnects
    leave(service, chat("x" * 5000, stream=True, knobs="slow=0.02"), after=b'"content":"xxxxx"')
    wait_for(lambda: provider.disconnects > left and service.handler.upstream.in_use == 0)
    assert service.post(chat("still there")).status_code == 200


def test_a_client_that_leaves_before_its_body_is_complete_is_forgotten(service: Service) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.loopback.port), timeout=10) as connection:
        connection.sendall(head.encode() + b"{")
    assert service.post(chat("next")).status_code == 200
    assert len(service.handler.seen) == 1

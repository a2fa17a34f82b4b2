"""A fault in any stage, at any time: nothing is forwarded after it, the client is told, nobody reads a value.

The service here is the real one, put together in this process; one thing at a time is made to fail: a function of a
stage raises (an error whose text quotes the prompt, as errors do), a detection worker hangs or is killed, the audit
trail cannot be written, or the client goes away.
"""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from proxy import answering, measure, pipeline, verify
from proxy.analysis import settings_for
from proxy.app import TOKENIZERS
from proxy.audit import Audit, AuditEvent
from proxy.detect import Detector
from proxy.echo import Loopback
from proxy.forward import Upstream, UpstreamSettings
from proxy.ingress import Ingress, Limits
from proxy.logs import describe, service_log
from proxy.metrics import Metrics
from proxy.pipeline import Pipeline
from proxy.policy import Policy, load_policy
from proxy.wire.endpoints import ENDPOINTS, Endpoint
from proxy.wire.stream import ChatStream
from recognizers import ENTITIES
from tests.e2e import EMAIL, NAME, found_in, wait_until
from tests.provider import Provider

CHAT = "/v1/chat/completions"
SECRET = b"0123456789abcdef"
TEXT = f"Please write to {NAME} at {EMAIL}."
VALUES = (NAME, EMAIL)
DEADLINE = 5.0
POLICY = f"""
version: 1
languages: [en]
limits: {{default: 128000}}
entities: {{PERSON: replace, EMAIL_ADDRESS: replace, FAULT: replace}}
recognizers:
  FAULT: {{presidio: tests.faulty.Faulty}}
detection: {{deadline_seconds: {DEADLINE}}}
tests: [{{text: "This is FAULT-1.", finds: [FAULT]}}]
"""
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ValueError(TEXT),
    lambda: KeyError(TEXT),
    lambda: RecursionError(TEXT),
    lambda: MemoryError(TEXT),
    lambda: UnicodeDecodeError("utf-8", TEXT.encode(), 0, 1, TEXT),
    lambda: OSError(28, TEXT, TEXT),
)


@dataclass(frozen=True)
class Engine:
    """What takes long to start: shared by all tests of this file."""

    policy: Policy
    detector: Detector
    counters: measure.Counters


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("policy") / "faulty.yaml"
    path.write_text(POLICY)
    policy = load_policy(path, entities=ENTITIES)
    detector = Detector(settings_for(policy), workers=1, deadline=DEADLINE)
    asyncio.run(detector.start())
    yield Engine(policy, detector, measure.Counters(TOKENIZERS))
    asyncio.run(detector.stop())


class Service:
    """The parts in front of a provider, and what they wrote: `events` is the audit trail, `log` the service's log."""

    def __init__(self, engine: Engine, provider: Provider) -> None:
        self.provider = provider
        self.events: list[AuditEvent] = []
        self.left: list[AuditEvent] = []
        self.sink: Callable[[AuditEvent], None] = self.keep
        self.log = io.StringIO()
        log = service_log("debug", self.log)
        self.upstream = Upstream(provider.url, UpstreamSettings(read_timeout=30))
        trail = Audit([lambda event: self.sink(event), Metrics().observe])
        self.pipeline = Pipeline(
            engine.policy,
            engine.detector,
            engine.counters,
            self.upstream,
            trail,
            SECRET,
            on_fault=lambda error: log.error("fault", **describe(error)),
        )
        self.ingress = Ingress(
            self.pipeline,
            secret=SECRET,
            limits=Limits(),
            own={},
            ready=lambda: True,
            refused=lambda request_id, tenant, refusal: None,
            log=log,
        )
        self.port = 0

    def keep(self, event: AuditEvent) -> None:
        """Sorts what is written when a request leaves from what is written when it is over."""
        (self.left if event.verdict == "forward" else self.events).append(event)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI application; at its end the connections to the upstream are closed."""
        if scope["type"] != "lifespan":
            await self.ingress(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.upstream.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    def post(self, text: str = TEXT, model: str = "echo", **more: Any) -> httpx2.Response:
        body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
        with httpx2.Client(trust_env=False, timeout=60) as client:
            return client.post(f"http://127.0.0.1:{self.port}/v1/chat/completions", json=body)

    def works(self) -> bool:
        answer = self.post()
        return answer.status_code == 200 and answer.json()["choices"][0]["message"]["content"] == TEXT

    def is_idle(self) -> bool:
        return self.provider.active == 0 and self.upstream.in_use == 0


@pytest.fixture
def service(engine: Engine, capfd: pytest.CaptureFixture[str]) -> Iterator[Service]:
    """A service of the test's own; afterwards it must work again, be idle, and have written no value anywhere."""
    with Provider() as provider:
        made = Service(engine, provider)
        with Loopback(made.app) as loopback:
            made.port = loopback.port
            yield made
            wait_until(made.is_idle)
            wait_until(made.works, 90, 0.5)
            assert provider.leaks(*VALUES) == []
    written = "".join((made.log.getvalue(), *capfd.readouterr(), *(event.line() for event in made.events)))
    assert found_in(written, VALUES) == []
    assert "Traceback" not in written


def assert_refused(answer: httpx2.Response, status: int, code: str, retry: str = "false") -> None:
    """Told in the provider's form, without a value."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-should-retry"] == retry
    assert answer.headers["x-caviardage-request-id"]
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["code"]) == ("server_error", code)
    assert found_in(answer.text, VALUES) == []


def failing(error: Callable[[], Exception], original: Any = None, after: int = 0) -> Callable[..., Any]:
    """A function that raises, from its call number `after` on."""
    calls = iter(range(1 << 30))

    def fail(*arguments: Any, **named: Any) -> Any:
        if next(calls) < after:
            return original(*arguments, **named)
        raise error()

    return fail


def step(owner: Any, name: str) -> Any:
    """A function of a module or class, or a step of chat in the table of endpoints."""
    return getattr(ENDPOINTS[CHAT] if owner is ENDPOINTS else owner, name)


def put(patch: pytest.MonkeyPatch, owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Puts a function in the place of that `step`."""
    if owner is ENDPOINTS:
        steps: Any = {name: function}
        patch.setitem(ENDPOINTS, CHAT, replace(ENDPOINTS[CHAT], **steps))
    else:
        patch.setattr(owner, name, function)


BEFORE = {
    "parse": (pipeline, "parse_strict", 0),
    "leaves": (Endpoint, "leaves", 0),
    "measure": (measure, "measure", 0),
    "limit": (measure, "check_limit", 0),
    "detect": (Detector, "detect", 0),
    "detect, second look": (Detector, "_second_look", 0),
    "opening": (ENDPOINTS, "opening", 0),
    "substitute": (pipeline, "Substituting", 0),
    "rewrite": (ENDPOINTS, "rewrite_request", 1),
    "serialise": (pipeline, "serialise", 0),
    "measure again": (measure, "measure", 1),
    "forward": (Upstream, "_request", 0),
}
"""Where something can fail before the upstream has been reached: its owner, the function, good calls before."""


@pytest.mark.parametrize("stage", BEFORE)
def test_nothing_is_forwarded_after_a_fault(service: Service, stage: str) -> None:
    owner, name, after = BEFORE[stage]
    for error in ERRORS:
        for size in (1, 500):  # a long body is worked on in a thread
            with pytest.MonkeyPatch.context() as patch:
                put(patch, owner, name, failing(error, step(owner, name), after))
                answer = service.post(TEXT * size)
            assert_refused(answer, 503, "internal_fault")
            assert service.events[-1].verdict == "refuse"
            assert json.loads(service.log.getvalue().splitlines()[-1])["exception"] == type(error()).__name__
    assert service.provider.received == []


AFTER = {
    "read": (answering, "parse_answer", 0),
    "restore": (ENDPOINTS, "restore_answer", 0),
    "write": (answering, "serialise", 0),
    "verify": (verify, "check_usage", 0),
}


@pytest.mark.parametrize("stage", AFTER)
def test_no_answer_is_handed_on_after_a_fault(service: Service, stage: str) -> None:
    owner, name, after = AFTER[stage]
    for error in ERRORS:
        with pytest.MonkeyPatch.context() as patch:
            put(patch, owner, name, failing(error, step(owner, name), after))
            assert_refused(service.post(), 503, "internal_fault")
    assert len(service.provider.received) == len(ERRORS)


STREAMED = {
    "first piece": (ChatStream, "feed", 0),
    "a later piece": (ChatStream, "feed", 3),
    "end": (ChatStream, "finish", 0),
    "verify": (verify, "alarms", 2),
}


@pytest.mark.parametrize("stage", STREAMED)
def test_a_stream_stops_at_a_fault_and_does_not_end_cleanly(service: Service, stage: str) -> None:
    owner, name, after = STREAMED[stage]
    for error in ERRORS:
        with pytest.MonkeyPatch.context() as patch:
            put(patch, owner, name, failing(error, step(owner, name), after))
            got = raw_stream(service)
        assert json.loads(got.rsplit(b"data: ", 1)[1])["error"]["code"] == "internal_fault"
        assert service.events[-1].verdict == "block"
    assert len(service.provider.received) == len(ERRORS)


def raw_stream(service: Service, **more: Any) -> bytes:
    """Every byte of a streamed answer's chunks, whichever way it ends."""
    parts: list[bytes] = []
    body = {"model": "echo;chunk=4;slow=0.005", "messages": [{"role": "user", "content": TEXT}], "stream": True}
    with httpx2.Client(trust_env=False, timeout=60) as client, pytest.raises(httpx2.RemoteProtocolError):  # noqa: PT012
        url = f"http://127.0.0.1:{service.port}/v1/chat/completions"
        with client.stream("POST", url, json={**body, **more}) as answer:
            assert answer.status_code == 200
            parts.extend(answer.iter_raw())
    return b"".join(parts)


# --- detection workers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "code"), [("RAISE", "detection_failed"), ("HANG", "detection_timeout"), ("DIE", "detection_failed")]
)
def test_a_detection_worker_that_fails_refuses_the_request(service: Service, trigger: str, code: str) -> None:
    began = time.monotonic()
    assert_refused(service.post(f"{TEXT} {trigger}"), 503, code)
    assert time.monotonic() - began < DEADLINE + 20
    assert service.provider.received == []
    assert service.events[-1].reason == code


def test_a_worker_that_is_killed_is_replaced(service: Service) -> None:
    assert service.works()
    killed = [child.pid for child in multiprocessing.active_children() if child.pid]
    assert len(killed) == 1
    os.kill(killed[0], signal.SIGKILL)
    wait_until(service.works, 90, 0.5)
    assert [child.pid for child in multiprocessing.active_children()] != killed


# --- the audit trail ------------------------------------------------------------------------------------------------


def test_what_cannot_be_audited_is_not_forwarded(service: Service) -> None:
    def full(event: AuditEvent) -> None:
        raise OSError(28, TEXT)

    service.sink = full
    for _ in range(3):
        assert_refused(service.post(), 503, "audit_unavailable")
    assert service.provider.received == []
    service.sink = service.keep
    wait_until(service.works)


def at_the_end(fail: Callable[[Any], None]) -> Callable[[AuditEvent], None]:
    """A sink that takes what leaves and fails when it is over."""
    return lambda event: None if event.verdict == "forward" else fail(event)


def test_what_leaves_is_written_down_first(service: Service) -> None:
    received: list[int] = []
    service.sink = lambda event: received.append(len(service.provider.received))
    service.post()
    assert received == [0, 1]
    service.sink = service.keep
    service.post()
    (left,), (event,) = service.left, service.events
    assert (left.verdict, left.status, event.verdict) == ("forward", 0, "release")
    assert (left.request_id, left.entities, left.bytes_out) == (event.request_id, event.entities, event.bytes_out)
    assert left.tokens_after == event.tokens_after is not None
    assert "detect" in left.stage_ms


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("error", ERRORS)
def test_a_sink_with_a_fault_of_its_own_keeps_the_answer_back(
    service: Service, error: Callable[[], Exception], late: bool
) -> None:
    service.sink = at_the_end(failing(error)) if late else failing(error)
    answer = service.post()
    assert len(service.provider.received) == late
    assert answer.status_code == 503
    assert answer.headers["x-should-retry"] == "false"
    assert answer.json()["error"]["code"] in ("internal_fault", "audit_unavailable")
    assert found_in(answer.text, VALUES) == []
    service.sink = service.keep


def test_an_audit_that_fails_under_a_stream_closes_the_upstream(service: Service) -> None:
    service.sink = at_the_end(failing(ERRORS[-1]))
    with leaving(service, f"{TEXT}", "echo;chunk=1;slow=0.05", stream=True) as connection:
        assert connection.recv(1000)
    wait_until(service.is_idle)
    service.sink = service.keep
    wait_until(service.works)


# --- the upstream ---------------------------------------------------------------------------------------------------


def test_an_upstream_that_is_not_there(service: Service) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    service.pipeline._upstream = Upstream(f"http://127.0.0.1:{port}/v1", UpstreamSettings())  # nobody listens there
    assert_refused(service.post(), 502, "upstream_unreachable", retry="true")
    service.pipeline._upstream = service.upstream


@pytest.mark.parametrize("model", ["echo;die=0", "echo;chunk=1;slow=0.01;die=9"])
def test_an_upstream_that_breaks_off(service: Service, model: str) -> None:
    got = raw_stream(service, model=model)
    assert b"[DONE]" not in got
    assert json.loads(got.rsplit(b"data: ", 1)[1])["error"]["code"] == "upstream_unreachable"


# --- clients that leave ---------------------------------------------------------------------------------------------


@contextmanager
def leaving(service: Service, text: str, model: str = "echo", **more: Any) -> Iterator[socket.socket]:
    """A client that has asked, and is gone at the end of the block."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": text}], **more}).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json"
    with socket.create_connection(("127.0.0.1", service.port), 30) as connection:
        connection.sendall(f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        yield connection


def assert_cancelled(service: Service) -> None:
    wait_until(lambda: service.events)
    wait_until(service.is_idle)
    assert (service.events[0].verdict, service.events[0].reason) == ("cancelled", "client_disconnected")


def test_a_client_that_leaves_during_detection(service: Service, engine: Engine) -> None:
    with leaving(service, f"{TEXT} HANG"):
        wait_until(lambda: engine.detector._inside == 1)
    assert_cancelled(service)
    assert engine.detector._inside == 0
    assert service.provider.received == []


@pytest.mark.parametrize("stage", ["parse", "measure", "rewrite"])
def test_a_client_that_leaves_while_a_thread_works_on_its_request(service: Service, stage: str) -> None:
    owner, name, after = BEFORE[stage]
    original, begun, go_on = step(owner, name), threading.Event(), threading.Event()
    calls = iter(range(1 << 30))

    def slow(*arguments: Any, **named: Any) -> Any:
        if next(calls) == after:
            begun.set()
            go_on.wait(30)
        return original(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        put(patch, owner, name, slow)
        with leaving(service, TEXT * 500):
            assert begun.wait(30)
        assert_cancelled(service)
        go_on.set()
    assert service.provider.received == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_while_the_upstream_thinks(service: Service, stream: bool) -> None:
    with leaving(service, TEXT, "echo;wait=60", stream=stream):
        wait_until(lambda: service.provider.active == 1)
    assert_cancelled(service)
    assert service.provider.disconnects == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_in_the_middle_of_an_answer(service: Service, stream: bool) -> None:
    with leaving(service, TEXT, "echo;chunk=1;slow=0.5", stream=stream) as connection:
        if stream:
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        else:
            wait_until(lambda: service.provider.active == 1)
            time.sleep(0.2)
    assert_cancelled(service)
    assert service.provider.disconnects == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_service_that_ends_before_an_answer_does(engine: Engine, stream: bool) -> None:
    with Provider() as provider:
        service = Service(engine, provider)
        with Loopback(service.app) as loopback:
            service.port = loopback.port
            connection = leaving(service, TEXT, "echo;chunk=1;slow=0.5" if stream else "echo;wait=60", stream=stream)
            connection.__enter__()
            wait_until(lambda: provider.active == 1)
        wait_until(lambda: service.events)
        assert (service.events[0].verdict, service.events[0].reason) == ("cancelled", "drain_timeout")
        connection.__exit__(None, None, None)


def test_the_policy_of_these_tests_is_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(POLICY)
    assert load_policy(path, entities=ENTITIES).detection.deadline_seconds == DEADLINE

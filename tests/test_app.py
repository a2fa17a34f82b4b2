"""The service as a whole: its start, its health, its end, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

import proxy
from proxy import __main__ as command
from proxy import app as application
from proxy.audit import Audit, AuditEvent
from proxy.books import Books, open_books
from proxy.commands import serve
from proxy.echo import Echo, Loopback
from proxy.errors import Unavailable
from proxy.extract import Extractor
from proxy.forward import Upstream, UpstreamSettings
from proxy.ingress import Limits
from proxy.logs import Log, service_log
from proxy.metrics import Metrics
from proxy.policy import load_policy
from proxy.service import App, Parts
from proxy.settings import Settings, StartError
from proxy.store.memory import in_memory
from proxy.trip import Inbound, Outbound
from recognizers import ENTITIES
from recognizers.device import Choice

CPU = Choice("cpu", "asked")
SECRET = b"0123456789abcdef"
CANARY = "Mira Tallow"


@dataclass
class Detection:
    """A detector whose start waits for `go`, and which finds all entities but `misses`."""

    go: threading.Event = field(default_factory=threading.Event)
    misses: list[str] = field(default_factory=list)
    error: Exception | None = None
    ready: bool = False
    chosen: Choice = CPU
    stopped: bool = False
    tested: list[tuple[str, str, str]] = field(default_factory=list)

    async def start(self) -> None:
        while not self.go.is_set():  # noqa: ASYNC110 - set by the test's thread
            await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error

    async def self_test(self, examples: Iterable[tuple[str, str, str]]) -> list[str]:
        self.tested = list(examples)
        self.ready = not self.misses
        return self.misses

    async def stop(self) -> None:
        self.stopped = True


class Handler:
    async def handle(self, inbound: Inbound) -> Outbound:
        return Outbound(200, [("content-type", "application/json")], b'{"handled":true}')


@dataclass
class Service:
    """A running application, with handles on what it is made of."""

    url: str
    detection: Detection
    events: list[AuditEvent]
    faults: list[str]
    log: io.StringIO
    audit_works: list[bool]

    def get(self, path: str) -> httpx2.Response:
        with httpx2.Client(base_url=self.url, trust_env=False) as client:
            return client.get(path)

    def status(self) -> list[int]:
        return [self.get(path).status_code for path in ("/healthz", "/readyz", "/v1/models")]

    def until(self, path: str, status: int) -> None:
        while self.get(path).status_code != status:
            pass


@contextmanager
def running(detection: Detection) -> Iterator[Service]:
    events: list[AuditEvent] = []
    works = [True]

    def sink(event: AuditEvent) -> None:
        if not works[-1]:
            raise OSError(28, CANARY)
        events.append(event)

    out, faults, metrics = io.StringIO(), [], Metrics()  # type: ignore[var-annotated]
    parts = Parts(
        handler=Handler(),
        detector=detection,
        upstream=Upstream("http://127.0.0.1:1/v1", UpstreamSettings()),
        store=in_memory(SECRET),
        extractor=Extractor(),
        books=Books(),
        audit=Audit([sink, metrics.observe]),
        metrics=metrics,
        secret=SECRET,
        examples=(("PERSON", "I am Mira.", "Mira"),),
        about={"policy": "default@0123", "workers": 1},
    )
    with Loopback(App(parts, Limits(), service_log("debug", out), faults.extend)) as loopback:
        yield Service(loopback.url, detection, events, faults, out, works)


def test_nothing_is_served_until_detection_has_passed_its_self_test() -> None:
    detection = Detection()
    with running(detection) as service:
        assert service.status() == [503, 503, 503]
        assert service.get("/healthz").json() == {"status": "starting"}
        detection.go.set()
        service.until("/healthz", 200)
        assert service.status() == [200, 200, 200]
        assert detection.tested == [("PERSON", "I am Mira.", "Mira")]
        assert service.get("/readyz").json() == {"ready": True, "policy": "default@0123", "workers": 1}
    assert detection.stopped
    assert [json.loads(line)["event"] for line in service.log.getvalue().splitlines()] == ["device", "ready", "stopped"]


def test_a_service_that_is_alive_but_cannot_work_is_not_ready() -> None:
    detection = Detection()
    detection.go.set()
    with running(detection) as service:
        service.until("/healthz", 200)
        detection.ready = False
        assert service.status()[:2] == [200, 503]
        detection.ready = True
        service.audit_works.append(False)
        assert service.get("/v1/unknown").status_code == 400
        assert service.status()[:2] == [200, 503]
        assert CANARY not in service.log.getvalue()


@pytest.mark.parametrize(
    ("detection", "fault"),
    [
        (Detection(misses=["PERSON"]), "self-test: PERSON was not found in its own example"),
        (Detection(error=Unavailable("The model en_x is not installed.")), "The model en_x is not installed."),
    ],
)
def test_a_failed_start_says_why_and_serves_nothing(detection: Detection, fault: str) -> None:
    detection.go.set()
    with running(detection) as service:
        while not service.faults:
            pass
        assert service.faults[0].endswith(fault)
        assert service.status() == [503, 503, 503]
    assert detection.stopped


def test_refusals_at_the_door_are_audited_and_counted() -> None:
    detection = Detection()
    detection.go.set()
    with running(detection) as service:
        service.until("/healthz", 200)
        service.get("/v1/mira.tallow")
        event = service.events[-1]
        assert (event.verdict, event.reason, event.status) == ("refuse", "unsupported_by_policy", 400)
        text = service.get("/metrics").text
        assert 'reason="unsupported_by_policy",status="400",verdict="refuse"} 1.0' in text
        assert "caviardage_ready 1.0" in text
        assert "caviardage_upstream_in_use 0.0" in text
        assert "mira" not in text + event.line()


def test_a_start_that_is_interrupted_is_cleaned_up() -> None:
    detection = Detection()
    with running(detection):
        pass
    assert detection.stopped


POLICY = Path(proxy.__file__).parent.parent / "policies" / "default.yaml"


def settings(**more: Any) -> Settings:
    return Settings(**{"upstream": "https://api.example.com/v1", "policy": POLICY, **more})


def quiet() -> tuple[Log, io.StringIO]:
    out = io.StringIO()
    return service_log("debug", out), out


def test_the_service_is_built_from_settings(tmp_path: Path) -> None:
    log, out = quiet()
    built = application.build(settings(secret=SECRET, audit=str(tmp_path / "a"), workers=1), log, lambda faults: None)
    assert not built.ready
    assert out.getvalue() == ""


def test_what_is_risky_is_said_aloud() -> None:
    log, out = quiet()
    assert application.secret_of(settings(), log) != application.secret_of(settings(), log)
    assert application.secret_of(settings(secret=SECRET), log) == SECRET
    application.warn(settings(upstream="http://provider.example/v1"), log)
    application.warn(settings(upstream="http://127.0.0.1:9/v1"), log)
    events = [json.loads(line)["event"] for line in out.getvalue().splitlines()]
    assert events == ["secret_random", "secret_random", "upstream_plain_http"]


def test_the_secret_is_not_in_the_settings_text() -> None:
    assert "0123456789" not in repr(settings(secret=SECRET))


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"upstream": "api.example.com"}, "must be a URL like"),
        ({"upstream": "ftp://x/v1"}, "must be a URL like"),
        ({"upstream": "http://[::1/v1"}, "not a URL"),
        ({"upstream": "https://user:pass@x/v1"}, "must not hold credentials"),
        ({"upstream": "https://x/v1?key=1"}, "must not hold a query"),
        ({"upstream": "https://x/v 1"}, "printable ASCII"),
        ({"secret": b"short"}, "at least 16 bytes"),
        ({"port": 70000}, "between 0 and 65535"),
        ({"max_body_bytes": 0}, "--max-body-bytes: must be greater than 0"),
        ({"audit": " , "}, "audit: name a file"),
        ({"audit": "otlp"}, "otlp needs a collector"),
        ({"otlp": "collector:4318"}, "--otlp: must be a URL like"),
        ({"audit_secret": b"short"}, "--audit-secret: each needs at least 16 bytes"),
        ({"audit_max_bytes": -1}, "must not be negative"),
        ({"log_level": "loud"}, "debug, info, warning, error"),
        ({"upstream_ca": Path("/no/such.pem")}, "no file at /no/such.pem"),
    ],
)
def test_settings_that_cannot_work_are_refused(more: dict[str, Any], fault: str) -> None:
    with pytest.raises(StartError) as refused:
        settings(**more)
    assert len(refused.value.faults) == 1
    assert fault in refused.value.faults[0]
    assert "pass@" not in str(refused.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(StartError) as refused:
        settings(upstream="x", port=-1, workers=0)
    assert len(refused.value.faults) == 3


@pytest.mark.parametrize(
    ("written", "more", "told"),
    [
        (None, (), "nosuch.yaml"),
        ("version: 1\nlimits: {default: 9000}\nentities: {PERSN: replace}\n", (), "own.yaml:3:12: "),
        ("extends: default\n", (), "processes: what the provider keeps"),
        ("extends: default\n", ("--store", "redis://localhost"), None),
        ("extends: default\n", ("--tenants", "none.yaml"), "none.yaml"),
    ],
)
def test_what_is_wrong_with_options_and_files_is_told_at_once(
    tmp_path: Path, written: str | None, more: tuple[str, ...], told: str | None
) -> None:
    policy = tmp_path / ("nosuch.yaml" if written is None else "own.yaml")
    if written is not None:
        policy.write_text(written)
    wrong = ("--upstream", "foo", "--tls-cert", str(POLICY), "--secret", "short", "--dialect", "opnai")
    code, output = invoke("serve", "--policy", str(policy), "--processes", "2", *wrong, *more)
    assert code == 2
    for fault in ("--upstream: must be", "--secret: at least", "--dialect: one", "--tls-cert, --tls-key: one needs"):
        assert f"  {fault}" in output
    assert (len(output.splitlines()) > 5 + bool(more and more[0] == "--store")) == (told is not None)
    assert told is None or told in output


def test_an_audit_file_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"audit: .* cannot be written"):
        open_books(settings(audit=str(tmp_path)), quiet()[0])


def test_a_certificate_file_without_certificates_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(StartError, match="no certificates"):
        application.upstream_of(settings(upstream_ca=tmp_path / "ca.pem"))


def invoke(*arguments: str, **environment: str) -> tuple[int, str]:
    result = CliRunner().invoke(command.command_line(), list(arguments), env=environment)
    return result.exit_code, result.output


def test_a_bad_policy_is_told_with_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.logs.silence", lambda log: None)
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nlimits: {default: 1000}\nentities: {PERSONE: replace}\n")
    code, output = invoke("serve", "--upstream", "http://127.0.0.1:9/v1", "--policy", str(bad), "--port", "0")
    assert code == 2
    assert f"{bad}:3:" in output
    assert "Traceback" not in output
    code, output = invoke("check", str(bad), str(POLICY))
    assert (code, f"{bad}:3:" in output, f"{POLICY}: default@" in output) == (1, True, True)
    code, output = invoke("check", "--format", "json", str(bad))
    assert (code, json.loads(output)[0]["line"]) == (1, 3)


def test_every_option_of_serve_is_a_variable_too(monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = invoke("serve", CAVIARDAGE_UPSTREAM="nonsense", CAVIARDAGE_POLICY=str(POLICY), CAVIARDAGE_PORT="-1")
    assert code == 2
    assert "must be a URL like" in output
    assert "port: must be between" in output
    monkeypatch.setenv("COLUMNS", "200")
    _, text = invoke("serve", "--help")
    for name in Settings.__dataclass_fields__:
        assert f"CAVIARDAGE_{name.upper()}" in text
        assert f"--{name.replace('_', '-')}" in text


def test_a_taken_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"127.0.0.1:{port} cannot be listened on"):
            serve.listen("127.0.0.1", port)
    with pytest.raises(StartError, match="is not an address"):
        serve.listen("no.such.host.invalid", 1)


def test_tokens_are_counted(tmp_path: Path) -> None:
    text, body = tmp_path / "a.txt", tmp_path / "b.json"
    text.write_text("hello world")
    body.write_text(json.dumps({"model": "gpt-4o", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}))
    code, output = invoke("count", str(text), str(body))
    counts = [int(line.split("\t")[0]) for line in output.splitlines()]
    assert (code, counts[0]) == (0, 2)
    assert 18 <= counts[1] <= 30
    code, output = invoke("count", "--policy", str(POLICY), "--model", "gpt-4o", str(text))
    assert (code, output) == (0, f"2\t128000\t{text}\n")
    assert invoke("count", str(tmp_path / "missing"))[0] == 2
    assert invoke("count", "--tokenizer", "nonsense", str(text))[0] == 2


def test_a_package_of_the_same_name_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    command.check_package()
    monkeypatch.setattr(proxy, "__doc__", "proxy.py - Fast, lightweight")
    with pytest.raises(SystemExit, match="belongs to another program"):
        command.check_package()


def test_a_fault_of_the_command_line_says_where_and_not_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(command, "command_line", fail)
    with pytest.raises(SystemExit) as ended:
        command.main()
    err = capsys.readouterr().err
    assert ended.value.code == 70
    assert err.startswith("caviardage: internal fault (ValueError at tests.test_app:")
    assert CANARY not in err


def test_the_echo_answers_the_official_client() -> None:
    from openai import OpenAI

    echo = Echo()
    tools: Any = [{"type": "function", "function": {"name": "send", "parameters": {"type": "object"}}}]
    messages: Any = [{"role": "user", "content": "Grüße, world"}]
    with Loopback(echo.app) as loopback, OpenAI(base_url=f"{loopback.url}/v1", api_key="x") as client:
        create: Any = client.chat.completions.create
        assert create(model="m", messages=messages).choices[0].message.content == messages[0]["content"]
        pieces = [chunk.choices[0].delta.content or "" for chunk in create(model="m", messages=messages, stream=True)]
        assert len(pieces) > 3
        assert "".join(pieces) == messages[0]["content"]
        call = create(model="m", messages=messages, tools=tools).choices[0].message.tool_calls[0].function
        assert (call.name, json.loads(call.arguments)) == ("send", {"text": messages[0]["content"]})
        chunks = [
            chunk.choices[0].delta.tool_calls[0].function.arguments
            for chunk in create(model="m", messages=messages, tools=tools, stream=True)
            if chunk.choices[0].delta.tool_calls
        ]
        assert json.loads("".join(chunks)) == {"text": messages[0]["content"]}
        assert [model.id for model in client.models.list()] == ["echo"]
    assert [body["messages"] for body in echo.received] == [messages] * 4


def test_a_limit_that_only_repeats_what_the_provider_says_is_doubted_aloud(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "version: 1\nentities: {IBAN_CODE: replace}\nlimits:\n  models:\n"
        "    glm-5.3: {served: 1048576, advertised: 1048576}\n"
        "    proven: {served: 681280, advertised: 1048576}\n    gpt-4o*: 128000\n"
    )
    log, out = quiet()
    application.doubt(load_policy(path, entities=ENTITIES), log)
    (line,) = map(json.loads, out.getvalue().splitlines())
    assert (line["event"], line["model"], line["level"]) == ("served_is_advertised", "glm-5.3", "warning")
    checked = CliRunner().invoke(command.command_line(), ["check", str(path)])
    assert checked.exit_code == 0
    assert "note: the limit served of glm-5.3 is what the provider advertises" in checked.output
    assert "proven" not in checked.output

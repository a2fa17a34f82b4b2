"""What auditors and operators are told: two commands on a trail, spans, and that nobody's value is in any of it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx2
import pytest
from typer.testing import CliRunner

from proxy import __main__ as command
from proxy import app as application
from proxy.analysis import not_covered
from proxy.audit import AuditEvent
from proxy.books import open_books
from proxy.echo import Loopback
from proxy.logs import service_log
from proxy.policy import load_policy
from proxy.settings import Settings
from proxy.traces import Collector as LogSink
from proxy.traces import Tracer
from proxy.trail.examine import examine
from proxy.trail.file import FileSink
from proxy.trail.queued import QueuedSink
from proxy.trail.seal import Seal
from recognizers import ENTITIES
from tests.collector import Collector
from tests.e2e import ROOT, SECRET, TEXT, VALUES, found_in, serving, wait_until
from tests.provider import Provider
from tests.replicas import detecting
from tests.test_trail import examined, kinds

DAY = 86_400


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


def event(number: int, **more: object) -> AuditEvent:
    values: dict[str, object] = {
        "request_id": f"r{number}",
        "verdict": "release" if number % 3 else "refuse",
        "reason": "" if number % 3 else "blocked_entity",
        "status": 200 if number % 3 else 400,
        "time": 1_700_000_000 + number * DAY / 4,
        "tenant": f"{number % 2:016x}",
        "model": "gpt-4o",
        "policy": "default@0123456789ab",
        "entities": {"PERSON": 2, "IBAN_CODE": number % 2},
        "bytes_out": 100,
        "tokens_after": 7,
    }
    return AuditEvent(**{**values, **more})  # type: ignore[arg-type]


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    path = tmp_path / "audit.jsonl"
    sink = FileSink(path, Seal([SECRET.encode()]))
    for number in range(12):
        sink(event(number, verdict="forward", status=0, reason=""))
        if number < 11:
            sink(event(number))
    sink.close()
    return path


def run(*arguments: str, secret: str = SECRET) -> tuple[int, str]:
    result = CliRunner().invoke(command.command_line(), ["audit", *arguments], env={"CAVIARDAGE_SECRET": secret})
    return result.exit_code, result.output


# The commands


def test_a_whole_trail_is_said_to_be_whole(trail: Path) -> None:
    code, output = run("verify", str(trail))
    assert (code, output.splitlines()[-1]) == (0, "24 lines, none changed, missing or out of order")
    code, output = run("verify", str(trail), "--format", "json")
    assert (code, json.loads(output)) == (0, {"lines": 24, "faults": []})


def test_each_kind_of_damage_ends_with_status_1(trail: Path) -> None:
    whole = trail.read_bytes().splitlines(keepends=True)
    damaged = {
        "changed": [*whole[:5], whole[5].replace(b'"PERSON":2', b'"PERSON":1'), *whole[6:]],
        "missing": [*whole[:5], *whole[6:]],
        "order": [*whole[:5], whole[6], whole[5], *whole[7:]],
        "truncated": whole[:-1],
        "cut": [*whole[:-1], whole[-1][:-1]],
        "unsealed": [*whole[:5], b"{}\n", *whole[5:]],
        "begins_late": whole[1:],
    }
    for kind, lines in damaged.items():
        trail.write_bytes(b"".join(lines))
        code, output = run("verify", str(trail))
        assert code == 1, kind
        assert f" {kind}: " in output, kind
    trail.write_bytes(b"".join(whole))
    code, output = run("verify", str(trail), secret="another secret, as long as it")
    assert (code, output.count("another secret?"), len(output.splitlines())) == (1, 1, 3)
    assert run("verify", str(trail.with_suffix(".none")))[0] == 2
    Path(f"{trail}.head").unlink()
    assert "end_unproven" in run("verify", str(trail))[1]
    assert run("verify", str(trail), "--part")[0] == 0
    seal = re.findall(rb'"seq":(\d+).*"hash":"(\w+)"', whole[-1])[0]
    anchor = b":".join(seal).decode()
    assert run("verify", str(trail), "--anchor", anchor)[0] == 0
    assert run("verify", str(trail), "--anchor", anchor.replace(":", ":0"))[0] == 1
    assert run("verify", str(trail), "--anchor", "nonsense")[0] == 2


def test_an_empty_file_is_no_trail(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert run("verify", str(tmp_path / "a")) == (1, "no line of a trail\n")


def test_a_report_sums_up_by_everything_there_is(trail: Path) -> None:
    code, output = run("report", str(trail), "--format", "csv")
    assert code == 0
    found = {(row["by"], row["name"]): row for row in csv.DictReader(io.StringIO(output))}
    assert found["entity", "PERSON"]["findings"] == "22"
    assert found["entity", "IBAN_CODE"]["findings"] == "5"
    assert (found["verdict", "refuse"]["requests"], found["verdict", "refuse"]["refused"]) == ("4", "4")
    assert found["reason", "blocked_entity"]["requests"] == "4"
    assert found["tenant", "0" * 16]["requests"] == "6"
    assert found["day", "2023-11-14"]["bytes_out"] == "100"
    assert ("verdict", "forward") not in found
    code, output = run("report", str(trail))
    assert output.startswith("11 requests, 1 forwarded without an end, 1 others\n")
    assert "By tenant" in output


def test_a_report_is_one_page_that_loads_nothing(trail: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert run("report", str(trail), "--format", "html", "--out", str(out))[0] == 0
    text = out.read_text()
    page = ElementTree.fromstring(text.replace("<!doctype html>", ""))  # noqa: S314 - our own page
    assert not re.search(r"<script|src=|href=|url\(|@import|https?:", text)
    plots = list(page.iter("svg"))
    assert len(plots) >= 3
    wide = [float(bar.attrib["width"]) for bar in plots[1].iter("rect")]
    assert wide[0] / wide[1] == pytest.approx(22 / 5, rel=0.01)
    assert all(plot.attrib["aria-label"] for plot in plots)
    assert "24 lines, none changed, missing or out of order" in text


def test_names_in_a_report_are_text_wherever_they_are_put(tmp_path: Path) -> None:
    bad = json.dumps({**json.loads(event(1).line()), "model": "<b>=1", "tenant": "=cmd()"})
    (tmp_path / "a").write_text(f"{bad}\nnonsense\n[]\n")
    assert "<b>" not in run("report", str(tmp_path / "a"), "--format", "html")[1]
    assert "'=cmd()" in run("report", str(tmp_path / "a"), "--format", "csv")[1]


# The collector


def test_a_request_becomes_a_span_with_its_stages(collector: Collector) -> None:
    tracer = Tracer(collector.url)
    now = time.time_ns()
    tracer(event(1, verdict="forward"))
    tracer(event(1, endpoint="/v1/messages", marks=(("parse", now, now + 10), ("Mira Tallow", now, now))))
    tracer(event(3, verdict="block", reason="usage_mismatch"))
    tracer.close()
    whole, failed = [span for span in collector.spans if not span.parent_span_id]
    (stage,) = [span for span in collector.spans if span.parent_span_id]
    assert (whole.name, stage.name) == ("/v1/messages", "parse")
    assert (stage.parent_span_id, stage.start_time_unix_nano, stage.end_time_unix_nano) == (
        whole.span_id,
        now,
        now + 10,
    )
    told = {item.key: item.value for item in whole.attributes}
    assert told["caviardage.verdict"].string_value == "release"
    assert told["caviardage.tokens_after"].int_value == 7
    assert (failed.status.code, failed.status.message) == (2, "usage_mismatch")
    assert b"Mira" not in b"".join(collector.raw)


def test_a_collector_that_is_down_takes_no_lines_and_costs_no_spans_time(collector: Collector) -> None:
    collector.status = 400
    sink = QueuedSink(LogSink(collector.url), Seal())
    with pytest.raises(OSError, match="could not be written"):
        asyncio.run(sink.settled())
    collector.status = 200
    wait_until(lambda: collector.lines)
    sink.close()
    tracer = Tracer("http://127.0.0.1:9")
    began = time.monotonic()
    for number in range(5000):
        tracer(event(number))
    assert time.monotonic() - began < 10


def test_a_request_that_the_collector_has_no_line_of_is_not_forwarded(tmp_path: Path, collector: Collector) -> None:
    policy = tmp_path / "light.yaml"
    policy.write_text("version: 1\nlanguages: [en]\nlimits: {default: 9000}\nentities: {EMAIL_ADDRESS: replace}\n")
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
    with Provider() as provider, detecting(policy):
        made = Settings(
            upstream=provider.url, policy=policy, secret=SECRET.encode(), audit="otlp", otlp=collector.url, workers=1
        )
        app = application.build(made, service_log("error", io.StringIO()), lambda _: None)
        with Loopback(app) as service, httpx2.Client(base_url=service.url, trust_env=False, timeout=60) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200)
            collector.status = 503
            refused = client.post("/v1/chat/completions", json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "audit_unavailable")
            assert client.get("/readyz").status_code == 503
            assert provider.received == []
            collector.status = 200
            wait_until(lambda: client.post("/v1/chat/completions", json=body).status_code == 200, 60)
            assert len(provider.received) == 1
    lines = [f"{line}\n" for line in collector.lines]
    assert kinds(examine({"collector": lines}, Seal([SECRET.encode()]))) == set()


def test_a_sink_that_cannot_be_opened_closes_those_before_it(tmp_path: Path) -> None:
    settings = Settings(upstream="http://127.0.0.1:9/v1", policy=tmp_path, audit=f"{tmp_path / 'a'},{tmp_path}")
    with pytest.raises(Exception, match="cannot be written"):
        open_books(settings, service_log("error", io.StringIO()))
    assert kinds(examined(tmp_path / "a", Seal())) == set()


# What is not covered


def test_what_the_policy_leaves_alone_is_named() -> None:
    policy = load_policy(ROOT / "policies" / "default.yaml", entities=ENTITIES)
    told = not_covered(policy)
    assert set(told["entities"]) == {name for name in ENTITIES if policy.rule(name).action == "allow"}
    assert "ja" in told["languages"]
    assert not set(told["languages"]) & set(policy.languages)


# All of it


def test_a_whole_run_leaves_no_value_anywhere(tmp_path: Path, collector: Collector) -> None:
    path = tmp_path / "audit.jsonl"
    more = ("--audit", f"-,{path},otlp", "--otlp", collector.url, "--audit-max-bytes", "4000", "--workers", "1")
    canaries = [f"nobody.{number}@canary-{number}.example" for number in range(100)]
    with Provider() as provider, serving(provider, *more) as service:
        with httpx2.Client(base_url=service.base_url, trust_env=False, timeout=60) as client:
            for text in (TEXT, *(" and ".join(canaries[at : at + 25]) for at in range(0, 100, 25))):
                for stream in (False, True):
                    body = {"model": "echo", "stream": stream, "messages": [{"role": "user", "content": text}]}
                    assert client.post("/chat/completions", json=body).status_code == 200
            assert client.post("/chat/completions", content=TEXT.encode()).status_code == 400
            ready = client.get(f"{service.url}/readyz").json()
        wait_until(lambda: len([span for span in collector.spans if not span.parent_span_id]) == 11, 60)
    assert "ja" in ready["not_covered"]["languages"]
    files = [str(one) for one in tmp_path.glob("audit.jsonl*") if one.suffix != ".head"]
    assert len(files) > 2
    assert run("verify", *files)[0] == 0
    kept = "".join(Path(one).read_text() for one in files)
    assert kept.count('"verdict":"forward"') == 10
    assert kept.count('"verdict":"release"') == 10
    (tmp_path / "out").write_text(service.out.text)
    (tmp_path / "otlp").write_text("".join(f"{line}\n" for line in collector.lines))
    assert run("verify", str(tmp_path / "out"))[0] == 0
    assert run("verify", str(tmp_path / "otlp"))[0] == 0
    reports = [run("report", *files, "--format", shape)[1] for shape in ("text", "csv", "html")]
    assert all("EMAIL_ADDRESS" in report for report in reports)
    told = b"".join(collector.raw).decode("utf-8", "replace")
    everything = "\n".join((kept, told, service.written, *reports, Path(f"{path}.head").read_text()))
    assert found_in(everything, [*VALUES, *canaries]) == []
    stages = {span.name for span in collector.spans if span.parent_span_id}
    assert {"parse", "detect", "substitute", "forward"} <= stages

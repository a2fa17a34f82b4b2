"""The audit trail: a closed schema, sinks that may fail, and metrics that count the same events."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, fields

import pytest

from proxy.audit import ENDPOINTS, UNPRINTABLE, VERDICTS, Audit, AuditEvent, Record
from proxy.errors import Unavailable
from proxy.metrics import Metrics
from proxy.model import Usage

CANARY = "Mira Tallow DE83709999990123456789"


@dataclass(frozen=True)
class Policy:
    name: str = "default"
    digest: str = "0123456789ab"


def event(**more: object) -> AuditEvent:
    values: dict[str, object] = {"request_id": "r1", "verdict": "release", "status": 200, "time": 1_700_000_000.125}
    return AuditEvent(**{**values, **more})  # type: ignore[arg-type]


def test_an_event_is_one_line_of_json_in_a_fixed_schema() -> None:
    line = event(model="gpt-4o", entities={"PERSON": 2}, stage_ms={"detect": 1.2345}, alarms=("usage_mismatch",)).line()
    assert "\n" not in line
    assert json.loads(line) == {
        "request_id": "r1",
        "verdict": "release",
        "status": 200,
        "time": "2023-11-14T22:13:20.125Z",
        "policy": "",
        "before": "",
        "tenant": "anonymous",
        "model": "gpt-4o",
        "endpoint": "unknown",
        "stream": False,
        "reason": "",
        "alarms": ["usage_mismatch"],
        "entities": {"PERSON": 2},
        "bytes_in": 0,
        "bytes_out": 0,
        "tokens_before": None,
        "tokens_after": None,
        "tokens_bound": False,
        "completion": None,
        "limit": None,
        "usage_prompt": None,
        "usage_completion": None,
        "restored": 0,
        "foreign": 0,
        "held": 0,
        "stage_ms": {"detect": 1.23},
    }


def test_no_field_takes_free_text() -> None:
    for item in fields(AuditEvent):
        if item.type in ("str", "str | None"):
            assert getattr(event(**{item.name: CANARY}), item.name) == UNPRINTABLE
    odd = event(entities={CANARY: 1}, stage_ms={CANARY: 1.0}, alarms=(CANARY,))
    assert CANARY not in odd.line() + repr(odd)
    assert "Mira" not in odd.line()


@pytest.mark.parametrize("model", ["gpt-4o", "ft:gpt-4o:org::id", "org/model@2024;a=1", "mock-echo;chunk=1"])
def test_models_with_usual_names_are_named(model: str) -> None:
    assert event(model=model).model == model


@pytest.mark.parametrize("model", ["", "a b", "x" * 129, "modèle", "a\nb"])
def test_other_models_are_not(model: str) -> None:
    assert event(model=model).model == UNPRINTABLE


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/models", "/v1/models"),
        ("/v1/models/mira.tallow", "/v1/models/{id}"),
        ("/v1/mira", "unknown"),
    ],
)
def test_a_record_becomes_an_event(path: str, endpoint: str) -> None:
    record = Record("r1", "0123456789abcdef", path)
    record.request(model="gpt-4o", stream=True, bytes_in=10)
    record.found({"PERSON": 1})
    record.found({"PERSON": 1, "IBAN_CODE": 1})
    record.usage(Usage(prompt=7, completion=3))
    record.usage(None)
    record.alarm("usage_mismatch")
    record.alarm("usage_mismatch")
    record.tokens_before = 8
    made = record.close(Policy(), "block", "foreign_placeholder", 502)
    assert made.endpoint in ENDPOINTS
    assert made.verdict in VERDICTS
    assert (made.endpoint, made.policy, made.tenant) == (endpoint, "default@0123456789ab", "0123456789abcdef")
    assert (made.model, made.stream, made.bytes_in, made.alarms) == ("gpt-4o", True, 10, ("usage_mismatch",))
    assert (made.entities, made.tokens_before) == ({"PERSON": 2, "IBAN_CODE": 1}, 8)
    assert (made.usage_prompt, made.usage_completion, made.reason, made.status) == (7, 3, "foreign_placeholder", 502)


@pytest.mark.parametrize(("model", "named"), [(None, None), (["Mira"], UNPRINTABLE), (7, UNPRINTABLE), ("o1", "o1")])
def test_a_model_may_be_anything_that_json_holds(model: object, named: str | None) -> None:
    record = Record("r1", "anonymous", "/v1/models")
    record.request(model=model, stream=False, bytes_in=0)
    assert record.close(Policy(), "refuse", "invalid_json", 400).model == named


def test_a_stage_is_timed_also_when_it_fails() -> None:
    record = Record("r1", "anonymous", "/v1/models")
    with record.stage("detect"):
        pass
    ((name, began, ended),) = record.marks
    assert (name, began <= ended) == ("detect", True)
    first = record.stage_ms["detect"]
    with pytest.raises(KeyError), record.stage("detect"):
        raise KeyError
    assert record.stage_ms["detect"] > first >= 0


def test_a_sink_that_fails_stops_requests_until_it_works_again() -> None:
    full = True
    kept: list[AuditEvent] = []

    def disk(one: AuditEvent) -> None:
        if full:
            raise OSError(28, CANARY)

    trail = Audit([disk, kept.append])
    trail.check()
    with pytest.raises(Unavailable) as refused:
        trail.write(event())
    assert (refused.value.code, refused.value.status, refused.value.retry) == ("audit_unavailable", 503, False)
    assert "Mira" not in str(refused.value)
    with pytest.raises(Unavailable):
        trail.check()
    full = False
    trail.write(event())
    trail.check()
    assert len(kept) == 2


def test_what_leaves_waits_until_it_is_written_down() -> None:
    kept: list[AuditEvent] = []
    waited: list[int] = []

    async def settled() -> None:
        waited.append(len(kept))
        if len(kept) > 1:
            raise OSError(28, CANARY)

    trail = Audit([kept.append], [settled])
    asyncio.run(trail.forward(event(verdict="forward")))
    assert waited == [1]
    with pytest.raises(Unavailable) as refused:
        asyncio.run(trail.forward(event(verdict="forward")))
    assert "Mira" not in str(refused.value)
    with pytest.raises(Unavailable):
        trail.check()


def test_metrics_count_events_under_closed_labels() -> None:
    metrics = Metrics()
    metrics.watch("upstream_in_use", "In flight.", lambda: 3)
    metrics.tally("worker_restarts", "Lost.", lambda: 2)
    metrics.observe(event(verdict="forward", entities={"PERSON": 2}, bytes_in=10))
    Audit([metrics.observe]).write(
        event(
            endpoint="/v1/chat/completions",
            entities={"PERSON": 2, CANARY: 1},
            alarms=("usage_mismatch",),
            restored=2,
            foreign=1,
            bytes_in=10,
            bytes_out=9,
            tokens_before=70,
            tokens_after=50,
            held=2000,
            stage_ms={"detect": 20.0},
        )
    )
    text = metrics.render().decode()
    for line in (
        'caviardage_requests_total{endpoint="/v1/chat/completions",reason="",status="200",verdict="release"} 1.0',
        'caviardage_entities_total{entity="PERSON"} 2.0',
        'caviardage_alarms_total{code="usage_mismatch"} 1.0',
        "caviardage_restored_total 2.0",
        "caviardage_foreign_total 1.0",
        'caviardage_bytes_total{direction="in"} 10.0',
        'caviardage_bytes_total{direction="out"} 9.0',
        'caviardage_prompt_tokens_bucket{le="100.0"} 1.0',
        'caviardage_stage_seconds_bucket{le="0.025",stage="detect"} 1.0',
        'caviardage_prompt_tokens_before_bucket{le="100.0"} 1.0',
        'caviardage_held_bytes_bucket{le="16384.0"} 1.0',
        "caviardage_worker_restarts_total 2.0",
        "caviardage_upstream_in_use 3.0",
    ):
        assert line in text
    assert "Mira" not in text

"""A policy that only monitors: everything runs and is counted; nothing is changed, blocked or written down."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from proxy.audit import Audit, AuditEvent
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.trip import Inbound, Outbound
from tests.inprocess import HEADERS, SECRET, Recorder, world

EMAIL = "mira.tallow@example.com"


def watch(mode: str, body: dict[str, Any]) -> tuple[Outbound, bytes | None, AuditEvent]:
    async def run() -> tuple[Outbound, bytes | None, AuditEvent]:
        here, events, transport = world(), [], Recorder()
        upstream = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=transport)
        policy = here.policy.model_copy(update={"mode": mode})
        pipeline = Pipeline(policy, here.detector, here.counters, upstream, Audit([events.append]), SECRET)
        raw = json.dumps(body).encode()
        answer = await pipeline.handle(Inbound("r1", "anonymous", "POST", "/v1/chat/completions", "", HEADERS, raw))
        return answer, transport.sent, events[-1]

    return asyncio.run(run())


def test_monitoring_counts_and_changes_nothing() -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"mail {EMAIL}"}]}
    answer, sent, event = watch("monitor", body)
    assert sent is not None
    assert json.loads(sent) == body
    assert answer.status == 200
    assert event.entities == {"EMAIL_ADDRESS": 1}
    assert event.model == "gpt-4o"
    assert EMAIL not in event.line()


@pytest.mark.parametrize(("mode", "forwarded"), [("monitor", True), ("enforce", False)])
def test_a_value_in_a_models_name_is_never_written_down(mode: str, forwarded: bool) -> None:
    body = {"model": f"gpt-4o:{EMAIL}", "messages": [{"role": "user", "content": "hi"}]}
    _, sent, event = watch(mode, body)
    assert (sent is not None) == forwarded
    assert event.model is None
    assert EMAIL not in event.line()

"""One request through the pipeline, up to the point where it would leave.

May import: pipeline, measure, forward, audit, store, trip, wire, the neighbours.

The pipeline is the production one. Its upstream is a dead end that keeps the body, its store, secret and trail are
made for this one request: so placeholders look as they will, but their numbers are nobody's.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from proxy import measure
from proxy.audit import Audit, AuditEvent
from proxy.forward import DeadEnd
from proxy.inspector.borrowed import Borrowed
from proxy.model import JSON, Finding, Leaf
from proxy.pipeline import Pipeline
from proxy.policy import Policy
from proxy.trip import Inbound
from proxy.wire.base import serialise

CHAT = "/v1/chat/completions"
_HEADERS = (("content-type", "application/json"),)
_TENANT = "anonymous"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What would have happened. `sent` is the body for the provider, None if the request was refused.

    `error` is then what the client would have got, with `status`. Tokens are of the prompt as it came and as it would
    have left; `completion` is what the request asks for at most; None where it was not counted so far.
    """

    policy: Policy
    leaves: tuple[Leaf, ...] = field(repr=False)
    findings: tuple[tuple[Finding, ...], ...] = field(repr=False)
    sent: bytes | None = field(repr=False)
    status: int
    error: JSON = field(repr=False)
    tokens_before: int | None
    tokens_after: int | None
    completion: int | None
    limit: int | None


def as_chat(text: str, model: str) -> bytes:
    """The request that a text alone stands for: one message of the user's."""
    return serialise({"model": model, "messages": [{"role": "user", "content": text}]})


async def inspect(
    policy: Policy,
    detector: Borrowed,
    counters: measure.Counters,
    on_fault: Callable[[Exception], None],
    path: str,
    body: bytes,
) -> Inspection:
    """Raises nothing but CancelledError: a refusal is what was to be seen."""
    events: list[AuditEvent] = []
    end = DeadEnd()
    pipeline = Pipeline(policy, detector, counters, end, Audit([events.append]), secrets.token_bytes(32), on_fault)
    answer = await pipeline.handle(Inbound("inspection", _TENANT, "POST", path, "", _HEADERS, body))
    event = events[-1]
    refused = end.body is None
    return Inspection(
        policy=policy,
        leaves=tuple(detector.leaves),
        findings=tuple(map(tuple, detector.findings)),
        sent=end.body,
        status=answer.status if refused else 200,
        error=json.loads(answer.body) if refused and isinstance(answer.body, bytes) else None,
        tokens_before=event.tokens_before,
        tokens_after=event.tokens_after,
        completion=event.completion,
        limit=event.limit,
    )

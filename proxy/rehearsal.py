"""What would become of the tests of a policy: the production stages, up to the moment that something would leave.

May import: audit, detect, forward, measure, pipeline, policy, substitute, trip, vault.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from proxy import measure
from proxy.audit import Audit, AuditEvent
from proxy.detect import Detector
from proxy.forward import DeadEnd
from proxy.model import Leaf
from proxy.pipeline import Pipeline
from proxy.policy import Outcome, Policy, numbered, text_outcome, thawed
from proxy.policy.sections import Trial
from proxy.substitute import substitute
from proxy.trip import Inbound
from proxy.vault import Vault, lookalikes
from recognizers import ENTITIES

SECRET = b"the same in every run of a policy's tests"
"""Protects nothing: tests are made up. So a hash that a test expects stays the same."""
LONGEST = 24 * 3600.0
"""Seconds that one text may take where no client waits."""
_HEADERS = (("content-type", "application/json"), ("authorization", "Bearer none"))


def patient(policy: Policy) -> Policy:
    """The policy without hurry and without blocking: to show findings, not to refuse them."""
    unhurried = policy.detection.model_copy(update={"deadline_seconds": LONGEST})
    return policy.model_copy(update={"mode": "monitor", "detection": unhurried})


async def rehearse(policy: Policy, detector: Detector, counters: measure.Counters) -> list[Outcome]:
    """An outcome for every test of the policy, in the order of the file."""
    return [
        await (_text(policy, trial.text, detector) if trial.text else _request(policy, trial, detector, counters))
        for trial in policy.tests
    ]


def _names(policy: Policy) -> frozenset[str]:
    return frozenset({*ENTITIES, *policy.declared})


async def _text(policy: Policy, text: str, detector: Detector) -> Outcome:
    leaf = Leaf("$", text)
    (findings,) = await detector.detect([leaf], patient(policy), "test")
    shown = [replace(finding, action="replace") if finding.action == "block" else finding for finding in findings]
    sent = numbered(substitute(leaf, shown, Vault(SECRET, lookalikes([text])), SECRET), _names(policy))
    return text_outcome(policy, text, [(f.entity, text[f.start : f.end]) for f in findings], sent)


async def _request(policy: Policy, trial: Trial, detector: Detector, counters: measure.Counters) -> Outcome:
    """Twice: watched only, for all that is found; then as it would be."""
    body = json.dumps(thawed(trial.request), ensure_ascii=False).encode()
    unhurried = policy.model_copy(update={"detection": patient(policy).detection})
    watched, _ = await _sent(patient(policy), trial.endpoint, body, detector, counters)
    event, raw = await _sent(unhurried, trial.endpoint, body, detector, counters)
    sent = None if raw is None else json.loads(raw)
    rest = "\0".join(_texts(sent))
    return Outcome(
        frozenset(watched.entities), event.reason if raw is None else "", numbered(sent, _names(policy)), rest
    )


async def _sent(
    policy: Policy, endpoint: str, body: bytes, detector: Detector, counters: measure.Counters
) -> tuple[AuditEvent, bytes | None]:
    end, events = DeadEnd(), list[AuditEvent]()
    pipeline = Pipeline(policy, detector, counters, end, Audit([events.append]), SECRET)
    await pipeline.handle(Inbound("test", "test", "POST", endpoint, "", _HEADERS, body))
    return events[-1], end.body


def _texts(value: Any) -> Sequence[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]

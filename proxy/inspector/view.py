"""Inspections as JSON for the page. Pure. May import: model, policy, recognizers, the neighbours.

Texts are cut at the edges of findings here, because a browser counts in UTF-16 and everything else in code points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.inspector.compare import Difference
from proxy.inspector.inspection import Inspection
from proxy.model import JSON, Finding, Kind, Leaf
from proxy.policy import Fault
from recognizers.overlap import evidence

MOST_LEAVES = 300
"""Texts that are shown; all are inspected and counted."""


def shown(inspection: Inspection) -> dict[str, JSON]:
    """`{"policy", "outcome", "sent", "tokens", "leaves", "findings", "hidden"}`.

    A leaf is `{"path", "parts"}`, a part `{"text", "finding"}` with the index of a finding or null. Leaves that are no
    free text are shown where something is found in them.
    """
    pairs = [
        (leaf, found)
        for leaf, found in zip(inspection.leaves, inspection.findings, strict=True)
        if found or leaf.kind is Kind.TEXT
    ]
    findings: list[JSON] = []
    leaves: list[JSON] = []
    for leaf, found in pairs[:MOST_LEAVES]:
        leaves.append({"path": leaf.path, "parts": list(_parts(leaf, found, len(findings)))})
        findings += [_finding(leaf, finding) for finding in found]
    policy = inspection.policy
    return {
        "policy": {"name": policy.name, "digest": policy.digest, "mode": policy.mode},
        "outcome": {"forwarded": inspection.sent is not None, "status": inspection.status, "error": inspection.error},
        "sent": None if inspection.sent is None else inspection.sent.decode(),
        "tokens": {
            "before": inspection.tokens_before,
            "after": inspection.tokens_after,
            "completion": inspection.completion,
            "limit": inspection.limit,
        },
        "leaves": leaves,
        "findings": findings,
        "hidden": max(0, len(pairs) - MOST_LEAVES),
    }


def changes(differences: Sequence[Difference]) -> list[JSON]:
    """`{"change", "path", "value", "before", "after"}`, the last two null or `{"entity", "action"}`."""
    return [
        {
            "change": difference.change,
            "path": difference.leaf.path,
            "value": _value(difference),
            "before": _rule(difference.before),
            "after": _rule(difference.after),
        }
        for difference in differences
    ]


def faults(found: Sequence[Fault]) -> list[JSON]:
    """`{"line", "column", "rule", "message", "mend"}`."""
    return [
        {"line": fault.line, "column": fault.column, "rule": fault.rule, "message": fault.message, "mend": fault.mend}
        for fault in found
    ]


def _parts(leaf: Leaf, found: Sequence[Finding], first: int) -> Iterator[JSON]:
    at = 0
    for index, finding in enumerate(found, first):
        if finding.start > at:
            yield {"text": leaf.text[at : finding.start], "finding": None}
        yield {"text": leaf.text[finding.start : finding.end], "finding": index}
        at = finding.end
    if at < len(leaf.text) or not found:
        yield {"text": leaf.text[at:], "finding": None}


def _finding(leaf: Leaf, finding: Finding) -> JSON:
    return {
        "path": leaf.path,
        "start": finding.start,
        "end": finding.end,
        "value": leaf.text[finding.start : finding.end],
        "entity": finding.entity,
        "action": finding.action,
        "score": round(finding.score, 3),
        "evidence": evidence(finding.recognizer, finding.score, finding.why),
        "recognizer": finding.recognizer,
        "why": finding.why,
        "also": list(finding.also),
    }


def _value(difference: Difference) -> str:
    finding = difference.after or difference.before
    return "" if finding is None else difference.leaf.text[finding.start : finding.end]


def _rule(finding: Finding | None) -> JSON:
    return None if finding is None else {"entity": finding.entity, "action": finding.action}

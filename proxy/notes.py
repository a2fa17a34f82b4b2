"""What is written down, counted and shown about policies in force. May import: analysis, audit, live, logs, metrics.

Of a fault go out its rule, its file's name and its line: what it quotes of a policy stays in the file.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proxy.analysis import not_covered, wanted
from proxy.audit import Audit, AuditEvent
from proxy.live import Live, Outcome
from proxy.logs import Log, describe
from proxy.metrics import Metrics

SHOWN = 20
"""Faults in an answer of `/readyz`."""


class Notes:
    """Hears of every reload."""

    def __init__(self, live: Live, audit: Audit, metrics: Metrics, log: Log) -> None:
        self._live, self._audit, self._metrics, self._log = live, audit, metrics, log
        live.report_to(self._reloaded, lambda error: log.error("fault", **describe(error)))
        metrics.watch(
            "policy_loaded_seconds", "When the policies in force were loaded, in seconds since 1970.", self._at
        )

    def _at(self) -> float:
        return self._live.good_since

    def _reloaded(self, outcome: Outcome) -> None:
        """Raises `Unavailable` if it cannot be written down."""
        self._metrics.reloaded(outcome.good)
        now = self._live.current.default.label
        reason = "" if outcome.good else _code(outcome.faults[0].rule)
        for before, after in outcome.changes or ((now, now),):
            self._audit.write(
                AuditEvent(
                    request_id=uuid.uuid4().hex,
                    verdict="reload",
                    status=200 if outcome.good else 409,
                    time=outcome.time,
                    policy=after,
                    before=before,
                    reason=reason,
                )
            )
        if outcome.good:
            for _, after in outcome.changes:
                self._log.info("reloaded", policy=after or "none")
        for fault in outcome.faults[:SHOWN]:
            self._log.error("reload_refused", code=_code(fault.rule), line=fault.line)

    def about(self) -> dict[str, Any]:
        """What `/readyz` shows."""
        policy = self._live.current.default.policy
        return {
            "policy": f"{policy.name}@{policy.digest}",
            "policy_loaded": _moment(self._live.good_since),
            "mode": policy.mode,
            "languages": list(policy.languages),
            "entities": sorted(wanted(policy)),
            "not_covered": not_covered(policy),
            "reload": _shown(self._live.last),
        }


def _shown(last: Outcome | None) -> dict[str, Any] | None:
    if last is None:
        return None
    faults = [{"file": Path(fault.file).name, "line": fault.line, "rule": fault.rule} for fault in last.faults[:SHOWN]]
    return {"result": "good" if last.good else "refused", "time": _moment(last.time), "faults": faults}


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _code(rule: str) -> str:
    return rule.replace("-", "_")

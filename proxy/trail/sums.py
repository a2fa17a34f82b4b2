"""Sums over audit lines: by tenant, entity, verdict, reason, model and day. Pure. May import: the standard library."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

HEADS = ("by", "name", "requests", "findings", "refused", "bytes_out", "tokens")
REFUSED = frozenset({"refuse", "block"})


@dataclass(slots=True)
class Sum:
    """One row: requests that are over, findings in them, those refused or stopped, and what went to the upstream."""

    requests: int = 0
    findings: int = 0
    refused: int = 0
    bytes_out: int = 0
    tokens: int = 0

    def add(self, event: Mapping[str, Any], findings: int) -> None:
        self.requests += 1
        self.findings += findings
        self.refused += event.get("verdict") in REFUSED
        self.bytes_out += _number(event.get("bytes_out"))
        self.tokens += _number(event.get("tokens_after"))

    def row(self) -> tuple[int, ...]:
        return self.requests, self.findings, self.refused, self.bytes_out, self.tokens


@dataclass(slots=True)
class Sums:
    """Tables by what they are summed by, `verdicts` by day, and lines that were no events of a request."""

    tables: dict[str, dict[str, Sum]] = field(default_factory=dict)
    days: dict[str, Counter[str]] = field(default_factory=dict)
    alarms: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    other: int = 0
    unfinished: int = 0
    """Requests that left and whose end is in none of the lines: the service died, or they are still running."""


BY = ("day", "tenant", "entity", "verdict", "reason", "model", "policy")


def summed(lines: Iterable[str]) -> Sums:
    """The sums of all lines. What is no event of a request is counted and left out."""
    sums = Sums({by: {} for by in BY})
    left, over = set[str](), set[str]()
    for line in lines:
        event = _event(line)
        if event is None:
            sums.other += 1
        elif event["verdict"] == "forward":
            left.add(event["request_id"])
        else:
            over.add(event["request_id"])
            _add(sums, event)
    sums.unfinished = len(left - over)
    return sums


def _add(sums: Sums, event: Mapping[str, Any]) -> None:
    entities = {str(name): _number(count) for name, count in dict(event.get("entities") or {}).items()}
    found, day, verdict = sum(entities.values()), str(event["time"])[:10], str(event["verdict"])
    names = {
        "day": day,
        "tenant": event.get("tenant"),
        "verdict": verdict,
        "reason": event.get("reason") or "-",
        "model": event.get("model") or "-",
        "policy": event.get("policy") or "-",
    }
    for by, name in names.items():
        sums.tables[by].setdefault(str(name), Sum()).add(event, found)
    for name, count in entities.items():
        sums.tables["entity"].setdefault(name, Sum()).add(event, count)
    sums.days.setdefault(day, Counter())[verdict] += 1
    sums.alarms.update(map(str, event.get("alarms") or ()))
    sums.requests += 1


def ordered(by: str, table: Mapping[str, Sum]) -> list[tuple[str, Sum]]:
    """Days in their order, everything else by size."""
    if by == "day":
        return sorted(table.items())
    return sorted(table.items(), key=lambda item: (-item[1].requests, -item[1].findings, item[0]))


def as_csv(sums: Sums) -> str:
    """All tables under one head, a row each; a name that a spreadsheet would take for a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADS)
    for by, table in sums.tables.items():
        for name, one in ordered(by, table):
            writer.writerow((by, f"'{name}" if name[0] in "=+-@" and len(name) > 1 else name, *one.row()))
    return out.getvalue()


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or not {"request_id", "verdict", "time"} <= event.keys():
        return None
    return event if event["verdict"] != "reload" else None


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

"""`make eval EVAL=folder`: what the shipped policies find in annotated documents, as tables.

The folder holds `*.jsonl`, at any depth, and a `types.json`; none of it belongs to this repository. A line is
`{"id", "lang", "source", "text", "spans": [{"start", "end", "type", "required"?, "alt"?}], "scope"?}`; `types.json`
says which types are `required`, which recognizer names stand for which type, and which types agree with one another.
Where the public sets come from is in docs/evaluation.md. Documents are read, measured, forgotten: only counts stay.

May import: its neighbours, the standard library. The engine runs as its own process, through the command line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.report import Table, rewrite
from benchmarks.score import Document, Result, Span, Tally, score, trimmed

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURES = ROOT / "docs" / "evaluation.md", ROOT / "docs" / "evaluation.json"
POLICIES = ("strict", "default")
NOT_CORE = frozenset({"ORGANIZATION", "LOCATION", "ADDRESS", "URL", "USERNAME"})
"""What `default.yaml` allows on purpose, or the sets annotate too differently: not required when it is measured."""

OURS: Mapping[str, str] = {
    "STAFF_ID": "OTHER_ID",
    "MEDICAL_RECORD": "MRN",
    "HEALTH_PLAN_ID": "HEALTH_PLAN_ID",
    "PRESCRIPTION_NUMBER": "MRN",
    "BIC_CODE": "BIC",
    "URL_CREDENTIALS": "SECRET",
    "DEVICE_ID": "OTHER_ID",
    "VIN": "OTHER_ID",
    "BANK_ACCOUNT": "BANK_ACCOUNT",
    "PASSPORT": "PASSPORT",
}
"""Our names that no `types.json` written for other engines knows, by type."""


@dataclass(frozen=True)
class Scheme:
    """What `types.json` says. `names` maps a recognizer's entity to a type, `agree` a type to those it also "
    "satisfies."""

    required: frozenset[str]
    known: frozenset[str]
    names: Mapping[str, str]
    agree: Mapping[str, frozenset[str]]

    def kind(self, entity: str) -> str:
        return entity if entity in self.known else self.names.get(entity) or OURS.get(entity) or "OTHER_QUASI"


def scheme(content: Mapping[str, Any]) -> Scheme:
    """From the content of `types.json`."""
    types = content["types"]
    return Scheme(
        required=frozenset(name for name, row in types.items() if row["required"]),
        known=frozenset(types),
        names={entity: name for name, row in types.items() for entity in row["presidio"]},
        agree={
            name: frozenset(row)
            for name, row in content["compatible"].items()
            if isinstance(row, list) and name != "_doc"
        },
    )


def documents(paths: Sequence[Path], types: Scheme, *, core: bool) -> Iterator[Document]:
    """The documents of all files. `core` leaves `NOT_CORE` unrequired."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield _document(json.loads(line), path.stem, types, core=core)


def _document(row: Mapping[str, Any], stem: str, types: Scheme, *, core: bool) -> Document:
    spans = []
    for mark in row["spans"]:
        start, end = trimmed(row["text"], mark["start"], mark["end"])
        required = bool(mark.get("required", mark["type"] in types.required)) and not (
            core and mark["type"] in NOT_CORE
        )
        if start < end:
            spans.append(Span(start, end, mark["type"], required, tuple(mark.get("alt", ()))))
    return Document(row["id"], row["text"], tuple(spans), (stem, row.get("lang", "-")), frozenset(row.get("scope", ())))


def predictions(policy: str, found: Sequence[Document]) -> dict[str, list[tuple[int, int, str]]]:
    """What `caviardage explain --jsonl -` finds with a shipped policy: id -> spans. Nothing is written to disk."""
    lines = "".join(json.dumps({"id": each.id, "text": each.text}) + "\n" for each in found)
    command = [
        sys.executable,
        "-m",
        "proxy",
        "explain",
        "--policy",
        str(ROOT / "policies" / f"{policy}.yaml"),
        "--jsonl",
        "-",
    ]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=ROOT, check=True)
    rows = map(json.loads, done.stdout.splitlines())
    return {row["id"]: [(span["start"], span["end"], span["type"]) for span in row["spans"]] for row in rows}


def measure(
    found: Sequence[Document], spans: Mapping[str, Sequence[tuple[int, int, str]]], types: Scheme
) -> tuple[dict[str, Result], dict[str, Tally]]:
    """Results by group (set, language), and tallies by our own entities. `spans`: as `predictions` gives them."""
    groups: dict[str, Result] = {}
    entities: dict[str, Tally] = {}
    for document in found:
        hits = spans.get(document.id, [])
        result = score(document, (Span(start, end, types.kind(entity)) for start, end, entity in hits), types.agree)
        for group in ("all", *document.groups):
            groups.setdefault(group, Result()).add(result)
        for start, end, entity in hits:
            kind = types.kind(entity)
            own = score(document, [Span(start, end, kind)], types.agree).kinds.get(kind)
            if own is not None:
                entities.setdefault(entity, Tally()).add(Tally(predicted=own.predicted, right=own.right))
    return groups, entities


def tables(policy: str, groups: Mapping[str, Result]) -> list[Table]:
    """By set and language, and by type over everything."""
    sets = [
        [
            name,
            str(r.whole.documents),
            *(map(percent, (r.whole.masked, r.whole.leak, r.whole.overmasked, r.whole.touched))),
        ]
        for name, r in sorted(groups.items(), key=lambda pair: (len(pair[0]) > 2, pair[0]))
    ]
    kinds = [
        [kind, str(t.required), percent(t.masked), percent(t.leak), str(t.predicted), percent(t.precision)]
        for kind, t in sorted(groups["all"].kinds.items())
        if t.required
    ]
    note = "Percent. Touched: documents in which nothing is annotated and something was masked."
    return [
        Table(
            f"{policy}.yaml, by set and language", ("set", "documents", "masked", "leak", "over", "touched"), sets, note
        ),
        Table(f"{policy}.yaml, by type", ("type", "spans", "masked", "leak", "found", "precision"), kinds),
    ]


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def figures(types: Scheme, groups: Mapping[str, Result], entities: Mapping[str, Tally]) -> dict[str, Any]:
    """Per entity of ours: how many annotated spans of its type there are, how many are masked, and its precision."""
    kinds = groups["all"].kinds
    rows = {}
    for entity in sorted({*entities, *types.names, *OURS, *(kinds.keys() & types.known)}):
        kind, own = kinds.get(types.kind(entity)), entities.get(entity)
        if own is not None and kind is not None:
            rows[entity] = {
                "spans": kind.required,
                "recall": None if kind.masked is None else round(kind.masked, 3),
                "found": own.predicted,
                "precision": None if own.precision is None else round(own.precision, 3),
            }
    return {"date": date.today().isoformat(), "commit": _commit(), "policy": POLICIES[0], "entities": rows}


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eval", description="Measures the shipped policies.")
    parser.add_argument("folder", type=Path, help="annotated documents (*.jsonl) and types.json")
    parser.add_argument("--write", action="store_true", help="renew docs/evaluation.md and docs/evaluation.json")
    parser.add_argument("--only", default="", help="names of sets, with commas; all without")
    options = parser.parse_args(arguments)
    types = scheme(json.loads((options.folder / "types.json").read_text(encoding="utf-8")))
    wanted = set(filter(None, options.only.split(",")))
    paths = [path for path in sorted(options.folder.rglob("*.jsonl")) if not wanted or path.stem in wanted]
    parts: list[Table] = []
    numbers: dict[str, Any] = {}
    for policy in POLICIES:
        found = list(documents(paths, types, core=policy == "default"))
        groups, entities = measure(found, predictions(policy, found), types)
        parts += tables(policy, groups)
        numbers = numbers or figures(types, groups, entities)
    text = "\n\n".join(part.markdown() for part in parts)
    sys.stdout.write(text + "\n")
    if options.write:
        rewrite(PAGE, "eval", f"{numbers['date']}, commit {numbers['commit']}.\n\n{text}")
        FIGURES.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""`caviardage diff`: what would another policy do differently to these documents?

Shows values on a terminal only. May import: engine, changes, model, policy, rehearsal, rich, typer.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proxy.commands.changes import KINDS, Change, compare
from proxy.commands.engine import UNREADABLE, detecting, loaded
from proxy.model import Finding, Leaf
from proxy.policy import Policy
from proxy.rehearsal import patient

AROUND = 40
"""Code points shown on each side of a change."""
MOST = 50
_NAMES = {"alone": "left alone", "gone": "no longer found", "new": "newly found", "action": "other action",
          "extent": "other extent"}  # fmt: skip
_STYLES = {"alone": "bold white on magenta", "gone": "bold white on red", "new": "bold black on green",
           "action": "bold black on yellow",
           "extent": "bold black on cyan"}  # fmt: skip


class Format(StrEnum):
    """How the difference is told."""

    TEXT = "text"
    JSON = "json"


def diff(
    old: Annotated[Path, typer.Argument(help="The policy as it is.")],
    new: Annotated[Path, typer.Argument(help="The policy as it would be.")],
    corpus: Annotated[list[Path], typer.Option(help='Text files, or .jsonl with a "text" a line: one or more.')],
    more: Annotated[list[Path] | None, typer.Argument(show_default=False, help="What follows --corpus FILE.")] = None,
    output: Annotated[Format, typer.Option("--format", help="text, or json: numbers only.")] = Format.TEXT,
    most: Annotated[int, typer.Option(min=0, help="Differences that are shown with their text.")] = MOST,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 if anything is protected less.")] = False,
) -> None:
    """Shows what an edit of a policy changes on real documents: what is newly found, no longer found, or treated
    otherwise, by entity. Values are shown on a terminal only: in a file or pipe, and as JSON, there are numbers."""
    rules = loaded(old), loaded(new)
    documents = [document for path in (*corpus, *(more or ())) for document in _documents(path)]
    texts = [text for _, text in documents]
    before, after = (asyncio.run(_findings(policy, texts)) for policy in rules)
    alone = frozenset(f.entity for found in before for f in found if rules[1].rule(f.entity).action == "allow")
    changed = [compare(one, two, alone) for one, two in zip(before, after, strict=True)]
    weaker = sum(change.weaker for found in changed for change in found)
    if output is Format.JSON:
        typer.echo(json.dumps(_counts(rules, changed, before, after, weaker), indent=2))
    else:
        console = Console(highlight=False, emoji=False)
        if console.is_terminal:
            _show(console, documents, changed, most)
        _summary(console, rules, changed, before, after, weaker)
    raise typer.Exit(1 if strict and weaker else 0)


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    """Names and texts. A file that cannot be read ends the command: half a corpus would look like no change."""
    try:
        raw = path.read_text("utf-8")
        if path.suffix != ".jsonl":
            yield str(path), raw
            return
        for number, line in enumerate(raw.splitlines(), 1):
            if line.strip():
                yield f"{path}:{number}", str(json.loads(line)["text"])
    except (OSError, ValueError, KeyError, TypeError):
        typer.echo(f'{path}: cannot be read as UTF-8 text, or as lines with a "text"', err=True)
        raise typer.Exit(UNREADABLE) from None


async def _findings(policy: Policy, texts: Sequence[str]) -> list[list[Finding]]:
    """One document at a time: each stands for itself, as in a request of its own."""
    policy = patient(policy)
    async with detecting(policy) as detector:
        return [(await detector.detect([Leaf("$", text)], policy, "diff"))[0] for text in texts]


def _show(console: Console, documents: Sequence[tuple[str, str]], changed: Sequence[list[Change]], most: int) -> None:
    shown = 0
    for (name, text), changes in zip(documents, changed, strict=True):
        for change in changes:
            shown += 1
            if shown <= most:
                _show_one(console, name, text, change)
    if shown > most:
        console.print(f"... and {shown - most} more (--most)\n")


def _show_one(console: Console, name: str, text: str, change: Change) -> None:
    line = text.count("\n", 0, change.start) + 1
    told = " -> ".join(f"{f.entity} {f.action}" if f else "nothing" for f in (change.old, change.new))
    console.print(Text(f"{name}:{line}: {_NAMES[change.kind]}: {told}", style="bold"), soft_wrap=True)
    shown = Text("    ")
    shown.append(_plain(text[max(0, change.start - AROUND) : change.start]))
    shown.append(_plain(text[change.start : change.end]), style=_STYLES[change.kind])
    shown.append(_plain(text[change.end : change.end + AROUND]))
    console.print(shown, soft_wrap=True)


def _plain(text: str) -> str:
    """On one line, and without what a terminal would take for an order."""
    return "".join(char if char.isprintable() else " " for char in text)


def _lost(counts: Counter[str]) -> int:
    return counts["alone"] + counts["gone"]


def _rows(changed: Sequence[list[Change]]) -> dict[str, Counter[str]]:
    rows: dict[str, Counter[str]] = {}
    for change in (change for found in changed for change in found):
        rows.setdefault(change.entity, Counter())[change.kind] += 1
    return dict(sorted(rows.items(), key=lambda row: (-_lost(row[1]), -sum(row[1].values()), row[0])))


def _summary(
    console: Console,
    rules: tuple[Policy, Policy],
    changed: Sequence[list[Change]],
    before: Sequence[list[Finding]],
    after: Sequence[list[Finding]],
    weaker: int,
) -> None:
    old, new = rules
    found = sum(map(len, before)), sum(map(len, after))
    console.print(
        f"{old.name}@{old.digest} -> {new.name}@{new.digest}: {len(changed)} documents, "
        f"{sum(map(bool, changed))} change; findings {found[0]} -> {found[1]}",
        soft_wrap=True,
    )
    rows = _rows(changed)
    if rows:
        table = Table("entity", *(_NAMES[kind] for kind in KINDS))
        for column in table.columns[1:]:
            column.justify = "right"
        for entity, counts in rows.items():
            table.add_row(entity, *(str(counts[kind] or "") for kind in KINDS))
        console.print(table)
    console.print(f"{weaker} values that were protected are protected less" if weaker else "Nothing is protected less.")
    if rows and not console.is_terminal:
        console.print("The texts are shown on a terminal only.")


def _counts(
    rules: tuple[Policy, Policy],
    changed: Sequence[list[Change]],
    before: Sequence[list[Finding]],
    after: Sequence[list[Finding]],
    weaker: int,
) -> dict[str, Any]:
    old, new = (f"{policy.name}@{policy.digest}" for policy in rules)
    entities = {name: {kind: counts[kind] for kind in KINDS} for name, counts in _rows(changed).items()}
    return {
        "old": old,
        "new": new,
        "documents": len(changed),
        "documents_changed": sum(map(bool, changed)),
        "findings": {"old": sum(map(len, before)), "new": sum(map(len, after))},
        "protected_less": weaker,
        "entities": entities,
    }

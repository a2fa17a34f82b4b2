"""`caviardage explain`: every span in a text, and why.

May import: engine, evidence, detect, model, policy, recognizers, rich, typer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console
from rich.markup import escape

from proxy.commands.engine import DEFAULT_POLICY, UNREADABLE, detecting, policy_from
from proxy.commands.evidence import Explained, Hit, explained
from proxy.detect import Detector
from proxy.model import Finding, Leaf
from proxy.policy import Policy
from recognizers import ENTITIES

AT_ONCE = 64


class Format(StrEnum):
    """How the evidence is told."""

    TEXT = "text"
    JSON = "json"


def explain(
    files: Annotated[list[Path] | None, typer.Argument(help="Text files; - is standard input.")] = None,
    policy: Annotated[
        Path, typer.Option(help="The policy that decides.", show_default="default.yaml")
    ] = DEFAULT_POLICY,
    jsonl: Annotated[
        Path | None,
        typer.Option(help='Lines {"id", "text"}; writes lines {"id", "spans": [{"start", "end", "type", "score"}]}.'),
    ] = None,
    said: Annotated[str | None, typer.Option("--text", help="A text instead of a file. Shells keep a history.")] = None,
    output: Annotated[
        Format, typer.Option("--format", help="text, or json: a line a file, without anything of its text.")
    ] = Format.TEXT,
) -> None:
    """Shows every span that would be replaced, masked or blocked, and why: each hit with its recognizer and pattern
    or model, score, label or list, and check digit; which one decided and what lost to it; and what was not acted
    on, below its score or on the allow list."""
    if not files and jsonl is None and said is None:
        raise typer.BadParameter("name a text file, - for standard input, --text TEXT or --jsonl FILE")
    rules = policy_from(policy)
    if jsonl is not None:
        with jsonl.open(encoding="utf-8") if str(jsonl) != "-" else sys.stdin as lines:
            asyncio.run(_lines(rules, lines))
    texts = [*_read(files or ()), *([("text", said)] if said is not None else [])]
    if texts:
        asyncio.run(_texts(rules, texts, output))


async def _lines(policy: Policy, lines: TextIO) -> None:
    async with detecting(policy) as detector:
        for batch in _batches(lines):
            found = await asyncio.gather(*(_find(detector, policy, document["text"]) for document in batch))
            for document, findings in zip(batch, found, strict=True):
                spans = [
                    {"start": f.start, "end": f.end, "type": f.entity, "score": round(f.score, 3)} for f in findings
                ]
                typer.echo(json.dumps({"id": document["id"], "spans": spans}, ensure_ascii=False))


def _batches(lines: TextIO) -> Iterator[list[dict[str, str]]]:
    batch: list[dict[str, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            batch.append({"id": document["id"], "text": document["text"]})
        except (ValueError, KeyError, TypeError):
            typer.echo(f'line {number}: not an object with "id" and "text"', err=True)
            raise typer.Exit(UNREADABLE) from None
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    yield batch


async def _find(detector: Detector, policy: Policy, text: str) -> list[Finding]:
    (findings,) = await detector.detect([Leaf("$", text)], policy, "explain")
    return findings


async def _texts(policy: Policy, texts: Sequence[tuple[str, str]], output: Format) -> None:
    console = Console(highlight=False, emoji=False)
    async with detecting(policy) as detector:
        for name, text in texts:
            found = explained(await detector.hits(text, policy), await _find(detector, policy, text), policy)
            if output is Format.JSON:
                typer.echo(json.dumps({"name": name, **_plain(found)}, ensure_ascii=False))
            else:
                _show(console, name, text, found, policy)


def _read(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for path in files:
        try:
            yield str(path), sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            typer.echo(f"{path}: cannot be read, or is no UTF-8 text", err=True)
            raise typer.Exit(UNREADABLE) from None


def _show(console: Console, name: str, text: str, found: Explained, policy: Policy) -> None:
    """A line a finding: where, what and what is done with it; then every hit in it, the one that decided first."""
    console.print(f"[bold]{escape(name)}[/bold]: {len(found.findings)} findings")
    for finding, hits in found.findings:
        told = f"[cyan]{finding.entity}[/cyan]  {finding.action}  {finding.score:.2f}"
        console.print(f"{_where(text, finding.start, finding.end, told)}", soft_wrap=True)
        for hit in hits:
            console.print(f"    {_told(hit)}", style="dim", soft_wrap=True)
    if found.ignored:
        console.print("not acted on:")
    for hit in found.ignored:
        told = f"[cyan]{hit.span.entity}[/cyan]"
        console.print(f"{_where(text, hit.span.start, hit.span.end, told)}", soft_wrap=True)
        console.print(f"    {_told(hit)}", style="dim", soft_wrap=True)
    left = sum(policy.rule(entity).action == "allow" for entity in ENTITIES)
    if left:
        console.print(f"not looked for, since the policy leaves them alone: {left} of {len(ENTITIES)} entities")


def _where(text: str, start: int, end: int, told: str) -> str:
    value = escape("".join(char if char.isprintable() else " " for char in text[start:end]))
    return f"line {text.count(chr(10), 0, start) + 1}, {start}-{end}  {told}  {value}"


def _told(hit: Hit) -> str:
    span = hit.span
    if hit.became == "decided":
        return escape(f"decided by {hit.kind}: {span.recognizer} {span.score:.2f}: {span.why}")
    return escape(f"{hit.became}: {span.entity} by {hit.kind}: {span.recognizer} {span.score:.2f}: {span.why}")


def _plain(found: Explained) -> dict[str, object]:
    """Positions and reasons, and nothing of the text."""
    return {
        "findings": [
            {**_row(finding.start, finding.end, finding.entity, finding.score), "action": finding.action,
             "hits": [_hit(hit) for hit in hits]}
            for finding, hits in found.findings
        ],
        "ignored": [_hit(hit) for hit in found.ignored],
    }  # fmt: skip


def _hit(hit: Hit) -> dict[str, object]:
    span = hit.span
    row = _row(span.start, span.end, span.entity, span.score)
    return {**row, "kind": hit.kind, "recognizer": span.recognizer, "why": span.why, "became": hit.became}


def _row(start: int, end: int, entity: str, score: float) -> dict[str, object]:
    return {"start": start, "end": end, "entity": entity, "score": round(score, 3)}

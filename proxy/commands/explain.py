"""`caviardage explain`: every span in a text, and why.

May import: engine, detect, model, policy, recognizers, rich, typer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console
from rich.markup import escape

from proxy.commands.engine import DEFAULT_POLICY, UNREADABLE, detecting, policy_from
from proxy.detect import Detector
from proxy.model import Finding, Leaf
from proxy.policy import Policy
from recognizers.overlap import evidence

AT_ONCE = 64


def explain(
    files: Annotated[list[Path] | None, typer.Argument(help="Text files; - is standard input.")] = None,
    policy: Annotated[
        Path, typer.Option(help="The policy that decides.", show_default="default.yaml")
    ] = DEFAULT_POLICY,
    jsonl: Annotated[
        Path | None,
        typer.Option(help='Lines {"id", "text"}; writes lines {"id", "spans": [{"start", "end", "type", "score"}]}.'),
    ] = None,
) -> None:
    """Shows every span that would be replaced, masked or blocked: entity, score, recognizer and reason."""
    if not files and jsonl is None:
        raise typer.BadParameter("name a text file, - for standard input, or --jsonl FILE")
    rules = policy_from(policy)
    if jsonl is not None:
        with jsonl.open(encoding="utf-8") if str(jsonl) != "-" else sys.stdin as lines:
            asyncio.run(_lines(rules, lines))
    if files:
        asyncio.run(_files(rules, files))


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


async def _files(policy: Policy, files: Sequence[Path]) -> None:
    console = Console(highlight=False, emoji=False)
    async with detecting(policy) as detector:
        for path in files:
            try:
                text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                typer.echo(f"{path}: cannot be read, or is no UTF-8 text", err=True)
                raise typer.Exit(UNREADABLE) from None
            _show(console, str(path), text, await _find(detector, policy, text))


def _show(console: Console, name: str, text: str, findings: Sequence[Finding]) -> None:
    """A line for what it is and what is done with it, then the evidence.

    Evidence is of one kind or several: a pattern, with a checksum or without; structure, that is a label or field; a
    model. The strongest kind decides (checksum, pattern, structure, model), its score is the score; the others that
    agree are shown below it.
    """
    console.print(f"[bold]{escape(name)}[/bold]: {len(findings)} findings")
    for finding in findings:
        line = text.count("\n", 0, finding.start) + 1
        value = escape(text[finding.start : finding.end].replace("\n", "\\n"))
        console.print(
            f"line {line}, {finding.start}-{finding.end}  [cyan]{finding.entity}[/cyan]  {finding.action}  "
            f"{finding.score:.2f}  {value}",
            soft_wrap=True,
        )
        kind = evidence(finding.recognizer, finding.score, finding.why)
        decided = f"    decided by {kind}: {escape(finding.recognizer)}: {escape(finding.why)}"
        console.print(decided, style="dim", soft_wrap=True)
        for more in finding.also:
            console.print(f"    also {escape(more)}", style="dim", soft_wrap=True)

"""`caviardage audit verify` and `caviardage audit report`. May import: trail, typer, rich.

The secret is read from a variable only: an option can be read by other users of the machine.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from proxy.settings import split_secrets
from proxy.trail.examine import Examined, examine
from proxy.trail.page import page
from proxy.trail.seal import HEAD_BYTES, Head, Seal
from proxy.trail.sums import HEADS, Sums, as_csv, ordered, summed

FAULTY, UNREADABLE = 1, 2
_MOST = 15
"""Rows of a table on a terminal."""

Files = Annotated[
    list[Path], typer.Argument(help="Audit files, those put aside too, in any order; - is standard input.")
]


class Shape(StrEnum):
    """How a report is written."""

    text = "text"
    csv = "csv"
    html = "html"


def verify(
    files: Files,
    anchor: Annotated[
        list[str] | None, typer.Option(help="SEQ:HASH, an anchor from the log or noted elsewhere; several times.")
    ] = None,
    part: Annotated[
        bool, typer.Option("--part", help="These are a part of a trail: lines before and after may be missing.")
    ] = False,
    output: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """Says whether audit files are whole: no line changed, dropped, swapped or cut off. Exit status 1 if not.

    Set CAVIARDAGE_AUDIT_SECRET, or CAVIARDAGE_SECRET, to what the service had.
    """
    found = _examined(_read(files), files, _anchors(anchor or []), part)
    if output == "json":
        faults = [{"file": one.file, "line": one.line, "kind": one.kind, "text": one.text} for one in found.faults]
        typer.echo(json.dumps({"lines": found.lines, "faults": faults}))
    else:
        for one in found.faults:
            place = f"{one.file}:{one.line}: " if one.line else f"{one.file}: " if one.file else ""
            typer.echo(f"{place}{one.kind}: {one.text}")
        for name, link in found.chains.items():
            typer.echo(f"chain {name}: ends with number {link.seq}, {link.hash[:16]}")
        typer.echo(_verdict(found))
    if found.faults or not found.lines:
        raise typer.Exit(FAULTY)


def report(
    files: Files,
    shape: Annotated[Shape, typer.Option("--format", help="text, csv or html (one page, nothing to load).")] = (
        Shape.text
    ),
    out: Annotated[Path | None, typer.Option("--out", help="Write into this file.")] = None,
) -> None:
    """Sums up audit files by day, tenant, entity, verdict, reason, model and policy."""
    read = _read(files)
    sums = summed(line for lines in read.values() for line in lines)
    if shape is Shape.html:
        text = page(sums, list(read), _verdict(_examined(read, files, [], part=False)))
    elif shape is Shape.csv:
        text = as_csv(sums)
    else:
        text = _tables(sums)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def _tables(sums: Sums) -> str:
    console = Console(width=100 if not sys.stdout.isatty() else None, highlight=False)
    with console.capture() as captured:
        console.print(
            f"{sums.requests:,} requests, {sums.unfinished:,} forwarded without an end, {sums.other:,} others"
        )
        for by, table in sums.tables.items():
            shown = Table(title=f"By {by}", title_justify="left")
            for head in (by, *HEADS[2:]):
                shown.add_column(head, justify="left" if head == by else "right")
            rows = ordered(by, table)
            for name, one in rows[:_MOST]:
                shown.add_row(name, *(f"{value:,}" for value in one.row()))
            if len(rows) > _MOST:
                shown.caption = f"and {len(rows) - _MOST} more"
            console.print(shown)
    return captured.get()


def _read(files: list[Path]) -> Mapping[str, list[str]]:
    """Lines by file, with their line breaks; only a line feed ends one."""
    found = {}
    for path in files:
        try:
            raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        except OSError as error:
            typer.echo(f"{path}: {error.strerror}", err=True)
            raise typer.Exit(UNREADABLE) from None
        found[str(path)] = [f"{line}\n" for line in raw.decode("utf-8", "backslashreplace").split("\n")]
        last = found[str(path)].pop().removesuffix("\n")
        found[str(path)] += [last] if last else []
    return found


def _examined(read: Mapping[str, list[str]], files: list[Path], anchors: list[tuple[int, str]], part: bool) -> Examined:
    seal = _seal()
    return examine(read, seal, [] if part else list(_heads(files, seal)), anchors, part=part)


def _heads(files: list[Path], seal: Seal) -> Iterator[Head]:
    """The heads that lie beside the files."""
    for path in files:
        try:
            with Path(f"{path}.head").open("rb") as file:
                head = seal.read_head(file.read(HEAD_BYTES))
        except OSError:
            continue
        if head is not None:
            yield head


def _anchors(told: list[str]) -> list[tuple[int, str]]:
    anchors = []
    for one in told:
        seq, _, digest = one.partition(":")
        if not seq.isdecimal() or len(digest) < 16:
            raise typer.BadParameter("an anchor is SEQ:HASH, at least 16 digits of the hash", param_hint="--anchor")
        anchors.append((int(seq), digest))
    return anchors


def _seal() -> Seal:
    own = os.environ.get("CAVIARDAGE_AUDIT_SECRET", "").encode()
    return Seal(split_secrets(own) or (os.environ.get("CAVIARDAGE_SECRET", "").encode(),))


def _verdict(found: Examined) -> str:
    if found.faults:
        return f"{len(found.faults)} faults in {found.lines} lines"
    return f"{found.lines} lines, none changed, missing or out of order" if found.lines else "no line of a trail"

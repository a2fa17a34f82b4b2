"""`caviardage scan`: redacts files and streams to standard output.

May import: engine, model, policy, substitute, vault, wire.encoded, rich, typer.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from proxy.commands.engine import DEFAULT_POLICY, UNREADABLE, detecting, policy_from
from proxy.detect import Detector
from proxy.model import Leaf
from proxy.policy import Policy
from proxy.substitute import Substituting
from proxy.vault import Vault, lookalikes
from proxy.wire.encoded import seeing


def scan(
    files: Annotated[list[Path], typer.Argument(help="Text files; - is standard input.")],
    policy: Annotated[
        Path, typer.Option(help="The policy that decides.", show_default="default.yaml")
    ] = DEFAULT_POLICY,
) -> None:
    """Writes files to standard output with every finding replaced as the proxy would, one after the other.

    Placeholders agree within one run; set CAVIARDAGE_SECRET to make them agree between runs. A progress bar is
    shown on a terminal. What the policy blocks is replaced like the rest.
    """
    rules = policy_from(policy)
    asyncio.run(_scan(rules, files))


async def _scan(policy: Policy, files: Sequence[Path]) -> None:
    secret = os.environ.get("CAVIARDAGE_SECRET", "").encode() or secrets.token_bytes(32)
    texts = [_text(path) for path in files]
    vault = Vault(secret, lookalikes(texts))
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    async with detecting(policy) as detector:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            for path, text in zip(files, texts, strict=True):
                bar = progress.add_task(str(path), total=len(text))
                out = await _redacted(detector, policy, text, vault, secret, partial(progress.advance, bar))
                sys.stdout.write(out)
                sys.stdout.flush()


async def _redacted(
    detector: Detector, policy: Policy, text: str, vault: Vault, secret: bytes, advance: Callable[[int], None]
) -> str:
    leaves: list[Leaf] = []

    def collect(leaf: Leaf) -> str:
        leaves.append(leaf)
        return leaf.text if leaf.raw is None else leaf.raw

    whole = Leaf("$", text)
    seeing(collect)(whole)
    found = await detector.detect(leaves, policy, "scan", advance)
    shown = [[replace(f, action="replace") if f.action == "block" else f for f in findings] for findings in found]
    return seeing(Substituting(shown, vault, secret).sends())(whole)


def _text(path: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return raw.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        typer.echo(f"{path}: cannot be read, or is no UTF-8 text", err=True)
        raise typer.Exit(UNREADABLE) from None

"""`caviardage calibrate`: is a model's factor right? May import: calibration, policy, recognizers, typer, rich."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from proxy.calibration import ENOUGH
from proxy.calibration import calibrate as compared
from proxy.policy import PolicyError, load_policy, report
from recognizers import ENTITIES

UNREADABLE = 2


def calibrate(
    audit: Annotated[list[Path], typer.Argument(help="Audit trails, as the service writes them; - is standard input.")],
    policy: Annotated[Path, typer.Option(help="The policy that was in force.")],
) -> None:
    """Compares our token counts with the provider's, from the audit trail, and proposes each model's factor.

    Exit status 1 if a provider counted more than our bound.
    """
    from rich.console import Console
    from rich.table import Table

    try:
        loaded = load_policy(policy, entities=ENTITIES)
    except PolicyError as error:
        typer.echo(report(error.faults), err=True)
        raise typer.Exit(UNREADABLE) from None

    def factor_of(model: str) -> float:
        limit = loaded.limit_for(model)
        return 1.0 if limit is None else limit.factor

    try:
        rows = compared(_lines(audit), factor_of)
    except (OSError, UnicodeDecodeError):
        typer.echo("an audit trail cannot be read", err=True)
        raise typer.Exit(UNREADABLE) from None
    table = Table(box=None, header_style="bold")
    for name in ("model", "requests", "factor", "lowest", "median", "highest", "over our bound", "proposed factor"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for row in rows:
        proposed = f"{row.proposed:g}" if row.proposed is not None else f"(under {ENOUGH} requests)"
        ratios = (f"{ratio:.3f}" for ratio in (row.lowest, row.median, row.highest))
        table.add_row(row.model, str(row.requests), f"{row.factor:g}", *ratios, str(row.under), proposed)
    Console(highlight=False).print(table)
    raise typer.Exit(1 if any(row.under for row in rows) else 0)


def _lines(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        if str(path) == "-":
            yield from sys.stdin
        else:
            with path.open(encoding="utf-8") as lines:
                yield from lines

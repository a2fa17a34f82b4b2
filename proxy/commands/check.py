"""`caviardage check`: is a policy right? Uses the loader of the service. May import: measure, policy,
recognizers, typer."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from proxy import measure
from proxy.commands.engine import undeclarable
from proxy.policy import Fault, Policy, PolicyError, load_policy, report, report_json
from recognizers import ENTITIES

_DOUBT = (
    "the limit served of {model} is what the provider advertises; what it really holds may be less: "
    "`caviardage probe` finds it"
)


class Format(StrEnum):
    """How faults are printed."""

    TEXT = "text"
    JSON = "json"


def check(
    policies: Annotated[list[Path], typer.Argument(help="Policy files.")],
    output: Annotated[Format, typer.Option("--format", help="text (file:line:column) or json.")] = Format.TEXT,
) -> None:
    """Reads policies as the service would and says what is wrong, with file, line and column. Exit status 1 if so."""
    faults: list[Fault] = []
    good: list[str] = []
    for path in policies:
        try:
            policy = load_policy(path, entities=ENTITIES)
        except PolicyError as error:
            faults.extend(error.faults)
            continue
        if absent := list(_wrong_tokenizers(policy)):
            faults.extend(Fault(str(path), 1, 1, "unreadable", fault) for fault in absent)
        elif (fault := undeclarable(policy)) is not None:
            faults.append(Fault(str(path), 1, 1, "dead-rule", fault, "install its package where the proxy runs"))
        else:
            good.append(f"{path}: {policy.name}@{policy.digest}, {len(policy.entities)} entities, good")
            good.extend(f"{path}: note: {_DOUBT.format(model=model)}" for model in policy.unproven)
    if output is Format.JSON:
        typer.echo(report_json(faults))
    else:
        typer.echo("\n".join(good + ([report(faults)] if faults else [])))
    raise typer.Exit(1 if faults else 0)


def _wrong_tokenizers(policy: Policy) -> Iterator[str]:
    for source in policy.tokenizers:
        try:
            measure.verify_file(source)
        except measure.WrongTokenizer as error:
            yield str(error)

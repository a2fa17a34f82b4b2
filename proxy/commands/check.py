"""`caviardage check`: is a policy right, and does it do what its author thinks? Uses the loader of the service.

May import: engine, measure, policy, tenants, recognizers, typer.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from proxy import measure
from proxy.commands.engine import undeclarable
from proxy.policy import Fault, Policy, formats, inspect_policy
from proxy.policy.rules import severity
from proxy.tenants.load import Roll, inspect_tenants, is_tenants
from recognizers import ENTITIES
from recognizers.facts import facts

_DOUBT = (
    "the limit served of {model} is what the provider advertises; what it really holds may be less: "
    "`caviardage probe` finds it"
)


class Format(StrEnum):
    """How faults are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"


def check(
    policies: Annotated[list[Path], typer.Argument(help="Policy files, and tenants files.")],
    output: Annotated[
        Format, typer.Option("--format", help="text (file:line:column), json, sarif (2.1.0) or junit (XML).")
    ] = Format.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail too.")] = False,
) -> None:
    """Reads policies as the service would and says what is wrong, and what loads and may surprise, with file, line
    and column. Exit status 1 if something does not load (or with --strict, if anything is said)."""
    found: list[Fault] = []
    good: list[str] = []
    for path in policies:
        if is_tenants(path):
            roll, faults = inspect_tenants(path, ENTITIES)
            good.extend([] if roll is None else [_roll(path, roll, len(faults))])
            found.extend(faults)
            continue
        policy, faults = inspect_policy(path, entities=ENTITIES, facts=facts())
        if policy is not None and (absent := list(_wrong_tokenizers(policy))):
            faults = (*faults, *(Fault(str(path), 1, 1, "unreadable", fault) for fault in absent))
            policy = None
        if policy is not None and (fault := undeclarable(policy)) is not None:
            mend = "install its package where the proxy runs"
            faults = (*faults, Fault(str(path), 1, 1, "dead-rule", fault, mend))
            policy = None
        if policy is not None:
            good.append(_good(path, policy, len(faults)))
            good.extend(f"{path}: note: {_DOUBT.format(model=model)}" for model in policy.unproven)
        found.extend(faults)
    if output is Format.TEXT:
        typer.echo("\n".join([*good, *([formats.as_text(found)] if found else [])]))
    elif output is Format.JSON:
        typer.echo(formats.as_json(found))
    elif output is Format.SARIF:
        typer.echo(formats.as_sarif(found))
    else:
        typer.echo(formats.as_junit(found, [str(path) for path in policies], strict=strict))
    raise typer.Exit(1 if any(strict or severity(fault) == "error" for fault in found) else 0)


def _roll(path: Path, roll: Roll, warnings: int) -> str:
    return f"{path}: {len(roll.tenants.tenants)} tenants{_tail(warnings)}"


def _good(path: Path, policy: Policy, warnings: int) -> str:
    return f"{path}: {policy.name}@{policy.digest}, {len(policy.entities)} entities{_tail(warnings)}"


def _tail(warnings: int) -> str:
    return f", {warnings} warning{'s' * (warnings > 1)}" if warnings else ", good"


def _wrong_tokenizers(policy: Policy) -> Iterator[str]:
    for source in policy.tokenizers:
        try:
            measure.verify_file(source)
        except measure.WrongTokenizer as error:
            yield str(error)

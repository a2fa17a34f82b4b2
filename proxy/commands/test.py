"""`caviardage test`: does a policy keep its own promises? May import: analysis, policy, recognizers, typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proxy.analysis import settings_for
from proxy.policy import Policy, PolicyError, load_policy, report, run_trials
from recognizers import ENTITIES
from recognizers.analyzer import Analyzer, Item

UNREADABLE = 2


def test(policies: Annotated[list[Path], typer.Argument(help="Policy files.")]) -> None:
    """Runs the tests inside policies against the real recognizers. Exit status 1 if one fails."""
    failed = False
    for path in policies:
        try:
            policy = load_policy(path, entities=ENTITIES)
        except PolicyError as error:
            typer.echo(report(error.faults))
            raise typer.Exit(UNREADABLE) from None
        failed = not _passes(path, policy) or failed
    raise typer.Exit(1 if failed else 0)


def _passes(path: Path, policy: Policy) -> bool:
    analyzer = Analyzer(settings_for(policy))
    analyzer.load()

    def find(text: str) -> list[tuple[str, str]]:
        return [
            (span.entity, text[span.start : span.end])
            for span in analyzer.analyze([Item(text)])[0]
            if span.score >= policy.rule(span.entity).min_score
        ]

    results = run_trials(policy, find)
    for result in results:
        for failure in result.failures:
            typer.echo(f"{path}: test {result.number}: {failure}")
    passed = sum(result.passed for result in results)
    typer.echo(f"{path}: {passed} of {len(results)} tests passed")
    return passed == len(results)

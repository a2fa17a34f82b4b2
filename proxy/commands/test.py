"""`caviardage test`: does a policy keep its own promises? May import: engine, model, policy, typer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from proxy.commands.engine import detecting, loaded, patient
from proxy.model import Leaf
from proxy.policy import Policy, run_trials


def test(policies: Annotated[list[Path], typer.Argument(help="Policy files.")]) -> None:
    """Runs the tests inside policies against the real recognizers. Exit status 1 if one fails."""
    failed = False
    for path in policies:
        policy = loaded(path)
        failed = not _passes(path, policy) or failed
    raise typer.Exit(1 if failed else 0)


def _passes(path: Path, policy: Policy) -> bool:
    found = asyncio.run(_found(policy, [trial.text for trial in policy.tests]))
    results = run_trials(policy, found.__getitem__)
    for result in results:
        for failure in result.failures:
            typer.echo(f"{path}: test {result.number}: {failure}")
    passed = sum(result.passed for result in results)
    typer.echo(f"{path}: {passed} of {len(results)} tests passed")
    return passed == len(results)


async def _found(policy: Policy, texts: list[str]) -> dict[str, list[tuple[str, str]]]:
    """What the service would act on in each text."""
    watching = patient(policy)
    async with detecting(watching) as detector:
        found = await asyncio.gather(*(detector.detect([Leaf("$", text)], watching, "test") for text in texts))
    return {
        text: [(finding.entity, text[finding.start : finding.end]) for finding in findings]
        for text, (findings,) in zip(texts, found, strict=True)
    }

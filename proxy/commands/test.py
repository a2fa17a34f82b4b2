"""`caviardage test`: does a policy keep its own promises? May import: engine, rehearsal, policy, rich, typer."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from proxy.commands.engine import UNREADABLE, loaded
from proxy.commands.rehearsal import rehearsed
from proxy.policy import Outcome, Policy, PolicyError, judged, parse_policy, rewritten, thawed
from recognizers import ENTITIES


def test(
    policies: Annotated[list[Path], typer.Argument(help="Policy files.")],
    update: Annotated[
        bool, typer.Option("--update", help="Show what the tests would have to expect, and write it if you agree.")
    ] = False,  # noqa: PT028 (a command, not a test)
    yes: Annotated[bool, typer.Option("--yes", help="With --update: write without asking.")] = False,  # noqa: PT028
) -> None:
    """Runs the tests inside policies, texts and whole requests, through the engine of the service. Exit status 1 if
    one fails. Nothing is sent anywhere."""
    failed = False
    for path in policies:
        policy = loaded(path)
        outcomes = rehearsed(policy)
        passed = _passes(path, policy, outcomes)
        if not passed and update:
            passed = _update(path, policy, outcomes, yes=yes)
        failed = failed or not passed
    raise typer.Exit(1 if failed else 0)


def _passes(path: Path, policy: Policy, outcomes: Sequence[Outcome]) -> bool:
    results = judged(policy, outcomes)
    for result in results:
        for failure in result.failures:
            typer.echo(f"{path}: test {result.number}: {failure}")
    passed = sum(result.passed for result in results)
    typer.echo(f"{path}: {passed} of {len(results)} tests passed")
    return passed == len(results)


def changes(policy: Policy, outcomes: Sequence[Outcome]) -> dict[int, dict[str, Any]]:
    """What each test would have to expect, by its place and key: only what it says something else about.

    A piece under `leaves` that was changed is a promise broken, not one to be rewritten: it stays a failure.
    """
    found: dict[int, dict[str, Any]] = {}
    for at, (trial, outcome) in enumerate(zip(policy.tests, outcomes, strict=True)):
        new: dict[str, Any] = {}
        if trial.finds is not None and set(trial.finds) != outcome.finds:
            new["finds"] = sorted(outcome.finds)
        if trial.sends is not None and outcome.sent is not None and thawed(trial.sends) != outcome.sent:
            new["sends"] = outcome.sent
        if trial.refuses is not None:
            coded = isinstance(trial.refuses, str) and bool(outcome.refused)
            refuses = outcome.refused if coded else bool(outcome.refused)
            new |= {"refuses": refuses} if refuses != trial.refuses else {}
        if new:
            found[at] = new
    return found


def _update(path: Path, policy: Policy, outcomes: Sequence[Outcome], *, yes: bool) -> bool:
    """Shows the difference and writes it. True if the tests now say what happens."""
    wanted = changes(policy, outcomes)
    try:
        before = path.read_text("utf-8")
        after = _proven(path, policy, before, wanted)
    except (OSError, UnicodeDecodeError, ValueError, PolicyError) as error:
        reason = str(error) if type(error) is ValueError else "it cannot be rewritten"
        typer.echo(f"{path}: not updated: {reason}", err=True)
        raise typer.Exit(UNREADABLE) from None
    if not wanted:
        return False
    _show(path, before, after)
    if not yes and not typer.confirm(f"Write this into {path}?", default=False):
        return False
    _write(path, after)
    typer.echo(f"{path}: {len(wanted)} tests updated")
    return _passes(path, parse_policy(after.encode(), file=str(path), entities=ENTITIES, paths=True), outcomes)


def _proven(path: Path, policy: Policy, before: str, wanted: Mapping[int, Mapping[str, Any]]) -> str:
    """The new text. Raises `ValueError` if it would be another policy."""
    after = rewritten(before, wanted) if wanted else before
    again = parse_policy(after.encode(), file=str(path), entities=ENTITIES, paths=True)
    kept = [trial.model_copy(update=dict.fromkeys(wanted.get(at, {}))) for at, trial in enumerate(policy.tests)]
    renewed = [trial.model_copy(update=dict.fromkeys(wanted.get(at, {}))) for at, trial in enumerate(again.tests)]
    if again.digest != policy.digest or kept != renewed:
        raise ValueError("something else would change as well")
    return after


def _show(path: Path, before: str, after: str) -> None:
    console = Console(highlight=False, emoji=False)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), n=1, lineterm="")
    for line in lines:
        console.print(Text(line, style=styles.get(line[:1], "")), soft_wrap=True)


def _write(path: Path, text: str) -> None:
    """All of it or nothing: into a file beside it, then in its place, with its rights."""
    place = path.resolve()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", dir=place.parent, delete=False) as out:
        out.write(text)
    os.chmod(out.name, place.stat().st_mode & 0o777)
    os.replace(out.name, place)

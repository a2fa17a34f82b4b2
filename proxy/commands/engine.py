"""The production detection engine for commands that look at files: same workers, same rules, no HTTP.

May import: analysis, detect, policy, rehearsal, recognizers, typer.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from proxy.analysis import examples, settings_for
from proxy.detect import Detector
from proxy.policy import Policy, PolicyError, declared_recognizers, load_policy, report
from proxy.rehearsal import LONGEST, patient
from proxy.settings import default_workers
from recognizers import ENTITIES
from recognizers.device import DEVICES
from recognizers.prove import fault

UNREADABLE = 2
DEFAULT_POLICY = Path(__file__).resolve().parents[2] / "policies" / "default.yaml"
PolicyOption = Annotated[Path, typer.Option("--policy", help="The policy that decides.", show_default="default.yaml")]
MANY = 1_000_000


def loaded(path: Path) -> Policy:
    """The policy, with the recognizers that it declares tried out; prints what is wrong and exits."""
    try:
        policy = load_policy(path, entities=ENTITIES)
    except PolicyError as error:
        typer.echo(report(error.faults), err=True)
        raise typer.Exit(UNREADABLE) from None
    wrong = undeclarable(policy)
    if wrong is not None:
        typer.echo(f"{path}: {wrong}", err=True)
        raise typer.Exit(UNREADABLE)
    return policy


def undeclarable(policy: Policy) -> str | None:
    """Why a recognizer that the policy declares cannot work; None if all can."""
    return fault(declared_recognizers(policy))


def policy_from(path: Path) -> Policy:
    """The policy as a command that looks at files uses it."""
    return patient(loaded(path))


@asynccontextmanager
async def detecting(policy: Policy) -> AsyncIterator[Detector]:
    """A started and self-tested detector."""
    asked = os.environ.get("CAVIARDAGE_DEVICE", "auto")
    device = next((name for name in DEVICES if name == asked), DEVICES[0])
    detector = Detector(settings_for(policy), workers=default_workers(), deadline=LONGEST, waiting=MANY, device=device)
    try:
        try:
            await detector.start()
        except ValueError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(UNREADABLE) from None
        missed = await detector.self_test(examples(policy))
        if missed:
            typer.echo(f"self-test: not found in their own examples: {', '.join(missed)}", err=True)
            raise typer.Exit(UNREADABLE)
        yield detector
    finally:
        await detector.stop()

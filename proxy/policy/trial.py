"""Runs the tests that a policy carries, against whatever finds entities.

May import: proxy.policy.{model,sections}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from proxy.policy.model import Policy
from proxy.policy.sections import Trial

Find: TypeAlias = Callable[[str], Sequence[tuple[str, str]]]
"""A text -> the findings in it, as (entity, matched text), scores below the policy's already left out."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """How one test went. `number` counts from 1; `failures` say what differs, naming entities and never text."""

    number: int
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.failures


def run_trials(policy: Policy, find: Find) -> list[TrialResult]:
    """Every test of the policy, in the order of the file."""
    return [TrialResult(number, tuple(_failures(policy, trial, find))) for number, trial in enumerate(policy.tests, 1)]


def _failures(policy: Policy, trial: Trial, find: Find) -> Iterator[str]:
    acted = [(entity, text) for entity, text in find(trial.text) if policy.rule(entity).action != "allow"]
    found = {entity for entity, _ in acted}
    if trial.finds is not None:
        wanted = set(trial.finds)
        if missed := sorted(wanted - found):
            yield f"not found: {', '.join(missed)}"
        if extra := sorted(found - wanted):
            yield f"found as well: {', '.join(extra)}"
    for index, piece in enumerate(trial.leaves, 1):
        if piece not in _rest(trial.text, [text for _, text in acted]):
            yield f"'leaves' number {index} was changed"
    refused = sorted(entity for entity in found if policy.rule(entity).action == "block")
    if trial.refuses is True and not refused:
        yield "not refused: nothing found is blocked"
    if trial.refuses is False and refused:
        yield f"refused: {', '.join(refused)}"


def _rest(text: str, gone: list[str]) -> str:
    """What stays when every finding is cut out, the longest first so that no shorter one splits it."""
    for piece in sorted(set(gone), key=len, reverse=True):
        if piece:
            text = text.replace(piece, "\0")
    return text

"""Judges the tests that a policy carries, by what became of their texts and requests.

May import: proxy.policy.{bodies,model,sections}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from proxy.policy import bodies
from proxy.policy.model import Policy
from proxy.policy.sections import Trial

Find: TypeAlias = Callable[[str], Sequence[tuple[str, str]]]
"""A text -> the findings in it, as (entity, matched text), scores below the policy's already left out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test. `sent` is what left, placeholders numbered by `numbered`; None where nothing did.

    `refused` is the code of the refusal, empty for none; `rest` the text that stayed as it was.
    """

    finds: frozenset[str]
    refused: str = ""
    sent: Any = field(default=None, repr=False)
    rest: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TrialResult:
    """How one test went. `number` counts from 1; `failures` say what differs, naming entities and never text."""

    number: int
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.failures


def run_trials(policy: Policy, find: Find) -> list[TrialResult]:
    """The tests of the policy that are texts, without what they say about `sends`, by whatever finds entities."""
    return [
        TrialResult(number, tuple(_failures(trial, text_outcome(policy, trial.text, find(trial.text)))))
        for number, trial in enumerate(policy.tests, 1)
        if trial.text
    ]


def judged(policy: Policy, outcomes: Sequence[Outcome]) -> list[TrialResult]:
    """Every test of the policy, in the order of the file, with one outcome for each."""
    return [
        TrialResult(number, (*_failures(trial, outcome), *_sends(trial, outcome)))
        for number, (trial, outcome) in enumerate(zip(policy.tests, outcomes, strict=True), 1)
    ]


def text_outcome(policy: Policy, text: str, found: Sequence[tuple[str, str]], sent: str | None = None) -> Outcome:
    """What becomes of a text in which these entities and values are found."""
    acted = [(entity, value) for entity, value in found if policy.rule(entity).action != "allow"]
    blocked = any(policy.rule(entity).action == "block" for entity, _ in acted)
    rest = _rest(text, [value for _, value in acted])
    return Outcome(frozenset(e for e, _ in acted), "blocked_entity" if blocked else "", None if blocked else sent, rest)


def _failures(trial: Trial, outcome: Outcome) -> Iterator[str]:
    if trial.finds is not None:
        wanted = set(trial.finds)
        if missed := sorted(wanted - outcome.finds):
            yield f"not found: {', '.join(missed)}"
        if extra := sorted(outcome.finds - wanted):
            yield f"found as well: {', '.join(extra)}"
    for index, piece in enumerate(trial.leaves, 1):
        if piece not in outcome.rest:
            yield f"'leaves' number {index} was changed"
    if trial.refuses is True and not outcome.refused:
        yield "not refused" + (": nothing found is blocked" if trial.text else "")
    elif trial.refuses is False and outcome.refused:
        blocked = outcome.refused == "blocked_entity" and trial.text
        yield f"refused: {', '.join(sorted(outcome.finds)) if blocked else outcome.refused}"
    elif isinstance(trial.refuses, str) and trial.refuses != outcome.refused:
        yield f"not refused with {trial.refuses}" + (f" but with {outcome.refused}" if outcome.refused else "")


def _sends(trial: Trial, outcome: Outcome) -> Iterator[str]:
    if trial.sends is None:
        return
    if outcome.sent is None:
        yield f"nothing is sent{f': {outcome.refused}' if outcome.refused else ''}"
    elif bodies.thawed(trial.sends) != outcome.sent:
        yield "what is sent differs from 'sends'"


def numbered(sent: Any, entities: frozenset[str]) -> Any:
    """A text or body that left, each placeholder with a short number: `<PERSON_482913>` is `<PERSON_1>`."""
    seen: dict[str, dict[str, int]] = {}
    names = "|".join(sorted(map(re.escape, entities), key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Z0-9_])({names})_(\d{{9}}|\d{{6}})(?!\d)")

    def short(match: re.Match[str]) -> str:
        numbers = seen.setdefault(match[1], {})
        return f"{match[1]}_{numbers.setdefault(match[2], len(numbers) + 1)}"

    if isinstance(sent, str):
        return pattern.sub(short, sent)
    return json.loads(pattern.sub(short, json.dumps(sent, ensure_ascii=False)))


def _rest(text: str, gone: list[str]) -> str:
    """What stays when every finding is cut out, the longest first so that no shorter one splits it."""
    for piece in sorted(set(gone), key=len, reverse=True):
        if piece:
            text = text.replace(piece, "\0")
    return text

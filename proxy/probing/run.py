"""Asks one prompt after the other, one at a time, and keeps a record that a later run can go on from.

May import: its neighbours, measure, openai, the standard library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openai import APIConnectionError, APIStatusError, OpenAI

from proxy.measure import Counter
from proxy.probing.prompt import Question, question
from proxy.probing.search import Plan
from proxy.probing.verdict import Probe, answered, refused

_REFUSED = range(400, 500)
_BUSY = (401, 403, 404, 408, 409, 429)
"""These say nothing about the length."""
ANSWER_TOKENS = 64


class ProbeFailed(Exception):
    """The deployment could not be asked; what was found so far stands. The text names a status, never an answer."""


class Prober:
    """One deployment. `done` is what an earlier run found."""

    def __init__(self, client: OpenAI, model: str, counter: Counter, done: list[Probe]) -> None:
        self._client = client
        self._model = model
        self._counter = counter
        self._words: list[str] = []
        self.probes = list(done)

    def run(self, plan: Plan) -> Iterator[Probe]:
        """Probes until the plan is satisfied. Raises `ProbeFailed`, `ValueError` for lengths too short."""
        while (length := plan.next({probe.aim: probe.is_good for probe in self.probes})) is not None:
            probe = self.ask(length)
            self.probes.append(probe)
            yield probe

    def ask(self, tokens: int) -> Probe:
        """One prompt of so many tokens."""
        asked = question(tokens, self._counter)
        others, self._words = tuple(self._words), [*self._words, *asked.words]
        try:
            answer = self._complete(asked)
        except APIStatusError as error:
            if error.status_code in _REFUSED and error.status_code not in _BUSY:
                return refused(asked, error.status_code)
            raise ProbeFailed(f"the upstream answered with status {error.status_code}") from None
        except APIConnectionError:
            raise ProbeFailed("the upstream could not be reached, or did not answer in time") from None
        text = (answer.choices[0].message.content or "") if answer.choices else ""
        usage = answer.usage.prompt_tokens if answer.usage else None
        return answered(asked, text, usage, others)

    def _complete(self, asked: Question) -> Any:
        return self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "user", "content": asked.text}],
            max_tokens=ANSWER_TOKENS,
            temperature=0,
        )


def load(path: Path) -> list[Probe]:
    """The probes of a report. Raises `ValueError` if it is none."""
    try:
        return [Probe.from_json(node) for node in json.loads(path.read_text("utf-8"))["probes"]]
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError("this is no report of a probe") from error


def save(path: Path, report: dict[str, Any]) -> None:
    """Written aside and moved into place, so that an interruption leaves the last whole report."""
    aside = path.with_name(f"{path.name}.new")
    aside.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    os.replace(aside, path)

"""Our counts against the provider's, from the audit trail: is the factor of a model's tokenizer right? Pure.

Each audit line of an answered request tells what we counted (`tokens_after`: an upper bound, factor included) and
what the provider counted (`usage_prompt`). Their highest ratio says how much the factor may come down, or must go up.
May import: the standard library.
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

LEAST_TOKENS = 500
"""Shorter prompts say more about overheads than about the tokenizer."""
MARGIN = 1.05
"""What a proposed factor adds to the highest ratio that was seen: the next text may be denser."""
ENOUGH = 30
"""Requests of a model below which nothing is proposed."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """One model. Ratios are the provider's count over ours without its factor; `proposed` is None if unknown."""

    model: str
    requests: int
    factor: float
    lowest: float
    median: float
    highest: float
    under: int
    """Requests that the provider counted higher than our bound: each could have been over the limit unseen."""
    proposed: float | None


def calibrate(lines: Iterable[str], factor_of: Callable[[str], float]) -> list[Calibration]:
    """One row a model, most requests first. `factor_of` is the policy's. Lines that are no audit lines are skipped."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        row = _row(line)
        if row is not None:
            model, ours, theirs = row
            ratios[model].append(theirs * factor_of(model) / ours)
    rows = [_calibration(model, found, factor_of(model)) for model, found in ratios.items()]
    return sorted(rows, key=lambda row: (-row.requests, row.model))


def _calibration(model: str, ratios: list[float], factor: float) -> Calibration:
    highest = max(ratios)
    proposed = max(1.0, round(highest * MARGIN, 3)) if len(ratios) >= ENOUGH else None
    return Calibration(
        model,
        len(ratios),
        factor,
        min(ratios),
        statistics.median(ratios),
        highest,
        sum(ratio > factor for ratio in ratios),
        proposed,
    )


def _row(line: str) -> tuple[str, int, int] | None:
    """Model, our count and the provider's, of a request that was answered without an alarm."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or event.get("verdict") != "release" or event.get("alarms"):
        return None
    if event.get("tokens_bound"):  # a bound says nothing about the tokenizer
        return None
    model, ours, theirs = event.get("model"), event.get("tokens_after"), event.get("usage_prompt")
    if not isinstance(model, str) or type(ours) is not int or type(theirs) is not int:
        return None
    return (model, ours, theirs) if ours >= LEAST_TOKENS and theirs > 0 else None

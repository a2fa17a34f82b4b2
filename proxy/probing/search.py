"""Which length to try next. Pure: outcomes in, lengths out, so that a run can be taken up again from its record.

Doubling up to the first length that is not answered rightly, then halving the gap until it is small enough.
May import: the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """From `low` to `high` tokens, until the boundary is known to `resolution` (a share of itself)."""

    low: int
    high: int
    resolution: float = 0.01

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high:
            raise ValueError("the lowest length must be positive, and not above the highest")
        if not 0.001 <= self.resolution <= 0.5:
            raise ValueError("the resolution must be between 0.001 and 0.5")

    def next(self, done: Mapping[int, bool]) -> int | None:
        """The next length, given what lengths came out well; None when the answer is known."""
        for length in self._doubling():
            if length not in done:
                return length
            if not done[length]:
                break
        good, bad = self.bounds(done)
        if bad is None or good == 0 or bad - good <= max(1, int(bad * self.resolution)):
            return None
        return (good + bad) // 2

    def bounds(self, done: Mapping[int, bool]) -> tuple[int, int | None]:
        """The longest length that came out well below the shortest that did not (0: none), and that one."""
        bad = min((length for length, well in done.items() if not well), default=None)
        good = max((length for length, well in done.items() if well and (bad is None or length < bad)), default=0)
        return good, bad

    def most_requests(self) -> int:
        """How many prompts a run can need."""
        doubling = len(list(self._doubling()))
        return doubling + max(0, math.ceil(math.log2(1 / self.resolution)))

    def most_tokens(self) -> int:
        """How many prompt tokens a run can need, all prompts together: its cost is at most that many."""
        halving = max(0, math.ceil(math.log2(1 / self.resolution)))
        return sum(self._doubling()) + halving * self.high

    def _doubling(self) -> Iterator[int]:
        length = self.low
        while length < self.high:
            yield length
            length *= 2
        yield self.high

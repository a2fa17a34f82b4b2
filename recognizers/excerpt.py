"""The stretches of a text in which a pattern can match at all, put together, so that the rest is not searched.

A pattern whose matches have at least so many digits in at most `reach` characters, or hold a match of some cheap
pattern and are at most `reach` long, can only match near such digits or hits. The stretches keep `reach` characters
and one more on either side and are joined by more filler than a match is long. So a match lies within one stretch,
sees the characters that it sees in the text, and is found in the same order: what is found in the excerpt is what
is found in the text (`tests/test_excerpt.py`).

May import: numpy, the standard library.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_FILLER = "\0"
_WORTH = 0.7
"""An excerpt longer than this share of the text saves nothing."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text` is what is searched; the stretch that begins at `at[i]` in it begins at `starts[i]` in the whole text."""

    text: str
    at: Sequence[int] = (0,)
    starts: Sequence[int] = (0,)

    def spans(self, pattern: Any, group: int = 0) -> Iterator[tuple[int, int]]:
        """Where a group of each match of a compiled pattern stands in the whole text; (-1, -1) if it has no part."""
        if not self.text:
            return
        if len(self.at) == 1 and self.starts[0] == 0:
            yield from (match.span(group) for match in pattern.finditer(self.text))
            return
        for match in pattern.finditer(self.text):
            start, end = match.span(group)
            place = bisect_right(self.at, match.start()) - 1
            moved = self.starts[place] - self.at[place]
            yield (start + moved, end + moved) if start >= 0 else (start, end)


def around(text: str, hits: Sequence[tuple[int, int]], reach: int, before: int) -> Excerpt:
    """For matches of at most `reach` characters that hold one of `hits`, which are sorted, `before` in at most."""
    if not hits:
        return Excerpt("", (), ())
    bounds = np.asarray(hits, dtype=np.int64)
    return _joined(text, bounds[:, 0] - before - 1, bounds[:, 1] + reach + 1, reach)


class DigitPlaces:
    """Where the ASCII digits of a text stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        self._places = np.flatnonzero((codes >= ord("0")) & (codes <= ord("9")))

    def close(self, digits: int, reach: int) -> Excerpt:
        """For matches of at most `reach` characters, `digits` of them digits at least."""
        first, last = self._places[: len(self._places) - digits + 1], self._places[digits - 1 :]
        near = last - first < reach if len(last) else np.zeros(0, dtype=bool)
        return _joined(self._text, last[near] - reach - 1, first[near] + reach + 2, reach)


def _joined(text: str, lows: Any, highs: Any, reach: int) -> Excerpt:
    """The stretches `[low, high)`, both ascending, those that touch as one."""
    if not len(lows):
        return Excerpt("", (), ())
    lows, highs = np.clip(lows, 0, len(text)), np.clip(highs, 0, len(text))
    apart = np.flatnonzero(lows[1:] > highs[:-1] + reach) + 1
    starts = [int(low) for low in lows[np.concatenate(([0], apart))]]
    ends = [int(high) for high in highs[np.concatenate((apart - 1, [len(highs) - 1]))]]
    if sum(ends) - sum(starts) + reach * len(starts) > _WORTH * len(text):
        return Excerpt(text)
    filler = _FILLER * (reach + 1)
    at, length = [], 0
    for start, end in zip(starts, ends, strict=True):
        at.append(length)
        length += end - start + len(filler)
    return Excerpt(filler.join(text[a:b] for a, b in zip(starts, ends, strict=True)), at, starts)

"""Encoded texts that were sent with placeholders inside, recognised where an answer repeats them.

A whole encoded text is recognised, letter for letter but for its line breaks, which JSON may have escaped; whoever
sees it growing waits until it is complete or something else. May import: vault, the standard library.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from proxy.vault import Entry

_MOST_HEADS = 64
_BREAK = re.compile(r"\r?\n|(?:\\{1,15}r)?\\{1,15}n")
_BROKEN_BREAK = re.compile(r"\r|\\{1,15}(?:r\\{0,15})?")
_LINE_BREAK = re.compile(r"\r?\n")


@dataclass(frozen=True, slots=True)
class Repeated:
    """`window[start:end]` repeats what `entry` was; `entry` is None while that may still turn out."""

    entry: Entry | None
    end: int


class Recall:
    """The encoded texts of one request. `heads` are beginnings, one of which each of them has."""

    def __init__(self, encoded: Mapping[str, Entry]) -> None:
        self._by_line: dict[str, list[tuple[list[str], Entry]]] = {}
        for sent, entry in encoded.items():
            first, *rest = _LINE_BREAK.split(sent)
            self._by_line.setdefault(first, []).append((rest, entry))
        for several in self._by_line.values():
            several.sort(key=lambda one: -len(one[0]))
        self._lines = sorted(self._by_line)
        self._sizes = sorted({len(line) for line in self._lines}, reverse=True)
        self.heads = _heads(self._lines)

    def at(self, window: str, start: int, *, final: bool) -> Repeated | None:
        """What the text at `start` repeats; None if nothing. `final`: nothing follows the window."""
        if not final and self._may_become(window[start : start + self._sizes[0]], len(window) - start):
            return Repeated(None, len(window))
        for size in self._sizes:
            for rest, entry in self._by_line.get(window[start : start + size], ()):
                end = _end(window, start + size, rest)
                if end == _OPEN and not final:
                    return Repeated(None, len(window))
                if end >= 0:
                    return Repeated(entry, end)
        return None

    def _may_become(self, seen: str, there: int) -> bool:
        """True if a first line longer than all that is there begins with it."""
        if there > len(seen):
            return False
        place = bisect_left(self._lines, seen)
        while place < len(self._lines) and self._lines[place] == seen:
            place += 1
        return place < len(self._lines) and self._lines[place].startswith(seen)


_OPEN, _NOT = -1, -2


def _end(window: str, at: int, lines: list[str]) -> int:
    """Where the further lines end; `_OPEN` if the window ends before they do, `_NOT` if it says something else."""
    for line in lines:
        found = _BREAK.match(window, at)
        if found is None:
            open_end = at == len(window) or _BROKEN_BREAK.fullmatch(window, at)
            return _OPEN if open_end else _NOT
        at = found.end()
        if not window.startswith(line, at):
            return _OPEN if line.startswith(window[at:]) else _NOT
        at += len(line)
    return at


def _heads(lines: list[str]) -> tuple[str, ...]:
    """The longest beginnings that are few enough to look for all at once."""
    for size in (24, 8, 4, 2, 1):
        heads = {line[:size] for line in lines}
        if len(heads) <= _MOST_HEADS:
            break
    return tuple(sorted(heads)) if lines else ()

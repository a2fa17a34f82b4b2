"""Tables, the machine they were made on, and the places in a Markdown file where they go.

May import: the standard library.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic


@dataclass(frozen=True)
class Options:
    """`quick` shrinks everything to see that it works, `slow` adds what takes minutes."""

    quick: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Table:
    """Cells are already written; `note` stands below."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        lines = [_line(self.heads), "|" + "---|" + "---:|" * (len(self.heads) - 1), *map(_line, self.rows)]
        parts = [f"**{self.title}**", "\n".join(lines)]
        return "\n\n".join([*parts, self.note] if self.note else parts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


class Stopwatch:
    """What is said beside a result: when, how long, and what else the machine had to do."""

    line = ""


@contextmanager
def watched() -> Iterator[Stopwatch]:
    """`line` is set at the end of the block."""
    watch, began, before = Stopwatch(), monotonic(), os.getloadavg()[0]
    yield watch
    after = os.getloadavg()[0]
    watch.line = (
        f"{machine()}. Took {monotonic() - began:.0f} s; load average {before:.1f} before and {after:.1f} after."
    )


def machine() -> str:
    """Cores, processor and Python, in words."""
    processor = "processor unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = re.findall(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        processor = names[0].strip() if names else processor
    return f"{os.cpu_count()} cores ({processor}), Python {platform.python_version()}"


def rewrite(path: Path, name: str, content: str) -> None:
    """Puts `content` between `<!-- begin:NAME -->` and `<!-- end:NAME -->`. Raises `KeyError` if they are not there."""
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- begin:{name} -->", f"<!-- end:{name} -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise KeyError(f"{path.name} has no place for {name}")
    path.write_text(f"{head}{begin}\n{content}\n{end}{tail}", encoding="utf-8")


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def growth(previous: float | None, current: float) -> str:
    """Time as a multiple of the time for a tenth of the text."""
    return "" if not previous else f"{current / previous:.1f}"

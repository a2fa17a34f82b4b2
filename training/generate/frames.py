"""A small grammar for sentence frames: `[a|b|]` is a choice, `{slot}` a value, and both may nest.

A frame file holds sections: `# name` starts one, each further line is a frame; `@ name` starts a list of plain
values separated by `|`. May import: the standard library.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent / "frames"


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


@dataclass
class Draft:
    """A document being written: text so far and the spans in it, `(start, end, type)` in code points."""

    parts: list[str] = field(default_factory=list)
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    length: int = 0

    def add(self, text: str, kind: str | None = None) -> None:
        """Appends `text`; with a `kind` it becomes one span (which must not begin or end with a space)."""
        if kind and text:
            self.spans.append((self.length, self.length + len(text), kind))
        self.parts.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True)
class Frames:
    """The frames and the word lists of one language."""

    language: str
    sections: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, tuple[str, ...]]

    def section(self, name: str) -> tuple[str, ...]:
        """The frames of a section. Raises `KeyError` if the language has none of that name."""
        return self.sections[name]


@cache
def load(language: str) -> Frames:
    """Reads the frame file of a language. Raises `FileNotFoundError`, `ValueError` for a line outside a section."""
    sections: dict[str, list[str]] = {}
    lists: dict[str, list[str]] = {}
    current: list[str] | None = None
    values = False
    for line in (HERE / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("# ", "@ ")):
            values = line.startswith("@")
            current = (lists if values else sections).setdefault(line[2:].strip(), [])
        elif line.strip():
            if current is None:
                raise ValueError(f"{language}: a frame outside any section")
            current.extend(line.strip().split("|") if values else [line.rstrip()])
    return Frames(language, {k: tuple(v) for k, v in sections.items()}, {k: tuple(v) for k, v in lists.items()})


def write(frame: str, draft: Draft, slot: Callable[[str, Draft], None], rng: random.Random) -> None:
    """Expands `frame` into `draft`. `slot` is called for every `{name}`. Raises `ValueError` for unbalanced marks."""
    at = 0
    while at < len(frame):
        char = frame[at]
        if char == "{":
            end = frame.index("}", at)
            slot(frame[at + 1 : end], draft)
            at = end + 1
        elif char == "[":
            end = _closing(frame, at)
            write(rng.choice(_choices(frame[at + 1 : end])), draft, slot, rng)
            at = end + 1
        elif char == "\\" and frame[at + 1 : at + 2] == "n":
            draft.add("\n")
            at += 2
        else:
            end = at
            while end < len(frame) and frame[end] not in "{[\\":
                end += 1
            end = max(end, at + 1)
            draft.add(frame[at:end])
            at = end


def _closing(frame: str, start: int) -> int:
    depth = 0
    for at in range(start, len(frame)):
        depth += (frame[at] == "[") - (frame[at] == "]")
        if depth == 0:
            return at
    raise ValueError(f"a bracket is not closed: {frame}")


def _choices(inner: str) -> list[str]:
    found: list[str] = []
    depth = start = 0
    for at, char in enumerate(inner):
        depth += (char == "[") - (char == "]")
        if char == "|" and depth == 0:
            found.append(inner[start:at])
            start = at + 1
    return [*found, inner[start:]]

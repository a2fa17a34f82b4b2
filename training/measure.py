"""How well a pipeline finds the names of labelled texts, by kind of text.

May import: its neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from training.text import LABELS, Mark, Text


@dataclass
class Score:
    """Counts of marks and of letters. MISC is not counted: it is never replaced."""

    gold: int = 0
    masked: int = 0
    same: int = 0
    found: int = 0
    other: int = 0
    over: int = 0

    @property
    def masked_share(self) -> float:
        """Names all of whose letters some name mark covers."""
        return self.masked / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Same borders and label."""
        return 2 * self.same / (self.gold + self.found) if self.gold + self.found else 1.0

    @property
    def over_share(self) -> float:
        """Letters outside every name that a mark covers."""
        return self.over / self.other if self.other else 0.0


Find = Callable[[Sequence[str]], Sequence[Sequence[Mark]]]
NAMES = tuple(label for label in LABELS if label != "MISC")


def measure(find: Find, dev: Iterable[tuple[str, Text]]) -> dict[str, Score]:
    """The score of each kind of text, each label (`PERSON`), and of all."""
    pairs = list(dev)
    scores: dict[str, Score] = defaultdict(Score)
    for (kind, text), marks in zip(pairs, find([text.text for _, text in pairs]), strict=True):
        for name, only in ((kind, NAMES), ("all", NAMES), *((label, (label,)) for label in NAMES)):
            _add(scores[name], text, marks, only)
    return dict(scores)


def table(scores: Mapping[str, Score]) -> str:
    """Markdown rows."""
    rows = ["| kind of text | names | masked | F1 | over-masked |", "|---|---:|---:|---:|---:|"]
    for kind, score in sorted(scores.items()):
        figures = f"{100 * score.masked_share:.1f} | {100 * score.f1:.1f} | {100 * score.over_share:.2f}"
        rows.append(f"| {kind} | {score.gold:,} | {figures} |")
    return "\n".join(rows)


def _add(score: Score, text: Text, marks: Sequence[Mark], only: Sequence[str]) -> None:
    gold = [mark for mark in text.marks if mark.label in only]
    names = [mark for mark in marks if mark.label in NAMES]
    covered = {at for start, end, _ in names for at in range(start, end)}
    inside = {at for start, end, _ in text.marks for at in range(start, end)}
    score.gold += len(gold)
    score.found += sum(mark.label in only for mark in marks)
    score.same += len(set(gold) & set(marks))
    score.masked += sum(all(at in covered or text.text[at].isspace() for at in range(a, b)) for a, b, _ in gold)
    solid = [at for at, char in enumerate(text.text) if not char.isspace() and at not in inside]
    score.other += len(solid)
    score.over += sum(at in covered for at in solid)

"""What two policies do differently to one document. Pure. May import: model, the standard library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.model import Finding

KINDS = ("alone", "gone", "new", "action", "extent")
"""Of an entity that the new policy leaves alone; no longer found; newly found; found by both, and treated otherwise or
called otherwise; of another extent."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference at `[start, end)` of the document: what the old policy finds there, and what the new one."""

    kind: str
    start: int
    end: int
    old: Finding | None
    new: Finding | None

    @property
    def entity(self) -> str:
        """What it counts as: the old entity, unless there was none."""
        finding = self.old or self.new
        return finding.entity if finding else ""

    @property
    def weaker(self) -> bool:
        """Whether something leaves the house now that did not before."""
        if self.old is None or self.old.action == "allow":
            return False
        covered = self.new is not None and self.new.start <= self.old.start and self.old.end <= self.new.end
        return not covered or (self.new is not None and self.new.action == "allow")


def compare(old: Sequence[Finding], new: Sequence[Finding], alone: frozenset[str] = frozenset()) -> list[Change]:
    """The differences, in the order of the document. Both are sorted and disjoint, as `detect` returns them.

    `alone` are entities that the new policy leaves alone: the same is said of each, whatever else is found there.
    """
    found = [*_from_old(old, new, alone), *(c for c in _only_new(old, new))]
    return sorted(found, key=lambda change: (change.start, change.end, change.kind))


def _from_old(old: Sequence[Finding], new: Sequence[Finding], alone: frozenset[str]) -> Iterator[Change]:
    for before in old:
        met = [after for after in new if _overlap(before, after)]
        if not met:
            yield Change("alone" if before.entity in alone else "gone", before.start, before.end, before, None)
            continue
        after = max(met, key=lambda finding: (_shared(before, finding), -finding.start))
        if before.entity in alone:
            yield Change("alone", min(before.start, after.start), max(before.end, after.end), before, after)
        elif (before.entity, before.action) != (after.entity, after.action):
            yield Change("action", min(before.start, after.start), max(before.end, after.end), before, after)
        elif (before.start, before.end) != (after.start, after.end):
            yield Change("extent", min(before.start, after.start), max(before.end, after.end), before, after)


def _only_new(old: Sequence[Finding], new: Sequence[Finding]) -> Iterator[Change]:
    for after in new:
        if not any(_overlap(before, after) for before in old):
            yield Change("new", after.start, after.end, None, after)


def _overlap(one: Finding, two: Finding) -> bool:
    return one.start < two.end and two.start < one.end


def _shared(one: Finding, two: Finding) -> int:
    return min(one.end, two.end) - max(one.start, two.start)

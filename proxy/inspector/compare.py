"""What one inspection found and another of the same request did not. Pure. May import: model, the neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from proxy.inspector.inspection import Inspection
from proxy.model import Finding, Leaf

Change: TypeAlias = Literal["newly found", "no longer found", "other action", "other entity"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One span that is treated differently; `before` and `after` are what is found there, None for nothing."""

    change: Change
    leaf: Leaf = field(repr=False)
    before: Finding | None = field(repr=False)
    after: Finding | None = field(repr=False)


def differences(before: Inspection, after: Inspection) -> list[Difference]:
    """In document order. A span whose edges moved is one that went and one that came."""
    found: list[Difference] = []
    old, new = _places(before), _places(after)
    for leaf in dict.fromkeys((*before.leaves, *after.leaves)):
        was, now = old.get(leaf, {}), new.get(leaf, {})
        for place in sorted({*was, *now}):
            one, other = was.get(place), now.get(place)
            found += (Difference(change, leaf, one, other) for change in _changes(one, other))
    return found


def _places(inspection: Inspection) -> dict[Leaf, dict[tuple[int, int], Finding]]:
    pairs = zip(inspection.leaves, inspection.findings, strict=True)
    return {leaf: {(finding.start, finding.end): finding for finding in found} for leaf, found in pairs}


def _changes(was: Finding | None, now: Finding | None) -> Iterator[Change]:
    if was is None:
        yield "newly found"
    elif now is None:
        yield "no longer found"
    elif was.entity != now.entity:
        yield "other entity"
    elif was.action != now.action:
        yield "other action"

"""How predicted spans agree with annotated ones, character by character. Pure; offsets are code points, ends exclusive.

masked   share of the required spans of which every character but white space is covered, by a prediction of any kind
leak     share of the characters of required spans that nothing covers
over     share of the characters outside all annotations that something covers
touched  share of the documents without any annotation in which something is covered

May import: the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """`[start, end)` of a document. `kind` is a type of the annotation scheme; `alt` are kinds that also count."""

    start: int
    end: int
    kind: str
    required: bool = True
    alt: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A text with its annotations. `scope`, if not empty, is what the annotators looked for at all."""

    id: str
    text: str
    spans: tuple[Span, ...]
    groups: tuple[str, ...] = ()
    scope: frozenset[str] = frozenset()


@dataclass
class Tally:
    """Counts that add up over documents; shares are None where nothing was to be counted."""

    documents: int = 0
    required: int = 0
    covered: int = 0
    sensitive: int = 0
    left: int = 0
    other: int = 0
    over: int = 0
    clean: int = 0
    hit: int = 0
    predicted: int = 0
    right: int = 0

    def add(self, more: Tally) -> None:
        for name, value in vars(more).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def masked(self) -> float | None:
        return _share(self.covered, self.required)

    @property
    def leak(self) -> float | None:
        return _share(self.left, self.sensitive)

    @property
    def overmasked(self) -> float | None:
        return _share(self.over, self.other)

    @property
    def touched(self) -> float | None:
        return _share(self.hit, self.clean)

    @property
    def precision(self) -> float | None:
        return _share(self.right, self.predicted)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass
class Result:
    """Of one document or of many: the whole, and by kind of annotation and of prediction."""

    whole: Tally = field(default_factory=Tally)
    kinds: dict[str, Tally] = field(default_factory=dict)

    def add(self, more: Result) -> None:
        self.whole.add(more.whole)
        for kind, tally in more.kinds.items():
            self.kinds.setdefault(kind, Tally()).add(tally)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends; empty spans have `start == end`."""
    end = min(end, len(text))
    start = max(start, 0)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def score(document: Document, predicted: Iterable[Span], agree: Mapping[str, frozenset[str]]) -> Result:
    """`agree`: predicted kind -> other annotated kinds that it is right about."""
    text = document.text
    found = sorted({(*trimmed(text, span.start, span.end), span.kind) for span in predicted})
    inside = [hit for hit in found if not document.scope or hit[2] in document.scope]
    covered, counted = _places(found), _places(inside)
    annotated = _places((span.start, span.end, span.kind) for span in document.spans)
    result = Result()
    whole = result.whole
    whole.documents = 1
    sensitive: set[int] = set()
    for span in document.spans:
        if span.required:
            places = _solid(text, span)
            sensitive.update(places)
            tally = result.kinds.setdefault(span.kind, Tally())
            for each in (whole, tally):
                each.required += 1
                each.covered += all(place in covered for place in places)
            tally.sensitive += len(places)
            tally.left += sum(place not in covered for place in places)
    whole.sensitive, whole.left = len(sensitive), len(sensitive - covered)
    outside = [place for place, char in enumerate(text) if place not in annotated and not char.isspace()]
    whole.other, whole.over = len(outside), sum(place in counted for place in outside)
    if not document.spans:
        whole.clean, whole.hit = 1, int(whole.over > 0)
    for start, end, kind in inside:
        touching = [span for span in document.spans if span.start < end and start < span.end]
        if touching and not any(span.required for span in touching):
            continue
        right = any(kind == s.kind or kind in s.alt or s.kind in agree.get(kind, ()) for s in touching)
        for each in (whole, result.kinds.setdefault(kind, Tally())):
            each.predicted += 1
            each.right += right
    return result


def _places(spans: Iterable[tuple[int, int, str]]) -> set[int]:
    return {place for start, end, _ in spans for place in range(start, end)}


def _solid(text: str, span: Span) -> Sequence[int]:
    return [place for place in range(span.start, min(span.end, len(text))) if not text[place].isspace()]

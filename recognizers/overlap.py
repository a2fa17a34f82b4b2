"""From hits that overlap to findings that do not: pure, and the same for any order of the input.

May import: recognizers.base, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from recognizers.base import Span

_NAME, _LABEL, _PATTERN, _CHECKSUM = range(4)
_SURE = 0.85
_JOINED: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        ("PERSON", "PERSON"): frozenset({" ", "\u00a0"}),
        ("ADDRESS", "LOCATION"): frozenset({" ", ", ", ",\n", "\n", " - "}),
    }
)
"""What stands between two findings that are one: parts of a name, a street and its town."""
_MODELS = ("names", "known", "spacy:", "onnx:")


def rank(span: Span) -> int:
    """How a hit came about, strongest last: a model's guess, a field's label, a pattern, a check digit."""
    if span.recognizer.startswith(_MODELS):
        return _NAME
    if span.recognizer.startswith("structure"):
        return _LABEL
    return _CHECKSUM if "check passed" in span.why and span.score >= _SURE else _PATTERN


def without_places(spans: Iterable[Span]) -> Iterator[Span]:
    """Without the persons that a model sees in what its column or label says is a place (`ville`: `Lyon`)."""
    every = list(spans)
    places = {(s.start, s.end) for s in every if s.entity == "LOCATION" and rank(s) == _LABEL}
    for span in every:
        guessed = span.entity == "PERSON" and rank(span) == _NAME
        if not (guessed and (span.start, span.end) in places):
            yield span


def resolve(spans: Iterable[Span], text: str) -> list[Span]:
    """Sorted, disjoint spans that cover every code point of every hit, and besides only what joins (`_JOINED`).

    Hits that share a code point become their union: nothing is cut off a hit, nothing is left over. The union is
    named after the hit that covers it all, if one does that is not a model's guess against something stronger;
    else after the strongest (rank, length, score, leftmost). What `_JOINED` says is one finding becomes one.
    Entities that the policy allows must be dropped before: here they would name or enlarge their neighbours.
    """
    groups: list[list[Span]] = []
    end = -1
    for span in sorted(spans):
        if span.start >= span.end:
            continue
        if groups and span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return _join([_union(group) for group in groups], text)


def _union(group: Sequence[Span]) -> Span:
    start, end = min(span.start for span in group), max(span.end for span in group)
    winner = max(group, key=lambda span: (_covers(span, start, end, group), *_strength(span)))
    if len(group) == 1:
        return winner
    others = {told(span) for span in group if span != winner and span.entity == winner.entity}
    others.update(line for span in group if span.entity == winner.entity for line in span.also)
    return winner._replace(start=start, end=end, also=tuple(sorted(others - {told(winner)})[:MOST_TOLD]))


KINDS = ("model", "structure", "pattern", "checksum")
MOST_TOLD = 6


def told(span: Span) -> str:
    """One piece of evidence in a line: its kind, who found it, its score and why. No text of the leaf."""
    return f"{evidence(span.recognizer, span.score, span.why)} {span.recognizer} {span.score:.2f} {span.why}".strip()


def evidence(recognizer: str, score: float, why: str) -> str:
    """The kind of evidence: `model` (or `known`, for a value found elsewhere), `structure`, `pattern`, `checksum`."""
    if recognizer.startswith("known"):
        return "known"
    if "label '" in why and "check passed" not in why:
        return "structure"
    return KINDS[rank(Span(0, 0, "", score, recognizer, why))]


def _covers(span: Span, start: int, end: int, group: Sequence[Span]) -> bool:
    if (span.start, span.end) != (start, end):
        return False
    inside = [other for other in group if (other.start, other.end) != (start, end)]
    return rank(span) > _NAME or all(rank(other) == _NAME for other in inside)


def _strength(span: Span) -> tuple[int, int, float, int, str, str, str]:
    return rank(span), span.end - span.start, span.score, -span.start, span.entity, span.recognizer, span.why


def _join(spans: Sequence[Span], text: str) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        gaps = _JOINED.get((last.entity, span.entity), ()) if last else ()
        if last is not None and text[last.end : span.start] in gaps:
            joined[-1] = last._replace(end=span.end)
        else:
            joined.append(span)
    return joined

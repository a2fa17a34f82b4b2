"""Why something was found, or was not: every hit with what became of it. Pure.

May import: detect, model, policy, recognizers.{base,overlap}, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.model import Finding
from proxy.policy import Policy
from recognizers.base import Span
from recognizers.overlap import evidence, rank


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit and what became of it, in words: `decided`, `agreed`, or why it did not count."""

    span: Span
    kind: str
    became: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What is acted on, with the hits in it; then hits that came to nothing."""

    findings: tuple[tuple[Finding, tuple[Hit, ...]], ...]
    ignored: tuple[Hit, ...]


def kind_of(span: Span) -> str:
    """The kind of evidence that a hit is."""
    if span.recognizer.startswith("deny"):
        return "list"
    return evidence(span.recognizer, span.score, span.why)


def explained(hits: Sequence[Span], findings: Sequence[Finding], policy: Policy) -> Explained:
    """Findings as the service returns them, each with the hits that it came from."""
    rows = tuple((finding, tuple(_inside(finding, hits, policy))) for finding in findings)
    ignored = tuple(
        Hit(span, kind_of(span), _unheard(span, policy) or "freed by the allow list")
        for span in hits
        if not any(_overlap(span, finding) for finding in findings)
    )
    return Explained(rows, ignored)


def _inside(finding: Finding, hits: Sequence[Span], policy: Policy) -> Iterator[Hit]:
    inside = [span for span in hits if _overlap(span, finding)]
    decided = next((span for span in inside if _decided(span, finding)), None)
    if decided is None:
        why = finding.why or "found elsewhere in this text"
        span = Span(finding.start, finding.end, finding.entity, finding.score, finding.recognizer, why)
        decided = span
    yield Hit(decided, kind_of(decided), "decided")
    for span in sorted(inside, key=lambda span: (-rank(span), -span.score, span)):
        if span != decided:
            yield Hit(span, kind_of(span), _unheard(span, policy) or _against(span, decided, finding))


def _decided(span: Span, finding: Finding) -> bool:
    return (span.entity, span.recognizer, span.score, span.why) == (
        finding.entity,
        finding.recognizer,
        finding.score,
        finding.why,
    )


def _unheard(span: Span, policy: Policy) -> str:
    """Why a hit never reached the overlaps; empty if it did."""
    least = policy.rule(span.entity).min_score
    return f"below the min_score of {span.entity}, {least:g}" if span.score < least else ""


def _against(span: Span, decided: Span, finding: Finding) -> str:
    """What a hit is beside the one that decided."""
    if span.entity == decided.entity:
        return "agreed"
    whole = (decided.start, decided.end) == (finding.start, finding.end)
    if whole and (span.start, span.end) != (finding.start, finding.end):
        return f"lost to {decided.entity}, which covers it"
    if rank(span) != rank(decided):
        return f"lost to {decided.entity}: {kind_of(decided)} is stronger than {kind_of(span)}"
    if span.end - span.start != decided.end - decided.start:
        return f"lost to {decided.entity}, which is longer"
    if span.score != decided.score:
        return f"lost to {decided.entity}, which scores more"
    return f"lost to {decided.entity}, by the order of names"


def _overlap(span: Span, finding: Finding) -> bool:
    return span.start < finding.end and finding.start < span.end

"""All pattern recognizers over one text, of any length: in windows, and each where its matches can be.

A window owns the spans that start in it, wherever it is cut. Rules whose matches hold several digits are searched in
excerpts only (`excerpt`, `extent`).

May import: base, excerpt, extent, presidio_analyzer, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from presidio_analyzer import EntityRecognizer

from recognizers.base import Rule, RuleRecognizer, Span
from recognizers.excerpt import DigitPlaces, Excerpt
from recognizers.extent import extent

WINDOW = 64_000
"""Code points of text that own their spans together."""
BEHIND, AHEAD = 1_000, 17_000
"""Code points read before a window (labels) and behind it (the longest value that starts in it)."""
DENSE = ((6, 40), (6, 160), (3, 160))
"""Kinds of excerpts: so many digits within so many characters."""


class _Search(NamedTuple):
    rule: Rule
    find: Callable[[Rule, str, Excerpt], Iterator[Span]]
    dense: tuple[int, int] | None


class Patterns:
    """The rules for wanted entities, and what finds such entities in another way than by rules."""

    def __init__(self, recognizers: Iterable[EntityRecognizer], wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._searches: list[_Search] = []
        self._others: list[Any] = []
        self._owners: list[RuleRecognizer] = []
        for recognizer in recognizers:
            if not wanted.intersection(recognizer.supported_entities):
                continue
            if isinstance(recognizer, RuleRecognizer) and type(recognizer).analyze is RuleRecognizer.analyze:
                self._owners.append(recognizer)
                self._searches += [_search(recognizer, rule) for rule in recognizer.rules if rule.entity in wanted]
            else:
                self._others.append(recognizer)

    def load(self) -> None:
        """Compiles every pattern."""
        for recognizer in (*self._owners, *self._others):
            recognizer.load()

    def find(self, text: str, window: int = WINDOW) -> list[Span]:
        """The hits of all pattern recognizers."""
        spans: list[Span] = []
        for start in range(0, max(1, len(text)), window):
            offset, stop = max(0, start - BEHIND), min(len(text), start + window)
            part = text[offset : stop + AHEAD] if offset or stop < len(text) else text
            for span in self._match(part):
                if start <= span.start + offset < stop:
                    spans.append(span._replace(start=span.start + offset, end=span.end + offset))
        return spans

    def _match(self, text: str) -> Iterator[Span]:
        digits = DigitPlaces(text)
        excerpts: dict[tuple[int, int] | None, Excerpt] = {dense: digits.close(*dense) for dense in DENSE}
        excerpts[None] = Excerpt(text)
        for rule, find, dense in self._searches:
            if excerpts[dense].text:
                yield from find(rule, text, excerpts[dense])
        for recognizer in self._others:
            wanted = sorted(self._wanted.intersection(recognizer.supported_entities))
            for result in recognizer.analyze(text, wanted, nlp_artifacts=None):
                if result.score > 0:
                    explanation = result.analysis_explanation
                    why = (explanation and explanation.textual_explanation) or "pattern"
                    found_by = (result.recognition_metadata or {}).get(result.RECOGNIZER_NAME_KEY, recognizer.name)
                    yield Span(result.start, result.end, result.entity_type, result.score, found_by, why)


def _search(owner: RuleRecognizer, rule: Rule) -> _Search:
    if type(owner).spans is not RuleRecognizer.spans:
        return _Search(rule, lambda rule, text, _: owner.spans(rule, text), None)
    return _Search(rule, owner.spans_in, _density(rule.regex))


def _density(regex: str) -> tuple[int, int] | None:
    """The first kind of excerpt that holds every match of a pattern."""
    digits, width = extent(regex)
    for dense in DENSE:
        if width is not None and digits >= dense[0] and width <= dense[1]:
            return dense
    return None

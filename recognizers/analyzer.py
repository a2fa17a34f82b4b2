"""Everything that looks at a text, in order: shadow, patterns, structure, names, and one verdict on overlaps.

Runs inside detection workers. Deterministic; between two calls an analyzer keeps its models and nothing else.
Presidio's own engine is not used: its context search is quadratic, and a pattern that times out is skipped.

May import: its neighbours in this package, presidio_analyzer, the standard library.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from presidio_analyzer import EntityRecognizer

from recognizers import (
    CHECKED,
    address,
    announced,
    contact,
    countries,
    custom,
    dates,
    health,
    holder,
    national,
    network,
    ordinary,
    organisations,
    particled,
    payment,
    secrets,
    traces,
    work,
)
from recognizers.base import Span
from recognizers.blocks import blocks
from recognizers.blockwise import BlockModel
from recognizers.custom import Brought, CustomSpec
from recognizers.labels import normalise
from recognizers.language import candidates
from recognizers.lexicon import Lexicon
from recognizers.names import LABELS as NAME_ENTITIES
from recognizers.names import Names
from recognizers.overlap import resolve, without_places
from recognizers.patterns import WINDOW, Patterns
from recognizers.shadow import Shadow, shadow
from recognizers.shared import Address
from recognizers.spaced import drawn_together
from recognizers.structure import Field, StructuredNames, fields
from recognizers.titles import TITLE, titles

_LABEL_REACH = 300
_CELL_BREAK = "\n\n"


class Item(NamedTuple):
    """One text to analyse.

    `label` is what the fields above it say it is (`first name`), `names` False where only patterns are to be
    looked for (keys, identifiers).
    """

    text: str
    label: str = ""
    names: bool = True


@dataclass(frozen=True)
class Settings:
    """What a worker needs to build its analyzer; picklable.

    Spans of entities not in `entities` are ignored, and so are spans that score below what `least` says for
    their entity: a guess that nobody acts on must not widen or name the hits beside it.
    """

    languages: tuple[str, ...] = ("en", "fr")
    phone_regions: tuple[str, ...] = (
        "FR",
        "GB",
        "US",
        "DE",
        "ES",
        "IT",
        "BE",
        "CH",
        "AT",
        "NL",
        "PT",
        "IE",
        "CA",
        "AU",
    )
    custom: tuple[CustomSpec, ...] = ()
    entities: frozenset[str] = frozenset()
    least: tuple[tuple[str, float], ...] = ()
    shared: Address | None = None
    """Where the process listens that holds the models; None if each worker has its own."""


@dataclass(frozen=True)
class _Reading:
    """An item as it is read: its label put before it, normalised; `base` code points of it are the label."""

    item: Item
    text: str
    base: int
    seen: Shadow

    def value_start(self) -> int:
        """Where the text begins behind its label, in what is read."""
        return bisect_left(range(len(self.seen.text)), self.base, key=lambda at: self.seen.original(at, at + 1)[0])

    def back(self, span: Span) -> Span | None:
        start, end = self.seen.original(span.start, span.end)
        start, end = max(0, start - self.base), end - self.base
        return span._replace(start=start, end=end) if end > start else None


class Analyzer:
    """All recognizers for one set of settings. One thread at a time.

    `lender` is a loaded analyzer whose brought recognizers are used where the settings declare the same ones, so that
    no model is in memory twice.
    """

    def __init__(self, settings: Settings, lender: Analyzer | None = None) -> None:
        self.settings = settings
        self.brought: list[tuple[Brought, EntityRecognizer]] = []
        """What the policy brought along, with what it declared of it."""
        self._wanted = settings.entities
        self._least = dict(settings.least)
        made = [*_recognizers(settings), *self._bring(lender)]
        models = [recognizer for recognizer in made if isinstance(recognizer, BlockModel)]
        rest = [recognizer for recognizer in made if not isinstance(recognizer, BlockModel)]
        self._brought = [model for model in models if self._wanted.intersection(model.supported_entities)]
        self._patterns = Patterns(rest, self._wanted)
        self._checked = Patterns(rest, self._wanted & CHECKED)
        self._structured = StructuredNames()
        self._structured_by: dict[str, StructuredNames] = {}
        self._names = Names(settings.languages, settings.shared) if self._wanted & NAME_ENTITIES else None

    def _bring(self, lender: Analyzer | None) -> list[EntityRecognizer]:
        """The recognizers with code or weights that are not ours: lent, elsewhere, or loaded here."""
        specs = [spec for spec in self.settings.custom if isinstance(spec, Brought)]
        if lender is not None:
            self.brought = [(spec, made) for spec in specs for had, made in lender.brought if had == spec]
            return [made for _, made in self.brought]
        shared = self.settings.shared
        distant = {} if shared is None else dict(holder.elsewhere(self.settings.custom, shared))
        for index, spec in enumerate(self.settings.custom):
            if isinstance(spec, Brought):
                self.brought.append((spec, distant[index] if index in distant else custom.bring(spec)))
        return [made for _, made in self.brought]

    def load(self) -> None:
        """Compiles every pattern and loads the models. Raises `ModelUnavailable`."""
        self._patterns.load()
        for model in self._brought:
            model.load()
        if self._names is not None:
            self._names.load()
            self._structured = StructuredNames(self._names.lexicon)
            for language in self.settings.languages:
                known = self._names.lexicon_of(language)
                if known is not self._names.lexicon:
                    self._structured_by[language] = StructuredNames(known)

    @property
    def lexicon(self) -> Lexicon:
        """The dictionary and given names of the loaded models; empty where no names are looked for."""
        return self._structured.lexicon

    def analyze(self, items: Sequence[Item]) -> list[list[Span]]:
        """The spans of each item, in code points of its text: sorted, disjoint, of wanted entities only."""
        return [self._settle(reading, spans) for reading, spans in self._found(items)]

    def hits(self, items: Sequence[Item]) -> list[list[Span]]:
        """Every hit of a wanted entity, sorted, before scores and overlaps are judged: what a verdict rests on."""
        found = self._found(items)
        return [sorted(set(filter(None, map(read.back, spans)))) for read, spans in found]

    def _found(self, items: Sequence[Item]) -> list[tuple[_Reading, list[Span]]]:
        readings = [_read(item) for item in items]
        found = [self._look(reading) for reading in readings]
        for index, spans in (*self._look_for_names(readings), *self._look_with_models(readings)):
            found[index].extend(spans)
        return list(zip(readings, found, strict=True))

    def proven(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text whose check digit is right, of wanted entities; labels and names are not looked at.

        Where no number with a check digit of its own is found, nothing else is looked for.
        """
        return [self._proven(_read(Item(text))) for text in texts]

    def _proven(self, reading: _Reading) -> list[Span]:
        text = reading.seen.text
        if not any(map(_passed, self._checked.find(text))):
            return []
        return self._settle(reading, filter(_passed, self.patterns(text)))

    def _settle(self, reading: _Reading, spans: Iterable[Span]) -> list[Span]:
        spans = without_places(spans)
        wanted = (s for s in spans if s.entity in self._wanted and s.score >= self._least.get(s.entity, 0.0))
        placed = (reading.back(span) for span in wanted)
        found = resolve((span for span in placed if span is not None), reading.item.text)
        return sorted([*found, *titles(reading.item.text, found)]) if TITLE.name in self._wanted else found

    def _look(self, reading: _Reading) -> list[Span]:
        text = reading.seen.text
        spans = self.patterns(text)
        if reading.item.label and secrets.is_secret_field(reading.item.label, reading.item.text):
            spans.append(Span(reading.value_start(), len(text), "SECRET", 0.9, "secret:field", "label of the field"))
        if not reading.item.names:
            return spans
        structured = self._structured_in(text)
        labelled = list(fields(text))
        spans += structured.find(text, labelled)
        if reading.item.label:
            start = reading.value_start()
            value = Field(normalise(reading.item.label), start, min(len(text), start + _LABEL_REACH))
            spans += structured.read(text, value)
        return spans + self._cells(text, labelled)

    def without_models(self, text: str) -> list[Span]:
        """The hits of patterns and of structure alone, before scores and overlaps are judged."""
        return self._look(_read(Item(text)))

    def _structured_in(self, text: str) -> StructuredNames:
        """The reader of labels that knows the plain words of the text's language."""
        if not self._structured_by:
            return self._structured
        return self._structured_by.get(candidates(text, self.settings.languages)[0], self._structured)

    def patterns(self, text: str, window: int = WINDOW) -> list[Span]:
        """The hits of all pattern recognizers."""
        return self._patterns.find(text, window)

    def _cells(self, text: str, labelled: Iterable[Field]) -> list[Span]:
        """Pattern hits that need the label of a cell, which stands elsewhere: each cell is read behind its label."""
        parts: list[str] = []
        places: list[tuple[int, int, int]] = []
        length = 0
        for field in labelled:
            if field.near or not field.label:
                continue
            head = f"{field.label}: "
            places.append((length + len(head), field.start, field.end))
            parts += [head, text[field.start : field.end], _CELL_BREAK]
            length += len(head) + field.end - field.start + len(_CELL_BREAK)
        return list(_moved(self.patterns("".join(parts)), places)) if parts else []

    def _look_for_names(self, readings: Sequence[_Reading]) -> Iterator[tuple[int, list[Span]]]:
        if self._names is None:
            return
        work: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for index, reading in enumerate(readings):
            if reading.item.names:
                for start, language, block in _passages(reading.seen.text, self.settings.languages):
                    work[language].append((index, start, block))
        for language, passages in sorted(work.items()):
            results = self._names.find([block for _, _, block in passages], language)
            for (index, start, block), found in zip(passages, results, strict=True):
                marked = [*found, *particled.widened(block, found), *particled.particled(block, self.lexicon)]
                marked += countries.listed(block, found)
                spans = ordinary.kept(block, marked, self.lexicon)
                yield index, [span._replace(start=span.start + start, end=span.end + start) for span in spans]

    def _look_with_models(self, readings: Sequence[_Reading]) -> Iterator[tuple[int, list[Span]]]:
        """What the policy's own models see, in blocks like those of the name models."""
        places = [
            (index, start, reading.seen.text[start:end])
            for index, reading in enumerate(readings)
            if reading.item.names and self._brought
            for start, end in blocks(reading.seen.text)
        ]
        for model in self._brought:
            results = model.find([text for _, _, text in places]) if places else []
            for (index, start, _), spans in zip(places, results, strict=True):
                yield index, [span._replace(start=span.start + start, end=span.end + start) for span in spans]


def built_in(settings: Settings) -> list[EntityRecognizer]:
    """Every pattern recognizer of the table, whatever is wanted of it."""
    modules = (payment, network, secrets, dates, health, national, address, work, traces, organisations, announced)
    return [*(made for module in modules for made in module.build()), *contact.build(settings.phone_regions)]


def _recognizers(settings: Settings) -> list[EntityRecognizer]:
    declared = [spec for spec in settings.custom if not isinstance(spec, Brought)]
    return [*built_in(settings), *custom.build_custom(declared)]


def _passed(span: Span) -> bool:
    return "check passed" in span.why


def _read(item: Item) -> _Reading:
    head = f"{item.label}: " if item.label else ""
    text = head + item.text
    return _Reading(item, text, len(head), drawn_together(shadow(text)))


def _passages(text: str, languages: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """`(start, language, block)`: a block that does not say its language is read in that of the whole, if it does."""
    whole = candidates(text, languages)
    for start, end in blocks(text):
        block = text[start:end]
        if not any(char.isalpha() for char in block):
            continue
        own = candidates(block, languages)
        for language in whole if len(own) > 1 and len(whole) == 1 else own:
            yield start, language, block


def _moved(spans: Iterable[Span], places: Sequence[tuple[int, int, int]]) -> Iterator[Span]:
    """Spans of the virtual text that lie within one cell, moved to where the cell stands. Both are sorted by start."""
    ordered = sorted(spans)
    at = 0
    for span in ordered:
        while at < len(places) and places[at][0] + places[at][2] - places[at][1] <= span.start:
            at += 1
        if at == len(places):
            return
        virtual, start, end = places[at]
        if virtual <= span.start and span.end <= virtual + end - start:
            yield span._replace(start=span.start - virtual + start, end=span.end - virtual + start)

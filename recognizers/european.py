"""Persons, organisations, places and addresses in German, Spanish and Italian: one model for the three.

Its hits are trusted more than those of the packaged models, for it was taught on rows, forms, capitals and lower
case: they are only trimmed, and dropped where they are code or nothing but frequent words. What lists hold as a given
name beside a family name is found besides (`gazetteer`). docs/models.md says what it was trained on.

May import: its neighbours in this package, spacy, the standard library.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from recognizers import familiar, inference, lexicon, multilingual, weights
from recognizers.base import Span
from recognizers.code import is_camel, is_code
from recognizers.gazetteer import listed
from recognizers.lexicon import Lexicon
from recognizers.models import ModelUnavailable
from recognizers.shape import Token, tokens
from recognizers.visible import visible
from recognizers.words import CALENDAR, FUNCTION, PARTICLES, TECHNICAL, TITLES, word_set

OWN = "45a7b23fa913b51a4d28192db01f7f371554d5888c4bf90f214d067eb6247b23"
"""sha256 of `trained/xx.xz`."""
SCORE, GIVEN, ALONE = 0.85, 0.6, 0.7
LABEL: Mapping[str, str] = MappingProxyType({"PERSON": "PERSON", "ORG": "ORGANIZATION", "LOC": "LOCATION"})
_BATCH = 32
_PLAIN_WORDS = 9_000
_SHORTEST_PART, _LONGEST_WORD = 4, 40
_NAME = "names:xx"
_CUT = re.compile(r"[^\n\r\t\v\f|;:<>(){}\[\]\"“”„«»=*#@\u2028\u2029]+")
_LABEL_BEHIND = re.compile(r",[ ](?:DEA|NPI|SSN|DOB|MRN|ID)$")
_EDGE = " \u00a0\"'*_`.,;:|-–—/\\()[]{}<>«»„“”!?¡¿#>"
_FORMS = TITLES | word_set(
    "herr herrn frau frl dr drs med jur phil prof dipl ing mag oa pd ra rain hr fr dra don dona d dna srta sr sra sres "
    "senor senora senorita lic arq sig signor signora signorina sigra dott dottssa dottor dottoressa avv avvocato geom "
    "rag profssa gent gentile egr egregio spett arch l il la lo el der die das den"
)


class EuropeanModel:
    """The shared model. Holds no text between calls; one call at a time, whatever the number of threads."""

    def __init__(self) -> None:
        self.lexicon = Lexicon()
        self.words: frozenset[str] = frozenset()
        self._nlp: Any = None
        self._lock = threading.Lock()

    def load(self) -> None:
        """Loads and verifies weights and lists. Raises `ModelUnavailable`."""
        if self._nlp is None:
            try:
                self._nlp, self._lock = _pipeline()
                self.words = plain_words()
            except (weights.WeightsRefused, multilingual.ListsRefused) as error:
                raise ModelUnavailable(str(error)) from error
            self.lexicon = lexicon.build(self.words)

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The names in each text, in code points, sorted; they may overlap."""
        if self._nlp is None:
            raise ModelUnavailable("the model of German, Spanish and Italian is not loaded")
        found: list[list[Span]] = []
        for text, hits in zip(texts, self._hits(texts), strict=True):
            spans = [span for start, end, label in hits for span in _refine(text, start, end, label, self.lexicon)]
            spans += _listed(text, spans, self.lexicon)
            found.append(sorted(set(spans)))
        return found

    def _hits(self, texts: Sequence[str]) -> Iterator[list[tuple[int, int, str]]]:
        for first in range(0, len(texts), _BATCH):
            batch = [visible(text) for text in texts[first : first + _BATCH]]
            with self._lock, self._nlp.memory_zone():
                hits = [
                    [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
                    for doc in self._nlp.pipe(batch, batch_size=_BATCH)
                ]
            yield from hits


def _listed(text: str, found: Sequence[Span], words: Lexicon) -> list[Span]:
    """Names by list where the model saw nothing at all; in capitals a list proves too little."""
    hits = [(a, b, why) for a, b, why in listed(text, (), words) if not text[a:b].isupper()]
    free = [hit for hit in hits if not any(span.start < hit[1] and hit[0] < span.end for span in found)]
    return [Span(a, b, "PERSON", GIVEN, _NAME, why) for a, b, why in free]


@cache
def _pipeline() -> tuple[Any, threading.Lock]:
    from thinc.api import NumpyOps, set_current_ops

    set_current_ops(NumpyOps(use_blis=False))
    nlp = multilingual.blank()
    weights.install(nlp, weights.read(weights.FOLDER / "xx.xz", OWN))
    inference.install(nlp.get_pipe("ner"))
    familiar.learn(nlp, multilingual.LANGUAGES)
    return nlp, threading.Lock()


@cache
def plain_words() -> frozenset[str]:
    """Frequent words of the three languages that no list holds as a name, or that are more frequent than names are."""
    names = multilingual.lists("european_names.txt.xz")
    known = frozenset(names["given"]) | frozenset(names["surname"]) | frozenset(names["place"])
    ordered = multilingual.lists("european_words.txt.xz")
    found: set[str] = set()
    for language in multilingual.LANGUAGES:
        found.update(ordered[language][:400])
        found.update(word for word in ordered[language][:_PLAIN_WORDS] if word not in known)
    return frozenset(word for word in found if len(word) > 1)


def _refine(text: str, start: int, end: int, label: str, words: Lexicon) -> Iterator[Span]:
    entity = LABEL.get(label)
    if entity is None:
        return
    for match in _CUT.finditer(text, start, end):
        a, b = _trimmed(text, *match.span())
        if entity == "PERSON":
            a, b = _behind_titles(text, a, b), _before_label(text, a, b)
        if a >= b or not _is_named(text, a, b, entity, words):
            continue
        address = entity == "LOCATION" and any(char.isdigit() for char in text[a:b])
        yield Span(a, b, "ADDRESS" if address else entity, SCORE, _NAME, f"model {label}")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    if text[end : end + 1] == "." and (end - start < 2 or text[end - 2 : end - 1] in " .&"):
        end += 1
    return start, end


def _before_label(text: str, start: int, end: int) -> int:
    """Where a person ends before the label of what follows: `F. Valdez, DEA`."""
    found = _LABEL_BEHIND.search(text, start, end)
    return found.start() if found else end


def _behind_titles(text: str, start: int, end: int) -> int:
    """Where the name begins behind `Herr Dr. med.`, `la Sig.ra`: a title is a word of the list, its point included."""
    for word in tokens(text, start, end):
        if word.folded.replace(".", "") not in _FORMS or (len(word.folded) == 1 and word.text.isupper()):
            return word.start
        start = word.end
    return end


def _is_named(text: str, start: int, end: int, entity: str, words: Lexicon) -> bool:
    found = tokens(text, start, end)
    letters = sum(char.isalpha() for char in text[start:end])
    if not found or letters < 2 or is_code(text, start, end):
        return entity == "LOCATION" and bool(re.fullmatch(r"(?:[A-Z]{1,2}-)?\d{4,5}", text[start:end]))
    if all(_says_nothing(word) for word in found) or all(word.folded in TECHNICAL for word in found):
        return False
    if len(found) == 1 and _is_compound(found[0].folded):
        return False
    plain = all(word.folded in words.words or word.folded in FUNCTION for word in found)
    if entity != "PERSON":
        return not (plain and text[start:end].islower())
    if any(char.isdigit() for char in text[start:end]) or is_camel(found[0].text):
        return False
    if text[start:end].islower() and any(word.folded in FUNCTION and word.folded not in PARTICLES for word in found):
        return False  # a dish, not a name: `pesto alla genovese`
    return not plain


@cache
def _german() -> tuple[frozenset[str], frozenset[str]]:
    """Words that compounds are made of, and names that look like compounds (`Neumann`)."""
    names = multilingual.lists("european_names.txt.xz")
    listed_names = frozenset(names["given"]) | frozenset(names["surname"]) | frozenset(names["place"])
    parts = multilingual.lists("european_words.txt.xz")["de"]
    return frozenset(part for part in parts if len(part) >= _SHORTEST_PART), listed_names


def _is_compound(folded: str) -> bool:
    """`papierstau`: two frequent German words, joined as they are or by an `s`, `n` or `en`; no listed name."""
    parts, names = _german()
    if len(folded) > _LONGEST_WORD or folded in names:
        return False
    cuts = range(_SHORTEST_PART, len(folded) - _SHORTEST_PART + 1)
    return any(folded[at:] in parts and any(head in parts for head in _heads(folded[:at])) for at in cuts)


def _heads(head: str) -> Iterator[str]:
    yield head
    for joint in ("s", "n", "en"):
        if head.endswith(joint):
            yield head.removesuffix(joint)


def _says_nothing(word: Token) -> bool:
    return word.folded in FUNCTION | CALENDAR | TECHNICAL | _FORMS and (word.text.islower() or word.folded in CALENDAR)

"""What a policy declares: expressions of its own, lists of terms, and recognizers and models brought along.

May import: base, shadow, foreign, pipeline, onnx, re2, ahocorasick, presidio_analyzer, the standard library. A
declaration that cannot work raises ValueError when it is built or loaded, so that the start fails and not a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ahocorasick
import re2
from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers.base import Rule, RuleRecognizer, Span, compile_re2, to_result
from recognizers.foreign import Foreign, ForeignRecognizer
from recognizers.onnx import OnnxModel, OnnxRecognizer
from recognizers.pipeline import SpacyPipeline, SpacyRecognizer
from recognizers.shadow import Builder, Shadow, shadow

LABEL_BONUS = 0.35
"""What a label near a match adds to the score of a custom rule, as in Presidio."""


@dataclass(frozen=True, slots=True)
class CustomRule:
    """An expression in RE2 syntax for the entity `name`. A group named `v` is the value, if there is one.

    `context` are words that raise `score` (0 to 1) when they stand near a match.
    """

    name: str
    regex: str
    context: tuple[str, ...] = ()
    score: float = 0.6
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class DenyTerms:
    """Literal terms that are always `entity`: whole words, in any case, with any white space between words."""

    entity: str
    terms: tuple[str, ...]
    score: float = 1.0


Model: TypeAlias = SpacyPipeline | OnnxModel
Brought: TypeAlias = Foreign | Model
"""What comes with code or weights that are not ours: it must find something in an example before it may serve."""
CustomSpec: TypeAlias = CustomRule | DenyTerms | Brought


def build_custom(specs: Sequence[CustomSpec]) -> list[EntityRecognizer]:
    """Recognizers for everything declared. Raises ValueError, saying which declaration cannot work and why."""
    built: list[EntityRecognizer] = [_rule_recognizer(spec) for spec in specs if isinstance(spec, CustomRule)]
    lists = [spec for spec in specs if isinstance(spec, DenyTerms) and spec.terms]
    if lists:
        built.append(TermRecognizer(lists))
    built.extend(bring(spec) for spec in specs if isinstance(spec, Brought))
    return built


def bring(spec: Brought, *, cuda: bool = False) -> EntityRecognizer:
    """The recognizer, loaded; `cuda` says where, for models. Raises ValueError."""
    match spec:
        case Foreign():
            return ForeignRecognizer(spec)
        case SpacyPipeline():
            return SpacyRecognizer(spec, cuda=cuda)
        case OnnxModel():
            return OnnxRecognizer(spec, cuda=cuda)


def _rule_recognizer(spec: CustomRule) -> CustomRecognizer:
    regex = f"(?i){spec.regex}" if spec.ignore_case else spec.regex
    try:
        pattern = compile_re2(regex)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error.args[0]
        raise ValueError(f"{spec.name}: not a regular expression in RE2 syntax: {reason}") from None
    if pattern.fullmatch(""):
        raise ValueError(f"{spec.name}: the expression matches the empty text")
    labelled = min(1.0, spec.score + LABEL_BONUS)
    rule = Rule(
        spec.name, "regex", regex, labels=tuple(spec.context), bare=spec.score, labelled=labelled, boundary="none"
    )
    return CustomRecognizer(f"custom-{spec.name}", [rule])


class CustomRecognizer(RuleRecognizer):
    """The expression decides alone where a value begins and ends; empty matches are none."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        return (span for span in super().spans(rule, text) if span.end > span.start)


_WHITE_SPACE = re.compile(r"\s\s+|[^\S ]")


def _plain_words(text: str) -> Shadow:
    """`text` in lower case with one blank for every run of white space, and the way back."""
    lower = _lower(text)
    builder, done = Builder(), 0
    for run in _WHITE_SPACE.finditer(lower):
        builder.put(lower[done : run.start()], done, run.start())
        builder.put(" ", run.start(), run.end())
        done = run.end()
    if not done:
        return Shadow(lower)
    builder.put(lower[done:], done, len(lower))
    return builder.done()


def _lower(text: str) -> str:
    """Lower case, code point for code point, so that offsets stay."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower.replace("ς", "σ")


class TermRecognizer(EntityRecognizer):
    """Every term of every list in one pass over the text (Aho-Corasick)."""

    def __init__(self, lists: Iterable[DenyTerms]) -> None:
        self._lists = tuple(lists)
        super().__init__(supported_entities=sorted({spec.entity for spec in self._lists}), name="deny")

    def load(self) -> None:
        """Builds the automaton. Its values are the length of a term and the lists that hold it."""
        terms: dict[str, list[DenyTerms]] = {}
        for spec in self._lists:
            for term in spec.terms:
                key = _plain_words(shadow(term).text).text.strip()
                if not key:
                    raise ValueError(f"{spec.entity}: a term is empty")
                if spec not in terms.setdefault(key, []):
                    terms[key].append(spec)
        self._automaton = ahocorasick.Automaton()
        for key, specs in terms.items():
            self._automaton.add_word(key, (len(key), tuple(specs)))
        self._automaton.make_automaton()

    def analyze(self, text: str, entities: Iterable[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        wanted, plain = set(entities), _plain_words(text)
        found: list[tuple[int, int, DenyTerms]] = []
        for last, (length, specs) in self._automaton.iter(plain.text):
            start = last + 1 - length
            if _whole(plain.text, start, last + 1):
                found.extend((start, last + 1, spec) for spec in specs if spec.entity in wanted)
        return [
            to_result(Span(*plain.original(start, end), spec.entity, spec.score, "deny:term", "term of a list"), "deny")
            for start, end, spec in _longest(found)
        ]


def _whole(text: str, start: int, end: int) -> bool:
    """True if no word goes on across either edge; an edge that is itself no letter or digit cannot cut one."""
    left = start > 0 and _joins(text[start - 1], text[start])
    right = end < len(text) and _joins(text[end - 1], text[end])
    return not left and not right


# Scripts that are written without blanks: Thai, Lao, Khmer, Burmese, Han, Kana.
_DENSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def _joins(one: str, two: str) -> bool:
    """True if the two characters belong to one word."""
    return one.isalnum() and two.isalnum() and not _DENSE.match(one) and not _DENSE.match(two)


def _longest(found: list[tuple[int, int, DenyTerms]]) -> Iterator[tuple[int, int, DenyTerms]]:
    """For each entity the leftmost, then longest terms, without overlaps."""
    done: dict[str, int] = {}
    for start, end, spec in sorted(found, key=lambda hit: (hit[0], -hit[1])):
        if start >= done.get(spec.entity, 0):
            done[spec.entity] = end
            yield start, end, spec

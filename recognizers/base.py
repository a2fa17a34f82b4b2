"""What a recognizer is here, and the one engine that all pattern recognizers share.

Every recognizer is a Presidio `EntityRecognizer`, so that any recognizer written for Presidio plugs in.
Ours differ from Presidio's own pattern recognizers in how they search: patterns are RE2 (linear time on any
input, hence no time-outs to miss), boundaries and labels are looked at only around candidates, and what a
check digit means is stated per rule instead of being one score for all.

May import: excerpt, presidio_analyzer, re2, the standard library. Never `proxy`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple

import re2
from presidio_analyzer import AnalysisExplanation, LocalRecognizer, RecognizerResult

from recognizers.excerpt import Excerpt

Boundary = Literal["alnum", "digit", "none"]


class Span(NamedTuple):
    """`[start, end)` in code points of the text that was analysed. `why` comes from a closed vocabulary."""

    start: int
    end: int
    entity: str
    score: float
    recognizer: str
    why: str = ""
    also: tuple[str, ...] = ()
    """What else speaks for it where hits overlapped: `kind recognizer score why`, for people to read."""


@dataclass(frozen=True)
class Rule:
    """One way an entity is written.

    `regex` is RE2 syntax, searched in text that was normalised (NFKC, dashes and spaces unified). The value
    is the group named `v` if there is one, else the whole match. `check` is the checksum or format test, on
    the value as matched. Scores, each 0 (not a hit) to 1:

    bare      no label near, check passed (or there is none)
    grouped   no label near, check passed, and the value is written in its usual groups (`is_grouped`)
    labelled  a label near, check passed (or there is none)
    wrong     a label near, but the check failed: still somebody's number, mistyped

    `labels` are lower-case words or phrases, matched whole, without regard to case or accents.
    """

    entity: str
    name: str
    regex: str
    check: Callable[[str], bool] | None = None
    labels: tuple[str, ...] = ()
    bare: float = 0.0
    labelled: float = 0.9
    wrong: float = 0.0
    grouped: float | None = None
    is_grouped: Callable[[str], bool] | None = None
    boundary: Boundary = "alnum"
    before: int = 60
    after: int = 50

    @cached_property
    def pattern(self) -> Any:
        return compile_re2(self.regex)

    @cached_property
    def group(self) -> int:
        """The number of the group that holds the value."""
        return int(self.pattern.groupindex.get("v", 0))

    @cached_property
    def label_pattern(self) -> re.Pattern[str] | None:
        if not self.labels:
            return None
        words = sorted((fold(word) for word in self.labels), key=len, reverse=True)
        return re.compile(
            r"(?<![^\W_])(?:" + "|".join(re.escape(w).replace(r"\ ", r"[\s_\-]*") for w in words) + r")(?![^\W_])"
        )


@cache
def compile_re2(regex: str) -> Any:
    """RE2 with its error messages kept off stderr; case is significant unless the pattern says `(?i)`.

    Kept for the life of the process: the patterns are those of the code and of policies, not of requests.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return re2.compile(regex, options)


def fold(text: str) -> str:
    """Lower-case without accents, code point for code point: the result has the same length as `text`."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


class _Fold(dict[int, int]):
    """Fills itself on first use of a code point; a pure function of the code point, so sharing it is harmless."""

    def __missing__(self, code: int) -> int:
        base = unicodedata.normalize("NFD", chr(code))[0]
        lower = base.lower()
        self[code] = ord(lower) if len(lower) == 1 else code
        return self[code]


_FOLD = _Fold()


def bounded(text: str, start: int, end: int, boundary: Boundary) -> bool:
    """True if the value does not continue on either side.

    ASCII on purpose: in CJK or Cyrillic running text a value has no space around it and is still a value.
    A digit run that goes on behind a point is a decimal number, not a value (a comma may be a CSV separator).
    """
    if boundary == "none":
        return True
    left, right = text[start - 1 : start], text[end : end + 1]
    if boundary == "alnum":
        if (left.isascii() and left.isalnum()) or (right.isascii() and right.isalnum()):
            return False
    elif (left.isascii() and left.isdigit()) or (right.isascii() and right.isdigit()):
        return False
    if left == "." and text[start : start + 1].isdigit() and text[max(0, start - 2) : start - 1].isdigit():
        return False
    if no_fraction(text, end):
        return True
    return not (right == "." and text[end - 1 : end].isdigit() and text[end + 1 : end + 2].isdigit())


def no_fraction(text: str, end: int) -> bool:
    """Whether `.0` stands at `end`: a whole number that a table's column of decimals (or Python) wrote as a float."""
    return _WHOLE.match(text, end) is not None


_WHOLE = re.compile(r"\.0{1,2}(?![0-9.]|[A-Za-z])")


_SENTENCE_BREAK = re.compile(
    r"[;!?]|(?<!\bno)(?<!\bnr)(?<!\bnum)(?<!\btel)(?<!\bmob)(?<!\bport)(?<!\bfax)(?<!\bref)(?<!\bid)\.\s|\n\s*\n"
)
_LINE_BREAK = re.compile(r"[;!?\n]|\.\s")


def label_near(text: str, start: int, end: int, rule: Rule) -> str | None:
    """The label that says what `text[start:end]` is, or None.

    Looks `rule.before` code points back within the sentence (a label on the line above counts, as in forms),
    and `rule.after` code points ahead in the same line (`00517733 is the patient's medical record number`).
    """
    pattern = rule.label_pattern
    if pattern is None:
        return None
    lead = _SENTENCE_BREAK.split(fold(text[max(0, start - rule.before) : start]))[-1]
    before = list(pattern.finditer(lead))
    if before:
        return before[-1].group()
    tail = _LINE_BREAK.split(fold(text[end : end + rule.after]), maxsplit=1)[0]
    match = pattern.search(tail)
    return match.group() if match else None


def judge(rule: Rule, text: str, start: int, end: int) -> tuple[float, str]:
    """Score of one candidate and the reason, in words of a closed vocabulary."""
    value = text[start:end]
    valid = rule.check is None or rule.check(value)
    checked = "" if rule.check is None else ("check passed" if valid else "check failed")
    label = label_near(text, start, end, rule)
    if label is not None:
        return (rule.labelled if valid else rule.wrong), ", ".join(filter(None, (checked, f"label '{label}'")))
    if not valid:
        return 0.0, checked
    if rule.grouped is not None and rule.is_grouped is not None and rule.is_grouped(value):
        return rule.grouped, ", ".join(filter(None, (checked, "usual grouping")))
    return rule.bare, checked or "pattern"


class RuleRecognizer(LocalRecognizer):
    """A set of rules about one subject. Stateless: safe to share, and equal results for equal text."""

    name: str

    def __init__(self, name: str, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        super().__init__(supported_entities=sorted({rule.entity for rule in rules}), name=name)

    def load(self) -> None:
        """Compiles every pattern, so that a broken one stops the start and not a request."""
        for rule in self.rules:
            _ = rule.pattern, rule.label_pattern

    def analyze(
        self, text: str, entities: Iterable[str], nlp_artifacts: Any = None, regex_flags: Any = None
    ) -> list[RecognizerResult]:
        """Presidio's entry point: every rule over `text`."""
        wanted = set(entities)
        spans = (span for rule in self.rules if rule.entity in wanted for span in self.spans(rule, text))
        return [to_result(span, self.name) for span in spans]

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        """The hits of one rule. Candidates that overlap are found in turn from left to right."""
        return self.spans_in(rule, text, Excerpt(text))

    def spans_in(self, rule: Rule, text: str, excerpt: Excerpt) -> Iterator[Span]:
        """The same, if `excerpt` holds all of `text` in which the rule can match."""
        for start, end in excerpt.spans(rule.pattern, rule.group):
            if start < 0 or not bounded(text, start, end, rule.boundary):
                continue
            score, why = judge(rule, text, start, end)
            if score > 0:
                yield Span(start, end, rule.entity, score, f"{self.name}:{rule.name}", why)


def to_result(span: Span, recognizer: str) -> RecognizerResult:
    """A span as Presidio's result, with the explanation that `explain` shows."""
    return RecognizerResult(
        entity_type=span.entity,
        start=span.start,
        end=span.end,
        score=span.score,
        analysis_explanation=AnalysisExplanation(
            recognizer=recognizer, original_score=span.score, pattern_name=span.recognizer, textual_explanation=span.why
        ),
        recognition_metadata={RecognizerResult.RECOGNIZER_NAME_KEY: span.recognizer},
    )


def digits(value: str) -> str:
    """The ASCII digits of a value, nothing else."""
    return "".join(char for char in value if "0" <= char <= "9")


def alnum(value: str) -> str:
    """The ASCII letters (upper-cased) and digits of a value, nothing else."""
    return "".join(char for char in value if char.isascii() and char.isalnum()).upper()


def stdnum_check(module: Any, clean: Callable[[str], str] = alnum) -> Callable[[str], bool]:
    """A `check` from a python-stdnum module (`stdnum.fr.nir`, ...)."""

    def check(value: str) -> bool:
        return bool(module.is_valid(clean(value)))

    return check


@dataclass(frozen=True, slots=True)
class Entity:
    """One row of the entity table: what the docs show and what the self-test at start must find.

    `example` is a made-up text in which the recognizers must find `value` as this entity; `checked` says how a
    candidate is validated; `source` names the standard, law or registry that defines the format.
    """

    name: str
    title: str
    example: str
    value: str
    checked: str
    source: str

"""What the text itself says its values are: field names, labels, table heads, mail headers, greetings, signatures.

`fields` says under which label each value stands; `StructuredNames` turns fields whose label means a person, an
organisation, a place or an address into spans. Works without a sentence around the value, where models are blind.

May import: its neighbours in this package, presidio_analyzer, re2, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers import labels
from recognizers.base import Span, compile_re2, fold, to_result
from recognizers.gazetteer import initials
from recognizers.informal import informal
from recognizers.labels import Tier, normalise, person_tier
from recognizers.lexicon import Lexicon
from recognizers.people import person_at
from recognizers.salutations import spoken
from recognizers.shape import tokens
from recognizers.tables import is_header, sql_fields, table_fields
from recognizers.words import PARTICLES

NAME = "structure"
SCORE = 0.8
_ENTITIES = ("PERSON", "ORGANIZATION", "LOCATION", "ADDRESS")


class Field(NamedTuple):
    """`[start, end)` in code points of a value, and the normalised label that it stands under.

    `near` is False where the label is not written directly before the value (a cell under its column head): there
    the value must be read together with its label for the label to count.
    """

    label: str
    start: int
    end: int
    near: bool = True


def _alternation(words: Iterable[str]) -> str:
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"[ _\-]{0,2}").replace("'", "['’]") for word in ordered)


_KNOWN = {*labels.PERSON, *labels.ORGANIZATION, *labels.LOCATION, *labels.POSTCODE, *labels.ADDRESS}
_LABEL = compile_re2(
    rf"(?:^|[^\pL\pN])({_alternation(_KNOWN)})(?:[ ]?\d{{1,2}}|[ ]?\([^()\n]{{1,24}}\))?"
    r"[\"'*_`]{0,3}[ \t\x{a0}]{0,4}(?:[:：]|=[^=])[ \t\x{a0}]{0,12}"
)
_QUOTED = re.compile(
    r"\"([^\"\n\\]{1,40})\"\s{0,4}(?::|=>?)\s{0,4}\"((?:[^\"\n\\]|\\.){1,300})\""
    r"|'([^'\n\\]{1,40})'\s{0,4}(?::|=>?)\s{0,4}'((?:[^'\n\\]|\\.){1,300})'"
)
_LIST = re.compile(r"\"([^\"\n\\]{1,40})\"\s{0,4}:\s{0,4}\[([^\[\]{}]{1,2000})\]")
_ITEM = re.compile(r"\"((?:[^\"\n\\]|\\.){1,200})\"")
_TAG = re.compile(r"<([A-Za-z][\w.:\-]{0,40})(?:\s[^<>]{0,200})?>([^<>\n]{1,200})</\1>")
_MAILBOX = re.compile(r"<[^<>\s@]{1,64}@")
_BEFORE_MAILBOX = re.compile(r"([^\n<>,;:\"|()]{2,60})\"?[ \t]{0,2}$")
_SURNAME_FIRST = re.compile(r"[ \t\"']{0,4}([^\W\d_a-z][^\W\d_]{1,30}), ?([^\W\d_a-z][^\W\d_]{1,30})\b")
_MAX_VALUE = 200
_NUMBERS = 6
"""Digits from which on the value of a label is numbers and not an organisation (`Bank: sort code ..., account ...`)."""


def fields(text: str) -> Iterator[Field]:
    """Every labelled value of `text`, in no particular order; a value may appear twice. Linear."""
    for match in _QUOTED.finditer(text):
        key, value = (1, 2) if match.group(1) is not None else (3, 4)
        yield Field(normalise(match.group(key)), *match.span(value))
    for match in _LIST.finditer(text):
        label = normalise(match.group(1))
        for item in _ITEM.finditer(text, *match.span(2)):
            yield Field(label, *item.span(1), near=False)
    for match in _TAG.finditer(text):
        yield Field(normalise(match.group(1)), *match.span(2))
    yield from _labelled(text)
    for cell in (*table_fields(text), *sql_fields(text)):
        yield Field(cell.label, cell.start, cell.end, near=False)


def _labelled(text: str) -> Iterator[Field]:
    """`Label: value` and `label=value`: the value ends at the line's end or where the next label begins."""
    pending: tuple[str, int] | None = None
    for match in _LABEL.finditer(fold(text)):
        if pending:
            yield _until(text, *pending, match.start(1))
        # The pattern may have taken the first character of the value to see that no second `=` follows.
        end = match.end()
        start = end - 1 if text[end - 1 : end].strip(" \t\u00a0:：=") else end
        pending = normalise(text[match.start(1) : match.end(1)]), start
        before = fold(text[max(0, match.start(1) - 16) : match.start(1)]).split()
        if pending[0] in labels.ADDRESS and before and before[-1].strip("(_-.'\"") in labels.NOT_ADDRESS:
            pending = None
    if pending:
        yield _until(text, *pending, len(text))


def _until(text: str, label: str, start: int, limit: int) -> Field:
    end = min(limit, start + _MAX_VALUE)
    line = text.find("\n", start, end)
    if line >= 0 and text[start:line].strip():
        end = line
    elif line >= 0:
        start = line + 1
        after = text.find("\n", start, end)
        end = after if after >= 0 else end
    return Field(label, start, max(start, end))


class StructuredNames(EntityRecognizer):
    """Persons, organisations, places and addresses by the label that they stand under."""

    def __init__(self, lexicon: Lexicon | None = None) -> None:
        self.lexicon = lexicon or Lexicon()
        super().__init__(supported_entities=list(_ENTITIES), name=NAME)

    def load(self) -> None:
        """Nothing to load: the lexicon is given."""

    def analyze(self, text: str, entities: Iterable[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        """Presidio's entry point."""
        wanted = set(entities)
        return [to_result(span, NAME) for span in self.find(text) if span.entity in wanted]

    def find(self, text: str, labelled: Iterable[Field] | None = None) -> list[Span]:
        """The spans of `text`, sorted; they may overlap. `labelled`: its fields, if they are known."""
        french_form = "prenom" in fold(text)
        found: set[Span] = set()
        for field in fields(text) if labelled is None else labelled:
            if french_form and field.label == "nom":
                field = field._replace(label="nom de famille")
            found.update(self.read(text, field))
        for match in _MAILBOX.finditer(text):
            lead = _BEFORE_MAILBOX.search(text, max(0, match.start() - 64), match.start())
            hit = person_at(text, *lead.span(1), Tier.NAME, self.lexicon) if lead else None
            if hit:
                found.add(Span(*hit, "PERSON", SCORE, NAME, "name before a mail address"))
        for start, end, why in (
            *spoken(text, self.lexicon),
            *initials(text, self.lexicon),
            *informal(text, self.lexicon),
        ):
            found.add(Span(start, end, "PERSON", SCORE, NAME, why))
        return sorted(found)

    def read(self, text: str, field: Field) -> Iterator[Span]:
        """What the value of one field is, if its label says so."""
        tier = person_tier(field.label)
        why = f"label '{field.label}'"
        if tier is not None:
            for start, end in self._persons(text, field, tier):
                yield Span(start, end, "PERSON", SCORE, NAME, why)
        for entity, known, ends in (
            ("ORGANIZATION", labels.ORGANIZATION, _organisation_end),
            ("LOCATION", labels.LOCATION, _place_end),
            ("LOCATION", labels.POSTCODE, _postcode_end),
            ("ADDRESS", labels.ADDRESS, _address_end),
        ):
            if field.label in known:
                span = _phrase(text, field, ends)
                if span:
                    yield Span(*span, entity, SCORE, NAME, why)

    def _persons(self, text: str, field: Field, tier: Tier) -> Iterator[tuple[int, int]]:
        start, end = field.start, field.end
        if tier is Tier.WEAK and _mailbox_follows(text, start, end):
            tier = Tier.NAME
        hit = person_at(text, start, end, tier, self.lexicon) or self._before_given(text, start, end, tier)
        if hit:
            single = tier >= Tier.ROLE and field.label not in labels.PLURAL
            swapped = self._surname_first(text, hit, end) if single else None
            yield swapped or hit
            if swapped:
                return
        parts = list(re.finditer(r"[,;&/]| and | et | und ", text[start:end]))
        if not parts or not (hit or field.label in labels.PLURAL):
            return
        stricter = tier if field.label in labels.PLURAL or not field.near else min(tier, Tier.WEAK)
        for part in parts:
            more = person_at(text, start + part.end(), end, stricter, self.lexicon)
            if more:
                yield more

    def _before_given(self, text: str, start: int, end: int, tier: Tier) -> tuple[int, int] | None:
        """A plain word that is a family name because `, ` and a given name follow it (`Combs, Nathan`)."""
        match = _SURNAME_FIRST.match(text, start, end) if tier is Tier.ROLE else None
        return match.span(1) if match and self.lexicon.is_name(match.group(2)) else None

    def _surname_first(self, text: str, hit: tuple[int, int], end: int) -> tuple[int, int] | None:
        """`Tallow, Mira` behind a label that means one person: one name, its comma included."""
        comma = re.match(r",[ ]?(?=[^\W\d_])", text[hit[1] : end])
        family = [word for word in tokens(text, *hit) if word.folded not in PARTICLES]
        if not comma or len(family) > 2:
            return None
        first = person_at(text, hit[1] + comma.end(), end, Tier.ROLE, self.lexicon)
        if first is None or first[0] != hit[1] + comma.end():
            return None
        if text[first[1] : first[1] + 2].lstrip(" ").startswith(":"):
            return None
        return (hit[0], first[1]) if len(tokens(text, *first)) <= (2 if len(family) == 1 else 1) else None


def _mailbox_follows(text: str, start: int, end: int) -> bool:
    return re.match(r"[^\n<>@]{2,60}<[^<>\s@]{1,64}@", text[start:end]) is not None


def _phrase(text: str, field: Field, ends: Callable[[str], int]) -> tuple[int, int] | None:
    value = text[field.start : field.end]
    end = ends(value)
    if end <= 0:
        return None
    kept = value[:end].strip(" \t\"'*_`,.;|\u00a0")
    if not kept:
        return None
    start = field.start + value.index(kept)
    return start, start + len(kept)


_NEXT_LABEL = r"\.[ ]+(?=[^\W\d_]+(?:[ '’][^\W\d_]+){0,3}[ \u00a0]?:)"
_NEXT_SENTENCE = r"(?<=[^\W\d_]{4})\.[ ]+(?=[^\W\d_a-z])"


def _organisation_end(value: str) -> int:
    end = _cut(value, rf"{_NEXT_LABEL}|[\n\r\t|;<>{{}}\[\]\"“”]| {{2,}}| [-–—] ")
    words = tokens(value, 0, end)
    known = 1 <= len(words) <= 8 and any(len(word.folded) > 1 for word in words)
    numbered = sum(map(str.isdigit, value[:end])) >= _NUMBERS
    return end if known and not numbered and not words[0].folded.startswith("http") else 0


def _place_end(value: str) -> int:
    end = _cut(value, rf"{_NEXT_SENTENCE}|,[ ](?:le|on|am|el|il)[ ]\d|[\n\r\t|;<>{{}}\[\]\"“”(]| {{2,}}| [-–—] ")
    words = tokens(value, 0, end)
    cased = bool(words) and (words[0].text[0].isupper() or len(words) <= 2)
    return end if cased and len(words) <= 6 and len(value[:end].strip()) > 1 else 0


_POSTCODE = re.compile(
    r"[ \t\"'*_`\u00a0]*(?:(?:D|A|CH|F|B|L|E|I)-)?(?:\d{4,6}(?:-\d{4}|[ ]?[A-Z]{2}\b)?|\d{3}[ ]\d{2}|\d{2}-\d{3}"
    r"|\d{4}-\d{3}"
    r"|[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}|[A-Z]\d[A-Z][ ]?\d[A-Z]\d)(?![^\s,;|\"'<)\]}*])"
)


def _postcode_end(value: str) -> int:
    match = _POSTCODE.match(value)
    return match.end() if match else 0


def _address_end(value: str) -> int:
    end = _cut(value, rf"{_NEXT_LABEL}|{_NEXT_SENTENCE}|[\n\r\t|;<>{{}}\[\]\"“”]| {{3,}}")
    kept = value[:end]
    written = "@" not in kept and "://" not in kept and any(char.isdigit() for char in kept)
    return end if written and sum(char.isalpha() for char in kept) >= 4 and " " in kept.strip() else 0


def _cut(value: str, pattern: str) -> int:
    lead = len(value) - len(value.lstrip(" \t\"'*_`\u00a0"))
    match = re.search(pattern, value[lead:])
    return lead + match.start() if match else len(value)


def build() -> list[EntityRecognizer]:
    return [StructuredNames()]


__all__ = ["Field", "StructuredNames", "build", "fields", "is_header"]

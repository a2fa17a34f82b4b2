"""Postal addresses as one span each: street, unit, postcode and town, on one line or several.

Every pattern asks for a house number (or a postcode behind a street) and a capitalised name: a town, a postcode or
`5 rue` alone is not an address. May import: its neighbours in this package, presidio_analyzer.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers.base import Entity, Rule, RuleRecognizer, Span, compile_re2, to_result
from recognizers.excerpt import Excerpt, around
from recognizers.extent import extent
from recognizers.streets import ANYWHERE, CITY_AND_STATE, ENGLISH, FRENCH, INTRODUCED, LABELLED, LEADS, NEEDS, OTHERS
from recognizers.tails import whole

_FIELD = (
    r"phone|tel|t[ée]l|tfno|telephone|t[ée]l[ée]phone|telefon|fax|mobile|cell|portable|e-?mail|mail|courriel|siret"
    r"|siren|tva|"
    r"dob|ssn|nhs|gp|contact|iban|rib|bic|bank|cuenta|born|date|passport|attn|sex|age|ref|réf|client|patient|insurance|"
    r"website|web|https?|www|rcs|ip|versichertennummer"
)
_STOP = re.compile(
    rf"[\s,|·(\-]*(?:\b(?:{_FIELD})\b\.?\s*(?:(?:no|number|nr|n°)\b\.?\s*)?(?:[:=#+]|\d|$)"
    r"|\d{7,}|\b\d{2}(?:[ .]\d{2}){3})",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[\s,\-]+(?:and|but|because|since|who|where|with|from|et|mais|avec|depuis|und|aber|seit|pero|desde|y|ma)(?:\s|$)"
)
_LABELLED_END = re.compile(
    r"(?<!\bst)(?<!\bave)(?<!\bapt)(?<!\brd)(?<!lvd)(?<!\bdr)(?<!\bln)(?<!\bste)(?<!\bno)(?<!\bav)(?<!\bbd)(?<!\bpl)"
    r"(?<!str)(?<!\bn)(?<!\bc)(?<!vda)(?<!tra)(?<!/)\.\s+(?=\w)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<=[^\W\d_]{4})(?<!str)(?<!lvd)(?<!vda)(?<!tra)\.\s+(?=\D)|(?<=\d)\.\s+(?=[^\W\d_])"
    r"|(?<=\d [A-Z]{2})\.\s",
    re.IGNORECASE,
)
_NOT_A_STREET = re.compile(
    r"\bMM?\. |\b(?:hard|flash|test|google|disk|usb|ssd|tb|gb|mb|c|one|shared|network|backup) dr(?:ive)?\b"
    r"|\b(?:steps?|ways?|days?|hours?|minutes?) |\b(?:one|two|no|any|other|right|wrong|easy|best|only|same|new|open|"
    r"proper|first|second|third|long|short|terminal|gate) (?:way|place|close|court|circle|square)\b",
    re.IGNORECASE,
)
_NOT_A_TOWN = re.compile(
    r"\b\d{4,5} (?:euros?|dollars?|pounds|usd|gbp|eur|lines?|items?|units?|users?|rows?|tokens?|words?|points?|"
    r"records?|files?|bytes|kb|mb|gb|km|kg|people|steps?|stars|miles|views|likes|calls|rpm)\b"
    r"|\b(?:jan|feb|f[ée]v|mar|apr|avr|may|mai|june?|juin|jul|juil|aug|ao[uû]|sep|oct|okt|nov|dec|d[ée]c|dez)\w{0,7}\.?"
    r" \d{1,2}(?:st|nd|rd|th)?, (?:19|20)\d\d",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d|\bs/n\b", re.IGNORECASE)
_NUMBER_AND_NAME = re.compile(r"(?=.*\d)(?=.*[^\W\d_]{3})", re.DOTALL)


_NEEDED = {need: compile_re2(need) for need in (*NEEDS.values(), *LEADS.values())}


_YEAR_FOR_POSTCODE = re.compile(r"\b(?:19|20)\d\d\b")
_OTHER_NUMBER = re.compile(r"\b(?!(?:19|20)\d\d\b)\d{3,6}\b|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b")


def _is_street(value: str) -> bool:
    return _NOT_A_STREET.search(value) is None and _NOT_A_TOWN.search(value) is None


def _is_foreign(value: str) -> bool:
    """As a street, and not a heading with a number over a year (`Report 3`, `2024 Review`)."""
    year_only = _YEAR_FOR_POSTCODE.search(value) is not None and _OTHER_NUMBER.search(value) is None
    return _is_street(value) and not year_only and _NOT_A_PLACE.search(value) is None


_NOT_A_PLACE = re.compile(
    r"^unit\b|\b(?:nr|pat|tel|fax|id|ref|chapter|section|page|pages|figure|table|version|step|part|phase|room|line|item|order|invoice|ticket|case"
    r"|model|"
    r"level|grade|class|article|art|kapitel|seite|chapitre|rapport|report|total|subtotal|qty|amount|python|windows"
    r"|ubuntu|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|week|q[1-4]|issue|vol"
    r"|volume)\b",
    re.IGNORECASE,
)


def _is_labelled(value: str) -> bool:
    """A house number or postcode and a word: `IP address: 10.0.0.1` and `address: unknown` are none."""
    return (
        _NUMBER_AND_NAME.match(value) is not None
        and re.search(r"\b\d{1,5}[A-Za-z]?\b", value) is not None
        and len(re.findall(r"[^\W\d_]{2,}", value)) >= 2
    )


RULES: tuple[Rule, ...] = (
    *(
        Rule("ADDRESS", name, regex, check=_is_street, bare=score, labelled=score)
        for name, regex, score in (*ENGLISH, *FRENCH, *OTHERS)
    ),
    *(Rule("ADDRESS", name, regex, check=_is_foreign, bare=score, labelled=score) for name, regex, score in ANYWHERE),
    Rule("ADDRESS", "announced", INTRODUCED, check=_is_foreign, bare=0.83, labelled=0.83),
    Rule("ADDRESS", "behind a label", LABELLED, check=None, bare=0.81, labelled=0.81),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "ADDRESS",
        "Postal address",
        "Send it to 99 Nowhere Street, Testville, CA 99999 please.",
        "99 Nowhere Street, Testville, CA 99999",
        "street with a house number, or a street with postcode and town, or a label",
        "USPS Publication 28; Royal Mail PAF guide; NF Z 10-011",
    ),
)


class AddressRecognizer(RuleRecognizer):
    """Rules as elsewhere, then one span an address: ends are trimmed, and the surest reading wins."""

    def analyze(
        self, text: str, entities: Iterable[str], nlp_artifacts: Any = None, regex_flags: Any = None
    ) -> list[RecognizerResult]:
        """Presidio's entry point."""
        if "ADDRESS" not in set(entities):
            return []
        hits = {need: [match.span() for match in pattern.finditer(text)] for need, pattern in _NEEDED.items()}
        found = [
            kept
            for rule in self.rules
            for span in self.spans_in(rule, text, _where(rule, text, hits))
            if (kept := _trimmed(span, text))
        ]
        return [to_result(span, self.name) for span in _best([_whole(span, text) for span in _best(found)])]


def _where(rule: Rule, text: str, hits: Mapping[str, Sequence[tuple[int, int]]]) -> Excerpt:
    """What of `text` a rule is to be searched in."""
    lead = LEADS.get(rule.name)
    need, width = lead or NEEDS.get(rule.name), extent(rule.regex).width
    if need is None or width is None:
        return Excerpt(text)
    return around(text, hits[need], width, before=0 if lead else width)


def _trimmed(span: Span, text: str) -> Span | None:
    """The span without a field, a sentence or a number that follows the address; None if nothing is left."""
    labelled = _is_behind_label(span)
    value = text[span.start : span.end]
    for pattern in (_STOP, _LABELLED_END, _CLAUSE) if labelled else (_STOP, _SENTENCE):
        cut = pattern.search(value, 1)
        if cut is not None:
            value = value[: cut.start()]
    value = value.rstrip(" ,.\n|·-/")
    if not _NUMBERED.search(value) or (labelled and not _is_labelled(value)):
        return None
    return span._replace(end=span.start + len(value))


def _whole(span: Span, text: str) -> Span:
    """The span with the parts of the address around it that no pattern took."""
    start, end = whole(text, span.start, span.end)
    return span._replace(start=start, end=end)


_UNSURE, _LOOSE = 0.82, 0.74


def _best(spans: list[Span]) -> list[Span]:
    """Spans that do not overlap: the surest reading stays, of equally or hardly sure ones the longest.

    One that begins earlier still says where the address begins (`61 Thames Street, Unit 7, Kexby SN4 9QD`).
    """
    sure_ends = {span.end for span in spans if span.score > _UNSURE}

    def order(span: Span) -> tuple[float, int, int]:
        # Where both end alike, the label knows better than the pattern where the address begins.
        agreed = _is_behind_label(span) and span.end in sure_ends
        return -1.0 if agreed else -max(span.score, _UNSURE), span.start - span.end, span.start

    kept: list[Span] = []
    for span in sorted(spans, key=order):
        place = bisect(kept, span.start, key=_start)
        if place and kept[place - 1].end > span.start:
            continue
        if place < len(kept) and kept[place].start < span.end:
            if span.score > _LOOSE and not _is_behind_label(span) and not _is_behind_label(kept[place]):
                kept[place] = kept[place]._replace(start=span.start)
            continue
        kept.insert(place, span)
    return kept


def _is_behind_label(span: Span) -> bool:
    return span.recognizer.endswith("behind a label")


def _start(span: Span) -> int:
    return span.start


def build() -> list[EntityRecognizer]:
    places = Rule("LOCATION", "town with state or postcode", CITY_AND_STATE, check=_is_street, bare=0.7)
    return [AddressRecognizer("address", RULES), RuleRecognizer("place", [places])]

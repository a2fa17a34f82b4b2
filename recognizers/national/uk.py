"""United Kingdom: NHS number, National Insurance number, driving licence, registration of doctors and nurses.

May import: recognizers.base, recognizers.national.common, python-stdnum.
"""

from __future__ import annotations

import re

from stdnum.gb import nhs

from recognizers.base import Entity, Rule, alnum, digits, stdnum_check
from recognizers.national.common import full, has_digits, stated

_NHS_LABELS = ("nhs", "national health service", "chi", "h&c", "health and care number", "health number")
_NINO_LABELS = ("national insurance", "national insurance number", "ni number", "ni no", "nino", "n.i.", "nat ins")
_LICENCE_LABELS = (
    "driving licence",
    "driving license",
    "driver licence",
    "drivers licence",
    "driver's licence",
    "licence no",
    "licence number",
    "dvla",
)
_REGISTER_LABELS = (
    "gmc",
    "general medical council",
    "gmc reference",
    "gmc registration",
    "nmc",
    "nmc pin",
    "gdc",
    "gphc",
    "hcpc",
)

_NOT_ALLOCATED = {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}
_LICENCE = re.compile(r"[A-Z]{1,5}9{0,4}\d([0156])(\d)(\d\d)\d[A-Z9]{2}[A-Z0-9]{3}(?:\d\d)?")


def nino(value: str) -> bool:
    """Prefix and suffix rules of HM Revenue & Customs (National Insurance Manual, NIM39110)."""
    text = alnum(value)
    return (
        re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", text) is not None
        and text[:2] not in _NOT_ALLOCATED
    )


def licence(value: str) -> bool:
    """A driver number of Great Britain: five name characters, a coded birth date (women's months are 51 to 62)."""
    match = _LICENCE.fullmatch(alnum(value))
    if match is None:
        return False
    month = int(match[1]) % 5 * 10 + int(match[2])
    return 1 <= month <= 12 and 1 <= int(match[3]) <= 31


RULES: tuple[Rule, ...] = (
    Rule(
        "UK_NHS",
        "NHS number",
        r"\d{3} ?\d{3} ?\d{4}|\d{3}-\d{3}-\d{4}",
        check=stdnum_check(nhs, digits),
        labels=_NHS_LABELS,
        labelled=0.95,
        # Telephone numbers are also written 3-3-4 with dashes; with spaces it is how the NHS prints the number.
        grouped=0.6,
        is_grouped=full(r"\d{3} \d{3} \d{4}"),
    ),
    Rule(
        "UK_NHS",
        "NHS number with dashes",
        r"\d{3}-\d{3}-\d{4}",
        check=stdnum_check(nhs, digits),
        bare=0.4,
        grouped=0.6,
        is_grouped=full(r"[01]\d\d-.{8}|...-[01].{7}"),
    ),
    stated("UK_NHS", "stated NHS number", _NHS_LABELS, r"\d{3}[ \-]{0,3}\d{3}[ \-]{0,3}\d{4}"),
    Rule(
        "UK_NINO",
        "National Insurance number",
        r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|(?i:[A-Z]{2}[ \-]?\d{2}[ \-]\d{2}[ \-]\d{2}[ \-]?[A-D])",
        check=nino,
        labels=_NINO_LABELS,
        bare=0.65,
        labelled=0.95,
        grouped=0.85,
        is_grouped=full(r"[A-Z]{2} \d\d \d\d \d\d [A-D]"),
    ),
    stated(
        "UK_NINO",
        "stated National Insurance number",
        _NINO_LABELS,
        r"(?i:[A-Z]{2}(?:[ \-.]?\d{2}){3}(?:[ \-.]?[A-Z])?)",
        0.85,
    ),
    Rule(
        "UK_DRIVING_LICENCE",
        "driver number",
        r"(?:[A-Z]{5}|[A-Z]{4}9|[A-Z]{3}99|[A-Z]{2}999) ?\d{6} ?(?:[A-Z][A-Z9]|99) ?[A-Z0-9]{3}(?: ?\d{2})?",
        check=licence,
        bare=0.8,
        labelled=0.95,
        labels=_LICENCE_LABELS,
    ),
    stated(
        "UK_DRIVING_LICENCE",
        "stated driver number",
        _LICENCE_LABELS,
        r"(?i:[A-Z0-9]{8}|[A-Z]{1,5}9{0,4} ?\d{6} ?[A-Z0-9]{5})",
        0.8,
        has_digits(6),
    ),
    stated("MEDICAL_LICENSE", "register of doctors and nurses", _REGISTER_LABELS, r"\d{7}|\d{2}[A-Z]\d{4}[A-Z]", 0.8),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "UK_NHS",
        "NHS number",
        "NHS number 999 000 1235",
        "999 000 1235",
        "modulus 11; label or usual grouping",
        "NHS Data Dictionary, NHS NUMBER",
    ),
    Entity(
        "UK_NINO",
        "National Insurance number",
        "NI number: AB 99 99 98 C",
        "AB 99 99 98 C",
        "prefix and suffix rules",
        "HMRC NIM39110",
    ),
    Entity(
        "UK_DRIVING_LICENCE",
        "Driver number of Great Britain",
        "Driving licence ZZZZ9901019Z99ZZ",
        "ZZZZ9901019Z99ZZ",
        "coded birth date or label",
        "DVLA driver number format",
    ),
)

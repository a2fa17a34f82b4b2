"""Germany: tax number, health insurance number, pension insurance number.

May import: recognizers.base, recognizers.national.common, python-stdnum.
"""

from __future__ import annotations

import re

from stdnum.de import idnr

from recognizers.base import Entity, Rule, alnum, digits, stdnum_check
from recognizers.national.common import full, stated

_TAX_LABELS = (
    "steuer id",
    "steuerid",
    "steuer idnr",
    "steueridentifikationsnummer",
    "steuerliche identifikationsnummer",
    "idnr",
    "identifikationsnummer",
    "steuer identifikationsnummer",
    "tin",
    "german tax id",
    "tax id",
)
_LOCAL_LABELS = ("steuernummer", "steuer nr", "st nr", "finanzamt", "st.nr.")
_HEALTH_LABELS = (
    "kvnr",
    "krankenversicherungsnummer",
    "krankenversichertennummer",
    "versichertennummer",
    "versicherten nr",
    "krankenkasse",
    "versichertennr",
    "versicherten id",
    "gesundheitskarte",
    "egk",
    "kv nummer",
    "kv nr",
    "health insurance",
)
_PENSION_LABELS = (
    "rvnr",
    "rentenversicherungsnummer",
    "rentenversicherung",
    "sozialversicherungsnummer",
    "sv nummer",
    "sv nr",
    "svnr",
    "versicherungsnummer",
    "sozialversicherung",
    "rv nummer",
    "rv nr",
)


def _cross_sum(value: int) -> int:
    return value // 10 + value % 10


def _letter_as_digits(text: str) -> list[int]:
    return [int(char) for char in "".join(char if char.isdigit() else f"{ord(char) - 64:02d}" for char in text)]


def health(value: str) -> bool:
    """Letter (as two digits), eight digits, check digit: cross sums with weights 1, 2 modulo 10 (SGB V § 290)."""
    text = alnum(value)
    if re.fullmatch(r"[A-Z]\d{9}", text) is None:
        return False
    body = _letter_as_digits(text[:-1])
    return sum(_cross_sum(digit * (1 + place % 2)) for place, digit in enumerate(body)) % 10 == int(text[-1])


def pension(value: str) -> bool:
    """Area, birth date, initial, serial, check digit with its own weights (VKVV § 2, VDR directive)."""
    text = alnum(value)
    if re.fullmatch(r"\d{8}[A-Z]\d{3}", text) is None or not (
        1 <= int(text[2:4]) % 50 <= 31 and 1 <= int(text[4:6]) <= 12
    ):
        return False
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    body = _letter_as_digits(text[:-1])
    return sum(_cross_sum(digit * weight) for digit, weight in zip(body, weights, strict=True)) % 10 == int(text[-1])


RULES: tuple[Rule, ...] = (
    Rule(
        "DE_TAX_ID",
        "tax identification number",
        r"[1-9]\d{10}|[1-9]\d \d{3} \d{3} \d{3}",
        check=stdnum_check(idnr, digits),
        labels=_TAX_LABELS,
        labelled=0.95,
        grouped=0.7,
        is_grouped=full(r"\d\d \d{3} \d{3} \d{3}"),
    ),
    stated("DE_TAX_ID", "stated tax identification number", _TAX_LABELS, r"\d{2}(?: ?\d{3}){3}", 0.85),
    stated(
        "DE_TAX_NUMBER", "tax number of a tax office", _LOCAL_LABELS, r"\d{2,5}[/ ]\d{3,5}[/ ]\d{4,5}|\d{10,13}", 0.8
    ),
    Rule(
        "DE_HEALTH_INSURANCE",
        "health insurance number",
        r"[A-Z] ?\d{3} ?\d{3} ?\d{3}",
        check=health,
        labels=_HEALTH_LABELS,
        labelled=0.95,
        grouped=0.6,
        is_grouped=full(r"[A-Z]\d{9}"),
    ),
    stated(
        "DE_HEALTH_INSURANCE", "stated health insurance number", _HEALTH_LABELS, r"(?i:[A-Z] ?\d{3} ?\d{3} ?\d{3})", 0.9
    ),
    Rule(
        "DE_SOCIAL_SECURITY",
        "pension insurance number",
        r"\d{2} ?\d{6} ?[A-Z] ?\d{3}|\d{2} \d{2} ?\d{2} ?\d{2} [A-Z] \d{2} ?\d",
        check=pension,
        labels=_PENSION_LABELS,
        bare=0.75,
        labelled=0.95,
    ),
    stated(
        "DE_SOCIAL_SECURITY",
        "stated pension insurance number",
        _PENSION_LABELS,
        r"(?i:\d{2} ?\d{2} ?\d{2} ?\d{2} ?[A-Z] ?\d{2} ?\d)",
        0.9,
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "DE_TAX_ID",
        "Tax identification number",
        "Steuer-ID 65000123475",
        "65000123475",
        "ISO 7064 mod 11, 10; label or usual grouping",
        "AO § 139b; stdnum.de.idnr",
    ),
    Entity(
        "DE_TAX_NUMBER",
        "Tax number of a tax office",
        "Steuernummer 99/999/99998",
        "99/999/99998",
        "behind its label",
        "AO, ELSTER scheme",
    ),
    Entity(
        "DE_HEALTH_INSURANCE",
        "Health insurance number (KVNR)",
        "KVNR X999123452",
        "X999123452",
        "check digit, or a label",
        "SGB V § 290",
    ),
    Entity(
        "DE_SOCIAL_SECURITY",
        "Pension insurance number",
        "Rentenversicherungsnummer 65 010190 Z 991",
        "65 010190 Z 991",
        "birth date and check digit, or a label",
        "VKVV § 2",
    ),
)

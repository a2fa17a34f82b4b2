"""Netherlands: citizen service number. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.nl import bsn

from recognizers.base import Entity, Rule, digits, stdnum_check
from recognizers.national.common import full, stated

_LABELS = (
    "bsn",
    "burgerservicenummer",
    "sofinummer",
    "sofi nummer",
    "dutch id",
    "citizen service number",
    "burger service nummer",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "NL_BSN",
        "citizen service number",
        r"\d{9}|\d{4}\.\d{2}\.\d{3}|\d{3}[. ]\d{3}[. ]\d{3}",
        check=stdnum_check(bsn, digits),
        labels=_LABELS,
        labelled=0.95,
        grouped=0.75,
        is_grouped=full(r"\d{4}\.\d\d\.\d{3}"),
    ),
    stated(
        "NL_BSN", "stated citizen service number", _LABELS, r"\d{4}[. ]?\d{2}[. ]?\d{2,3}|\d{3}[. ]\d{3}[. ]\d{3}", 0.85
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "NL_BSN",
        "Citizen service number",
        "BSN 999900006",
        "999900006",
        "eleven test; label or usual grouping",
        "Wet algemene bepalingen burgerservicenummer; stdnum.nl.bsn",
    ),
)

"""Switzerland: AHV number. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.ch import ssn

from recognizers.base import Entity, Rule, digits, stdnum_check
from recognizers.national.common import full, stated

_LABELS = (
    "ahv",
    "ahv nr",
    "ahv nummer",
    "ahvn13",
    "avs",
    "n° avs",
    "numéro avs",
    "navs",
    "navs13",
    "oasi",
    "sozialversicherungsnummer",
    "versichertennummer",
    "swiss social security",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "CH_AHV",
        "AHV number",
        r"756\.?\d{4}\.?\d{4}\.?\d{2}|756[ \-]\d{4}[ \-]\d{4}[ \-]\d{2}",
        check=stdnum_check(ssn, digits),
        labels=_LABELS,
        bare=0.75,
        labelled=0.97,
        grouped=0.95,
        is_grouped=full(r"756[. -]\d{4}[. -]\d{4}[. -]\d\d"),
    ),
    stated("CH_AHV", "stated AHV number", _LABELS, r"\d{3}[. \-]?\d{4}[. \-]?\d{4}[. \-]?\d{2}", 0.9),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "CH_AHV",
        "AHV number (NAVS13)",
        "AHV 756.9999.1234.57",
        "756.9999.1234.57",
        "EAN-13 check digit, or a label",
        "AHVV Art. 133; stdnum.ch.ssn",
    ),
)

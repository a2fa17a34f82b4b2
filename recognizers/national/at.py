"""Austria: social insurance number. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.at import vnr

from recognizers.base import Entity, Rule, digits, stdnum_check
from recognizers.national.common import stated

_LABELS = (
    "svnr",
    "sv nr",
    "sv nummer",
    "sozialversicherungsnummer",
    "versicherungsnummer",
    "sozialversicherung",
    "vsnr",
    "e card",
    "ecard",
    "sv",
    "austrian social security",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "AT_SVNR",
        "social insurance number",
        r"[1-9]\d{3}[ \-]?\d{6}|[1-9]\d{3} \d{2} ?\d{2} ?\d{2}",
        check=stdnum_check(vnr, digits),
        labels=_LABELS,
        labelled=0.95,
    ),
    stated("AT_SVNR", "stated social insurance number", _LABELS, r"\d{4}[ \-/]?\d{2}[ .]?\d{2}[ .]?\d{2}", 0.85),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "AT_SVNR",
        "Social insurance number",
        "SVNR 9918 010190",
        "9918 010190",
        "weighted modulo 11 and a label",
        "ASVG § 31; stdnum.at.vnr",
    ),
)

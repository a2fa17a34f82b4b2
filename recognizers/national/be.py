"""Belgium: national number and BIS number. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.be import bis, nn

from recognizers.base import Entity, Rule, digits
from recognizers.national.common import full, stated

_LABELS = (
    "numéro national",
    "n° national",
    "registre national",
    "numéro de registre national",
    "niss",
    "inss",
    "insz",
    "rijksregisternummer",
    "rijksregister",
    "national register",
    "national number",
    "nn",
    "rrn",
    "belgian national number",
    "numéro bis",
)


def national(value: str) -> bool:
    """Birth date, serial, 97 minus the rest modulo 97, with 2 in front from the year 2000 (KB 3 April 1984)."""
    number = digits(value)
    return bool(nn.is_valid(number) or bis.is_valid(number))


RULES: tuple[Rule, ...] = (
    Rule(
        "BE_NN",
        "national number",
        r"\d{11}|\d{2}\.\d{2}\.\d{2}[\- ]\d{3}[.\- ]\d{2}|\d{6}[\- ]\d{3}[.\- ]\d{2}",
        check=national,
        labels=_LABELS,
        labelled=0.95,
        grouped=0.9,
        is_grouped=full(r"\d\d\.\d\d\.\d\d[- ]\d{3}[.-]\d\d|\d{6}-\d{3}[.-]\d\d"),
    ),
    stated(
        "BE_NN", "stated national number", _LABELS, r"\d{2}[. \-]?\d{2}[. \-]?\d{2}[. \-]{0,3}\d{3}[. \-]?\d{2}", 0.85
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "BE_NN",
        "National number",
        "Numéro national 99.01.01-997.89",
        "99.01.01-997.89",
        "birth date and modulo 97; label or usual grouping",
        "Koninklijk besluit 3 April 1984; stdnum.be.nn",
    ),
)

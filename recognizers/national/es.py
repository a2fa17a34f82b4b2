"""Spain: NIF of residents, NIE of foreigners, social security number.

May import: recognizers.base, recognizers.national.common, python-stdnum.
"""

from __future__ import annotations

from stdnum.es import dni, nie

from recognizers.base import Entity, Rule, digits, stdnum_check
from recognizers.national.common import full, stated

_NIF_LABELS = ("nif", "n.i.f.", "dni", "d.n.i.", "documento nacional de identidad", "spanish id", "cif")
_NIE_LABELS = ("nie", "n.i.e.", "número de identidad de extranjero", "extranjero", "nif", "dni")
_NUSS_LABELS = (
    "nuss",
    "naf",
    "nass",
    "n° de afiliación",
    "nss",
    "seguridad social",
    "número de seguridad social",
    "número de la seguridad social",
    "n° ss",
    "número de afiliación",
    "afiliación",
    "spanish social security",
)


def social(value: str) -> bool:
    """Province, serial and two check digits: the number before them modulo 97 (TGSS, Orden TAS/2865/2003)."""
    number = digits(value)
    if len(number) != 12:
        return False
    province, serial, key = int(number[:2]), int(number[2:10]), int(number[10:])
    # The serial counts as seven digits where it has no more.
    width = 10**7 if serial < 10**7 else 10**8
    return 1 <= province <= 66 and (province * width + serial) % 97 == key


RULES: tuple[Rule, ...] = (
    Rule(
        "ES_NIF",
        "NIF",
        r"(?:\d{8}|\d{2}\.\d{3}\.\d{3}|\d{1,2} \d{3} \d{3})[ \-]?[A-HJ-NP-TV-Za-hj-np-tv-z]",
        check=stdnum_check(dni),
        labels=_NIF_LABELS,
        bare=0.6,
        labelled=0.95,
        grouped=0.85,
        is_grouped=full(r"(?:\d{8}-|\d{2}\.\d{3}\.\d{3}[ -]?)[A-Z]"),
    ),
    stated("ES_NIF", "stated NIF", _NIF_LABELS, r"(?i:\d{2}[. ]?\d{3}[. ]?\d{3}[ \-]?[A-Z]|[KLM]\d{7}[A-Z])", 0.9),
    Rule(
        "ES_NIE",
        "NIE",
        r"[XYZxyz][ \-]?\d{7}[ \-]?[A-HJ-NP-TV-Za-hj-np-tv-z]",
        check=stdnum_check(nie),
        labels=_NIE_LABELS,
        bare=0.75,
        labelled=0.96,
    ),
    stated("ES_NIE", "stated NIE", _NIE_LABELS, r"(?i:[XYZ][ \-.]?\d(?:[.]?\d{3}){2}[ \-]?[A-Z])", 0.92),
    Rule(
        "ES_NUSS",
        "social security number",
        r"\d{2}[/ \-]?\d{8}[/ \-]?\d{2}",
        check=social,
        labels=_NUSS_LABELS,
        labelled=0.95,
        grouped=0.8,
        is_grouped=full(r"\d\d([/ -])\d{8}\1\d\d"),
    ),
    stated("ES_NUSS", "stated social security number", _NUSS_LABELS, r"\d{2}[/ \-]{0,3}\d{7,8}[/ \-]{0,3}\d{2}", 0.85),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "ES_NIF",
        "NIF of a resident (DNI)",
        "NIF 99999900V",
        "99999900V",
        "check letter, or a label",
        "Real Decreto 1553/2005; stdnum.es.dni",
    ),
    Entity(
        "ES_NIE",
        "NIE of a foreigner",
        "NIE Z9999999H",
        "Z9999999H",
        "check letter, or a label",
        "Orden INT/2058/2008; stdnum.es.nie",
    ),
    Entity(
        "ES_NUSS",
        "Social security number",
        "Seguridad Social 28/99999999/20",
        "28/99999999/20",
        "modulo 97; label or usual grouping",
        "Orden TAS/2865/2003",
    ),
)

"""Poland: PESEL. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.pl import pesel

from recognizers.base import Entity, Rule, digits, stdnum_check
from recognizers.national.common import stated

_LABELS = ("pesel", "nr pesel", "numer pesel", "polish id", "numer ewidencyjny")

RULES: tuple[Rule, ...] = (
    Rule("PL_PESEL", "PESEL", r"\d{11}", check=stdnum_check(pesel, digits), labels=_LABELS, labelled=0.95),
    stated("PL_PESEL", "stated PESEL", _LABELS, r"\d{6} ?\d{5}", 0.9),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "PL_PESEL",
        "PESEL",
        "PESEL 90011599903",
        "90011599903",
        "birth date, weighted modulo 10 and a label",
        "Ustawa o ewidencji ludności; stdnum.pl.pesel",
    ),
)

"""Italy: fiscal code. May import: recognizers.base, recognizers.national.common, python-stdnum."""

from __future__ import annotations

from stdnum.it import codicefiscale

from recognizers.base import Entity, Rule, stdnum_check
from recognizers.national.common import stated

_LABELS = ("codice fiscale", "cod fiscale", "cod fisc", "c.f.", "cf", "fiscal code", "tessera sanitaria")
_DIGIT = "[0-9LMNP-V]"
_CODE = rf"[A-Z]{{3}} ?[A-Z]{{3}} ?{_DIGIT}{{2}}[A-EHLMPRST]{_DIGIT}{{2}} ?[A-Z]{_DIGIT}{{3}}[A-Z]"

RULES: tuple[Rule, ...] = (
    Rule(
        "IT_FISCAL_CODE",
        "fiscal code",
        f"(?i:{_CODE})",
        check=stdnum_check(codicefiscale),
        labels=_LABELS,
        bare=0.9,
        labelled=0.98,
    ),
    stated(
        "IT_FISCAL_CODE",
        "stated fiscal code",
        _LABELS,
        r"(?i:[A-Z]{3} ?[A-Z]{3} ?[A-Z0-9]{5} ?[A-Z0-9]{5})",
        0.85,
        lambda value: any(char.isdigit() for char in value),
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "IT_FISCAL_CODE",
        "Fiscal code",
        "codice fiscale ZZZXXX90A01Z999G",
        "ZZZXXX90A01Z999G",
        "check character and birth date, or a label",
        "D.M. 23/12/1976; stdnum.it.codicefiscale",
    ),
)

"""Numbers of companies and their tax numbers. May import: recognizers.base, recognizers.national.common, python-stdnum.

They name a firm, yet a sole trader's number names a person, hence their own entity with its own action.
"""

from __future__ import annotations

from collections.abc import Callable

from stdnum.ch import uid
from stdnum.de import handelsregisternummer
from stdnum.es import cif
from stdnum.eu import vat
from stdnum.fr import siren, siret
from stdnum.it import iva

from recognizers.base import Entity, Rule, alnum, digits, stdnum_check
from recognizers.national.common import full, has_digits, stated

_SIREN = ("siren", "n° siren", "rcs", "r.c.s.")
_SIRET = ("siret", "n° siret", "numéro siret")
_VAT = (
    *(
        "vat",
        "vat no",
        "vat number",
        "vat reg no",
        "vat id",
        "tva",
        "n° tva",
        "tva intracommunautaire",
        "ust-idnr",
        "uid",
    ),
    *(
        "ust id",
        "umsatzsteuer-id",
        "umsatzsteuer-identifikationsnummer",
        "partita iva",
        "p. iva",
        "p.iva",
        "piva",
        "btw",
    ),
    *("nif iva", "cif", "c.i.f.", "mwst", "mwst-nr", "steuernummer der firma"),
)
_REGISTER = (
    *("company no", "company number", "company registration", "company registration number", "registered number"),
    *("companies house", "handelsregister", "hrb", "hra", "ein", "employer identification number", "abn", "rea"),
    *("registro mercantil", "cnpj", "duns", "d-u-n-s", "lei"),
)

_EU_VAT = (
    r"ATU\d{8}|BE[01]?\d{9}|BG\d{9,10}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]"
    r"|FI\d{8}|FR ?[A-HJ-NP-Z0-9]{2} ?\d{3} ?\d{3} ?\d{3}|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}"
    r"|LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{2,10}|SE\d{12}|SI\d{8}|SK\d{10}"
)


def _tidy(module: object) -> Callable[[str], bool]:
    return stdnum_check(module, lambda value: " ".join(value.split()))


RULES: tuple[Rule, ...] = (
    Rule("COMPANY_ID", "EU VAT number", _EU_VAT, check=stdnum_check(vat), labels=_VAT, bare=0.7, labelled=0.95),
    Rule(
        "COMPANY_ID",
        "SIRET",
        r"\d{3} ?\d{3} ?\d{3} ?\d{5}",
        check=stdnum_check(siret, digits),
        labels=(*_SIRET, *_SIREN),
        labelled=0.95,
        grouped=0.6,
        is_grouped=full(r"\d{3} \d{3} \d{3} \d{5}"),
    ),
    Rule(
        "COMPANY_ID",
        "SIREN",
        r"\d{3} ?\d{3} ?\d{3}",
        check=stdnum_check(siren, digits),
        labels=_SIREN,
        labelled=0.9,
        before=40,
        after=0,
    ),
    Rule("COMPANY_ID", "CIF", r"[ABCDEFGHJNPQRSUVW]-?\d{7}[0-9A-J]", check=stdnum_check(cif), labels=_VAT, bare=0.5),
    Rule(
        "COMPANY_ID",
        "UID",
        r"CHE[\-. ]?\d{3}[. ]?\d{3}[. ]?\d{3}(?: (?:MWST|TVA|IVA))?",
        check=lambda value: bool(uid.is_valid(alnum(value)[:12])),
        bare=0.8,
        labels=_VAT,
    ),
    Rule(
        "COMPANY_ID",
        "partita IVA",
        r"\d{11}",
        check=stdnum_check(iva, digits),
        labels=("partita iva", "p. iva", "p.iva", "piva", "iva"),
        labelled=0.9,
        before=40,
        after=0,
    ),
    Rule(
        "COMPANY_ID",
        "Handelsregister",
        r"(?:[\p{Lu}][\pL.\-]{2,20}(?: \([\pL. ]{2,20}\))? )?HR[AB] ?\d{1,6}(?: [A-Z]{1,3}\b)?",
        check=lambda value: _tidy(handelsregisternummer)(value) or True,
        bare=0.6,
        labels=_REGISTER,
    ),
    stated("COMPANY_ID", "stated SIRET", _SIRET, r"\d{3} ?\d{3} ?\d{3} ?\d{5}", 0.8),
    stated(
        "COMPANY_ID",
        "stated VAT number",
        _VAT,
        r"(?i:[A-Z]{0,3}[ \-]?\d{3} ?\d{3,4} ?\d{2,5}[A-Z]?\d{0,2})",
        0.7,
        has_digits(7, 13),
    ),
    stated(
        "COMPANY_ID",
        "stated register number",
        _REGISTER,
        r"(?i:[A-Z]{0,3}[ \-]?\d{2}-?\d{4,7}[A-Z]?)",
        0.7,
        has_digits(5, 10),
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "COMPANY_ID",
        "Number of a company: VAT, SIRET, CIF, UID, register",
        "SIRET 999 999 980 00009",
        "999 999 980 00009",
        "check digit of the country, or a label",
        "Directive 2006/112/EC art. 214; R123-221 C. com.; stdnum.eu.vat",
    ),
)

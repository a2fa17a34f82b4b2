"""France: social security number, RPPS and ADELI of health professionals, tax number.

May import: recognizers.base, recognizers.national.common, python-stdnum.
"""

from __future__ import annotations

import re

from stdnum import luhn
from stdnum.fr import nif, nir

from recognizers.base import Entity, Rule, alnum, digits, stdnum_check
from recognizers.national.common import ABOUT_A_PATIENT, full, stated

_NIR_LABELS = (
    "nir",
    "ins",
    "n° ins",
    "insee",
    "sécurité sociale",
    "numéro de sécurité sociale",
    "n° de sécurité sociale",
    "n° sécurité sociale",
    "num secu",
    "n° sécu",
    "n° de sécu",
    "sécu",
    "numéro de sécu",
    "matricule ins",
    "numéro ss",
    "numéro de ss",
    "n° s.s.",
    "no s.s.",
    "numéro de s.s.",
    "n° de s.s.",
    "s.s.",
    "n° ss",
    "nss",
    "immatriculation",
    "assuré",
    "n° assuré",
    "numéro d'assuré",
    "carte vitale",
    "vitale",
    "french social security",
    "n° d'identification national",
    "numéro d'identification national",
    "n° d'id national",
    "identité nationale de santé",
    "identifiant national de santé",
    "n° de sécurité",
    "n° sécurité",
    "n° immat",
    "n° immatriculation",
    "n° d'immatriculation",
    "immat",
    "numéro insee",
    "n° insee",
    "n° assurance maladie",
    "assurance maladie",
    "n° d'assuré social",
    "matricule",
    "ameli",
    "cpam",
    "secu",
    "ss",
    "n° sécu soc",
    "sécu soc",
    "inss",
    "nir ins",
)
_RPPS_LABELS = ("rpps", "n° rpps", "numéro rpps", "répertoire partagé")
_FINESS_LABELS = ("finess", "n° finess", "numéro finess", "finess géographique", "finess juridique")
_ADELI_LABELS = ("adeli", "n° adeli", "numéro adeli")
_TAX_LABELS = (
    "numéro fiscal",
    "n° fiscal",
    "numero fiscal",
    "num fiscal",
    "spi",
    "n° spi",
    "numéro spi",
    "identifiant fiscal",
    "référence fiscale",
    "french tax number",
    "nif",
)

_SEP = r"[ .\-]?"
_NIR_BODY = (
    rf"[1-8]{_SEP}\d{{2}}{_SEP}\d{{2}}{_SEP}(?:\d{{2}}|2[ABab]){_SEP}\d{{3}}{_SEP}\d{{3}}"
    rf"|[1-8]{_SEP}\d{{2}}{_SEP}\d{{2}}{_SEP}9[78]\d{_SEP}\d{{2}}{_SEP}\d{{3}}"
)
_NIR = rf"(?:{_NIR_BODY})(?:(?i: ?[\-/(]? ?(?:cl[ée] ?:? ?)?)\d{{2}})?"
_NIR_GROUPED = full(
    r"\d \d\d \d\d (?:(?:\d\d|2[ABab]) \d{3}|9[78]\d \d\d) \d{3}(?:\s?[/(-]?\s?(?:cl[ée]\s?:?\s?)?\d\d)?"
)
_SHAPE = re.compile(r"([1-478])\d\d(\d\d)(\d\d|2[AB])\d{6}(?:\d\d)?")


def _plausible(value: str) -> bool:
    """Sex, month and department that the registry gives out (20, 30 to 42, 50 to 99: month unknown)."""
    match = _SHAPE.fullmatch(_compact(value))
    if match is None:
        return False
    month, department = int(match[2]), match[3]
    return (1 <= month <= 12 or month == 20 or 30 <= month <= 42 or month >= 50) and department != "00"


def _compact(value: str) -> str:
    return alnum(re.sub(r"(?i)cl[ée]", "", value))


def _with_key(value: str) -> bool:
    return _plausible(value) and bool(nir.is_valid(_compact(value)))


def _without_key(value: str) -> bool:
    return len(_compact(value)) == 13 and _plausible(value) and value[0] in "12" and int(digits(value)[3:5]) <= 12


def _is_rpps(value: str) -> bool:
    return bool(luhn.is_valid(digits(value)))


RULES: tuple[Rule, ...] = (
    Rule(
        "FR_NIR",
        "social security number with key",
        _NIR,
        check=_with_key,
        labels=_NIR_LABELS,
        bare=0.8,
        labelled=0.98,
        grouped=0.95,
        is_grouped=_NIR_GROUPED,
    ),
    Rule(
        "FR_NIR",
        "social security number without key",
        _NIR,
        check=_without_key,
        labels=(*_NIR_LABELS, *ABOUT_A_PATIENT),
        labelled=0.85,
        grouped=0.6,
        is_grouped=_NIR_GROUPED,
    ),
    Rule(
        "FR_NIR",
        "social security number in boxes or other groups",
        r"[12](?: \d){14}|[12]\d{3}(?:[ .\-]\d{4}){2}[ .\-]\d{3}",
        check=_with_key,
        bare=0.6,
    ),
    Rule(
        "FR_NIR",
        "social security number in its groups, its key mistyped",
        r"[1-478] \d{2} \d{2} (?:\d{2}|2[AB]) \d{3} \d{3} ?[/(|\-]? ?\d{2}",
        check=_plausible,
        bare=0.65,
    ),
    Rule(
        "FR_NIR",
        "social security number of a patient, its digits mistyped",
        r"[12]\d{12}(?:[ /]{0,3}\d\d)?|[12](?:[ .]{1,2}\d{2}){3}(?:[ .]{1,2}\d{3}){2}(?:[ ./\-]{1,3}\d\d)?",
        labels=ABOUT_A_PATIENT,
        labelled=0.6,
        before=90,
        after=60,
    ),
    stated("FR_NIR", "social security number in boxes, stated", _NIR_LABELS, r"\d(?:[ .\-/]{0,2}\d){12,14}", 0.8),
    stated("FR_NIR", "stated social security number", _NIR_LABELS, _NIR, 0.85),
    Rule(
        "FR_RPPS",
        "RPPS number",
        r"1\d{10}|1\d{4}(?: \d{3}){2}",
        check=_is_rpps,
        labels=(*_RPPS_LABELS, "médecin", "prescripteur"),
        labelled=0.9,
    ),
    stated("FR_RPPS", "stated RPPS number", _RPPS_LABELS, r"\d{2}(?: ?\d){9}", 0.9),
    stated("MEDICAL_LICENSE", "ADELI number", _ADELI_LABELS, r"\d{2}(?: ?[\dA-B])(?: ?\d){6}", 0.8),
    Rule(
        "FR_FINESS",
        "FINESS number",
        r"\d{2} ?\d{6} ?\d|\d{2} ?\d{3} ?\d{3} ?\d",
        check=_is_rpps,
        labels=_FINESS_LABELS,
        labelled=0.9,
    ),
    stated("FR_FINESS", "stated FINESS number", _FINESS_LABELS, r"\d[\dAB](?: ?\d){7}", 0.85),
    Rule(
        "FR_TAX_ID",
        "tax number",
        r"[0-3]\d{12}|[0-3]\d \d{2} \d{3} \d{3} \d{3}",
        check=stdnum_check(nif, digits),
        labels=_TAX_LABELS,
        labelled=0.95,
        grouped=0.75,
        is_grouped=full(r"\d\d \d\d \d{3} \d{3} \d{3}"),
    ),
    stated("FR_TAX_ID", "stated tax number", _TAX_LABELS, r"\d(?: ?\d){12}", 0.85),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "FR_NIR",
        "Social security number (NIR, INS)",
        "N° de sécurité sociale : 2 99 02 99 999 999 45",
        "2 99 02 99 999 999 45",
        "key modulo 97; label or usual grouping",
        "Décret n° 2018-390; stdnum.fr.nir",
    ),
    Entity(
        "FR_RPPS",
        "RPPS number of a health professional",
        "Dr X, RPPS 10999999997",
        "10999999997",
        "Luhn and a label",
        "Agence du Numérique en Santé, annuaire RPPS",
    ),
    Entity(
        "FR_FINESS",
        "FINESS number of a health establishment",
        "FINESS 990999997",
        "990999997",
        "Luhn and a label",
        "Agence du Numérique en Santé, FINESS; arrêté du 13 novembre 2013",
    ),
    Entity(
        "FR_TAX_ID",
        "Tax number (SPI)",
        "Numéro fiscal : 09 99 999 999 082",
        "09 99 999 999 082",
        "key modulo 511; label or usual grouping",
        "DGFiP, numéro SPI; stdnum.fr.nif",
    ),
)

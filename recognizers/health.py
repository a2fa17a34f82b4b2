"""Medical record numbers and health plan numbers: no check digit exists, so the label decides.

May import: recognizers.base, recognizers.national.common, presidio_analyzer.
"""

from __future__ import annotations

import re

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, alnum, digits
from recognizers.national.common import stated

_STRONG = (
    "mrn",
    "m.r.n.",
    "medical record",
    "medical record number",
    "medical record no",
    "med rec",
    "med rec no",
    "patient id",
    "patient identifier",
    "patient no",
    "patient number",
    "hospital number",
    "hospital no",
    "hospital id",
    "chart no",
    "chart number",
    "chart id",
    "health record",
    "record locator",
    "emr",
    "emr id",
    "ehr id",
    "patient record",
    "n° dossier",
    "numéro de dossier",
    "numéro dossier",
    "n° de dossier",
    "num dossier",
    "no dossier",
    "dossier patient",
    "dossier médical",
    "dossier n°",
    "dossier no",
    "ipp",
    "n° ipp",
    "nip",
    "n° nip",
    "n° patient",
    "numéro patient",
    "numéro de patient",
    "identifiant patient",
    "id patient",
    "n° identification patient",
    "identifiant d'hospitalisation",
    "identification patient",
    "n° id",
    "nda",
    "n° nda",
    "n° de séjour",
    "numéro de séjour",
    "n° séjour",
    "iep",
    "patienten id",
    "patientennummer",
    "patienten nr",
    "patientennr",
    "pat nr",
    "pat id",
    "fallnummer",
    "fall nr",
    "aufnahmenummer",
    "krankenaktennummer",
    "historia clínica",
    "n° historia",
    "número de historia",
    "número de historia clínica",
    "nhc",
    "n.h.c.",
    "episodio",
    "n° episodio",
    "cipa",
    "piz",
    "vorgangs nr",
    "fallzahl",
    "nº historia clínica",
    "cartella clinica",
    "numero cartella",
    "n. cartella",
    "id paziente",
    "codice paziente",
)
_NEAR = (
    "mrn",
    "medical record",
    "medical record number",
    "patient id",
    "patient number",
    "hospital number",
    "chart number",
    "chart no",
    "patient identifier",
    "numéro de dossier",
    "n° dossier",
    "n° de dossier",
    "ipp",
    "n° patient",
    "numéro patient",
    "identifiant patient",
    "numéro de séjour",
    "n° de séjour",
    "patientennummer",
    "historia clínica",
    "cartella clinica",
)
_PLAN = (
    "member id",
    "member no",
    "member number",
    "membership number",
    "membership no",
    "subscriber id",
    "subscriber no",
    "subscriber number",
    "policy no",
    "policy number",
    "policy id",
    "policy",
    "plan id",
    "health plan",
    "health plan id",
    "insurance id",
    "insurance member id",
    "beneficiary id",
    "beneficiary number",
    "group no",
    "group number",
    "insurance number",
    "insurance no",
    "insurance plan",
    "insurance policy",
    "insurance",
    "insurer id",
    "insur id",
    "insur",
    "hbn",
    "health insurance",
    "health insurance number",
    "n° adhérent",
    "numéro d'adhérent",
    "numéro adhérent",
    "n° d'adhérent",
    "adhérent",
    "mutuelle",
    "n° mutuelle",
    "numéro de mutuelle",
    "n° de contrat",
    "n° contrat",
    "numéro de contrat",
    "n° de police",
    "numéro de police",
    "mitgliedsnummer",
    "policennummer",
    "versicherungsschein",
    "versicherungsscheinnummer",
    "número de póliza",
    "n° póliza",
    "póliza",
    "numero polizza",
    "n. polizza",
    "polizza",
)

_CODE = r"(?i:[A-Z]{0,5}[\-/ ]?\d[A-Z\d]*(?:[\-/.]?[A-Z\d]+){0,4}|[A-Z]{1,3}\d[A-Z\d\-]{2,14}|[A-Z\d]{4,14})"
_DATE = re.compile(r"\d{4}([/.\-])\d\d?\1\d\d?|\d\d?([/.\-])\d\d?\2(?:\d{4}|\d\d)")


def _is_record(value: str) -> bool:
    return _is_code(value, 4, 12)


def _is_plan(value: str) -> bool:
    return _is_code(value, 5, 16)


def _is_code(value: str, least: int, most: int) -> bool:
    """At least three digits, not a date, nothing that is a word with a number behind it."""
    letters = len(alnum(value)) - len(digits(value))
    return (
        least <= len(alnum(value)) <= most
        and len(digits(value)) >= 3
        and letters <= len(digits(value))
        and _DATE.fullmatch(value) is None
    )


RULES: tuple[Rule, ...] = (
    stated("MEDICAL_RECORD", "stated record number", _STRONG, _CODE, 0.85, _is_record),
    Rule(
        "MEDICAL_RECORD",
        "record number near its label",
        r"[A-Za-z]{0,3}-?\d{5,10}",
        check=_is_record,
        labels=_NEAR,
        labelled=0.7,
        before=45,
        after=50,
    ),
    stated("MEDICAL_RECORD", "number of a patient", ("patient", "patiente", "paciente", "paziente"), r"\d{7,12}", 0.6),
    stated("HEALTH_PLAN_ID", "stated plan number", _PLAN, _CODE, 0.75, _is_plan),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "MEDICAL_RECORD",
        "Medical record number",
        "Patient MRN 09999998.",
        "09999998",
        "behind, before or below its label",
        "HIPAA 45 CFR 164.514(b)(2)(i)(H)",
    ),
    Entity(
        "HEALTH_PLAN_ID",
        "Health plan beneficiary number",
        "Member ID: ZZZ999999998",
        "ZZZ999999998",
        "behind its label",
        "HIPAA 45 CFR 164.514(b)(2)(i)(I)",
    ),
)


def build() -> list[EntityRecognizer]:
    return [RuleRecognizer("health", RULES)]

"""Numbers that stand for an employee or a vehicle: known by their label, or by a form that nothing else has.

May import: recognizers.base, recognizers.national.common, presidio_analyzer.
"""

from __future__ import annotations

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, alnum, digits
from recognizers.national.common import has_digits, stated

_STAFF = (
    "employee id",
    "employee no",
    "employee number",
    "employee ref",
    "staff id",
    "staff no",
    "staff number",
    "payroll ref",
    "payroll no",
    "payroll number",
    "payroll id",
    "personnel no",
    "personnel number",
    "worker id",
    "matricule",
    "numéro de matricule",
    "n° matricule",
    "n° salarié",
    "numéro de salarié",
    "identifiant salarié",
    "personalnummer",
    "número de empleado",
    "matricola",
    "numero di matricola",
    "ficha de empleado",
    "n° de empleado",
    "empleado n°",
    "legajo",
    "personal nr",
    "personalnr",
    "mitarbeiternummer",
    "mitarbeiter nr",
    "mitarbeiter id",
    "codice dipendente",
    "id dipendente",
    "badge",
    "badge no",
    "badge number",
    "n° de badge",
    "n° agent",
    "id employé",
    "code salarié",
)
_PLATE = (
    "registration",
    "registration no",
    "registration number",
    "reg no",
    "reg plate",
    "number plate",
    "licence plate",
    "license plate",
    "license plate number",
    "plate no",
    "plate number",
    "vrm",
    "immatriculation",
    "n° d'immatriculation",
    "plaque",
    "plaque d'immatriculation",
    "immatriculé",
    "immatriculée",
    "kennzeichen",
    "amtliches kennzeichen",
    "matrícula",
    "targa",
)
_FRENCH_PLATE = r"(?i:[A-HJ-NP-TV-Z]{2}-[0-9]{3}-[A-HJ-NP-TV-Z]{2})"
_BRITISH_PLATE = r"(?i:[A-HJ-PR-Y][A-HJ-PR-Y][0-9]{2} ?[A-HJ-PR-Z]{3})"
_VIN = r"[A-HJ-NPR-Z0-9]{17}"
_VIN_VALUES = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True)  # 49 CFR 565.15
)
_VIN_LABELS = ("vin", "chassis", "châssis", "fahrgestellnummer")
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)

ENTITIES = (
    Entity("STAFF_ID", "Employee number", "Payroll ref: E24917", "E24917", "behind its label", "-"),
    Entity(
        "LICENSE_PLATE",
        "Licence plate",
        "Véhicule A : FG-417-RT, conducteur",
        "FG-417-RT",
        "French form (two letters, three digits, two letters), or behind its label",
        "FR arrêté du 9 février 2009; UK Road Vehicles (Display of Registration Marks) Regulations 2001",
    ),
    Entity(
        "VIN",
        "Vehicle identification number",
        "VIN 1M8GDM9AXKP042788",
        "1M8GDM9AXKP042788",
        "check digit, or behind its label",
        "ISO 3779; 49 CFR 565",
    ),
)


def _looks_like_a_plate(value: str) -> bool:
    """Letters in capitals and at least two digits: `Registration: open` and `Reg no 3` are none."""
    return value == value.upper() and len(digits(value)) >= 2 and any(char.isalpha() for char in value)


def _is_vin(value: str) -> bool:
    """The ninth character is the weighted sum of the others modulo 11, `X` for 10."""
    number = alnum(value)
    total = sum(
        weight * (int(char) if char.isdigit() else _VIN_VALUES[char])
        for char, weight in zip(number, _VIN_WEIGHTS, strict=True)
    )
    return number[8] == "0123456789X"[total % 11] and any(char.isdigit() for char in number)


RULES = (
    stated("STAFF_ID", "employee number", _STAFF, r"[A-Z]{0,4}-?\d{3,10}[A-Z]?", 0.8, has_digits(3, 10)),
    Rule("LICENSE_PLATE", "French plate", _FRENCH_PLATE, bare=0.6, labels=_PLATE),
    stated("LICENSE_PLATE", "French plate behind its label", _PLATE, _FRENCH_PLATE, 0.85),
    stated("LICENSE_PLATE", "British plate", _PLATE, _BRITISH_PLATE, 0.85),
    stated(
        "LICENSE_PLATE",
        "other plate",
        _PLATE,
        r"[A-ZÄÖÜ]{1,3}[ -]?[A-Z]{0,3}[ -]?\d{1,4}[ -]?[A-Z]{0,3}|\d{4}[ -]?[A-Z]{3}",
        0.7,
        _looks_like_a_plate,
    ),
    Rule(
        "VIN",
        "identification number",
        _VIN,
        _is_vin,
        ("vin", "chassis", "châssis", "fahrgestellnummer"),
        0.6,
        0.95,
        0.7,
    ),
)


def build() -> list[EntityRecognizer]:
    return [RuleRecognizer("work", RULES)]

"""United States: SSN, ITIN, Medicare beneficiary, NPI, DEA registration, driver's licence, passport.

May import: recognizers.base, recognizers.national.common, python-stdnum.
"""

from __future__ import annotations

import re

from stdnum import luhn

from recognizers.base import Entity, Rule, alnum, digits
from recognizers.national.common import full, has_digits, stated

_SSN_LABELS = ("ssn", "ss", "ss#", "social", "social security", "social security number", "soc sec", "s.s.n.")
_ITIN_LABELS = (
    "itin",
    "individual taxpayer",
    "individual taxpayer identification number",
    "taxpayer id",
    "tax id",
    "tin",
)
_MBI_LABELS = ("mbi", "medicare", "medicare id", "medicare beneficiary", "medicare beneficiary identifier", "hicn")
_NPI_LABELS = ("npi", "national provider identifier", "provider identifier")
_DEA_LABELS = ("dea", "dea registration", "dea number", "dea license", "drug enforcement administration")
_LICENSE_LABELS = (
    "driver's license",
    "drivers license",
    "driver license",
    "driving license",
    "driver's licence",
    "driver licence",
    "driver's lic",
    "drivers lic",
    "dl",
    "d.l.",
    "operator license",
    "license no",
    "license number",
    "state id",
)
_PASSPORT_LABELS = ("passport", "us passport", "american passport", "passport card", "passport book")

_THREE_TWO_FOUR = r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}"
_LOOSE = r"\d{3}[ .\-]{0,3}\d{2}[ .\-]{0,3}\d{4}|\d{3}-\d{6}|\d{5}-\d{4}"
_ITIN_GROUPS = {*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)}


def ssn(value: str) -> bool:
    """A number the Social Security Administration can have issued (POMS RM 10201.035). No list of samples."""
    number = digits(value)
    area, group, serial = number[:3], number[3:5], number[5:]
    return len(number) == 9 and area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


def itin(value: str) -> bool:
    """Nine digits in the range that the Internal Revenue Service gives out (IRM 3.21.263)."""
    number = digits(value)
    return len(number) == 9 and number[0] == "9" and int(number[3:5]) in _ITIN_GROUPS


def npi(value: str) -> bool:
    """Luhn over `80840` and the ten digits (45 CFR 162.406, ISO/IEC 7812)."""
    number = digits(value)
    return len(number) == 10 and bool(luhn.is_valid("80840" + number))


def dea(value: str) -> bool:
    """Registrant type, initial, six digits, check digit: sum of odd places plus twice the even ones, modulo 10."""
    text = alnum(value)
    if re.fullmatch(r"[A-HJ-NPR-UX][A-Z9]\d{7}", text) is None:
        return False
    number = [int(char) for char in text[2:]]
    return (sum(number[0:6:2]) + 2 * sum(number[1:6:2])) % 10 == number[6]


RULES: tuple[Rule, ...] = (
    Rule(
        "US_SSN",
        "Social Security number",
        _THREE_TWO_FOUR,
        check=ssn,
        labels=_SSN_LABELS,
        bare=0.5,
        labelled=0.95,
        grouped=0.85,
        is_grouped=full(r"\d{3}-\d\d-\d{4}"),
    ),
    Rule(
        "US_SSN",
        "Social Security number, label behind",
        r"\d{9}",
        check=ssn,
        labels=(*_SSN_LABELS[3:], "ssn"),
        labelled=0.8,
        before=0,
        after=25,
    ),
    stated("US_SSN", "stated Social Security number", _SSN_LABELS, _LOOSE, 0.95),
    Rule(
        "US_ITIN",
        "taxpayer number",
        r"9\d{2}-\d{2}-\d{4}|9\d{2} \d{2} \d{4}",
        check=itin,
        labels=_ITIN_LABELS,
        bare=0.5,
        labelled=0.97,
        grouped=0.8,
        is_grouped=full(r"\d{3}-\d\d-\d{4}"),
    ),
    stated("US_ITIN", "stated taxpayer number", _ITIN_LABELS, r"9\d{2}[ .\-]{0,3}\d{2}[ .\-]{0,3}\d{4}", 0.96),
    Rule(
        "US_MBI",
        "Medicare beneficiary identifier",
        r"[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}",
        labels=_MBI_LABELS,
        bare=0.7,
        labelled=0.95,
        grouped=0.85,
        is_grouped=full(r".{4}-.{3}-.{4}"),
    ),
    stated(
        "US_MBI",
        "stated Medicare number",
        _MBI_LABELS,
        r"(?i:[1-9][A-Z][A-Z0-9]\d[ \-]?[A-Z][A-Z0-9]\d[ \-]?[A-Z]{2}\d{2}|\d{3}-?\d{2}-?\d{4}-?[A-Z]\d?)",
        0.85,
    ),
    Rule(
        "US_NPI",
        "provider number",
        r"[12]\d{9}",
        check=npi,
        labels=(*_NPI_LABELS, "provider", "physician"),
        labelled=0.95,
    ),
    stated("US_NPI", "stated provider number", _NPI_LABELS, r"\d{10}", 0.85),
    Rule(
        "MEDICAL_LICENSE",
        "DEA registration",
        r"(?i:[A-HJ-NPR-UX][A-Z9]-?\d{7})",
        check=dea,
        labels=(*_DEA_LABELS, "prescriber", "physician", "doctor"),
        bare=0.4,
        labelled=0.95,
    ),
    stated("MEDICAL_LICENSE", "stated DEA registration", _DEA_LABELS, r"(?i:[A-Z][A-Z9][ \-]?\d{7})", 0.85),
    stated(
        "US_DRIVER_LICENSE",
        "driver's license",
        _LICENSE_LABELS,
        r"(?i:[A-Z]{0,3}[ \-]?\d{2,5}(?:[ \-]?\d{1,5}){1,4}[A-Z]?|[A-Z0-9]{7,14})",
        0.8,
        has_digits(4, 16),
    ),
    stated("US_PASSPORT", "passport of the United States", _PASSPORT_LABELS, r"(?i:[A-Z])\d{8}", 0.85),
    stated("US_PASSPORT", "numeric passport of the United States", _PASSPORT_LABELS[1:], r"\d{9}", 0.85),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "US_SSN",
        "Social Security number",
        "SSN 899-99-9998",
        "899-99-9998",
        "area, group and serial rules, or a label",
        "SSA POMS RM 10201.035",
    ),
    Entity(
        "US_ITIN",
        "Individual taxpayer number",
        "ITIN 999-88-9998",
        "999-88-9998",
        "group ranges, or a label",
        "IRS IRM 3.21.263",
    ),
    Entity(
        "US_MBI",
        "Medicare beneficiary identifier",
        "MBI 9YY9-YY9-YY99",
        "9YY9-YY9-YY99",
        "position by position",
        "CMS, Understanding the MBI format",
    ),
    Entity(
        "US_NPI",
        "National provider identifier",
        "NPI 1999999984",
        "1999999984",
        "Luhn with prefix 80840 and a label",
        "45 CFR 162.406",
    ),
    Entity(
        "MEDICAL_LICENSE",
        "Licence number of a prescriber, doctor or nurse",
        "DEA number XZ9999991",
        "XZ9999991",
        "check digit, or a label",
        "21 CFR 1301; registers of other countries",
    ),
    Entity(
        "US_DRIVER_LICENSE",
        "Driver's license number",
        "Driver's license Z9999998",
        "Z9999998",
        "behind its label",
        "AAMVA D20",
    ),
    Entity(
        "US_PASSPORT",
        "Passport number of the United States",
        "Passport number Z99999998",
        "Z99999998",
        "behind its label",
        "ICAO Doc 9303",
    ),
)

"""National numbers beyond Europe and the United States, one row each.

May import: recognizers.base, recognizers.national.common, recognizers.national.table, python-stdnum.
"""

from __future__ import annotations

import re

from stdnum import luhn
from stdnum.au import tfn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.cn import ric
from stdnum.in_ import aadhaar, pan
from stdnum.mx import curp
from stdnum.tr import tckimlik
from stdnum.za import idnr

from recognizers.base import alnum, digits, stdnum_check
from recognizers.national.common import has_digits
from recognizers.national.table import Number


def medicare(value: str) -> bool:
    """Nine digits with weights 1, 3, 7, 9 for the first eight, modulo 10; then the issue and the person's place."""
    number = digits(value)
    if len(number) not in (10, 11) or not "2" <= number[0] <= "6":
        return False
    weights = (1, 3, 7, 9, 1, 3, 7, 9)
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False)) % 10 == int(number[8])


def health_card(value: str) -> bool:
    """Ontario: ten digits with Luhn. Québec: four letters and a birth date whose month is up by 50 for women."""
    text = alnum(value)
    if re.fullmatch(r"\d{10}(?:[A-Z]{2})?", text):
        return bool(luhn.is_valid(text[:10]))
    return re.fullmatch(r"[A-Z]{4}\d\d(?:0[1-9]|1[0-2]|5[1-9]|6[0-2])(?:[012]\d|3[01])\d\d", text) is not None


def nric(value: str) -> bool:
    """Weights 2, 7, 6, 5, 4, 3, 2 and an offset by series; the rest modulo 11 is the letter."""
    text = alnum(value)
    if re.fullmatch(r"[STFGM]\d{7}[A-Z]", text) is None:
        return False
    offset = {"S": 0, "F": 0, "T": 4, "G": 4, "M": 3}[text[0]]
    rest = (offset + sum(int(d) * w for d, w in zip(text[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))) % 11
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "G": "XWUTRQPNMLK", "M": "KLJNPQRTUWX"}
    return letters[text[0]][10 - rest if text[0] == "M" else rest] == text[8]


NUMBERS: tuple[Number, ...] = (
    Number(
        "CA_SIN",
        "Social insurance number of Canada",
        ("sin", "social insurance number", "social insurance", "numéro d'assurance sociale", "nas", "canadian sin"),
        r"[1-79]\d{2}[ \-]?\d{3}[ \-]?\d{3}",
        r"\d{3}[ \-.]{0,3}\d{3}[ \-.]{0,3}\d{3}",
        stdnum_check(sin, digits),
        "SIN 999-999-998",
        "999-999-998",
        "Luhn and a label",
        "Employment Insurance Act, s. 138; stdnum.ca.sin",
    ),
    Number(
        "CA_HEALTH_CARD",
        "Provincial health card of Canada",
        (
            *(
                "ohip",
                "health card",
                "health card number",
                "health card no",
                "carte santé",
                "carte d'assurance maladie",
            ),
            *("ramq", "nam", "numéro d'assurance maladie", "phn", "personal health number", "ahcip", "care card"),
        ),
        r"\d{4}[ \-]\d{3}[ \-]\d{3}(?:[ \-]?[A-Z]{2})?|[A-Z]{4} ?\d{4} ?\d{4}",
        r"(?i:[A-Z]{4} ?\d{4} ?\d{4}|\d{4}[ \-]?\d{3}[ \-]?\d{3}(?:[ \-]?[A-Z]{2}\b)?|\d{9})",
        health_card,
        "Health card 9999-999-999-ZZ",
        "9999-999-999-ZZ",
        "Luhn (Ontario) or coded birth date (Québec), and a label",
        "Ontario Health Insurance Act, Reg. 552; RAMQ, numéro d'assurance maladie",
    ),
    Number(
        "AU_MEDICARE",
        "Medicare card of Australia",
        ("medicare", "medicare no", "medicare number", "medicare card", "australian medicare"),
        r"[2-6]\d{3} ?\d{5} ?\d(?:[ /\-]?\d)?",
        r"\d{4} ?\d{5} ?\d(?:[ /\-]?\d)?",
        medicare,
        "Medicare card 2999 99993 1",
        "2999 99993 1",
        "weighted modulo 10 and a label",
        "Health Insurance Act 1973; Services Australia, Medicare card number",
    ),
    Number(
        "AU_TFN",
        "Tax file number of Australia",
        ("tfn", "tax file number", "tax file no", "australian tax file number"),
        r"\d{3} ?\d{3} ?\d{2,3}",
        r"\d{3}[ \-]?\d{3}[ \-]?\d{2,3}",
        stdnum_check(tfn, digits),
        "TFN 999 999 984",
        "999 999 984",
        "weighted modulo 11 and a label",
        "Taxation Administration Act 1953, part VA; stdnum.au.tfn",
    ),
    Number(
        "IN_AADHAAR",
        "Aadhaar number of India",
        ("aadhaar", "aadhar", "adhaar", "uidai", "uid"),
        r"[2-9]\d{3}[ \-]?\d{4}[ \-]?\d{4}",
        r"\d{4}[ \-]?\d{4}[ \-]?\d{4}",
        stdnum_check(aadhaar, digits),
        "Aadhaar 9999 9999 9981",
        "9999 9999 9981",
        "Verhoeff; label or usual grouping",
        "Aadhaar Act 2016; stdnum.in_.aadhaar",
        grouped=r"\d{4} \d{4} \d{4}",
        sure=0.6,
    ),
    Number(
        "IN_PAN",
        "Permanent account number of India",
        ("pan", "pan no", "pan number", "pan card", "permanent account number"),
        r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]",
        r"(?i:[A-Z]{5}\d{4}[A-Z])",
        stdnum_check(pan),
        "PAN ZZZPZ9998Z",
        "ZZZPZ9998Z",
        "position by position",
        "Income-tax Act 1961, s. 139A; stdnum.in_.pan",
        bare=0.6,
    ),
    Number(
        "BR_CPF",
        "CPF of Brazil",
        ("cpf", "cadastro de pessoas físicas", "n° cpf"),
        r"\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}",
        r"\d{3}[. ]?\d{3}[. ]?\d{3}[\- ]?\d{2}",
        stdnum_check(cpf, digits),
        "CPF 999.999.980-89",
        "999.999.980-89",
        "two check digits modulo 11; label or usual grouping",
        "Instrução Normativa RFB 2.172/2024; stdnum.br.cpf",
        grouped=r"\d{3}\.\d{3}\.\d{3}-\d{2}",
        sure=0.9,
    ),
    Number(
        "ZA_ID_NUMBER",
        "Identity number of South Africa",
        ("south african id", "sa id", "sa id number", "rsa id", "id number", "identity number"),
        r"\d{13}|\d{6} \d{4} \d{3}",
        r"\d{6} ?\d{4} ?\d{3}",
        stdnum_check(idnr, digits),
        "SA ID number 9001019999084",
        "9001019999084",
        "birth date, Luhn and a label",
        "Identification Act 68 of 1997; stdnum.za.idnr",
    ),
    Number(
        "TR_NATIONAL_ID",
        "Identity number of Türkiye",
        ("tc kimlik", "t.c. kimlik no", "tckn", "kimlik numarası", "kimlik no", "turkish id"),
        r"[1-9]\d{10}",
        r"\d{11}",
        stdnum_check(tckimlik, digits),
        "TC kimlik no 99999998078",
        "99999998078",
        "two check digits and a label",
        "Law 5490 on population services; stdnum.tr.tckimlik",
    ),
    Number(
        "MX_CURP",
        "Population registry code of Mexico",
        ("curp", "clave única de registro de población"),
        r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d",
        r"(?i:[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d)",
        stdnum_check(curp),
        "CURP ZEZZ900101HDFXXX07",
        "ZEZZ900101HDFXXX07",
        "birth date and check digit, or a label",
        "Ley General de Población, art. 91; stdnum.mx.curp",
        bare=0.9,
    ),
    Number(
        "CN_RESIDENT_ID",
        "Resident identity number of China",
        ("身份证", "身份证号", "居民身份证", "resident identity card", "chinese id"),
        r"\d{17}[\dXx]",
        r"\d{17}[\dXx]",
        stdnum_check(ric),
        "resident identity card 110101199001019992",
        "110101199001019992",
        "place, birth date and ISO 7064 mod 11, 2",
        "GB 11643-1999; stdnum.cn.ric",
        bare=0.75,
    ),
    Number(
        "SG_NRIC_FIN",
        "NRIC or FIN of Singapore",
        ("nric", "fin", "nric no", "nric number", "singapore id"),
        r"[STFGM]\d{7}[A-Z]",
        r"(?i:[STFGM]\d{7}[A-Z])",
        nric,
        "NRIC S9999998E",
        "S9999998E",
        "check letter modulo 11",
        "National Registration Act 1965",
        bare=0.7,
        stated_check=has_digits(7, 7),
    ),
)

RULES = tuple(rule for number in NUMBERS for rule in number.rules())
ENTITIES = tuple(number.row() for number in NUMBERS)

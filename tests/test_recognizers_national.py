"""National identifiers: what is found bare, grouped and labelled, and what is not found at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.at import vnr
from stdnum.be import nn
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fr import nif, nir
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel

from recognizers.national import ENTITIES, RULES, build, de, es, uk, us

RECOGNIZERS = build()
SURE = 0.5
PHONE = 0.5  # A telephone number scores at least this much.


def found(text: str, least: float = SURE) -> set[tuple[str, str]]:
    """Entity and value of the best reading of every place, as an overlap resolver would choose it."""
    hits = [hit for each in RECOGNIZERS for hit in each.analyze(text, each.supported_entities) if hit.score >= least]
    kept: list[tuple[int, int, str]] = []
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.start - hit.end)):
        if all(hit.end <= start or end <= hit.start for start, end, _ in kept):
            kept.append((hit.start, hit.end, hit.entity_type))
    return {(entity, text[start:end]) for start, end, entity in kept}


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.name)
def test_the_example_in_the_entity_table_is_found(entity):
    assert (entity.name, entity.value) in found(entity.example)


def test_every_rule_serves_an_entity_of_the_table():
    assert {rule.entity for rule in RULES} == {entity.name for entity in ENTITIES}


CASES = [
    # United Kingdom
    ("NHS number 999 000 1235", {("UK_NHS", "999 000 1235")}),
    ("NHS No. 9990001235", {("UK_NHS", "9990001235")}),
    ("nhs_number: 999-000-1235", {("UK_NHS", "999-000-1235")}),
    ("NHS no: 999 000 1236", {("UK_NHS", "999 000 1236")}),
    ("9990001235 is her NHS number", {("UK_NHS", "9990001235")}),
    ("seen today, 999 000 1235, discharged", {("UK_NHS", "999 000 1235")}),
    ("NI number: AB 99 99 98 C", {("UK_NINO", "AB 99 99 98 C")}),
    ("paid under AB999998C last year", {("UK_NINO", "AB999998C")}),
    ("National Insurance: QQ 12 34 56 C", {("UK_NINO", "QQ 12 34 56 C")}),
    ("nino ab999998c", {("UK_NINO", "ab999998c")}),
    ("Driving licence: ZZZZ9901019Z99ZZ", {("UK_DRIVING_LICENCE", "ZZZZ9901019Z99ZZ")}),
    ("Consultant, GMC 9999998", {("MEDICAL_LICENSE", "9999998")}),
    # France
    ("NIR : 2 99 02 99 999 999 45", {("FR_NIR", "2 99 02 99 999 999 45")}),
    ("n° sécu 299029999999945", {("FR_NIR", "299029999999945")}),
    ("dossier 299029999999945 à revoir", {("FR_NIR", "299029999999945")}),
    ("N° INS : 2 99 02 99 999 999 46", {("FR_NIR", "2 99 02 99 999 999 46")}),
    ("sécurité sociale 2990299999999", {("FR_NIR", "2990299999999")}),
    ("Mme Martel, 72 ans, 2990299999999 hospitalisée", {("FR_NIR", "2990299999999")}),
    ("Numéro de S.S. : 299029999999946", {("FR_NIR", "299029999999946")}),
    ("Patiente MARTEL Yvonne, 2 99 99 99 999 999 46", {("FR_NIR", "2 99 99 99 999 999 46")}),
    ("'DUPONT', '2 99 02 99 999 999', 'x'", {("FR_NIR", "2 99 02 99 999 999")}),
    ("INS 1 99 02 2A 999 999 66", {("FR_NIR", "1 99 02 2A 999 999 66")}),
    ("NIR 1 99 02 971 05 999 42", {("FR_NIR", "1 99 02 971 05 999 42")}),
    ("Numéro de sécurité sociale : 2 99 02 99 999 999 clé 45", {("FR_NIR", "2 99 02 99 999 999 clé 45")}),
    ("Dr X - RPPS 10999999997", {("FR_RPPS", "10999999997")}),
    ("RPPS : 10999999996", {("FR_RPPS", "10999999996")}),
    ("Numéro fiscal : 09 99 999 999 082", {("FR_TAX_ID", "09 99 999 999 082")}),
    ("SPI 0999999999081", {("FR_TAX_ID", "0999999999081")}),
    ("passeport n° 99ZZ99998", {("PASSPORT", "99ZZ99998")}),
    ("Carte nationale d'identité : 999999999998", {("ID_CARD", "999999999998")}),
    ("CNI n° ZZ9Z999Z8", {("ID_CARD", "ZZ9Z999Z8")}),
    ("permis n° 99ZZ99998", {("DRIVER_LICENSE", "99ZZ99998")}),
    # United States
    (
        "SSN 987-65-4321 on file, SSN 899-99-9998, ssn 899999998",
        {("US_SSN", "987-65-4321"), ("US_SSN", "899-99-9998"), ("US_SSN", "899999998")},
    ),
    ("hers is 899-99-9998", {("US_SSN", "899-99-9998")}),
    ("000-99-9998 and 666-99-9998 and 899-00-9998 and 899-99-0000", set()),
    ("Social Security Number (SSN): 899 99 9998", {("US_SSN", "899 99 9998")}),
    ("ITIN 999-88-9998", {("US_ITIN", "999-88-9998")}),
    ("her 999-88-9998", {("US_ITIN", "999-88-9998")}),
    ("Medicare 9YY9-YY9-YY99", {("US_MBI", "9YY9-YY9-YY99")}),
    ("9YY9YY9YY99 on the card", {("US_MBI", "9YY9YY9YY99")}),
    ("(NPI 1999999984)", {("US_NPI", "1999999984")}),
    ("NPI: 1999999985", {("US_NPI", "1999999985")}),
    ("DEA XZ9999991", {("MEDICAL_LICENSE", "XZ9999991")}),
    ("DEA # XZ9999992", {("MEDICAL_LICENSE", "XZ9999992")}),
    ("driver's license Z9999998 (CA)", {("US_DRIVER_LICENSE", "Z9999998")}),
    ("DL: Z999-999-99-998-0", {("US_DRIVER_LICENSE", "Z999-999-99-998-0")}),
    ("Passport: Z99999998", {("US_PASSPORT", "Z99999998")}),
    # Elsewhere, all in one English line
    (
        "Steuer-ID 65000123475, KVNR X999123452, codice fiscale ZZZXXX90A01Z999G, BSN 999900006, "
        "AHV 756.9999.1234.57, PESEL 90011599903, NIF 99999900V",
        {
            ("DE_TAX_ID", "65000123475"),
            ("DE_HEALTH_INSURANCE", "X999123452"),
            ("IT_FISCAL_CODE", "ZZZXXX90A01Z999G"),
            ("NL_BSN", "999900006"),
            ("CH_AHV", "756.9999.1234.57"),
            ("PL_PESEL", "90011599903"),
            ("ES_NIF", "99999900V"),
        },
    ),
    ("insured as X999123452", {("DE_HEALTH_INSURANCE", "X999123452")}),
    ("Rentenversicherungsnummer: 65010190Z991", {("DE_SOCIAL_SECURITY", "65010190Z991")}),
    ("Steuernummer 99/999/99998", {("DE_TAX_NUMBER", "99/999/99998")}),
    ("zzzxxx90a01z999g", {("IT_FISCAL_CODE", "zzzxxx90a01z999g")}),
    ("NIE Z9999999H", {("ES_NIE", "Z9999999H")}),
    ("N° Seguridad Social: 28/99999999/20", {("ES_NUSS", "28/99999999/20")}),
    ("Rijksregisternummer 99.01.01-997.89", {("BE_NN", "99.01.01-997.89")}),
    ("ingeschreven: 99.01.01-997.89", {("BE_NN", "99.01.01-997.89")}),
    ("BSN 9999.00.006", {("NL_BSN", "9999.00.006")}),
    ("nummer 9999.00.006", {("NL_BSN", "9999.00.006")}),
    ("SVNR 9918 010190", {("AT_SVNR", "9918 010190")}),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:50] for text, _ in CASES])
def test_identifiers(text, expected):
    assert found(text) == expected


HARMLESS = [
    "see https://wiki.example/pages/4711002383/Runbook for order 4711002383, qty 12",
    "Also 2125550105, thanks.",
    "SELECT * FROM users WHERE id = 1234567890; -- 1607635102.00 -0.96\n6033391\n6058722",
    "Run a 384-well duplicate (A1-4 - H1-4), figma file R12345678901234",
    "Use S3, EKS and C4 diagrams in Terraform, see v1.2.3.4 of the module",
    "trace 40000052-6018-1590-8111-000000000000",
    "transform: translate(0%, -0.4000005260181590%)",
    "commit 14ae301f9b7c4d2e8a6b5c4d3e2f1a0b9c8d7e6f",
    "ISBN 978-3-16-148410-0, EAN 4006381333931",
    "at 1733011200000 and 20240229T101112Z, price 1,234.56, ratio 0.9990001235",
    "65000123475 999900006 90011599903 1999999984 10999999997 9918010190 99010199789",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "The passport office opens at nine; the licence costs 150 dollars.",
    "DL 3 modules, see chapter 12; tin can 42",
]


@pytest.mark.parametrize("text", HARMLESS, ids=[text[:40] for text in HARMLESS])
def test_ordinary_text_holds_no_identifier(text):
    assert found(text) == set()


def test_a_dashed_number_that_passes_the_nhs_check_stays_below_a_telephone_number():
    assert nhs.is_valid("2125550105")
    assert found("Call 212-555-0105, please", least=PHONE) == set()


def test_a_label_is_a_whole_word():
    assert found("inspirational 0999999999082, dealership XZ9999992, unipi 1999999985") == set()


def test_a_value_is_not_cut_out_of_a_longer_number():
    assert found("NHS 99900012351, SSN 8999999981, KVNR X9991234521") == set()


# One property for each family of check digits: a valid number is found behind its label, a mistyped one too,
# and the mistyped one is not found without a label.
TEN = st.integers(0, 10**10 - 1).map(lambda number: f"{number:010d}")


def _nhs(body: str) -> str:
    return next(number for tail in range(20) if nhs.is_valid(number := f"{body[:8]}{tail:02d}"))


def _npi(body: str) -> str:
    return "1" + body[:8] + luhn.calc_check_digit("808401" + body[:8])


def _kvnr(body: str) -> str:
    return next(number for digit in "0123456789" if de.health(number := "K" + body[:8] + digit))


def _dea(body: str) -> str:
    return next(number for digit in "0123456789" if us.dea(number := "BM" + body[:6] + digit))


def _nuss(body: str) -> str:
    return next(number for key in range(97) if es.social(number := f"28{body[:8]}{key:02d}"))


def _nir(body: str) -> str:
    start = f"1{body[:2]}07{1 + int(body[2:4]) % 95:02d}{body[4:10]}"
    return start + nir.calc_check_digits(start)


def _pension(body: str) -> str:
    return next(number for digit in "0123456789" if de.pension(number := f"65010190Z{body[:2]}{digit}"))


def _found_bare(number: str) -> bool:
    return bool(found(f"x {number} y"))


FAMILIES: list[tuple[str, str, Callable[[str], str], Callable[[str], object]]] = [
    ("UK_NHS", "NHS", _nhs, nhs.is_valid),
    ("FR_NIR", "NIR", _nir, nir.is_valid),
    ("FR_TAX_ID", "numéro fiscal", lambda body: "1" + body[:9] + nif.calc_check_digits("1" + body[:9]), nif.is_valid),
    ("FR_RPPS", "RPPS", lambda body: "1" + body[:9] + luhn.calc_check_digit("1" + body[:9]), luhn.is_valid),
    ("US_NPI", "NPI", _npi, us.npi),
    ("MEDICAL_LICENSE", "DEA", _dea, us.dea),
    ("DE_HEALTH_INSURANCE", "KVNR", _kvnr, de.health),
    ("DE_SOCIAL_SECURITY", "RVNR", _pension, de.pension),
    ("ES_NIF", "NIF", lambda body: body[:8] + dni.calc_check_digit(body[:8]), dni.is_valid),
    ("ES_NIE", "NIE", lambda body: "X" + body[:7] + nie.calc_check_digit("X" + body[:7]), nie.is_valid),
    ("ES_NUSS", "NUSS", _nuss, es.social),
    ("CH_AHV", "AHV", lambda body: "756" + body[:9] + ahv.ean.calc_check_digit("756" + body[:9]), ahv.is_valid),
]


@pytest.mark.parametrize(("entity", "label", "make", "valid"), FAMILIES, ids=[family[0] for family in FAMILIES])
@settings(max_examples=25, deadline=None)
@given(body=TEN, place=st.integers(2, 6), step=st.integers(1, 9))
def test_check_digits(entity, label, make, valid, body, place, step):
    number = make(body)
    assert valid(number)
    assert (entity, number) in found(f"{label} {number}")
    typo = number[:place] + str((int(number[place]) + step) % 10) + number[place + 1 :]
    assume(not valid(typo))
    assert (entity, typo) in found(f"{label} {typo}")
    assert (entity, typo) not in found(f"x {typo} y")


@settings(max_examples=50, deadline=None)
@given(body=st.integers(100_000_000, 999_999_999).map(str))
def test_a_nine_digit_number_is_a_bsn_only_behind_its_label(body):
    assert not _found_bare(body)
    assert ("NL_BSN", body) in found(f"BSN: {body}")


@settings(max_examples=50, deadline=None)
@given(body=st.integers(10**10, 10**11 - 1).map(str))
def test_an_eleven_digit_number_needs_a_label(body):
    assert not _found_bare(body)
    assert ("DE_TAX_ID", body) in found(f"Steuer-ID {body}")
    assert ("PL_PESEL", body) in found(f"PESEL {body}")


@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("9918010190", vnr.is_valid),
        ("99010199789", nn.is_valid),
        ("65000123475", idnr.is_valid),
        ("ZZZXXX90A01Z999G", codicefiscale.is_valid),
        ("90011599903", pesel.is_valid),
        ("999900006", bsn.is_valid),
        ("ZZZZ9901019Z99ZZ", uk.licence),
        ("AB 99 99 98 C", uk.nino),
    ],
)
def test_the_made_up_numbers_of_this_file_pass_their_checks(number, valid):
    assert valid(number)


@pytest.mark.parametrize("number", ["DA999998C", "AO999998C", "BG999998C", "GB999998C", "ZZ999998C", "AB999998E"])
def test_prefixes_and_suffixes_that_are_never_given_out_need_a_label(number):
    assert not _found_bare(number)
    assert ("UK_NINO", number) in found(f"NINO {number}")

"""Medical records, health plans, dates of birth: the label decides, wherever it stands."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recognizers import dates, health
from recognizers.dates import calendar_date

RECOGNIZERS = [*health.build(), *dates.build()]


def found(text: str) -> set[tuple[str, str]]:
    """Entity and value of the surest reading of every place."""
    hits = [hit for each in RECOGNIZERS for hit in each.analyze(text, each.supported_entities) if hit.score >= 0.5]
    kept: list[tuple[int, int, str]] = []
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.start - hit.end)):
        if all(hit.end <= start or end <= hit.start for start, end, _ in kept):
            kept.append((hit.start, hit.end, hit.entity_type))
    return {(entity, text[start:end]) for start, end, entity in kept}


@pytest.mark.parametrize("entity", [*health.ENTITIES, *dates.ENTITIES], ids=lambda entity: entity.name)
def test_the_example_in_the_entity_table_is_found(entity):
    assert (entity.name, entity.value) in found(entity.example)


RECORDS = [
    (
        "Patient MRN 09999917. 09999933 is the patient's medical record number. | MRN | name |\n| 09999945 | x |",
        {"09999917", "09999933", "09999945"},
    ),
    ("MRN: M9999984", {"M9999984"}),
    ("MRN no. 999-99-998", {"999-99-998"}),
    ('{"mrn": "ZZ-99998"}', {"ZZ-99998"}),
    ("Patient ID #99998877", {"99998877"}),
    ("medical record number is A9999-88", {"A9999-88"}),
    ("Hospital number: 999887", {"999887"}),
    ("Chart No. 99988", {"99988"}),
    ("N° de dossier : 99998877", {"99998877"}),
    ("numéro de dossier 9999ZZ8877", {"9999ZZ8877"}),
    ("Dossier n°99998877 mis à jour", {"99998877"}),
    ("IPP : 9999887766", {"9999887766"}),
    ("N° patient 99998877, NDA 9999887711", {"99998877", "9999887711"}),
    ("N° de séjour : 999988776", {"999988776"}),
    ("Identifiant patient : P-99998", {"P-99998"}),
    ("Patientennummer: 99998877, Fallnummer 999988771", {"99998877", "999988771"}),
    ("NHC: 9999887. Episodio: 99998871", {"9999887", "99998871"}),
    ("le patient 9999887766 lors de la visite", {"9999887766"}),
    ("Dossier n° 99-998877 / Séjour 999988775", {"99-998877", "999988775"}),
    ("(No séjour : 9999887766)", {"9999887766"}),
    ("MARTEL Yvonne (8009998877), vue en consultation ce jour", {"8009998877"}),
    ("IPP/NDA : 8009998877 / 999988775", {"8009998877", "999988775"}),
    ("Dossier:0999988776", {"0999988776"}),
    ("Identité : MARTEL Yvonne 9999887766 F", {"9999887766"}),
]


@pytest.mark.parametrize(("text", "expected"), RECORDS, ids=[text[:40] for text, _ in RECORDS])
def test_medical_records(text, expected):
    assert found(text) == {("MEDICAL_RECORD", value) for value in expected}


def test_a_bare_number_above_a_date_of_birth_is_a_record_and_alone_it_is_none():
    assert ("MEDICAL_RECORD", "8009998877") in found("8009998877\nMARTEL Yvonne\n14/03/1988\n")
    assert found("8009998877\nMARTEL Yvonne\n") == set()


PLANS = [
    ("Member ID ZZZ999999998.", "ZZZ999999998"),
    ("Policy no: POL-99999988", "POL-99999988"),
    ("insurance is XY-999988", "XY-999988"),
    ("(Insurance#: XYZ-999988)", "XYZ-999988"),
    ("N° adhérent : 99998877", "99998877"),
    ("Mutuelle n° 9999887Z", "9999887Z"),
    ("subscriber id: 999988776", "999988776"),
]


@pytest.mark.parametrize(("text", "value"), PLANS, ids=[text for text, _ in PLANS])
def test_health_plans(text, value):
    assert found(text) == {("HEALTH_PLAN_ID", value)}


BIRTHS = [
    ('{"dob": "1988-03-14"}', "1988-03-14"),
    ("DOB: 03/14/88", "03/14/88"),
    ("D.O.B. 14.03.1988", "14.03.1988"),
    ("DOB 19880314", "19880314"),
    ("14/03/1988 (DOB)", "14/03/1988"),
    ("Date of birth (dd/mm/yyyy): 14/03/1988", "14/03/1988"),
    ("I was born on 14 March 1988.", "14 March 1988"),
    ("born on the 14th of March 1988", "14th of March 1988"),
    ("born March 14th, 1988 in Leeds", "March 14th, 1988"),
    ("born in Leeds on 14 March 1988", "14 March 1988"),
    ("birthdate=1988/03/14", "1988/03/14"),
    ("née le 14 mars 1988", "14 mars 1988"),
    ("né(e) le 14/03/1988 à Lyon", "14/03/1988"),
    ("née à Lyon le 1er janvier 1980", "1er janvier 1980"),
    ("Née Martin le 14/03/1988", "14/03/1988"),
    ("Date de naissance : 14-03-1988", "14-03-1988"),
    ("DDN : 14|03|1988", "14|03|1988"),
    ("MARTEL Yvonne né le14/03/1988", "14/03/1988"),
    ("Né(e) le 14/03/1988 (36 ans)", "14/03/1988"),
    ("née le 14/03/\n1988", "14/03/\n1988"),
    ("née le 14 mars\n1988", "14 mars\n1988"),
    ("geboren am 14. März 1988", "14. März 1988"),
    ("geb. 14.3.88, wohnhaft in", "14.3.88"),
    ("Frau Muster (*14.3.1988)", "14.3.1988"),
    ("Fecha de nacimiento: 14 de marzo de 1988", "14 de marzo de 1988"),
    ("nacida el 14/03/1988", "14/03/1988"),
    ("nata a Roma il 14 marzo 1988", "14 marzo 1988"),
    ("Data di nascita 14/03/1988", "14/03/1988"),
    ("MUSTER Ada | F | 14/03/1988 | x", "14/03/1988"),
    ("reçue le jour même, 14/03/1988 (36 ans)", "14/03/1988"),
    ("DOB: Monday, 14 March 1988", "14 March 1988"),
]


@pytest.mark.parametrize(("text", "value"), BIRTHS, ids=[text for text, _ in BIRTHS])
def test_dates_of_birth(text, value):
    assert found(text) == {("DATE_OF_BIRTH", value)}


def test_only_the_date_at_the_label_is_a_date_of_birth():
    text = "born 14 March 1988, admitted 2 June 2020"
    assert found(text) == {("DATE_OF_BIRTH", "14 March 1988"), ("DATE_TIME", "2 June 2020")}


PLAIN = ["2024-02-29", "29/02/2024", "02/29/2024", "29.02.2024", "29 February 2024", "Feb 29, 2024", "29 févr. 2024"]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_dates(value):
    assert found(f"The meeting of {value} is off") == {("DATE_TIME", value)}


HARMLESS = [
    "What's the weather today in the morning? Compare 4000005260181590 and 69003.",
    "see v1.2.3.4 and 10.12.24 of the module, 12-13-14",
    "31/02/1980 is no day, DOB 31/02/1980 neither",
    "built 2024-07-18T14:17:21Z, took 00:12:13",
    "The NDA signed with Bob, the policy of 2024, a patient man of 55, insurance for 3 cars",
    "MRN missing, born tired, IPP to be filled in, chart no 7",
    "MRN issued 2024-02-30",
    "* 2 items\n* 3 rows",
    "order 99998877 shipped, ticket 123456789",
    "the file of 9999887766 bytes was written at 1712345678901",
]


@pytest.mark.parametrize("text", HARMLESS, ids=[text[:40] for text in HARMLESS])
def test_ordinary_text_holds_neither_record_nor_birth(text):
    assert found(text) == set()


DAYS = st.dates(min_value=date(1901, 1, 1), max_value=date(2029, 12, 31))
FORMS = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%d/%m/%y"]


@settings(max_examples=60, deadline=None)
@given(day=DAYS, form=st.sampled_from(FORMS))
def test_any_day_in_any_form_is_found_behind_the_label(day, form):
    written = day.strftime(form)
    assert calendar_date(written)
    assert ("DATE_OF_BIRTH", written) in found(f"DOB: {written}")


@settings(max_examples=60, deadline=None)
@given(first=st.integers(32, 99), second=st.integers(13, 99), year=st.integers(1900, 2030))
def test_what_no_calendar_holds_is_no_date(first, second, year):
    assert not calendar_date(f"{first}/{second}/{year}")
    assert not calendar_date(f"{first} March {year}")


@settings(max_examples=60, deadline=None)
@given(number=st.integers(10**6, 10**11))
def test_a_record_number_is_found_behind_its_label_and_nowhere_else(number):
    assert ("MEDICAL_RECORD", str(number)) in found(f"MRN: {number}")
    assert ("MEDICAL_RECORD", str(number)) not in found(f"total {number}")

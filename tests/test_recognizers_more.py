"""The entities of one row each, and traces of a person: what is found, what is left alone. No model is loaded."""

from __future__ import annotations

import pytest

from recognizers import ENTITIES, dates, health, organisations, secrets, traces, work
from recognizers.base import RuleRecognizer
from recognizers.national import ENTITIES as NATIONAL
from recognizers.national import build as national
from recognizers.national import europe, world

BUILT = [*national(), *traces.build(), *health.build(), *dates.build(), *work.build(), *secrets.build()]
NUMBERS = (*europe.NUMBERS, *world.NUMBERS)
SURE = 0.5


def found(text: str, entity: str, least: float = SURE) -> set[str]:
    return {
        text[hit.start : hit.end]
        for each in BUILT
        if entity in each.supported_entities
        for hit in each.analyze(text, [entity])
        if hit.score >= least
    }


def wrong(value: str) -> str:
    """The value with its last digit changed."""
    place = max(index for index, char in enumerate(value) if char.isdigit())
    return value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1 :]


@pytest.mark.parametrize("row", [*NATIONAL, *traces.ENTITIES], ids=lambda row: row.name)
def test_the_example_is_found(row) -> None:
    assert row.value in found(row.example, row.name)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.entity)
def test_behind_its_label_a_mistyped_number_counts_too(number) -> None:
    value = wrong(number.value)
    text = f"{number.labels[0]}: {value}"
    assert value in found(text, number.entity)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.entity)
def test_alone_only_its_check_and_its_form_make_it_one(number) -> None:
    text = f"we saw {number.value} there"
    alone = number.bare >= SURE or bool(number.grouped)
    assert bool(found(text, number.entity)) == alone


@pytest.mark.parametrize("number", [n for n in NUMBERS if n.entity != "IN_PAN"], ids=lambda number: number.entity)
def test_alone_and_mistyped_it_is_nothing(number) -> None:
    text = f"we saw {wrong(number.value)} there"
    assert not found(text, number.entity)


FOUND = [
    ("URL", "see https://github.com/mtallow84.", "https://github.com/mtallow84"),
    ("URL", "open https://intranet.talbruck.example/hr/files/55357 please", "https://intranet.talbruck.example/hr/files/55357"),
    ("URL", "xing.com/profile/Mira_Tallow, Berlin", "xing.com/profile/Mira_Tallow"),
    ("GEO_COORDINATES", "lat: 48.858, lon: 2.294", "48.858"),
    ("GEO_COORDINATES", "at 48°51'24\"N 2°21'03\"E today", "48°51'24\"N 2°21'03\"E"),
    ("GEO_COORDINATES", "geo:48.2010,16.3695", "48.2010,16.3695"),
    ("AGE", "une dame de 94 ans", "94"),
    ("AGE", "Alter: 91", "91"),
    ("AGE", "eine 93-jährige Patientin", "93"),
    ("AGE", "paciente de 95 años", "95"),
    ("AGE", "paziente di 92 anni", "92"),
    ("AGE", "she is 101 years old", "101"),
    ("DEVICE_ID", "Pacemaker serial: PJN998877X", "PJN998877X"),
    ("PRESCRIPTION_NUMBER", "n° d'ordonnance : 99887766", "99887766"),
    ("PRESCRIPTION_NUMBER", "Rezeptnummer 1609998877", "1609998877"),
    ("ICD_CODE", "CIM-10 : F32.1", "F32.1"),
    ("MEDICAL_RECORD", "Histologie-Nr.: H 1234/17", "H 1234/17"),
    ("MEDICAL_RECORD", "NDA : 11 22 33 44", "11 22 33 44"),
    ("MEDICAL_RECORD", "IPP8001234567", "8001234567"),
    ("MEDICAL_LICENSE", "Nº colegiado: 28 28 70973", "28 28 70973"),
    ("MEDICAL_LICENSE", "LANR 999999900", "999999900"),
    ("FR_FINESS", "n° FINESS : 99 0999998", "99 0999998"),
    ("FR_NIR", "patiente 2 85 12 75 123 456 99, vue ce jour", "2 85 12 75 123 456 99"),
    ("STAFF_ID", "Ficha de empleado n.o EMP-92282", "EMP-92282"),
    ("STAFF_ID", "Mitarbeiternummer: 20199", "20199"),
    ("DATE_OF_BIRTH", "née en mars 1954 à Lyon", "mars 1954"),
    ("DATE_OF_BIRTH", "Jahrgang 1961", "1961"),
    ("COMPANY_ID", "USt-IdNr. DE999999987", "DE999999987"),
    ("COMPANY_ID", "Amtsgericht Testhausen HRB 99998", "HRB 99998"),
    ("COMPANY_ID", "CIF B99999989", "B99999989"),
    ("SECRET", "Password: sunshine", "sunshine"),
    ("SECRET", "mot de passe : jaime,le;soleil7", "jaime,le;soleil7"),
    ("SECRET", "Clave temporal: ufAexpcvGfct", "ufAexpcvGfct"),
    ("SECRET", "password=abc123,user=bob", "abc123"),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "text", "value"), FOUND, ids=[f"{e}-{v[:20]}" for e, _, v in FOUND])
def test_found(entity: str, text: str, value: str) -> None:
    hits = found(text, entity)
    assert any(value in hit for hit in hits), hits


LEFT = [
    ("URL", "clone https://github.com/torvalds/linux and read https://github.com/features"),
    ("URL", "the docs are at https://docs.python.org/3/library/re.html"),
    ("GEO_COORDINATES", "weights [1.2345, 2.3456, 7.8901] and loss 0.1234, 0.5678"),
    ("GEO_COORDINATES", "version 10.2345, 11.2 of the table"),
    ("AGE", "90 days, 95 percent, 99 bottles, a warranty of 99 years"),
    ("AGE", "she is 45 years old; un homme de 62 ans"),
    ("DEVICE_ID", "order 359999999999980 shipped"),
    ("PRESCRIPTION_NUMBER", "a prescription for 500 mg"),
    ("ICD_CODE", "model B12 in row C34.1"),
    ("FR_FINESS", "commande 990999997"),
    ("COMPANY_ID", "order 999999987 of 2024"),
    ("SECRET", "Password: required\npassword: string\nMot de passe : obligatoire"),
    ("SECRET", "The password field is required. Enter password: then press OK"),
    ("MEDICAL_RECORD", "the record for the 100 m is 9.58"),
    ("STAFF_ID", "a badge and 200 employees"),
]


@pytest.mark.parametrize(("entity", "text"), LEFT, ids=[f"{e}-{t[:20]}" for e, t in LEFT])
def test_left_alone(entity: str, text: str) -> None:
    assert not found(text, entity)


ORGANISATIONS = [
    ("i work for Miller, Sanchez and Reyes as a driver", "Miller, Sanchez and Reyes"),
    ("mein Chef bei Talbruck GmbH & Co. KG sagt", "Talbruck GmbH & Co. KG"),
    ("la documentación de Orvalis Norte S.L. llegó", "Orvalis Norte S.L"),
    ("il contratto con Lagomar S.p.A. è", "Lagomar S.p.A"),
    ("vue à la Clinique Saint-Roch hier", "Clinique Saint-Roch"),
    ("GP at Royal Ashdown Infirmary", "Royal Ashdown Infirmary"),
    ("St.-Elisabeth-Krankenhaus\nArztbrief", "St.-Elisabeth-Krankenhaus"),
    ("HÔPITAL SAINT-TALLOW\nService", "HÔPITAL SAINT-TALLOW"),
    ("devant le tribunal de grande instance d'Essaiville", "tribunal de grande instance d'Essaiville"),
    ("La cour d'appel de Testbourg confirma", "cour d'appel de Testbourg"),
    ("el juzgado de instrucción nº 3 de Pruebas abrió", "juzgado de instrucción nº 3 de Pruebas"),
    ("das Amtsgericht Musterstadt hat", "Amtsgericht Musterstadt"),
    ("at Testford Crown Court in May", "Testford Crown Court"),
]


@pytest.mark.parametrize(("text", "value"), ORGANISATIONS, ids=[v for _, v in ORGANISATIONS])
def test_an_organisation_by_its_own_name(text: str, value: str) -> None:
    (recognizer,) = organisations.build()
    assert isinstance(recognizer, RuleRecognizer)
    hits = {text[hit.start : hit.end] for hit in recognizer.analyze(text, ["ORGANIZATION"])}
    assert any(value in hit for hit in hits), hits


@pytest.mark.parametrize(
    "text",
    [
        "The General Hospital is public.",
        "Public Health and Mental Health Services",
        "Q3 2024",
        "to PostgreSQL 15. Insurance",
        "Service de Chirurgie",
    ],
)
def test_a_kind_of_house_is_no_organisation(text: str) -> None:
    (recognizer,) = organisations.build()
    assert not recognizer.analyze(text, ["ORGANIZATION"])


def test_there_are_sixty_entities_and_more() -> None:
    assert len(ENTITIES) >= 60
    assert all(row.source and row.checked and row.value in row.example for row in ENTITIES.values())

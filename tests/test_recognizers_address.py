"""Postal addresses: one span each, in the forms of several countries, and nothing that only looks like one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recognizers import address

RECOGNIZER, PLACES = address.build()


def found(text: str) -> list[str]:
    return [
        text[hit.start : hit.end] for hit in sorted(RECOGNIZER.analyze(text, ["ADDRESS"]), key=lambda hit: hit.start)
    ]


WHOLE = [
    "999 Nowhere Rest Suite 381, Fort Test, HI 99998",
    "999 Nowhere Rest Suite 381\nFort Test, HI 99998",
    "12 Acacia Road, London SW1A 1AA",
    "Flat 3, 22 High Street\nTestford\nTX1 9ZZ",
    "Studio 34b, Test Village, Exampleton MK7W 4BY",
    "Rose Cottage, Church Lane, Testbridge, BT1 2AB",
    "99 N. Test Blvd Apt 4B, Testville, CA 99999-9998",
    "99-12 Test Avenue, Testville, New York 99999",
    "PO Box 998, Testville, IL 99999",
    "PSC 9998, Box 9998\nAPO AP 99998",
    "99 Test Street NW",
    "12 bis, rue de la République, 69003 Lyon",
    "Résidence Les Tests, Bât. B, 4 avenue Foch\n75016 Paris",
    "BP 998, 33000 Bordeaux CEDEX 1",
    "Lieu-dit Le Test, 24200 Essai-sur-Rien",
    "3 place du 8 Mai 1945, 44000 Essaiville",
    "rue de Test, 98765 La Roche-sur-Rien",
    "4 bd de l'Essai",
    "Teststraße 5, 10115 Berlin",
    "Anna-Maria-Muster-Weg 54-59, 40107 Dortmund",
    "Musterstr. 5a, D-99998 Musterstadt",
    "Kärntner Straße 33\nA-9998 Musterdorf",
    "Unter den Linden 7, 10117 Berlin",
    "Teststraat 12, 1017 ZZ Amsterdam",
    "Calle Mayor 3, 28013 Madrid",
    "Avda. de la Prueba, 12, 3º B, 28013 Madrid",
    "Via Roma 12, 20121 Milano",
    "Piazza della Prova, 25 Appartamento 2, 42016 Provaglio",
]


@pytest.mark.parametrize("value", WHOLE, ids=[value.replace("\n", " ")[:40] for value in WHOLE])
@pytest.mark.parametrize("frame", ["{}", "Ada Muster\n{}\nTel.: 01", "She moved ({}) in May."])
def test_an_address_is_one_span(value, frame):
    assert found(frame.format(value)) == [value]


WHOLE_ABROAD = [
    "3456 Oakway Lane Unit 7 Testville 49345",
    "99 Old Dear Ridge, Suite 0, Lake Test United States 20009",
    "PSC 9998 Box 7815\nApt. 864\nLake Test\nUnited States 49345",
    "38 Test Place, Apt. 864, Lake Elliott UNITED KINGDOM ZZ2D 6ZX",
    "61 Test Street, Unit 7, Kexby United Kingdom ZZ4 9QD",
    "Unit 5 12 Mt Berryman\n4825 Glen Huntly\nAustralia",
    "15 Boobialla\nFlat 3\nWoodside\nAUSTRALIA 2705",
    "68, rue du Test National Flat 3, Essaiville, France 95000",
    "Rue de la Poste 409 Suite 0 Wevelgem 2460",
    "Boompjesdijk 131\nUnit 7\nFijnaart\nNetherlands 4793 TH",
    "Van der Lijnstraat 85, Fijnaart 1314 AB",
    "Nybølvej 83, 8740 København K, Denmark",
    "Toråsstien 12 Suite 378\n Bodø\n Norway 8010",
    "Norra Bäckebo 82 Flat 3 Hällefors 794 30",
    "Fossgata 14, Hella 851",
    "Heiðarbraut 25\n760 Hella\nIceland",
    "ul. Krótka 118\nSuite 0\nGdynia\nPoland 41-703",
    "Wesselényi u. 84., 6008 Baja, Hungary",
    "Husova 1467\nSuite 0\nÚštěk\nCzech Republic 602 00",
    "Rua da Madalena 12, Seixal 1050-115",
]


@pytest.mark.parametrize("value", WHOLE_ABROAD, ids=[value.replace("\n", " ")[:40] for value in WHOLE_ABROAD])
@pytest.mark.parametrize("frame", ["{}", "Ada Muster\n{}\n0152 8817386 office", "My address is {}. It was late."])
def test_an_address_of_any_country_goes_on_to_its_end(value, frame):
    assert found(frame.format(value)) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I paid 99 Test Street 15000 euros for it.", "99 Test Street"),
        ("We left 99 Test Street in 2019, Monday.", "99 Test Street"),
        ("99 Test Street 2019 was good", "99 Test Street"),
        ("12 Test Road, Mira said so", "12 Test Road"),
        ("12 Test Street, Testville, IL 99999.\nQ. Mr. Tallow, where", "12 Test Street, Testville, IL 99999"),
    ],
)
def test_an_address_does_not_go_on_into_something_else(text, value):
    assert found(text) == [value]


LABELLED = [
    ("Address: 5 Test Cottage, Little Sample", "5 Test Cottage, Little Sample"),
    ("Adresse : 3 place du Test Tél : 01 02 03 04 05", "3 place du Test"),
    ("Home address: Test House 12, Sampleton\nPhone: 0", "Test House 12, Sampleton"),
    ("i live at 12 main st, testville, il 99999 and my cat", "12 main st, testville, il 99999"),
    ("demeurant 57, rue Test Essai, 20950 La Roche-sur-Rien, ci-après", "57, rue Test Essai, 20950 La Roche-sur-Rien"),
    ("wohnhaft Muster-Test Essai-Straße 4/1, 99998 Testheim\nTelefon", "Muster-Test Essai-Straße 4/1, 99998 Testheim"),
    ("Anschrift: Testplatz 7, 99998 Musterstadt\nIBAN", "Testplatz 7, 99998 Musterstadt"),
    ("domicilio en Camino de la Prueba 1 Apt. 63 , 48950 Prueba; y", "Camino de la Prueba 1 Apt. 63 , 48950 Prueba"),
]


@pytest.mark.parametrize(("text", "value"), LABELLED, ids=[text[:30] for text, _ in LABELLED])
def test_a_label_says_where_an_address_begins(text, value):
    assert found(text) == [value]


def test_two_addresses_are_two_spans():
    text = "From 12 Acacia Road, London SW1A 1AA to 99 Test Street, Testville, CA 99999."
    assert found(text) == ["12 Acacia Road, London SW1A 1AA", "99 Test Street, Testville, CA 99999"]


HARMLESS = [
    "12 street tests, Section 5 way, 3 Drive letters, 5 rue, Paris, London SW1A 1AA, 75016, CA 90210",
    "a 2 TB Hard Drive, chapter 12 Main Concepts, version 3 Open Way",
    "IP address: 10.0.0.1, email address: x3@y.example; MAC address 00:11:22; memory address 0x3 is bad",
    "The address is wrong. My address book has 5 entries in it",
    "On July 6, 2023 Graham moved; at 08:40 on January 20, 2024 I was",
    "We ordered 10 Test Phones, 20000 Euros",
    "Run a 384-well duplicate (A1-4 - H1-4), figma file R12345678901234",
    "Use S3, EKS and C4 diagrams in Terraform, see v1.2.3.4 of the module",
    "SELECT * FROM users WHERE id = 1234567890; -- 1607635102.00 -0.96\n6033391\n6058722",
    "def place(rue: int, avenue: str) -> None: return street[12]",
    "Address the issue in 3 steps. He lives in Testville",
]


@pytest.mark.parametrize("text", HARMLESS, ids=[text[:40] for text in HARMLESS])
def test_ordinary_text_holds_no_address(text):
    assert found(text) == []


def test_the_example_in_the_entity_table_is_found():
    (entity,) = address.ENTITIES
    assert found(entity.example) == [entity.value]


def test_nothing_is_looked_for_unless_asked():
    assert RECOGNIZER.analyze("12 Acacia Road, London SW1A 1AA", ["PERSON"]) == []


PIECES = [
    "12 ",
    "Main ",
    "Street",
    ", ",
    "\n",
    "75016 ",
    "Paris",
    "rue ",
    "de ",
    "Address: ",
    "SW1A 1AA",
    "CA 99999",
    "é",
    ".",
]


@settings(max_examples=150, deadline=None)
@given(text=st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_spans_are_disjoint_and_hold_no_loose_ends(text):
    hits = sorted(RECOGNIZER.analyze(text, ["ADDRESS"]), key=lambda hit: hit.start)
    assert all(before.end <= after.start for before, after in itertools.pairwise(hits))
    assert all(text[hit.start : hit.end] == text[hit.start : hit.end].strip(" ,\n") for hit in hits)
    assert all(any(char.isdigit() for char in text[hit.start : hit.end]) for hit in hits)


@pytest.mark.parametrize(
    "seed", ["12 rue Aa ", "12 Main ", "Aa, ", "12 Main Street, ", "address: Aa 1, ", "résidence a, "]
)
def test_many_candidates_give_many_short_spans(seed):
    text = seed * 2_000
    assert all(hit.end - hit.start < 1_000 for hit in RECOGNIZER.analyze(text, ["ADDRESS"]))

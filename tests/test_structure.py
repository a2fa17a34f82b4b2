"""What the text says its values are: labels, tables, headers, greetings; and known values found elsewhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers.base import fold
from recognizers.known import propagate
from recognizers.labels import Tier, normalise, person_tier
from recognizers.lexicon import build
from recognizers.structure import StructuredNames, fields
from recognizers.tables import split, table_fields
from recognizers.words import word_set

WORDS = word_set(
    "build test baker street the team happy content with headache product price table lamp market sales manager"
)
STRUCTURE = StructuredNames(build(WORDS))


def found(text: str, entity: str = "PERSON") -> list[str]:
    return [text[s.start : s.end] for s in STRUCTURE.find(text) if s.entity == entity]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"first_name": "Mira", "last_name": "Tallow", "dob": "1988-03-14"}', {"Mira", "Tallow"}),
        ("{'lastName': 'O Brien', 'sku': 'Lamp'}", {"O Brien"}),
        ('"attendees": ["Mira Tallow", "Omar Benhaddou"]', {"Mira Tallow", "Omar Benhaddou"}),
        ("id,first,last\n7,Mira,Tallow\n8,Omar,Benhaddou", {"Mira", "Tallow", "Omar", "Benhaddou"}),
        ("nom;prenom;ville\nVERDIER;Grégoire;Bayonne", {"VERDIER", "Grégoire"}),
        ("| MRN | Name | Phone |\n|---|:--|---|\n| 123 | Mira Tallow | 5 |", {"Mira Tallow"}),
        ("id\tsurname\tphone\n1\tTallow\t55", {"Tallow"}),
        (
            "INSERT INTO p (id, nom, prenom) VALUES\n(1, 'Moulin', 'Jeanne'),\n(2, 'Iyer', 'Lakshmi');",
            {"Moulin", "Jeanne", "Iyer", "Lakshmi"},
        ),
        ("<firstName>Mira</firstName><qty>3</qty>", {"Mira"}),
        ("Nom : Dupont Prénom : Jean", {"Dupont", "Jean"}),
        ("Name: Quang Nguyen Duc", {"Quang Nguyen Duc"}),
        ("Patient: Mira Tallow, 45 years, headache", {"Mira Tallow"}),
        ("Passenger: Tallow, Mira        MRN: 12", {"Tallow, Mira"}),
        ("Patient: de La Rochefoucauld, Thibault", {"de La Rochefoucauld, Thibault"}),
        ("first name=mira", {"mira"}),
        ("Prénom:\nJeanne\n", {"Jeanne"}),
        ("Déclarant 1 : BLOT Alexandrine", {"BLOT Alexandrine"}),
        (
            "From: Tyler Lee <tyler@example.com>\nTo: omar <o@example.com>, Leilani Kealoha <l@example.com>",
            {"Tyler Lee", "omar", "Leilani Kealoha"},
        ),
        ("Present: Mira Tallow, Omar Benhaddou and Sophy Marlowe", {"Mira Tallow", "Omar Benhaddou", "Sophy Marlowe"}),
        ("Dear Mira,\n\nBonjour Madame Lefort,", {"Mira", "Lefort"}),
        ("Kind regards,\nmira tallow", {"mira tallow"}),
        ("Cordialement,\n\nJeanne Lefort\nService client", {"Jeanne Lefort"}),
        ("Thanks!\nMira\n\nMira Tallow | Marketing | +44 20 7946 0123", {"Mira", "Mira Tallow"}),
        ("my name is mira tallow and i live here", {"mira tallow"}),
        ("je m'appelle omar benhaddou.", {"omar benhaddou"}),
        ("it's mira tallow here", {"mira tallow"}),
        ("seen by Dr. Roger Hardy and M. Peter Maxwell", {"Roger Hardy", "Peter Maxwell"}),
        ("[18:35:07] Debra: lol dont post that", {"Debra"}),
        ("reviewed by K. Baker on Monday", {"K. Baker"}),
        ("Signed: Samuel L. Braxton and Robert Downing Jr.", {"Samuel L. Braxton", "Robert Downing Jr."}),
    ],
)
def test_names_by_what_the_text_says(text: str, expected: set[str]) -> None:
    assert set(found(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "name: Build and test\nowner: root\nfrom: node:18\nto: 5",
        '{"name": "get_user", "owner": "root", "from": "2020-01-01", "author": null}',
        "Patient: presents with headache",
        "first name: null\nlast name: N/A\nsurname: unknown",
        "Hello there,\nHi team,\nDear all,\nBonjour à tous,\nBonjour Madame,",
        "I'm happy. It's the team. Je suis content.",
        "M. le Président, Madame la Ministre, Me Too",
        "product,price,qty\nLamp,3,4\nTable,5,6",
        "Thanks,\n\nThe Sales Team",
        "if x == name: return = from(to)",
    ],
)
def test_labels_that_name_nobody(text: str) -> None:
    assert found(text) == []


def test_other_labels() -> None:
    text = "Société : ACME SA\nVille : Bayonne\nAdresse : 5, boulevard De Sousa, 82110 Lyon\nemail address: 5 x@y.org z"
    assert found(text, "ORGANIZATION") == ["ACME SA"]
    assert found(text, "LOCATION") == ["Bayonne"]
    assert found(text, "ADDRESS") == ["5, boulevard De Sousa, 82110 Lyon"]


@pytest.mark.parametrize(
    ("text", "entity", "expected"),
    [
        ("Adresse : 5, rue Sousa, 82110 Lyon. IP publique 198.51.100.7, MAC 1", "ADDRESS", "5, rue Sousa, 82110 Lyon"),
        ("Employeur : Halden SRL. Compte bancaire : 9", "ORGANIZATION", "Halden SRL"),
        ("Lieu : Bayonne, le 08/05/2025 vers 8 h 40", "LOCATION", "Bayonne"),
        ("Nom : TALLOW Prénom : Mira", "PERSON", "TALLOW"),
        ("AFFAIRE TALLOW c. FRANCE", "PERSON", "TALLOW"),
        ("to: manager Mira Tallow, permis", "PERSON", "Mira Tallow"),
    ],
)
def test_a_value_ends_where_the_next_thing_begins(text: str, entity: str, expected: str) -> None:
    assert found(text, entity)[:1] == [expected]


def test_cells_carry_the_head_of_their_column() -> None:
    text = 'See:\nMRN,Name,Note\n00517733,"Tallow, Mira",x\n\nThe end, of it, all.'
    cells = {(cell.label, text[cell.start : cell.end]) for cell in table_fields(text)}
    assert ("mrn", "00517733") in cells
    assert ("full name", "Tallow, Mira") in cells
    assert not any("end" in value for _, value in cells)


def test_prose_with_commas_is_no_table() -> None:
    assert list(table_fields("Hello, Mira, how are you?\nWell, Omar, fine, thanks.")) == []


@given(st.lists(st.text(alphabet="ab \"'x", max_size=8), min_size=1, max_size=6))
def test_cells_lie_within_their_line_in_order(parts: list[str]) -> None:
    line = ";".join(parts)
    cells = split(line, 0, len(line), ";")
    assert all(0 <= cell.start <= cell.end <= len(line) for cell in cells)
    assert all(a.end <= b.start for a, b in itertools.pairwise(cells))


@given(st.text(max_size=300))
def test_fields_and_spans_stay_within_the_text(text: str) -> None:
    for field in fields(text):
        assert 0 <= field.start <= field.end <= len(text)
    for span in STRUCTURE.find(text):
        assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize("label", ["firstName", "FIRST_NAME", " First-Name ", "first.name"])
def test_labels_are_normalised(label: str) -> None:
    assert normalise(label) == "first name"


@pytest.mark.parametrize(
    ("label", "tier"),
    [
        ("first name", Tier.NAME),
        ("emergency contact last name", Tier.NAME),
        ("patient", Tier.ROLE),
        ("name", Tier.WEAK),
        ("file name", None),
        ("sku", None),
    ],
)
def test_what_a_label_proves(label: str, tier: Tier | None) -> None:
    assert person_tier(label) is tier


def spots(text: str, known: dict[str, str]) -> list[str]:
    return [text[s.start : s.end] for s in propagate([text], known)[0]]


def test_known_values_are_found_in_any_case_and_part_by_part() -> None:
    text = "MIRA TALLOW wrote; mira's note; Tallow too; tallowy no; ÉLODIE élodie Elodie"
    assert set(spots(text, {"mira tallow": "PERSON", "Élodie": "PERSON"})) == {
        "MIRA TALLOW", "MIRA", "TALLOW", "mira", "Tallow", "ÉLODIE", "élodie", "Elodie",
    }  # fmt: skip


def test_a_known_person_is_found_with_initials_and_in_user_names() -> None:
    text = (
        "T. Mokoena, T.Mokoena, T Mokoena, MOKOENA T., T.M. and T. M. agree; home: /home/tmokoena42, @thandiwemokoena, "
        "mokoenat, thandiwe.mokoena@example.com, t_mokoena; but not tmokoenas, t.m., ATM.M. or T.MOK."
    )
    found = set(spots(text, {"Thandiwe Mokoena": "PERSON"}))
    assert {"T. Mokoena", "T.Mokoena", "T Mokoena", "MOKOENA T.", "T.M.", "T. M."} <= found
    assert {"tmokoena42", "thandiwemokoena", "mokoenat"} <= found
    assert not {"tmokoenas", "t.m.", "M.M.", "T.MOK."} & found


def test_initials_that_mean_something_else_and_surnames_that_are_words() -> None:
    assert spots("E.g. this, I.e. that, A mark on the wall, amark", {"Eva Gallo": "PERSON", "Ana Mark": "PERSON"}) == []
    assert spots("signed A. Mark", {"Ana Mark": "PERSON"}) == ["A. Mark", "Mark"]


def test_a_part_that_is_a_plain_word_counts_only_with_a_capital() -> None:
    text = "Rose called. The rose is red. Mark it. He will go, said Will."
    assert spots(text, {"Rose Benhaddou": "PERSON"}) == ["Rose"]
    assert spots(text, {"Will Benhaddou": "PERSON"}) == ["Will"]


def test_a_known_name_is_not_the_plain_word_that_it_also_is() -> None:
    texts = {"Pierre est une pierre": "Pierre", "Dolores tiene dolores": "Dolores", "Bruno è bruno": "Bruno"}
    for text, name in texts.items():
        assert spots(text, {name: "PERSON"}) == [name]
    assert spots("Pierre Ruault ; la pierre", {"Pierre Ruault": "PERSON"}).count("pierre") == 0


def test_a_handle_is_never_torn() -> None:
    known = {"Bea Torres": "PERSON"}
    assert "@bea_t" in {f"@{hit}" for hit in spots("she is @bea_t", known)}
    assert set(spots("@torres.bea_99!", known)) == {"torres.bea_99"}
    assert set(spots("mail x@Torres.example", known)) == {"Torres"}


def test_a_place_of_its_column_and_numbers_of_a_bank_are_nobody() -> None:
    assert found("Bank: sort code 99-99-99, account 99999999", "ORGANIZATION") == []
    assert found("Bank: Halden Trust 24", "ORGANIZATION") == ["Halden Trust 24"]


def test_other_values_are_found_whole_only() -> None:
    text = "EMP-004711 and emp-004711x, EMP-0047112, 12, 123456 1234567"
    assert spots(text, {"emp-004711": "EMPLOYEE_ID", "12": "AGE", "123456": "MRN"}) == ["EMP-004711", "123456"]


def test_function_words_and_short_parts_are_never_looked_for() -> None:
    assert spots("The de la in an Al J", {"An de la Al J": "PERSON", "the": "PERSON"}) == []


@given(st.lists(st.text(alphabet="abé \n", max_size=40), max_size=4), st.text(alphabet="abé", min_size=3, max_size=6))
def test_every_whole_word_occurrence_of_a_name_is_found(texts: list[str], name: str) -> None:
    for text, spans in zip(texts, propagate(texts, {name: "PERSON"}), strict=True):
        expected = sum(fold(word) == fold(name) for word in text.split())
        assert len(spans) == expected
        assert all(fold(text[s.start : s.end]) == fold(name) for s in spans)


def test_long_values_are_found_whole_and_told_apart_by_their_ends() -> None:
    head = "mira tallow " * 30
    known = {f"{head}one": "SECRET", f"{head}two": "SECRET", f"{head}": "SECRET"}
    text = f"so {head}one, {head.upper()}TWO; {head}onely"
    (spans,) = propagate([text], known)
    assert {text[span.start : span.end] for span in spans} == {f"{head}one", f"{head.upper()}TWO", head, head.upper()}

"""What models mark with a capital and what is yet nobody: posts, fields, wards, programs, courts, dishes and scores."""

from __future__ import annotations

import pytest

from recognizers.base import Span
from recognizers.lexicon import Lexicon
from recognizers.ordinary import inner, kept

WORDS = Lexicon(
    words=frozenset({"customer", "colour", "hemoglobin", "apple", "report", "repair"}),
    given=frozenset({"nathan", "mira"}),
    frequent=frozenset({"nathan", "mira"}),
)


def left(marked: str, entity: str = "ORGANIZATION") -> list[str]:
    """`marked` is a text with the hit of a model between `[` and `]`."""
    start, end = marked.index("["), marked.index("]") - 1
    text = marked.replace("[", "").replace("]", "")
    hit = Span(start, end, entity, 0.85, "names:en", "model")
    return [text[span.start : span.end] for span in kept(text, [hit], WORDS)]


NOBODY = [
    "Nathan Roy\n[Head of Operations]\n99 Nowhere Street",
    "with a copy to Mira Tallow, [General Counsel].",
    "EDUCATION\n[BSc Mathematics], 2015, GPA 3.87",
    "Migrated 14 TB from [Oracle 12.2 to PostgreSQL] 15",
    '"user_agent":"[Mozilla]/5.0"',
    "[National Insurance]: QQ 99 99 99 A",
    "immatriculée à la [Sécurité sociale] sous le n°",
    "[N.º Seguridad Social]: 99/99999999/99",
    "blood pressure 128/76. [ECG] showed sinus rhythm",
    "[Customer]: Mira Tallow",
    "builds. [Colour] codes: #8fe7db",
    "[Hemoglobin]      220.484    12.0",
    "adressé au [Service de Pneumologie]",
    "ci-après « le [Bailleur] »",
    "a saisi la [Cour] le 3 mars",
    "La [Cour européenne des droits de l'homme]",
    "El [Tribunal Supremo] desestimó",
    "between a Gaussian and a [Poisson] distribution",
    "[NPI] 9999999999",
    "[ITIN]: 999-99-9999",
    "paid in [USD]",
    "an old [UNIX] box",
    "[Visa] 4111 1111 1111 1111",
    "the [Visa] card ending",
]


@pytest.mark.parametrize("text", NOBODY)
def test_what_names_nobody_is_left(text: str) -> None:
    assert left(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "un score de [Glasgow] à 15",
        "a [Glasgow] score of 13",
        "queso de [Burgos] y pan",
        "prosciutto di [Parma] e pane",
        "du jambon de [Bayonne]",
        "a recipe for a [Victoria] sponge",
        "il teorema di [Bayes] e",
        "described in [Exhibit A].",
        "Torino ([locatore]) e Mira Tallow",
    ],
)
def test_a_thing_that_bears_the_name_of_a_place_is_none(text: str) -> None:
    assert left(text, "LOCATION") == []


@pytest.mark.parametrize(
    "text", ["INFORME DE [ALTA]\nPaciente", "– [P. IVA] IT99999999999", "Vigo.\n[Segunda]. La renta"]
)
def test_the_label_of_a_field_is_nobody(text: str) -> None:
    assert left(text, "PERSON") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[Analyst, Halden LLC] - 2015", "Halden LLC"),
        ("[Senior Account Manager, Halden and Sons]", "Halden and Sons"),
        ("l'équipe de [Médecine Interne de l'hôpital Halden]", "hôpital Halden"),
        ("[Halden SA. Référence] : 9", "Halden SA"),
        ("en [Clinique Halden le 12/06/2023]", "Clinique Halden"),
        ("la [Audiencia Provincial de Halden]", "Audiencia Provincial de Halden"),
        ("She works at [Apple] in June", "Apple"),
        ("She works at [Visa] in June", "Visa"),
        ("[Apple] announced", "Apple"),
        ("the [Halden Report]", "Halden Report"),
    ],
)
def test_a_name_beside_what_is_ordinary_stays_and_loses_it(text: str, name: str) -> None:
    assert left(text) == [name]


@pytest.mark.parametrize("text", ["[Paris] is", "in [Europe] and", "the city of [Burgos]", "from [La Réunion]"])
def test_places_stay_places(text: str) -> None:
    assert left(text, "LOCATION")


@pytest.mark.parametrize(
    "text",
    [
        "Is [Jenkins] better than Travis?",
        "Is Jenkins better than [Travis]?",
        "[Ruby] on Rails",
        "Ruby on Rails, Maven, [Jackson]",
        "compare [Ford], Tesla and Mercedes",
        "compare Ford, Tesla and [Mercedes]",
        "the [Dijkstra] path",
        "a [Dirac] delta",
        "Bruno è [bruno]",
    ],
)
def test_products_and_things_among_their_kind_are_nobody(text: str) -> None:
    assert left(text, "PERSON") == []


@pytest.mark.parametrize(
    "text",
    [
        "Once we had Docker, [Jackson] said no",
        "[Jackson], Docker is down",
        "[Ford] and Smith",
        "[Bruno] è bruno",
        "[Travis] came",
    ],
)
def test_a_person_beside_a_product_stays(text: str) -> None:
    assert left(text, "PERSON")


def test_persons_beside_labels_stay() -> None:
    assert left("Paciente: [Mira Tallow]\n", "PERSON") == ["Mira Tallow"]


def test_a_phrase_of_posts_has_no_inner_part() -> None:
    assert inner("Head of Operations", 0, 18) is None

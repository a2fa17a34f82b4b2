"""Places by list and places that the words before them announce, in five languages; and what only looks like one."""

from __future__ import annotations

import pytest

from recognizers import announced
from recognizers.base import Span
from recognizers.countries import listed


def by_list(text: str, *found: Span) -> list[str]:
    return [text[span.start : span.end] for span in listed(text, found)]


LISTED = [
    ("(Peeters y otros c. Bélgica [GS], n.º 99999/05)", ["Bélgica"]),
    ("EN EL ASUNTO GOROSTIZA CONTRA ESPAÑA", ["ESPAÑA"]),
    ("SENTENCIA\n\nESTRASBURGO\n\n15 de marzo", ["ESTRASBURGO"]),
    ("le droit de l'Espagne et d'Italie", ["Espagne", "Italie"]),
    ("In Germany, and then Germany's east", ["Germany", "Germany"]),
    ("a London-based firm with a house in New York", ["London", "New York"]),
    ("wohnt seit 2011 in München.", ["München"]),
    ("Vive entre Tel Aviv y Buenos Aires", ["Tel Aviv", "Buenos Aires"]),
]


@pytest.mark.parametrize(("text", "expected"), LISTED)
def test_a_place_of_the_list_is_found(text: str, expected: list[str]) -> None:
    assert by_list(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "She flew with Air France to see Paris Hilton at the Berlin Wall",
        "in berlin and paris, lower case",
        "paris@example.org, www.germany.example, /etc/Madrid/Spain_1",
        "Londoner, Spaniens, xBerlin",
        "Jordan and Georgia met Chad; Turkey sandwich; an Island",
    ],
)
def test_what_only_looks_like_one_is_not(text: str) -> None:
    assert by_list(text) == []


def test_what_a_model_marked_is_left_to_it() -> None:
    text = "Banco de Madrid, Madrid, Barcelona"
    marked = [Span(0, 15, "ORGANIZATION", 0.85, "names:es", "model ORG")]
    assert by_list(text, *marked) == ["Madrid", "Barcelona"]


ANNOUNCED = [
    ("reside en Etxarri-Aranatz y fue detenido en Lasarte", ["Etxarri-Aranatz", "Lasarte"]),
    ("la prisión de Herrera de la Mancha", ["Herrera de la Mancha"]),
    ("né à Plouguerneau en 1970, détenu à Fleury-Mérogis", ["Plouguerneau", "Fleury-Mérogis"]),
    ("la commune de Saint-Jean-de-Luz", ["Saint-Jean-de-Luz"]),
    ("geboren in Bad Aibling, wohnhaft in Starnberg", ["Bad Aibling", "Starnberg"]),
    ("nato a Sant’Agata, residente a Castel Volturno", ["Sant’Agata", "Castel Volturno"]),
    ("She lived in Ashby, in the city of Halden.", ["Ashby", "Halden"]),
    ("born in March, lives in peace; avocat au Conseil; né en Mars; reside en la ciudad", []),
]


@pytest.mark.parametrize(("text", "expected"), ANNOUNCED)
def test_a_place_that_is_announced_is_found(text: str, expected: list[str]) -> None:
    hits = [hit for each in announced.build() for hit in each.analyze(text, ["LOCATION"])]
    assert [text[hit.start : hit.end] for hit in sorted(hits, key=lambda hit: hit.start)] == expected

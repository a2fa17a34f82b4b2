"""Names with particles: found in any language, with any set of languages; and what is built alike and is none."""

from __future__ import annotations

import pytest

from recognizers.analyzer import Analyzer, Item, Settings
from recognizers.base import Span
from recognizers.lexicon import build
from recognizers.particled import particled, widened

FULL = [
    ("María del Carmen Ruiz Fernández vive en Madrid.", "María del Carmen Ruiz Fernández"),
    ("María del Pilar Gómez Soto vive en Madrid.", "María del Pilar Gómez Soto"),
    ("María de los Ángeles Romero firmó el contrato.", "María de los Ángeles Romero"),
    ("Llame a María del Mar Vidal.", "María del Mar Vidal"),
    ("Juan de la Cruz Moreno llamó ayer.", "Juan de la Cruz Moreno"),
    ("Ayer vino Pedro del Río.", "Pedro del Río"),
    ("Please transfer to María del Carmen Ruiz, IBAN ES9121000418450200051332.", "María del Carmen Ruiz"),
    ("en nombre de María del Carmen Ruiz-Fernández, con DNI 12345678Z", "María del Carmen Ruiz-Fernández"),
    ("Ontem o João da Silva telefonou.", "João da Silva"),
    ("Begoña de la Fuente llamó", "Begoña de la Fuente"),
]
NONE = [
    "Santiago del Estero es una ciudad",
    "la calle de San Juan de la Cruz",
    "Pregunta a Maria del Departamento de Ventas",
    "Anna della Banca Intesa",
    "Ricardo@del Mar, x.Pedro del Río",
    "pedro del río, en minúsculas",
]


@pytest.fixture(scope="module", params=[("en", "fr"), ("en", "fr", "de", "es", "it")], ids="+".join)
def analyzer(request: pytest.FixtureRequest) -> Analyzer:
    made = Analyzer(Settings(languages=request.param, entities=frozenset({"PERSON"})))
    made.load()
    return made


@pytest.mark.parametrize(("text", "name"), FULL)
def test_a_name_is_found_whole_whatever_the_languages(analyzer: Analyzer, text: str, name: str) -> None:
    (found,) = analyzer.analyze([Item(text)])
    assert name in [text[span.start : span.end] for span in found]


def test_what_its_column_calls_a_place_is_nobody(analyzer: Analyzer) -> None:
    text = "client;ville\nDupont;Lyon\nMartin;Nancy"
    (found,) = analyzer.analyze([Item(text)])
    assert [text[span.start : span.end] for span in found] == ["Dupont", "Martin"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("She's moving to lyon w/ hassan", "hassan"),
        ("Reach Aaron or Client Regina", "Aaron"),
        ("Reach Aaron or Client Regina", "Regina"),
        ("F. Valdez, DEA AB1234563", "F. Valdez"),
    ],
)
def test_what_stands_beside_a_name_is_no_part_of_it(analyzer: Analyzer, text: str, name: str) -> None:
    (found,) = analyzer.analyze([Item(text)])
    assert name in [text[span.start : span.end] for span in found]


@pytest.mark.parametrize("text", NONE)
def test_what_is_built_alike_is_none(text: str) -> None:
    assert list(particled(text, build(frozenset()))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ho parlato con l'avv. Lo Presti ieri.", ["Lo Presti"]),
        ("ieri con Lo Presti e altri", ["Lo Presti"]),
        ("Lo Presti ha detto", []),
        ("lo Presti ha detto", []),
    ],
)
def test_a_capitalised_particle_inside_a_sentence_belongs_to_the_name(text: str, expected: list[str]) -> None:
    at = text.index("Presti")
    hit = Span(at, at + len("Presti"), "PERSON", 0.85, "names:xx", "model PERSON")
    assert [text[span.start : span.end] for span in widened(text, [hit])] == expected
    assert list(widened(text, [hit._replace(entity="LOCATION")])) == []

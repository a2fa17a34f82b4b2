"""German, Spanish and Italian: which language a text is in, what their model finds, and that it is the pinned one."""

from __future__ import annotations

from pathlib import Path

import pytest

from recognizers import european, multilingual, weights
from recognizers.analyzer import Analyzer, Item, Settings
from recognizers.european import EuropeanModel
from recognizers.language import candidates
from recognizers.models import ModelUnavailable
from recognizers.names import Names

ALL = ("en", "fr", "de", "es", "it")


@pytest.fixture(scope="module")
def names() -> Names:
    loaded = Names(("de", "es", "it"))
    loaded.load()
    return loaded


def found(names: Names, text: str, entity: str = "PERSON") -> set[str]:
    return {text[span.start : span.end] for span in names.find([text], "it")[0] if span.entity == entity}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Vertrag wurde gestern von beiden Seiten unterschrieben.", "de"),
        ("Bitte um Rückruf", "de"),
        ("El contrato fue firmado ayer por las dos partes.", "es"),
        ("¿Puedes llamarme mañana?", "es"),
        ("Il contratto è stato firmato ieri da entrambe le parti.", "it"),
        ("Ci vediamo domani alla stazione", "it"),
        ("Le contrat a été signé hier par les deux parties.", "fr"),
        ("Est-ce que tu peux me rappeler demain ?", "fr"),
        ("The contract was signed yesterday by both parties.", "en"),
        ("please call me back tomorrow", "en"),
    ],
)
def test_a_line_is_enough_to_tell_the_language(text: str, expected: str) -> None:
    assert candidates(text, ALL) == (expected,)


def test_without_evidence_two_models_are_asked_and_never_one_of_them_twice() -> None:
    for text in ("", "12 34 56", "Xqz Wvk"):
        assert len(candidates(text, ALL)) == 2
        assert len(candidates(text, ("de", "es", "it"))) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sehr geehrte Frau Dr. Kröger, Herr Benno Lindqvist hat heute angerufen.", {"Kröger", "Benno Lindqvist"}),
        ("Vermieter ist Hans-Georg von Thalheim, wohnhaft in Kassel.", {"Hans-Georg von Thalheim"}),
        ("Estimada Sra. Olmedo: le escribe Ramiro Fuentes de la Torre.", {"Olmedo", "Ramiro Fuentes de la Torre"}),
        ("El paciente Julián Ibarra Soto ingresó el martes.", {"Julián Ibarra Soto"}),
        ("Il sottoscritto Corrado Bellandi chiede il rimborso.", {"Corrado Bellandi"}),
        ("Gentile dottoressa Zanetti, le scrive Ornella Di Biase.", {"Zanetti", "Ornella Di Biase"}),
    ],
)
def test_a_name_is_found_with_its_exact_borders(names: Names, text: str, expected: set[str]) -> None:
    assert found(names, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hab gestern mit sabine wagner telefoniert", "sabine wagner"),
        ("HEUTE HAT KLAUS NEUMANN ANGERUFEN", "KLAUS NEUMANN"),
        ("ayer hablé con lucía romero en la oficina", "lucía romero"),
        ("EL CLIENTE SE LLAMA ANDRÉS MOLINA", "ANDRÉS MOLINA"),
        ("ieri ho visto giorgio ferrari in ufficio", "giorgio ferrari"),
        ("IL CLIENTE SI CHIAMA PAOLA RICCI", "PAOLA RICCI"),
    ],
)
def test_names_without_capitals_or_in_capitals_only(names: Names, text: str, expected: str) -> None:
    assert any(expected in value for value in found(names, text))


def test_names_in_rows(names: Names) -> None:
    text = "Nome;Cognome;Città\nIlaria;Pagani;Modena\nTullio;Venturi;Lecce\n"
    covered = found(names, text) | found(names, text, "LOCATION")
    assert {"Ilaria", "Pagani", "Tullio", "Venturi"} <= covered


def test_places_firms_and_addresses(names: Names) -> None:
    text = "Die Brandner Logistik GmbH sitzt in Bremen, Gartenstraße 14, 28195 Bremen."
    assert "Brandner Logistik GmbH" in found(names, text, "ORGANIZATION")
    assert "Bremen" in found(names, text, "LOCATION")
    assert any("Gartenstraße 14" in value for value in found(names, text, "ADDRESS"))


@pytest.mark.parametrize(
    "text",
    [
        "Die Waschmaschine steht im Keller und muss bis Freitag repariert werden.",
        "Die Zwiebeln schälen, in Würfel schneiden und in der Butter anschwitzen.",
        "La lavadora está en el sótano y hay que repararla antes del viernes.",
        "Pelar las patatas y cortarlas en rodajas finas; añadir la sal y el aceite.",
        "La lavatrice è in cantina e va riparata entro venerdì.",
        "Tagliare le cipolle a fette sottili e aggiungere un pizzico di sale.",
        "def parse(items):\n    return [item.value for item in items if item.active]",
    ],
)
def test_text_without_names_stays_as_it_is(names: Names, text: str) -> None:
    assert names.find([text], "de") == [[]]


def test_the_analyzer_reads_each_block_in_its_language() -> None:
    settings = Settings(languages=("de", "es", "it"), entities=frozenset({"PERSON"}))
    analyzer = Analyzer(settings)
    analyzer.load()
    texts = [
        "Herr Benno Lindqvist wohnt hier.",
        "Ha llamado doña Carmen Olmedo.",
        "Ha chiamato il signor Corrado Bellandi.",
    ]
    spans = analyzer.analyze([Item(text) for text in texts])
    values = [{text[s.start : s.end] for s in item} for text, item in zip(texts, spans, strict=True)]
    assert values == [{"Benno Lindqvist"}, {"Carmen Olmedo"}, {"Corrado Bellandi"}]


def test_a_changed_byte_in_the_weights_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = bytearray((weights.FOLDER / "xx.xz").read_bytes())
    packed[len(packed) // 2] ^= 1
    (tmp_path / "xx.xz").write_bytes(packed)
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    with pytest.raises(weights.WeightsRefused, match="not the pinned file"):
        european._pipeline.__wrapped__()


def test_a_changed_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "LISTS", {**multilingual.LISTS, "european_names.txt.xz": "0" * 64})
    with pytest.raises(multilingual.ListsRefused, match="not the pinned list"):
        multilingual.lists.__wrapped__("european_names.txt.xz")


def test_a_model_that_was_not_loaded_says_so() -> None:
    with pytest.raises(ModelUnavailable):
        EuropeanModel().find(["Mira Tallow"])

"""Names by model: what is found, where it starts and ends, that hostile text is harmless, that models are genuine."""

from __future__ import annotations

import dataclasses
import threading
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recognizers import models
from recognizers.language import candidates
from recognizers.names import NameModel, Names
from recognizers.visible import LONGEST, visible


@pytest.fixture(scope="module")
def names() -> Names:
    found = Names(("en", "fr"))
    found.load()
    return found


def persons(names: Names, text: str, language: str) -> set[str]:
    return {text[s.start : s.end] for s in names.find([text], language)[0] if s.entity == "PERSON"}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Please ask Mira Tallow about the contract.", {"Mira Tallow"}),
        (
            "en",
            "hey its mira tallow, can u email omar benhaddou about sophy?",
            {"mira tallow", "omar benhaddou", "sophy"},
        ),
        ("en", "Signed: Samuel L. Braxton and Robert Downing Jr.", {"Samuel L. Braxton", "Robert Downing Jr."}),
        ("en", "Use Erika's laptop. Erika said Erika’s file is gone.", {"Erika"}),
        ("en", "👩‍⚕️👨‍👩‍👧 Dr. Mira Tallow 👍🏽 left early", {"Mira Tallow"}),
        ("fr", "Mme Jeanne Lefort a appelé M. Peter Maxwell.", {"Jeanne Lefort", "Peter Maxwell"}),
        ("fr", "MARIE DURAND A ÉTÉ ADMISE HIER PAR LE DOCTEUR PAUL MARTIN.", {"MARIE DURAND", "PAUL MARTIN"}),
        ("fr", "salut c'est jeanne lefort, tu peux prévenir omar benhaddou ?", {"jeanne lefort", "omar benhaddou"}),
        ("fr", "Dossier suivi pour BLOT Alexandrine depuis mars", {"BLOT Alexandrine"}),
    ],
)
def test_a_name_is_found_with_its_exact_borders(names: Names, language: str, text: str, expected: set[str]) -> None:
    found = persons(names, text, language)
    assert expected <= found
    covered = {name for name in found if any(name in whole for whole in expected)}
    assert found == covered


@pytest.mark.parametrize(
    "text",
    [
        "Use S3, EKS and C4 diagrams in Terraform, see v1.2.3.4 of the module",
        "# README.md\nRun pytest tests/test_api.py then self.repo.Get(user_id) and std::vector<int> a::b",
        "commit 14ae301f9b7c4d2e8a6b5c4d3e2f1a0b9c8d7e6f set in Times New Roman, Arial Black",
        "What's the weather today in the morning? It is Monday, in May.",
        "class HTTPAdapter(JupyterMixin):\n    def get_user(self, cls): return self.getUser()",
        "She has Raynaud's disease and a Foley catheter, with a Gleason score of 7.",
        "Il souffre du syndrome de Raynaud et d'une maladie de Crohn.",
        "Lorem ipsum dolor sit amet. Bearer token, JSON, Python, Bonjour, Thanks",
        "Bill to:\nAuthor:\nReported-by:\n",
    ],
)
def test_code_products_and_things_that_bear_a_name_are_no_persons(names: Names, text: str) -> None:
    for language in ("en", "fr"):
        assert persons(names, text, language) == set()


def test_places_and_organisations_keep_their_type(names: Names) -> None:
    text = "He has lived in Toulouse since 2011 and works for Microsoft Corporation."
    found = {(text[s.start : s.end], s.entity) for s in names.find([text], "en")[0]}
    assert ("Toulouse", "LOCATION") in found
    assert ("Microsoft Corporation", "ORGANIZATION") in found


def test_no_span_holds_a_line_break_or_surrounding_punctuation(names: Names) -> None:
    text = 'Thanks!\nMira Tallow\nOmar Benhaddou | Marketing\n(Jeanne Lefort); "Paul Martin", Dr. Anna Schmidt.'
    for language in ("en", "fr"):
        for span in names.find([text], language)[0]:
            value = text[span.start : span.end]
            assert "\n" not in value
            assert value == value.strip(" ,;:\"'()|!")
            assert not value.startswith("Dr")


def test_offsets_count_code_points_also_behind_astral_and_combining_characters(names: Names) -> None:
    text = "👨‍👩‍👧 J\u0061\u0301n\u0061 𝔘 then Mira Tallow came."
    assert "Mira Tallow" in persons(names, text, "en")


def test_results_do_not_depend_on_the_batch_or_on_what_came_before(names: Names) -> None:
    texts = [
        "Please ask Mira Tallow.",
        "Omar Benhaddou called from Toulouse.",
        "",
        "no names here",
        "Paul Martin est venu.",
    ] * 20
    together = names.find(texts, "en")
    assert together == [names.find([text], "en")[0] for text in texts]


def test_one_zone_at_a_time_per_model(names: Names) -> None:
    """Two threads on one model: spaCy's memory zones would invalidate one another's documents."""
    texts = [f"Please ask Mira Tallow{i} or Omar Benhaddou about item{i} xq{i}z." for i in range(60)]
    expected = names.find(texts, "en")
    results: list[object] = []

    def work() -> None:
        try:
            results.append(names.find(texts, "en"))
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_a_missing_model_is_named_with_its_install_command() -> None:
    absent = dataclasses.replace(models.SOURCES["fr"], package="no_such_model_package")
    with pytest.raises(models.ModelUnavailable, match=r"no_such_model_package.*pip install"):
        models.locate(absent)


def test_a_model_that_is_not_the_pinned_one_refuses_to_start() -> None:
    source = models.SOURCES["fr"]
    other = dataclasses.replace(source, files=MappingProxyType({**source.files, "ner/moves": "0" * 64}))
    with pytest.raises(models.ModelUnavailable, match=r"ner/moves is not the pinned file"):
        NameModel(other).load()


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(models.ModelUnavailable, match="xx"):
        Names(("en", "xx"))


def test_a_model_that_was_not_loaded_finds_nothing_out_and_says_so() -> None:
    with pytest.raises(models.ModelUnavailable):
        NameModel(models.SOURCES["en"]).find(["Mira Tallow"])


@given(st.text(alphabet=st.sampled_from(list("ab:-1. \n|'é😀\u0301/A")), max_size=400))
def test_visible_keeps_length_and_only_blanks(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, shown, strict=True))


@settings(max_examples=50)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30).flatmap(lambda part: st.just(part * 40)))
def test_no_long_token_reaches_a_tokenizer(text: str) -> None:
    assert max(map(len, visible(text).split()), default=0) <= LONGEST


@pytest.mark.parametrize("unit", ["a:", "123-45-", "a.", "=", "x" * 50, "Aé|", "\u0301", "1 2 ", "()[]", "https://"])
def test_hostile_runs_become_bounded_tokens(unit: str) -> None:
    assert max(map(len, visible(unit * 3000).split()), default=0) <= LONGEST


def test_names_glued_to_punctuation_stay_visible() -> None:
    text = "7;Mira;Tallow;1988-03-14;DE83709999990123456789;x" + "|Omar|Benhaddou|" + "=" * 80
    assert {"Mira", "Tallow", "Omar", "Benhaddou"} <= set(visible(text).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The patient was seen by her doctor and then went home with the report.", ("en",)),
        ("La patiente a été vue par son médecin et elle est rentrée avec le compte rendu.", ("fr",)),
        ("Mira Tallow", ("en", "fr")),
        ("", ("en", "fr")),
        ("0123456789 ++", ("en", "fr")),
    ],
)
def test_language_by_evidence(text: str, expected: tuple[str, ...]) -> None:
    assert candidates(text) == expected


def test_a_single_configured_language_is_always_used() -> None:
    assert candidates("La patiente a été vue par son médecin.", ("en",)) == ("en",)

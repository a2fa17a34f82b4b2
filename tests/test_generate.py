"""Generated documents: the same for the same seed, spans that fit, every frame and slot of every language written."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.generate import document, generate
from training.generate.author import Author
from training.generate.documents import KINDS
from training.generate.frames import Draft, load, write
from training.generate.values import LANGUAGES, SOURCES
from training.pools import Pools
from training.text import LABELS

KNOWN = {"PERSON", "ORGANIZATION", "LOCATION", "ADDRESS", "EMAIL", "PHONE"}
WORDS = [f"{word}\t{zipf}" for word, zipf in (("tabla", 5.1), ("vento", 4.2), ("kessel", 4.0), ("paper", 6.0))]
ROWS = {
    "us_ssa_given": ["Omar\tM\t9000", "Sophy\tF\t4000"],
    "fr_insee_given": ["Léo\tM\t9000", "Anaïs\tF\t4000"],
    "it_given_napolux": ["Ciro", "Fiamma"],
    "it_surnames_napolux": ["Brambilla", "De Sica"],
    "namedatabases_surnames": ["de\tKröger", "fr\tLefort", "it\tSerra"],
    "wiktionary_surnames": ["Núñez", "Kröger"],
    "world_common_forenames": ["JP\tM\tKenji\tKenji\t", "SN\tF\tAwa\tAwa\t", "DE\tF\tUte\tUte\t"],
    "world_common_surnames": ["JP\t\tSato\tSato\t", "SN\t\tDiop\tDiop\t"],
    "geonames_cities": [*(f"Ort{code}\t{code}\t90000" for code in ("DE", "US", "ES", "FR", "IT")), "Osaka\tJP\t900000"],
    "geonames_city_exonyms": ["Oosaka\tOsaka\tJP"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("names")
    for name in SOURCES:
        rows = WORDS if name.startswith("wordfreq") else ROWS.get(name, ["Nunez\t900", "Tallow\t500"])
        with gzip.open(root / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["head", *rows]) + "\n")
    return root


@settings(max_examples=150, deadline=None)
@given(language=st.sampled_from(LANGUAGES), seed=st.integers(0, 2**40))
def test_a_seed_makes_one_document_with_spans_that_fit(folder: Path, language: str, seed: int) -> None:
    made = document(folder, language, seed)
    assert made == document(folder, language, seed)
    end = 0
    for start, stop, kind in made.spans:
        value = made.text[start:stop]
        assert kind in KNOWN
        assert start >= end
        assert value
        assert value == value.strip()
        end = stop
    if made.kind == "clean":
        assert made.spans == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_frame_of_every_section_can_be_written(folder: Path, language: str) -> None:
    for name, frames in load(language).sections.items():
        for frame in frames:
            for seed in range(4):
                author, draft = Author(folder, language, random.Random(seed)), Draft()
                write(frame, draft, author.slot, author.rng)
                assert draft.text.strip(), (name, frame)
                assert not set("{}[]") & set(draft.text) or "{" not in frame


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_document_is_made(folder: Path, language: str) -> None:
    kinds = {document(folder, language, seed).kind for seed in range(600)}
    assert kinds == set(KINDS)


def test_the_trainer_reads_them_with_its_own_labels(folder: Path) -> None:
    made = list(generate(Pools(folder, "it"), random.Random(3), 40))
    assert len(made) == 40
    assert {mark.label for text in made for mark in text.marks} <= set(LABELS)
    assert any(text.marks for text in made)


def test_a_choice_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        write("[a|b", Draft(), lambda _name, _draft: None, random.Random(1))


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        document(tmp_path, "de", 1)

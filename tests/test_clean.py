"""Sentences that hold nothing personal, in five languages: at most one in twenty is touched by the default policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from recognizers import ENTITIES
from recognizers.analyzer import Analyzer, Item, Settings

FOLDER = Path(__file__).parent / "clean"
LANGUAGES = ("en", "fr", "de", "es", "it")
ALLOWED = {"ORGANIZATION", "LOCATION", "DATE_TIME", "COMPANY_ID", "ICD_CODE"}
MOST = 0.05
WITH_NAMES = ("en", "fr")
"""Languages whose own name model is loaded; in the others what the rules alone find is counted."""


def sentences(language: str) -> list[str]:
    return (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    made = Analyzer(Settings(entities=frozenset(ENTITIES) - ALLOWED))
    made.load()
    return made


def test_there_are_enough() -> None:
    assert sum(len(sentences(language)) for language in LANGUAGES) >= 150


@pytest.mark.parametrize("language", LANGUAGES)
def test_clean_sentences_stay(analyzer: Analyzer, language: str) -> None:
    texts = sentences(language)
    found = analyzer.analyze([Item(text) for text in texts])
    touched = {
        text: [(span.entity, text[span.start : span.end]) for span in spans]
        for text, spans in zip(texts, found, strict=True)
        if any(language in WITH_NAMES or not span.recognizer.startswith("names") for span in spans)
    }
    assert len(touched) <= MOST * len(texts), touched

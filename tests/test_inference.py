"""The fast way through the name models gives what spaCy's own way gives, and known words are split as unknown ones."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recognizers import european, familiar, inference, models, multilingual

TEXT = (
    "the committee met Mira Tallow in LONDON , don't he'll U.S. l'été aujourd'hui Élodie (see :-) a.m. 12/03/2024 "
    "e-mail mira@tallow.example https://a.example/b?c=d Herr Müller-Lüdenscheid, dell'Anna ¿Qué? 10€ 3,5km \n \n\n \t "
    "( ͡° ͜ʖ ͡°) ¯\\(ツ)/¯ Straße. “quoted” it's Its ITS c++ 日本語 I’m gonna cannot"
)
WORDS = re.split(" ", TEXT)
PROSE = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=40).map(" ".join)
FEATURES = ("orth", "norm", "prefix", "suffix", "shape", "lang", "idx")


@pytest.fixture(scope="module", params=["en", "fr", "xx"])
def nlp(request: pytest.FixtureRequest) -> Any:
    return european._pipeline()[0] if request.param == "xx" else models.load(models.SOURCES[request.param])[0]


@given(texts=st.lists(PROSE, min_size=1, max_size=5).filter(any))
@settings(max_examples=40)
def test_vectors_are_those_of_spacy(nlp: Any, texts: list[str]) -> None:
    fast = nlp.get_pipe("ner").model.layers[0]
    slow = fast.attrs["slow"]
    with nlp.memory_zone():
        docs = [nlp.make_doc(text) for text in texts]
        expected, found = slow.predict(docs), fast.predict(docs)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_a_text_longer_than_what_goes_through_at_once(nlp: Any) -> None:
    fast = nlp.get_pipe("ner").model.layers[0]
    docs = [nlp.make_doc(TEXT * 25), nlp.make_doc("Mira")]
    np.testing.assert_allclose(fast.predict(docs), fast.attrs["slow"].predict(docs), atol=2e-4)


def test_learning_goes_through_spacys_own_layers(nlp: Any) -> None:
    fast = nlp.get_pipe("ner").model.layers[0]
    docs = [nlp.make_doc("Mira Tallow")]
    output, back = fast(docs, is_train=True)
    assert callable(back)
    assert output.shape == (2, 64)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30))
def test_distinct_rows(rows: list[tuple[int, ...]]) -> None:
    values = np.array(rows, dtype=np.uint64)
    first, inverse = inference.distinct(values)
    assert np.array_equal(values[first][inverse], values)
    assert len(first) == len(set(rows)) or len({row[:2] for row in rows}) < len(set(rows))


def test_two_words_with_one_key_are_told_apart() -> None:
    one, two = np.array([7, 8], dtype=np.uint64) * inference._MIX
    values = np.array([[7, 0, 1], [8, one ^ two, 2]], dtype=np.uint64)
    first, inverse = inference.distinct(values)
    assert np.array_equal(values[first][inverse], values)


@pytest.fixture(scope="module", params=["en", "fr", "xx"])
def taught(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A pipeline that has learned its frequent words, and one that has not."""
    made = [_untaught(request.param) for _ in range(2)]
    familiar.learn(made[0], multilingual.LANGUAGES if request.param == "xx" else [request.param])
    return made[0], made[1]


def _untaught(language: str) -> Any:
    if language == "xx":
        return multilingual.blank()
    import spacy

    directory = models.locate(models.SOURCES[language])
    pipes = spacy.util.load_config(directory / "config.cfg")["nlp"]["pipeline"]
    return spacy.load(directory, exclude=pipes)


@given(text=PROSE)
@settings(max_examples=60)
def test_known_words_are_split_like_others(taught: tuple[Any, Any], text: str) -> None:
    found = []
    for nlp in taught:
        with nlp.memory_zone():
            found.append([[getattr(word, feature) for feature in FEATURES] for word in nlp.make_doc(text)])
    assert found[0] == found[1]


def test_words_of_requests_are_not_kept(taught: tuple[Any, Any]) -> None:
    nlp, _ = taught
    size = len(nlp.vocab), len(nlp.vocab.strings)
    with nlp.memory_zone():
        nlp.make_doc("Zzyxomatic Quorblenax, the Zzyxomatic")
    assert len(nlp.vocab.strings) == size[1]
    assert "Quorblenax" not in nlp.vocab.strings

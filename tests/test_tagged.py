"""From labels of tokens to spans: every labelling scheme in use, and words cut in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers.tagged import Scheme, Token, softmax, split

TEXT = "Mira Tallow met Jo in Oslo"
WORDS = [(0, 4), (5, 11), (12, 15), (16, 18), (19, 21), (22, 26)]
NAMES = {"PER": "PERSON", "GIVEN": "PERSON", "LAST": "PERSON", "LOC": "PLACE"}


def decoded(labels: list[str], text: str = TEXT, names: dict[str, str] = NAMES) -> list[tuple[str, str]]:
    order = tuple(dict.fromkeys(["O", *labels]))
    rows = np.full((len(labels), len(order)), 0.01)
    rows[range(len(labels)), [order.index(label) for label in labels]] = 0.9
    tokens = [Token(start, end, word) for word, (start, end) in enumerate(WORDS)]
    return [(text[h.start : h.end], h.entity) for h in Scheme(order, names).decode(text, tokens, rows)]


@pytest.mark.parametrize(
    "labels",
    [
        ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"],  # BIO
        ["I-PER", "I-PER", "O", "I-PER", "O", "I-LOC"],  # IOB1
        ["B-PER", "E-PER", "O", "S-PER", "O", "S-LOC"],  # BIOES
        ["B-PER", "L-PER", "O", "U-PER", "O", "U-LOC"],  # BILOU
        ["PER", "PER", "O", "PER", "O", "LOC"],  # bare
        ["B-GIVEN", "B-LAST", "O", "B-GIVEN", "O", "B-LOC"],  # parts of a name, one entity of ours
        ["B-PER", "I-PER", "B-ORG", "B-PER", "O", "B-LOC"],  # a label that nobody asked for
    ],
)
def test_schemes(labels: list[str]) -> None:
    assert decoded(labels) == [("Mira Tallow", "PERSON"), ("Jo", "PERSON"), ("Oslo", "PLACE")]


def test_a_beginning_begins_anew() -> None:
    assert decoded(["B-PER", "B-PER", "O", "O", "O", "O"]) == [("Mira", "PERSON"), ("Tallow", "PERSON")]


def test_labels_with_hyphens_and_without_prefixes() -> None:
    assert split("B-first-name") == ("B", "first-name")
    assert split("E-MAIL") == ("E", "MAIL")
    assert split("first-name") == ("I", "first-name")
    assert split("O") == ("O", "")


def test_halves_of_one_entity_add_up() -> None:
    scheme = Scheme(("O", "B-GIVEN", "B-LAST"), NAMES)
    rows = np.array([[0.4, 0.35, 0.25]])
    (hit,) = scheme.decode("Mira", [Token(0, 4, 0)], rows)
    assert (hit.entity, round(hit.score, 2)) == ("PERSON", 0.6)


def test_pieces_of_a_word_are_judged_together_and_spaces_are_no_part() -> None:
    scheme = Scheme(("O", "PER"), NAMES)
    tokens = [Token(0, 3, 0), Token(3, 5, 0), Token(5, 8, 0)]
    rows = np.array([[0.1, 0.9], [0.8, 0.2], [0.1, 0.9]])
    (hit,) = scheme.decode(" Tallow ", tokens, rows)
    assert (hit.start, hit.end) == (1, 7)


@given(st.lists(st.lists(st.floats(-30, 30), min_size=5, max_size=5), max_size=6))
def test_any_numbers_give_sorted_disjoint_spans(logits: list[list[float]]) -> None:
    scheme = Scheme(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"), NAMES)
    tokens = [Token(start, end, word) for word, (start, end) in enumerate(WORDS[: len(logits)])]
    hits = scheme.decode(TEXT, tokens, softmax(np.array(logits).reshape(-1, 5)))
    edges = [edge for hit in hits for edge in (hit.start, hit.end)]
    assert edges == sorted(edges)
    assert all(0 < hit.score <= 1.0001 and hit.end > hit.start for hit in hits)

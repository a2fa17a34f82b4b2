"""Letters and digits written one by one: read as words, and mapped back to where they stand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers.analyzer import Analyzer, Item, Settings
from recognizers.shadow import shadow
from recognizers.spaced import drawn_together


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("M i r a  T a l l o w lives here", "Mira Tallow lives here"),
        ("card 4 0 0 0 0 0 5 2 6 0 1 8 1 5 9 0 thanks", "card 4000005260181590 thanks"),
        ("4 0 0 0  0 0 5 2  6 0 1 8  1 5 9 0", "4000 0052 6018 1590"),
        ("m i r a @ e x a m p l e . o r g", "mira@example.org"),
        ("Z\u00a0o\u00a0\u00eb\u00a0\u00a0M\u00a0\u00fc\u00a0l\u00a0l\u00a0e\u00a0r", "Zo\u00eb M\u00fcller"),
        ("&#90; o \u00eb  M \u00fc l l e r", "Zo\u00eb M\u00fcller"),
        ("one  two  three", "one  two  three"),
        ("I am a b c d", "I am a b c d"),
        ("x = a + b * c - d / e ^ f", "x = a + b * c - d / e ^ f"),
        ("0 1 0 1 1 0 0 1 0 1", "0 1 0 1 1 0 0 1 0 1"),
        ("1 2 3 " * 20, "1 2 3 " * 20),
        ("| a | b | c | d | e | f |", "| a | b | c | d | e | f |"),
    ],
)
def test_what_is_drawn_together(text: str, expected: str) -> None:
    assert drawn_together(shadow(text)).text == expected


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    wanted = frozenset({"PERSON", "CREDIT_CARD", "IBAN_CODE", "EMAIL_ADDRESS", "UK_NHS", "PHONE_NUMBER"})
    made = Analyzer(Settings(("en",), entities=wanted))
    made.load()
    return made


VALUES = [
    ("PERSON", "Please ask {} about it.", "M i r a  T a l l o w"),
    ("CREDIT_CARD", "My card is {} thanks", "4 0 0 0 0 0 5 2 6 0 1 8 1 5 9 0"),
    ("CREDIT_CARD", "My card is {}\nthanks", "4 0 0 0  0 0 5 2  6 0 1 8  1 5 9 0"),
    ("IBAN_CODE", "IBAN {}", "F R 7 6 3 0 0 0 6 0 0 0 0 1 1 2 3 4 5 6 7 8 9 0 1 8 9"),
    ("EMAIL_ADDRESS", "mail {}, please", "m i r a . t a l l o w @ e x a m p l e . c o m"),
    ("UK_NHS", "NHS number {}", "9 4 3 4 7 6 5 9 1 9"),
]


@pytest.mark.parametrize(("entity", "sentence", "value"), VALUES)
@pytest.mark.parametrize("before", ["", "\u00e9 &amp; caf\u00e9. ", "a b c d e f g h i, and "])
def test_a_value_is_found_where_it_stands(
    analyzer: Analyzer, entity: str, sentence: str, value: str, before: str
) -> None:
    text = before + sentence.format(value)
    (spans,) = analyzer.analyze([Item(text)])
    assert (entity, value) in [(span.entity, text[span.start : span.end]) for span in spans]


def test_a_table_of_digits_is_no_value(analyzer: Analyzer) -> None:
    rows = "\n".join(" ".join(str((row * 7 + column * 3) % 10) for column in range(20)) for row in range(20))
    assert analyzer.analyze([Item(rows)]) == [[]]


@given(st.text("ab1 .&\u00e9\u00a0", max_size=80), st.data())
def test_every_span_maps_into_the_original_in_order(text: str, data: Any) -> None:
    seen = drawn_together(shadow(text))
    start = data.draw(st.integers(0, len(seen.text)))
    end = data.draw(st.integers(start, len(seen.text)))
    first, last = seen.original(start, end)
    assert 0 <= first <= last <= len(text)
    if start < end and seen.text[start:end].strip():
        assert shadow(text[first:last]).text.replace(" ", "") == seen.text[start:end].replace(" ", "")


@given(st.lists(st.text("abcXYZ0189", min_size=4, max_size=9), min_size=2, max_size=4))
def test_words_come_back_whole(words: list[str]) -> None:
    text = "  ".join(" ".join(word) for word in words)
    seen = drawn_together(shadow(text))
    if seen.text != text:
        assert seen.text == " ".join(words)
        assert [
            text[slice(*seen.original(at, at + 1))] for at in range(len(seen.text)) if seen.text[at] != " "
        ] == list("".join(words))


def test_long_rows_are_read_in_linear_time() -> None:
    for unit in ("a ", "1 2  ", "\u00e9 ", "a b c d e f g h. "):
        assert drawn_together(shadow(unit * 50_000)).text

"""Names in quick notes, and the plain words that stand in the same places."""

from __future__ import annotations

import pytest

from recognizers.informal import informal
from recognizers.lexicon import build

FOUND = [
    ("thx mark", ["mark"]),
    ("I'll send it. Thanks, Grace!", ["Grace"]),
    ("Please ask Will and Grace about the budget", ["Will", "Grace"]),
    ("she's moving to lyon w/ hassan", ["hassan"]),
    ("smith, john; doe, jane; o'brien, pat", ["smith, john", "doe, jane", "o'brien, pat"]),
    ("smith, john\ndoe, jane", ["smith, john", "doe, jane"]),
]
NOTHING = [
    "thanks man",
    "thanks for all",
    "thx mark it as done",
    "Please ask Sales and Grace about it",
    "tea w/ milk, see w/mark.png",
    "smith, john",
    "apples, pears; milk, eggs",
    "well, john, said he; and, jane",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_a_name_of_a_note_is_found(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in informal(text, build(frozenset()))] == expected


@pytest.mark.parametrize("text", NOTHING)
def test_a_plain_word_is_left(text: str) -> None:
    assert list(informal(text, build(frozenset()))) == []

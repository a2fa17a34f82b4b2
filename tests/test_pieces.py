from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Kind, Leaf
from proxy.pieces import AHEAD, BEHIND, PIECE, SEAM, TASK, batches, cut, reassemble
from recognizers.analyzer import Analyzer, Settings
from recognizers.base import Span

NEEDLE = re.compile(r"<[a-z ]{1,20}>")


def look(leaves: list[Leaf]) -> list[list[str]]:
    """What a worker that finds `<...>` would find in the pieces, as texts of the leaves."""
    pieces = list(cut(leaves))
    found = [
        [Span(m.start(), m.end(), "PERSON", 1.0, "test") for m in NEEDLE.finditer(piece.item.text)] for piece in pieces
    ]
    spans = reassemble(leaves, pieces, found)
    return [[leaf.text[s.start : s.end] for s in hits] for leaf, hits in zip(leaves, spans, strict=True)]


@given(st.lists(st.tuples(st.integers(0, 3 * PIECE), st.sampled_from(["\n\n", " ", "x"])), max_size=12))
def test_a_value_is_found_once_and_whole_wherever_a_leaf_is_cut(places: list[tuple[int, str]]) -> None:
    text = "".join("word" + sign + "y" * (at % 997) for at, sign in places) * 40 + "x" * (PIECE + AHEAD)
    for at, _ in sorted(places, reverse=True):
        text = text[: at % len(text)] + "<the value>" + text[at % len(text) :]
    expected = NEEDLE.findall(text)
    assert look([Leaf("$", text)]) == [expected]


def test_every_offset_around_a_cut() -> None:
    for at in range(PIECE - 15, PIECE + 15):
        text = "x" * at + "<the value>" + "x" * (PIECE + AHEAD)
        assert look([Leaf("$", text)]) == [["<the value>"]]


@given(st.lists(st.text("ab <>", max_size=30), min_size=2, max_size=6))
def test_a_value_split_over_parts_is_found_in_all_of_them(parts: list[str]) -> None:
    leaves = [Leaf(f"${i}", part, run=1) for i, part in enumerate(parts)]
    masked = ""
    for part, hits in zip(parts, look(leaves), strict=True):
        assert "".join(hits) in part or hits
        masked += "".join(hits)
    assert masked.replace(" ", "") == "".join(NEEDLE.findall("".join(parts))).replace(" ", "")


def test_parts_that_are_not_of_one_run_are_not_joined() -> None:
    assert look([Leaf("$a", "<the ", run=1), Leaf("$b", "value>", run=2)]) == [[], []]


def test_other_leaves_between_the_parts_do_not_matter() -> None:
    leaves = [Leaf("$a", "so <the ", run=1), Leaf("$t", "text", Kind.ID), Leaf("$b", "value> it is", run=1)]
    assert look(leaves) == [["<the "], [], ["value>"]]


def test_long_parts_are_joined_at_their_seams_only() -> None:
    long = "y" * (3 * SEAM)
    assert look([Leaf("$a", long + "<the ", run=1), Leaf("$b", "value>" + long, run=1)]) == [["<the "], ["value>"]]


JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0aB3dE5fG7" * 40 + ".abc-_DEF123" * 3
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA0aB3dE5fG7hJ9kL1\n" * 50 + "-----END PRIVATE KEY-----"
ANALYZER = Analyzer(Settings(entities=frozenset({"SECRET"})))


@pytest.mark.parametrize("around", ["", "y " * PIECE])
@pytest.mark.parametrize("cuts", [(30,), (500,), (-5,), (40, 41, 700), tuple(range(20, 1000, 50))])
@pytest.mark.parametrize("value", [JWT, PEM], ids=["jwt", "pem"])
def test_a_long_secret_split_over_parts_leaks_in_none(value: str, cuts: tuple[int, ...], around: str) -> None:
    places = [0, *(at % len(value) for at in cuts), len(value)]
    parts = [value[start:end] for start, end in pairwise(places)]
    texts = [around + "it: " + parts[0], *parts[1:-1], parts[-1] + " so" + around]
    leaves = [Leaf(f"${index}", text, run=1) for index, text in enumerate(texts)]
    pieces = list(cut(leaves))
    spans = reassemble(leaves, pieces, ANALYZER.analyze([piece.item for piece in pieces]))
    assert ["".join(t.text[s.start : s.end] for s in found) for t, found in zip(leaves, spans, strict=True)] == parts


@given(st.lists(st.integers(0, PIECE), min_size=2, max_size=9), st.integers(1, 10))
def test_a_value_over_a_border_is_found_whatever_the_length_of_the_parts(sizes: list[int], at: int) -> None:
    value = "<the value>"
    texts = ["x" * size for size in sizes]
    texts[0] += value[:at]
    texts[1] = value[at:] + texts[1]
    found = look([Leaf("$", text, run=1) for text in texts])
    assert found == [[value[:at]], [value[at:]], *([] for _ in sizes[2:])]


def test_what_is_read_grows_with_the_text_and_no_faster() -> None:
    for size, count in ((1, 70_000), (100, 2_000), (2 * SEAM, 20), (PIECE, 8), (2 * SEAM + 1, 20)):
        leaves = [Leaf("$", "x" * size, run=1)] * count
        chains = [piece for piece in cut(leaves) if len(piece.segments) > 1]
        assert max(len(piece.item.text) for piece in chains) <= BEHIND + PIECE + AHEAD
        assert sum(len(piece.item.text) for piece in chains) < 1.5 * size * count
        assert sum(len(piece.segments) for piece in chains) < 1.5 * count + 2 * len(chains)


@given(st.lists(st.integers(0, 2 * TASK), max_size=30))
def test_batches_keep_order_and_size(sizes: list[int]) -> None:
    groups = batches(range(len(sizes)), lambda index: sizes[index])
    assert [index for group in groups for index in group] == list(range(len(sizes)))
    assert all(len(group) == 1 or sum(sizes[i] for i in group) <= TASK for group in groups)

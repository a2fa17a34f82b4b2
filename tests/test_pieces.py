from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Kind, Leaf
from proxy.pieces import AHEAD, PIECE, SEAM, TASK, batches, cut, reassemble
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


@given(st.lists(st.integers(0, 2 * TASK), max_size=30))
def test_batches_keep_order_and_size(sizes: list[int]) -> None:
    groups = batches(range(len(sizes)), lambda index: sizes[index])
    assert [index for group in groups for index in group] == list(range(len(sizes)))
    assert all(len(group) == 1 or sum(sizes[i] for i in group) <= TASK for group in groups)

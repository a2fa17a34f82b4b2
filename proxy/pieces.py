"""Leaves of any length -> pieces for workers, and spans of pieces -> spans of leaves. Pure.

A piece reads more than it owns, and only spans that start in what it owns count, so a value is found once and
whole wherever a leaf is cut. May import: model, recognizers, the standard library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from proxy.model import Kind, Leaf
from recognizers.analyzer import Item
from recognizers.base import Span
from recognizers.overlap import resolve

PIECE = 64_000
"""Code points that one task owns; about a second of work for one worker."""
BEHIND, AHEAD = 1_000, 17_000
"""Code points that a piece reads before and after its own: labels before, the longest value after."""
SEAM = 100
"""Code points on each side of the border between two text parts that are read as one text."""
TASK = 64_000
"""Code points that are sent to a worker at once."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a leaf (or two, at a seam) gives to one worker: spans that start in `[own_start, own_end)` count."""

    leaf: int
    item: Item
    offset: int
    own_start: int
    own_end: int


def cut(leaves: Sequence[Leaf]) -> Iterator[Piece]:
    """The pieces of all leaves, and one for each seam between two parts of the same run."""
    for index, leaf in enumerate(leaves):
        names = leaf.kind in (Kind.TEXT, Kind.NAME) or (leaf.kind is Kind.KEY and " " in leaf.text)
        for start, end in _cuts(leaf.text):
            offset = max(0, start - BEHIND)
            text = leaf.text[offset : end + AHEAD]
            if leaf.kind is Kind.NAME:
                text = text.replace("_", " ")
            yield Piece(index, Item(text, leaf.label, names), offset, start, end)
    for index, (left, right) in enumerate(pairwise(leaves)):
        if left.run is not None and left.run == right.run:
            head = max(0, len(left.text) - SEAM)
            text = left.text[head:] + right.text[:SEAM]
            yield Piece(index, Item(text), head, head, len(left.text))


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """`[start, end)` of pieces of about PIECE code points, cut at line or word ends where there are any."""
    start = 0
    while len(text) - start > PIECE + AHEAD:
        end = start + PIECE
        for sign in ("\n\n", "\n", " "):
            at = text.rfind(sign, start + PIECE // 2, end)
            if at > 0:
                end = at + len(sign)
                break
        yield start, end
        start = end
    yield start, len(text)


def batches(indexes: Iterable[int], size: Callable[[int], int]) -> list[list[int]]:
    """Consecutive indexes in groups of about TASK code points; `size` tells those of one index."""
    groups: list[list[int]] = []
    room = 0
    for index in indexes:
        if not groups or size(index) > room:
            groups.append([])
            room = TASK
        groups[-1].append(index)
        room -= size(index)
    return groups


def reassemble(leaves: Sequence[Leaf], pieces: Sequence[Piece], found: Sequence[Sequence[Span]]) -> list[list[Span]]:
    """Spans of each leaf from the spans of its pieces; a span across a seam is divided between its two leaves."""
    spans: list[list[Span]] = [[] for _ in leaves]
    touched: Counter[int] = Counter()
    for piece, hits in zip(pieces, found, strict=True):
        size = len(leaves[piece.leaf].text)
        for hit in hits:
            start, end = hit.start + piece.offset, hit.end + piece.offset
            if not piece.own_start <= start < piece.own_end:
                continue
            touched[piece.leaf] += 1
            spans[piece.leaf].append(hit._replace(start=start, end=min(end, size)))
            if end > size:
                spans[piece.leaf + 1].append(hit._replace(start=0, end=end - size))
                touched[piece.leaf + 1] += 1
    several = {piece.leaf for piece in pieces if piece.own_start > 0 or piece.own_end < len(leaves[piece.leaf].text)}
    seams = {i for p in pieces if leaves[p.leaf].run is not None for i in (p.leaf, p.leaf + 1) if i < len(leaves)}
    return [
        resolve(hits, leaves[index].text) if index in several or index in seams else sorted(hits)
        for index, hits in enumerate(spans)
    ]

"""Leaves of any length -> pieces for workers, and spans of pieces -> spans of leaves. Pure.

A piece reads more than it owns, and only spans that start in what it owns count, so a value is found once and
whole wherever a leaf is cut. May import: model, recognizers, the standard library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proxy.model import Kind, Leaf
from recognizers.analyzer import Item
from recognizers.base import Span
from recognizers.overlap import resolve

PIECE = 64_000
"""Code points that one task owns; about a second of work for one worker."""
BEHIND, AHEAD = 1_000, 17_000
"""Code points that a piece reads before and after its own: labels before, the longest value after."""
SEAM = AHEAD
"""Code points on each side of the border between two long text parts that are read as one text."""
TASK = 64_000
"""Code points that are sent to a worker at once."""


class Segment(NamedTuple):
    """`[start, end)` of one leaf, standing at `at` in a piece's text."""

    leaf: int
    start: int
    end: int
    at: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What one or several leaves give to a worker.

    With one segment, spans that start in `[own_start, own_end)` of its leaf count. With several (parts of one
    message that are read on), those count that start in `[chain_start, chain_end)` of the piece's own text and lie
    in more than one leaf: the others are found in their own leaf, so such a piece owns nothing.
    """

    item: Item
    segments: tuple[Segment, ...]
    own_start: int = 0
    own_end: int = 0
    chain_start: int = 0
    chain_end: int = 0


def cut(leaves: Sequence[Leaf]) -> Iterator[Piece]:
    """The pieces of all leaves, and those where a value may go on from one part of a message to the next."""
    runs: dict[int, list[int]] = {}
    for index, leaf in enumerate(leaves):
        yield from _of_leaf(index, leaf)
        if leaf.run is not None:
            runs.setdefault(leaf.run, []).append(index)
    for run in runs.values():
        yield from _chains(run, leaves)


def _of_leaf(index: int, leaf: Leaf) -> Iterator[Piece]:
    # A key or a function's name of one word is an identifier of a program; several words can be somebody.
    names = leaf.kind in (Kind.TEXT, Kind.NAME) or (leaf.kind in (Kind.KEY, Kind.FIXED) and " " in leaf.text)
    for start, end in _cuts(leaf.text):
        offset = max(0, start - BEHIND)
        text = leaf.text[offset : end + AHEAD]
        for read, label in _readings(leaf, text):
            yield Piece(Item(read, label, names), (Segment(index, offset, offset + len(text), 0),), start, end)


def _readings(leaf: Leaf, text: str) -> Iterator[tuple[str, str]]:
    """The ways to read a text, of the same length, each with the label under which it is read."""
    yield text, leaf.label
    # A label can free a number ("order"); where the number must stay as it is, that is not good enough.
    if leaf.kind is Kind.FIXED and leaf.label:
        yield text, ""
    # A participant's name has no spaces (`Zoe_Miller`), and keys have underscores of their own.
    if leaf.kind is Kind.NAME and "_" in text:
        yield text.replace("_", " "), leaf.label


def _chains(run: Sequence[int], leaves: Sequence[Leaf]) -> Iterator[Piece]:
    """Parts read as one text, whole if they are short; else a long part ends one chain and begins the next."""
    sizes = [(index, len(leaves[index].text)) for index in run if leaves[index].text]
    short = sum(size for _, size in sizes) <= PIECE
    chain: list[tuple[int, int, int]] = []
    for index, size in sizes:
        if short or size <= 2 * SEAM:
            chain.append((index, 0, size))
            continue
        yield from _chain([*chain, (index, 0, SEAM)], leaves)
        chain = [(index, size - SEAM, size)]
    yield from _chain(chain, leaves)


def _chain(places: Sequence[tuple[int, int, int]], leaves: Sequence[Leaf]) -> Iterator[Piece]:
    """A chain in windows of at most PIECE code points, each with what stands before and behind it."""
    segments: list[Segment] = []
    total = 0
    for index, start, end in places:
        segments.append(Segment(index, start, end, total))
        total += end - start
    first = 0
    for start in range(0, total, PIECE):
        offset, stop = max(0, start - BEHIND), min(total, start + PIECE)
        while _end(segments[first]) <= offset:
            first += 1
        inside = list(_within(segments, first, offset, stop + AHEAD))
        if len(inside) > 1:
            text = "".join(leaves[part.leaf].text[part.start : part.end] for part in inside)
            yield Piece(Item(text), tuple(inside), chain_start=start - offset, chain_end=stop - offset)


def _end(segment: Segment) -> int:
    return segment.at + segment.end - segment.start


def _within(segments: Sequence[Segment], first: int, start: int, end: int) -> Iterator[Segment]:
    """What of `segments`, from `first` on, stands in `[start, end)` of their text, with `start` as the new 0."""
    for index in range(first, len(segments)):
        part = segments[index]
        if part.at >= end:
            return
        left, right = max(part.at, start), min(_end(part), end)
        yield Segment(part.leaf, part.start + left - part.at, part.start + right - part.at, left - start)


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
    """Spans of each leaf from the spans of its pieces; a span over several leaves is divided between them."""
    spans: list[list[Span]] = [[] for _ in leaves]
    looks = Counter(segment.leaf for piece in pieces for segment in piece.segments)
    for piece, hits in zip(pieces, found, strict=True):
        for hit in hits:
            for leaf, part in _parts(piece, hit):
                spans[leaf].append(part)
    return [resolve(hits, leaves[index].text) if looks[index] > 1 else sorted(hits) for index, hits in enumerate(spans)]


def _parts(piece: Piece, hit: Span) -> list[tuple[int, Span]]:
    """The hit in the coordinates of each leaf that it touches; nothing if another piece reports it."""
    parts: list[tuple[int, Span]] = []
    for segment in piece.segments:
        start = max(hit.start, segment.at)
        end = min(hit.end, _end(segment))
        if start < end:
            shift = segment.start - segment.at
            parts.append((segment.leaf, hit._replace(start=start + shift, end=end + shift)))
    if len(piece.segments) > 1:
        return parts if len(parts) > 1 and piece.chain_start <= hit.start < piece.chain_end else []
    return [(leaf, span) for leaf, span in parts if piece.own_start <= span.start < piece.own_end]

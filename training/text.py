"""A labelled text, and how the types of the corpora become the four labels of the models.

May import: the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

LABELS = ("PERSON", "ORG", "LOC", "MISC")
"""MISC (works, products, events, peoples) is what a capital letter may mean besides; it is never replaced as such."""

FROM_TYPE: Mapping[str, str] = MappingProxyType(
    {"PERSON": "PERSON", "ORGANIZATION": "ORG", "LOCATION": "LOC", "ADDRESS": "LOC", "NRP": "MISC"}
)
"""Corpus type to label. Types that are not named (EMAIL, DATE, USERNAME ...) are no names: patterns find them."""

FROM_MODEL: Mapping[str, str] = MappingProxyType(
    {
        "PERSON": "PERSON",
        "PER": "PERSON",
        "ORG": "ORG",
        "GPE": "LOC",
        "LOC": "LOC",
        "FAC": "LOC",
        **dict.fromkeys(("MISC", "NORP", "WORK_OF_ART", "PRODUCT", "EVENT", "LANGUAGE", "LAW"), "MISC"),
    }
)
"""Label of a packaged spaCy model to ours; numbers and dates are dropped."""


class Mark(NamedTuple):
    """`[start, end)` in code points, and one of `LABELS`."""

    start: int
    end: int
    label: str


class Text(NamedTuple):
    """A text and all of its names, sorted and disjoint. `source` is the corpus, or `own:...` for generated text."""

    text: str
    marks: tuple[Mark, ...]
    source: str = "own"


def tidy(text: str, marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Trimmed of white space, sorted, without overlaps (the earlier, longer mark stays) or empty marks."""
    kept: list[Mark] = []
    for start, end, label in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start < end and (not kept or start >= kept[-1].end):
            kept.append(Mark(start, end, label))
    return tuple(kept)


def merge(text: str, first: Sequence[Mark], second: Iterable[Mark]) -> tuple[Mark, ...]:
    """`first`, and those of `second` that touch none of it."""
    free = [mark for mark in second if not any(mark.start < end and start < mark.end for start, end, _ in first)]
    return tidy(text, [*first, *free])


def build(parts: Iterable[str | tuple[str, str]], source: str = "own") -> Text:
    """Puts a text together from plain strings and `(value, label)` pairs; the pairs become its marks."""
    text = ""
    marks: list[Mark] = []
    for part in parts:
        if isinstance(part, str):
            text += part
        else:
            marks.append(Mark(len(text), len(text) + len(part[0]), part[1]))
            text += part[0]
    return Text(text, tidy(text, marks), source)


def joined(texts: Sequence[Text], between: str) -> Text:
    """The texts one after another, `between` them."""
    out = ""
    marks: list[Mark] = []
    for index, item in enumerate(texts):
        out += between if index else ""
        marks += [Mark(mark.start + len(out), mark.end + len(out), mark.label) for mark in item.marks]
        out += item.text
    return Text(out, tuple(marks), texts[0].source)

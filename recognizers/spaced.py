"""Letters and digits written one by one (`M i r a  T a l l o w`, `4 0 0 0  0 0 5 2 ...`), drawn together to be read.

In such a run one space stands between characters and two or three between words. What is a row of a table, a formula
or a drawing is left alone: anything with other signs than those of names, numbers and addresses, or with more digits
in a row than any number has.

May import: shadow, the standard library. Linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from recognizers.shadow import Builder, Shadow

LEAST = 8
"""Letters and digits of a run."""
_MOST_DIGITS = 34
"""The longest IBAN."""
_SOME = re.compile(r" \S \S \S \S[\s.,;:!?)\]\"']")
_RUN = re.compile(rf"(?<![^\s(\[\"':=])\S(?: {{1,3}}\S){{{LEAST - 1},}}(?![^\s.,;:!?)\]\"'])")
_CHARACTER = re.compile(r"\S| {2,3}")
_SIGNS = frozenset(".@-+/:,;'()&_#")


def drawn_together(seen: Shadow) -> Shadow:
    """The same text with its runs of single characters written as words."""
    if not _SOME.search(seen.text):
        return seen
    builder, done = Builder(), 0
    for start, end in _runs(seen.text):
        _keep(builder, seen, done, start)
        for character in _CHARACTER.finditer(seen.text, start, end):
            builder.put(character.group()[0], *seen.original(*character.span()))
        done = end
    if not done:
        return seen
    _keep(builder, seen, done, len(seen.text))
    return builder.done()


def _runs(text: str) -> Iterator[tuple[int, int]]:
    for run in _RUN.finditer(text):
        written = run.group().replace(" ", "")
        letters = sum(char.isalnum() for char in written)
        if letters < LEAST or any(not char.isalnum() and char not in _SIGNS for char in written):
            continue
        if len(set(written)) > 2 and all(len(digits) <= _MOST_DIGITS for digits in re.findall(r"\d+", written)):
            yield run.span()


def _keep(builder: Builder, seen: Shadow, start: int, end: int) -> None:
    """`[start, end)` as it is."""
    if seen.identical:
        builder.put(seen.text[start:end], start, end)
        return
    index = bisect_right(seen.at, start) - 1
    while index < len(seen.at) and seen.at[index] < end:
        upto = seen.at[index + 1] if index + 1 < len(seen.at) else len(seen.text)
        first, last = max(start, seen.at[index]), min(end, upto)
        if first < last:
            builder.put(seen.text[first:last], *seen.original(first, last))
        index += 1

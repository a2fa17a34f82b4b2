"""Where a long text may be cut so that the tokens of the pieces add up to the tokens of the whole.

A tokenizer first splits a text into pre-tokens with a regular expression, then merges bytes inside each. Hence a
cut between two pre-tokens changes nothing, and a cut inside one may change the count. Pieces keep the cost linear
(one huge pre-token costs n log n with bad cache behaviour, and runs of a million spaces make tiktoken panic), and
let a count stop early.

May import: regex (the engine whose syntax the patterns use), the standard library.
"""

from __future__ import annotations

import re
import sys
from typing import TypeAlias

import regex

PIECE = 8192
"""Most code points in a piece. Measured: half of it costs 5 % of speed, twice as much brings 1 %, and a long run of
letters, whose cost per character grows with the piece, reaches its final speed sooner with small ones."""

Pattern: TypeAlias = "regex.Pattern[str]"

_SEARCH = 1024
_AHEAD = 8
"""Code points behind a pre-token boundary that the patterns can look at: a contraction (`'ll`) and one more."""

SAFE = re.compile(
    # `[^\W_]` is `str.isalnum`: letters, digits and numbers. No pre-token of either encoding holds such a
    # character followed by one of these; the apostrophe is missing because of contractions.
    r"[^\W_](?=[ \n\r\t!\"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~、。，．：；！？「」『』（）《》【】])"
    # A pre-token holds letters or digits, never both.
    r"|[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])"
    # An apostrophe that does not begin a contraction (ſ is an s to patterns that ignore case).
    r"|[^\W_](?='[^sdmtlrvSDMTLRVſ])"
)

_DIGITS = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if char.isdecimal())


def cut(text: str, start: int, pattern: Pattern) -> tuple[int, bool]:
    """Where the piece that begins at `start` ends, and whether that end may lie inside a pre-token.

    `start` is a pre-token boundary of the whole text, or an earlier cut inside a pre-token; `pattern` is the
    encoding's. The piece holds at least one and at most `PIECE` code points.
    """
    end = start + PIECE
    if end >= len(text):
        return len(text), False
    window = text[start:end]
    if window.isdecimal():  # searching it would be in vain
        return start + len(window) // 3 * 3, False
    safe = SAFE.search(text, end - _SEARCH, end)
    if safe:
        return safe.end(), False
    boundary = digit_boundary(window) or last_boundary(window, pattern)
    return (start + boundary, False) if boundary else (end, True)


def digit_boundary(window: str) -> int:
    """The last offset between two groups of the digits that end `window`; 0 if there is none or it is unsure.

    Both patterns group digits by three from where a run of numbers starts: behind a letter, behind ASCII, or at the
    start of the window, which is itself a boundary.
    """
    start = len(window.rstrip(_DIGITS))
    if start == len(window):
        return 0
    if start and not (window[start - 1].isascii() or window[start - 1].isalpha()):
        return 0
    return start + (len(window) - start) // 3 * 3


def last_boundary(window: str, pattern: Pattern) -> int:
    """The last offset in `window` that is a pre-token boundary whatever follows the window; 0 if there is none.

    A cut at a fixed place instead would shift the groups of three digits, or the contractions, of all that
    follows: measured, 60 tokens of Devanagari digits became 22. Boundaries inside white space at the window's
    end do not count, since how such a run splits depends on its far end.
    """
    stop = min(len(window.rstrip()), len(window) - _AHEAD)
    last = 0
    for match in pattern.finditer(window):
        if match.start() > stop:
            break
        last = match.start()
    return last

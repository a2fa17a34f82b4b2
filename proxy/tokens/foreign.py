"""Counting with the Hugging Face `tokenizers` library, for tokenizers that tiktoken cannot stand for.

Slower than tiktoken by ten times, and it holds the GIL while it works: hence small pieces, each a few milliseconds,
with the deadline looked at in between.

May import: tokenizers, its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re

from tokenizers import Tokenizer

from proxy.tokens.counter import Bounds, check_deadline, guarded, utf8

PIECE = 4096
"""Most code points in a piece: about 5 ms."""
CUT = 8
"""Tokens charged for each cut. A cut can lower the count: by up to 3 with 110,000 cuts in hostile text, measured with
encodings whose pre-tokens it split; the rest is for tokenizers that merge across words."""

_SEARCH = 1024
_SPACE = re.compile(r"\S(?=\s)")


class LibraryCounter:
    """The tokens that the library makes, plus `CUT` for each place where a long text was cut."""

    def __init__(self, tokenizer: Tokenizer, name: str) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # written in a text, they are text: the larger number
        self.name = name
        self._tokenizer = tokenizer
        self.tokens = guarded(self._encode)

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        total = start = 0
        while start < len(text) and (stop_above is None or total <= stop_above):
            check_deadline(deadline)
            end = _end(text, start)
            total += self.tokens(text[start:end]) + (CUT if end < len(text) else 0)
            start = end
        return total

    def bounds(self, text: str) -> Bounds:
        """Nothing is known of such a tokenizer but what it says."""
        utf8(text)
        return Bounds(0, None)

    def _encode(self, piece: str) -> int:
        return len(self._tokenizer.encode(piece, add_special_tokens=False))


def _end(text: str, start: int) -> int:
    """Behind the last word of the piece if there is one near its end, since few tokens reach across."""
    end = start + PIECE
    if end >= len(text):
        return len(text)
    last = max((match.end() for match in _SPACE.finditer(text, end - _SEARCH, end)), default=0)
    return last or end

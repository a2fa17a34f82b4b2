"""Counting behind a Unicode normal form: what tokenizers do that have a normalizer in front (Qwen: NFC).

Normalising changes the number of bytes, up to three times as many (NFC, NFD) or eleven times (NFKC, NFKD), so every
bound is taken of the normalised text. Python's tables may be older than the tokenizer's: characters that were
assigned since then would count as they are written.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, TypeAlias, cast

from proxy.tokens.counter import Bounds, Counter, EncodingCounter, utf8

_Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]


class NormalizedCounter:
    """An encoding's counts of the text in `forms`, applied one after the other."""

    def __init__(self, inner: EncodingCounter, forms: tuple[str, ...]) -> None:
        self.name = inner.name
        self._inner: Counter = inner
        self._forms = forms

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        return self._inner.count(self._normal(text), stop_above, deadline)

    def bounds(self, text: str) -> Bounds:
        return self._inner.bounds(self._normal(text))

    def _normal(self, text: str) -> str:
        if text.isascii():
            return text
        utf8(text)
        for form in self._forms:
            text = unicodedata.normalize(cast(_Form, form), text)
        return text

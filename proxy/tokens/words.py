"""How many pre-tokens a text has at least: a lower bound of its tokens, at a gigabyte a second. Pure.

Tokens do not reach across pre-tokens. Of every pattern that tests accept here, a pre-token is one of

- letters, with at most one other character before them and an English contraction behind,
- digits, at most three,
- neither letters nor digits.

So no pre-token holds two of these: a letter behind white space, ASCII punctuation (but no apostrophe) or a digit; a
digit behind white space, punctuation or an ASCII letter. Nor does one hold four digits. Where a pattern also cuts
before capitals (`cases`), no pre-token holds a capital behind a small ASCII letter either, unless that one is part of
a contraction (`'vE`).

May import: numpy, tiktoken's `Encoding`, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
from tiktoken import Encoding

_Kinds = npt.NDArray[np.uint8]
_CHUNK = 1 << 18
_LETTER, _DIGIT, _CAPITAL = 1, 2, 4
_BEHIND = 3
"""Bits by which the kinds that begin behind a byte stand above its own."""
_SAMPLE, _FEW = 61, 16
"""One byte in so many is looked at first; bytes to a space above which a closer look is worth its time."""
_MOSTLY = 6
"""Bytes to a Han character below which nothing else counts: they have three."""
_HAN: Final = range(0xE4, 0xEA)
"""Bytes that begin U+4000 to U+9FFF in UTF-8, and stand nowhere else."""
_NOT_HAN: Final = bytes(value for value in range(256) if value not in _HAN)
_OTHERS: Final = (
    *(0xD0, 0xD1),  # U+0400 to U+047F, Cyrillic
    *range(0xE5, 0xE9),  # U+5000 to U+8FFF, Han
    *(0xEB, 0xEC),  # U+B000 to U+CFFF, Hangul
)
"""Bytes that begin a letter in UTF-8, and never anything else."""


_GAPS: Final = frozenset(' \t\n\r\v\f!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~')


def _kind(value: int) -> int:
    char = chr(value)
    if value >= 0x80:
        return _LETTER if value in _OTHERS else 0
    if char.isalpha():
        return _LETTER | (_CAPITAL if char.isupper() else 0)
    return _DIGIT if char.isdigit() else 0


def _behind(value: int, *, cases: bool) -> int:
    """The kinds that are certain to begin a pre-token behind a byte."""
    char = chr(value)
    if char in _GAPS:
        return _LETTER | _DIGIT
    if value >= 0x80 or not char.isalnum():
        return 0
    if char.isdigit():
        return _LETTER
    return _DIGIT | (_CAPITAL if cases and char.islower() else 0)


def _table(behind: Callable[[int], int]) -> bytes:
    return bytes(_kind(value) | behind(value) << _BEHIND for value in range(256))


_WORDS: Final = _table(lambda value: (_LETTER | _DIGIT) * (chr(value) in _GAPS))
_PRE_TOKENS: Final = tuple(_table(partial(_behind, cases=cases)) for cases in (False, True))


@dataclass(frozen=True, slots=True)
class Words:
    """What is known of an encoding's pre-tokens and tokens.

    `cases`: whether a capital begins a pre-token. `han`: most bytes of `_HAN` in one token; 0 if that is not known.
    """

    cases: bool = False
    han: int = 0

    @classmethod
    def of(cls, encoding: Encoding, *, cases: bool) -> Words:
        """With the longest of an encoding's tokens."""
        return cls(cases, max(len(token.translate(None, delete=_NOT_HAN)) for token in encoding.token_byte_values()))

    def least(self, raw: bytes) -> int:
        """Never more than the tokens of UTF-8 text. Looks closer where there are few words, as a sample of it says."""
        sample = raw[::_SAMPLE]
        if sample.count(b" ") * _FEW > len(sample):
            return word_starts(raw)
        han = len(raw.translate(None, delete=_NOT_HAN))
        by_han = -(-han // self.han) if self.han else 0
        return by_han if by_han and han * _MOSTLY > len(raw) else max(by_han, pre_tokens(raw, cases=self.cases))


def word_starts(raw: bytes) -> int:
    """Letters and digits behind ASCII white space or punctuation."""
    return sum(_begun(kinds) for kinds in _chunks(raw, _WORDS))


def pre_tokens(raw: bytes, *, cases: bool = False) -> int:
    """Those that are certain, as the head of this module says."""
    total = long = 0
    for kinds in _chunks(raw, _PRE_TOKENS[cases]):
        total += _begun(kinds)
        digits = (kinds & _DIGIT).astype(bool)
        long += int(np.count_nonzero(digits[3:] & digits[2:-1] & digits[1:-2] & digits[:-3]))
    if cases:  # each of those that are part of a contraction has an apostrophe of its own
        total -= raw.count(b"'")
    return max(0, total) + long // 3


def _begun(kinds: _Kinds) -> int:
    return int(np.count_nonzero((kinds[3:] & (kinds[2:-1] >> _BEHIND)).astype(bool)))


def _chunks(raw: bytes, table: bytes) -> Iterator[_Kinds]:
    """What the table says of every byte, in long stretches that begin with the last three of the one before."""
    last = b"\0\0\0"
    for start in range(0, len(raw), _CHUNK):
        chunk = last + raw[start : start + _CHUNK]
        yield np.frombuffer(chunk.translate(table), np.uint8)
        last = chunk[-3:]

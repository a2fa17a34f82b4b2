"""Counters: how many tokens a text has, or never less than it has.

May import: errors, the standard library, tiktoken through `ranks`, regex through `pieces`.
"""

from __future__ import annotations

import math
import time
from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import regex
from tiktoken import Encoding

from proxy.errors import BadRequest, Unavailable
from proxy.tokens.pieces import cut
from proxy.tokens.ranks import ENCODINGS, load_encoding
from proxy.tokens.words import Words

FORCED_CUT = 1
"""Tokens charged for a cut inside a pre-token, for safety: without, 16,000 hostile texts were never counted below."""

_UNSETTLED = 4
"""So many times the longest token's bytes stand before a forced cut whose tokens may still change with what follows:
512 for OpenAI's encodings."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of a text's tokens without counting them: never less than `least`, never more than `most`.

    `most` is None where nothing is known.
    """

    least: int
    most: int | None


class Counter(Protocol):
    """Counts the tokens of a text. Immutable, hence safe to share between threads."""

    @property
    def name(self) -> str: ...

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        """Tokens of `text`, special-token text (`<|endoftext|>`) counted as ordinary text.

        Once the count exceeds `stop_above`, counting may stop: the number returned is then above `stop_above`
        and not above the full count. `deadline` is a value of `time.monotonic`, looked at between pieces.
        Raises `BadRequest` (lone surrogates), `Unavailable` (deadline passed, or the tokenizer failed).
        """
        ...

    def bounds(self, text: str) -> Bounds:
        """Bounds of the tokens of `text`, in a few percent of the time that counting takes. Raises `BadRequest`."""
        ...


def load_counter(tokenizer: str, factor: float = 1.0) -> Counter:
    """The counter for a policy's `tokenizer` (`o200k_base`, `cl100k_base`, `bytes`) and `factor`, as in `scaled`.

    An encoding takes about 0.5 s and 40 to 95 MB: load each once, at start, and use `scaled` for further factors.
    Raises `ValueError` for an unknown name or a wrong factor, `CorruptRanks`.
    """
    if tokenizer == "bytes":
        return scaled(ByteCounter(), factor)
    if tokenizer in ENCODINGS:
        encoding = load_encoding(tokenizer)
        return scaled(EncodingCounter(encoding, words=Words.of(encoding, cases=ENCODINGS[tokenizer].cases)), factor)
    known = ", ".join((*ENCODINGS, "bytes"))
    raise ValueError(f"Unknown tokenizer {tokenizer!r}; known are: {known}.")


def scaled(counter: Counter, factor: float) -> Counter:
    """`counter` with its counts times `factor`, rounded up: an estimate, as good as the factor, for another encoding.

    Raises `ValueError` unless the factor is a number of at least 1.
    """
    if not (math.isfinite(factor) and factor >= 1):
        raise ValueError("The factor of a tokenizer must be a finite number of at least 1.")
    return counter if factor == 1 else FactorCounter(counter, factor)


class ByteCounter:
    """UTF-8 bytes: an upper bound for every byte-level BPE that does not normalise its input.

    Each token of such a tokenizer stands for at least one byte. Not a bound for tokenizers with NFC or NFKC in
    front (Qwen: up to 1.5 tokens a byte on rare characters).
    """

    name = "bytes"

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        check_deadline(deadline)
        return len(text) if text.isascii() else len(utf8(text))

    def bounds(self, text: str) -> Bounds:
        size = self.count(text)
        return Bounds(size, size)


class EncodingCounter:
    """The tokens of a tiktoken encoding: exact, or a little above where a text has no safe place to cut.

    `words`: what its pre-tokens say of a text's tokens, None where they say nothing.
    """

    def __init__(self, encoding: Encoding, *, words: Words | None = None) -> None:
        self.name: str = encoding.name
        self.encoding = encoding
        self._pattern = regex.compile(encoding._pat_str)
        self._tokens = guarded(token_count(encoding))
        self._encode = guarded(encoding.encode_ordinary)
        self._decode = encoding.decode_bytes
        self._words = words
        self._longest = max(map(len, encoding.token_byte_values()))
        self._unsettled = _UNSETTLED * self._longest

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        total = start = 0
        while start < len(text) and (stop_above is None or total <= stop_above):
            check_deadline(deadline)
            end, forced = cut(text, start, self._pattern)
            tokens, length = (self._settled if forced else self._whole)(text[start:end])
            total += tokens
            start += length
        return total

    def bounds(self, text: str) -> Bounds:
        """A token has at least one byte, and no more than the longest; words are in pre-tokens of their own."""
        raw = utf8(text)
        least = -(-len(raw) // self._longest)
        return Bounds(max(least, self._words.least(raw)) if self._words else least, len(raw))

    def _whole(self, piece: str) -> tuple[int, int]:
        return self._tokens(piece), len(piece)

    def _settled(self, piece: str) -> tuple[int, int]:
        """Tokens of the part of `piece` that what follows can hardly change, with `FORCED_CUT`; and its length.

        The encoding of a text, cut between two of its tokens, gives the encodings of the two parts. So the piece
        is counted up to a token boundary some way before its end, and counting goes on from there.
        """
        tokens = self._encode(piece)
        size, tail = 2, b""
        while len(tail) < self._unsettled or tail[0] & 0xC0 == 0x80:
            size += size if len(tail) < self._unsettled else 1
            if size >= len(tokens):
                return len(tokens) + FORCED_CUT, len(piece)
            tail = self._decode(tokens[-size:])
        return len(tokens) - size + FORCED_CUT, len(piece) - len(tail.decode())


class FactorCounter:
    """Another counter's count times a factor, rounded up."""

    def __init__(self, inner: Counter, factor: float) -> None:
        self.name = f"{inner.name}*{factor:g}"
        self._inner, self._factor = inner, factor

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        # One above, so that a rounded division cannot stop the inner count while the product is still within.
        inner_stop = None if stop_above is None else math.floor(stop_above / self._factor) + 1
        return math.ceil(self._inner.count(text, inner_stop, deadline) * self._factor)

    def bounds(self, text: str) -> Bounds:
        inner = self._inner.bounds(text)
        most = None if inner.most is None else math.ceil(inner.most * self._factor)
        return Bounds(math.ceil(inner.least * self._factor), most)


def token_count(encoding: Encoding) -> Callable[[str], int]:
    """How to count one piece: by the size of tiktoken's token buffer if it has one, else by its token list.

    The buffer method is private to tiktoken but builds no list and releases the GIL for the whole call.
    """
    buffer = getattr(encoding._core_bpe, "encode_to_tiktoken_buffer", None)

    def by_buffer(piece: str) -> int:
        return memoryview(buffer(piece, frozenset())).nbytes // _TOKEN_BYTES  # type: ignore[misc]

    def by_list(piece: str) -> int:
        return len(encoding.encode_ordinary(piece))

    return by_buffer if buffer is not None else by_list


_TOKEN_BYTES = 4


T = TypeVar("T")


def guarded(function: Callable[[str], T]) -> Callable[[str], T]:
    """Turns whatever the binding raises into a refusal that holds no part of the text.

    A panic of the binding is a `BaseException`. The refusal is raised outside the handler, so that it does not
    carry the binding's exception, which may quote the text.
    """

    def guarded(piece: str) -> T:
        if not piece.isascii():
            utf8(piece)
        try:
            return function(piece)
        except (KeyboardInterrupt, SystemExit, GeneratorExit, CancelledError):
            raise
        except BaseException:  # noqa: S110
            pass
        raise Unavailable("The prompt could not be measured.", code="measure_failed")

    return guarded


def utf8(text: str) -> bytes:
    """The text's bytes. Raises `BadRequest` for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    raise BadRequest("The request holds text that is not valid Unicode (a lone surrogate).")


def check_deadline(deadline: float | None) -> None:
    """Raises `Unavailable` (`measure_timeout`) once `deadline`, a value of `time.monotonic`, has passed."""
    if deadline is not None and time.monotonic() > deadline:
        raise Unavailable("Measuring the prompt took too long.", code="measure_timeout")

"""Undoes a request's `content-encoding` piece by piece, under a cap. Sans-I/O.

May import: brotli, backports.zstd, errors, the standard library.

A few kilobytes can unpack into gigabytes, so nothing is ever unpacked in one go: each call asks for at most
`STEP` bytes, and the first byte over the cap ends the request.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol

import brotli  # type: ignore[import-untyped]
from backports import zstd

from proxy.errors import BadRequest, BodyTooLarge, UnsupportedByPolicy

STEP = 1 << 20
ZSTD_WINDOW_LOG = 23
"""8 MiB, what RFC 8878 (section 3.1.1.1.2) recommends every decoder to support, and no more."""


class Decoder(Protocol):
    """One encoding: yields what `data` unpacks to, and knows whether the body was complete."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def complete(self) -> bool: ...


class _Zlib:
    def __init__(self, window: int) -> None:
        self._inner = zlib.decompressobj(window)

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._inner.eof:
            yield self._inner.decompress(data, STEP)
            data = self._inner.unconsumed_tail
        if data or self._inner.unused_data:
            raise zlib.error

    def complete(self) -> bool:
        return self._inner.eof


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield self._inner.process(data, output_buffer_limit=STEP)
        while not self._inner.can_accept_more_data():
            yield self._inner.process(b"", output_buffer_limit=STEP)

    def complete(self) -> bool:
        return bool(self._inner.is_finished())


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inner.eof:
            raise zstd.ZstdError
        yield self._inner.decompress(data, STEP)
        while not self._inner.eof and not self._inner.needs_input:
            yield self._inner.decompress(b"", STEP)
        if self._inner.unused_data:
            raise zstd.ZstdError

    def complete(self) -> bool:
        return bool(self._inner.eof)


class _Identity:
    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def complete(self) -> bool:
        return True


DECODERS: Mapping[str, Callable[[], Decoder]] = MappingProxyType(
    {
        "": _Identity,
        "identity": _Identity,
        "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
        "x-gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
        "deflate": lambda: _Zlib(zlib.MAX_WBITS),
        "br": _Brotli,
        "zstd": _Zstd,
    }
)


class Inflater:
    """One request's body. Feed it in order, then call `finish`; both raise a `Refusal`, never anything else."""

    def __init__(self, encoding: str, *, max_in: int, max_out: int) -> None:
        decoder = DECODERS.get(encoding.strip().lower())
        if decoder is None:
            raise UnsupportedByPolicy("The content-encoding must be one of gzip, deflate, br, zstd, or none.")
        self._decoder = decoder()
        self._max_in, self._max_out = max_in, max_out
        self._in = self._out = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the unpacked body; raises `BodyTooLarge` at the first byte over a cap."""
        self._in += len(data)
        if self._in > self._max_in:
            raise too_large(self._max_in)
        try:
            for part in self._decoder.feed(data) if data else ():
                self._out += len(part)
                if self._out > self._max_out:
                    raise too_large(self._max_out)
                yield part
        except (zlib.error, brotli.error, zstd.ZstdError):
            raise _malformed() from None

    def finish(self) -> None:
        """Raises `BadRequest` if the encoded body stopped short."""
        if not self._decoder.complete():
            raise _malformed()


def too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The request body is larger than {limit} bytes.")


def _malformed() -> BadRequest:
    return BadRequest("The body is not in its announced content-encoding.")

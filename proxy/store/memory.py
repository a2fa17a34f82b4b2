"""Records in this process: gone when it ends, known to no other replica. May import: proxy.store, the
standard library.

Bounded by bytes: what was not used for longest goes first.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proxy.store import FRAGMENTS, Fragment, Store
from proxy.store.sealing import Sealer

MOST_BYTES = 256 << 20
SECONDS = 86_400.0
"""How long a record is kept where nothing else is said."""
_OVERHEAD = 200
"""Bytes that an entry costs beside its content, about (measured with CPython 3.11)."""


@dataclass(slots=True)
class _Kept:
    blobs: list[bytes]
    until: float

    @property
    def size(self) -> int:
        return _OVERHEAD + sum(map(len, self.blobs))


class MemoryShelf:
    """Names and blobs in a dictionary, used from one event loop."""

    def __init__(self, most_bytes: int = MOST_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most_bytes
        self._clock = clock
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def read(self, names: Sequence[bytes]) -> list[list[bytes]]:
        return [self._read(name) for name in names]

    async def write(self, fragments: Sequence[Fragment]) -> None:
        for fragment in fragments:
            before = self._read(fragment.name) if fragment.more else []
            self._drop(fragment.name)
            kept = _Kept([*before, fragment.blob][-FRAGMENTS:], self._clock() + fragment.seconds)
            self._kept[fragment.name] = kept
            self.size += kept.size
        self._shrink()

    async def delete(self, names: Sequence[bytes]) -> None:
        for name in names:
            self._drop(name)

    async def ping(self) -> None:
        """Always there."""

    async def aclose(self) -> None:
        self._kept.clear()
        self.size = 0

    def _read(self, name: bytes) -> list[bytes]:
        kept = self._kept.get(name)
        if kept is None:
            return []
        if kept.until <= self._clock():
            self._drop(name)
            return []
        self._kept.move_to_end(name)
        return kept.blobs

    def _drop(self, name: bytes) -> None:
        kept = self._kept.pop(name, None)
        self.size -= 0 if kept is None else kept.size

    def _shrink(self) -> None:
        while self.size > self._most and self._kept:
            self._drop(next(iter(self._kept)))


def in_memory(secret: bytes, seconds: float = SECONDS) -> Store:
    """A store in this process, sealed with `secret`."""
    return Store(MemoryShelf(), Sealer((secret,)), seconds)

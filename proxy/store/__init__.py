"""What must outlive one request: sealed records, by tenant, kind and id, each for a limited time.

In memory by default; in Redis or Valkey where several replicas serve the same conversations. Whatever holds the
records (a `Shelf`) sees keyed hashes as names and ciphertext as content, nothing else. A record that was there and is
over is told apart from one that never was by a mark, which holds nothing and stays longer.

May import: errors, proxy.store.sealing, the standard library. The shelves are put together in `app`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.errors import ExpiredState, Unavailable, UnknownState
from proxy.store.sealing import Sealer, Unreadable

__all__ = ["Fragment", "Place", "Shelf", "Store"]

MARKS = 4
"""A mark stays so many times as long as its record: so long a client is told that the record is over."""
FRAGMENTS = 32
"""Fragments of one record that are kept, the latest; each holds all that its writer knew."""
_MARK = b"\x01"


@dataclass(frozen=True, slots=True)
class Fragment:
    """Something to be written under a name: `more` adds it to what is there (at most `FRAGMENTS` are kept)."""

    name: bytes
    blob: bytes
    seconds: float
    more: bool = False


class Shelf(Protocol):
    """Names and blobs, each for some seconds. All but `aclose` raise `Unavailable` (`store_unavailable`)."""

    async def read(self, names: Sequence[bytes]) -> list[list[bytes]]:
        """The fragments under each name, oldest first; none if there is nothing."""
        ...

    async def write(self, fragments: Sequence[Fragment]) -> None:
        """All of them, or none as far as the shelf can promise that."""
        ...

    async def delete(self, names: Sequence[bytes]) -> None: ...

    async def ping(self) -> None: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record belongs: the tenant's key, what it is (`response`, `seal`, ...), and its id."""

    tenant: bytes
    kind: str
    id: str

    def parts(self) -> tuple[bytes, ...]:
        return self.tenant, self.kind.encode(), self.id.encode()


class Store:
    """Sealed records on a shelf, each for `seconds`. `clock` tells seconds since 1970."""

    def __init__(self, shelf: Shelf, sealer: Sealer, seconds: float, clock: Callable[[], float] = time.time) -> None:
        self._shelf = shelf
        self._sealer = sealer
        self._seconds = seconds
        self._clock = clock

    async def put(self, place: Place, content: bytes, *, more: bool = False) -> None:
        """Writes a record in the place of an earlier one, or beside it (`more`), and the mark that it was there."""
        mark = Fragment(self._sealer.names(_marked(place))[0], _MARK, self._seconds * MARKS)
        await self._shelf.write([self._fragment(place, content, more=more), mark])

    async def put_many(self, records: Sequence[tuple[Place, bytes]]) -> None:
        """Records without a mark: once they are over, they never were."""
        if records:
            await self._shelf.write([self._fragment(place, content) for place, content in records])

    async def get(self, place: Place) -> list[bytes]:
        """A record's fragments, oldest first. Raises `UnknownState`, `ExpiredState` or `Unavailable`."""
        names, marks = self._sealer.names(place.parts()), self._sealer.names(_marked(place))
        found = await self._shelf.read([*names, *marks])
        blobs = [blob for fragments in found[: len(names)] for blob in fragments]
        opened = self._opened(place, blobs)
        if opened:
            return opened
        if blobs or any(found[len(names) :]):
            raise ExpiredState
        raise UnknownState

    async def get_many(self, places: Sequence[Place]) -> list[bytes | None]:
        """The latest fragment of each record; None where there is none, or none any more."""
        if not places:
            return []
        names = [self._sealer.names(place.parts()) for place in places]
        found = iter(await self._shelf.read([name for some in names for name in some]))
        out: list[bytes | None] = []
        for place, some in zip(places, names, strict=True):
            opened = self._opened(place, [blob for _ in some for blob in next(found)])
            out.append(opened[-1] if opened else None)
        return out

    async def delete(self, place: Place) -> None:
        """Forgets a record; afterwards it never was."""
        await self._shelf.delete([*self._sealer.names(place.parts()), *self._sealer.names(_marked(place))])

    async def check(self) -> None:
        """Raises `Unavailable` while the shelf cannot be reached."""
        await self._shelf.ping()

    async def aclose(self) -> None:
        await self._shelf.aclose()

    def _fragment(self, place: Place, content: bytes, *, more: bool = False) -> Fragment:
        sealed = self._sealer.seal(place.parts(), content, int(self._clock() + self._seconds))
        return Fragment(self._sealer.names(place.parts())[0], sealed, self._seconds, more)

    def _opened(self, place: Place, blobs: Sequence[bytes]) -> list[bytes]:
        try:
            opened = [self._sealer.unseal(place.parts(), blob) for blob in blobs]
        except Unreadable:
            raise Unavailable("What was stored for this request cannot be read.", code="store_unreadable") from None
        now = self._clock()
        return [content for content, until in opened if until > now]


def _marked(place: Place) -> tuple[bytes, ...]:
    return *place.parts(), b"was"

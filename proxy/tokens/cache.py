"""Counts that are remembered, so that a growing chat is counted once: hashes and numbers, never text.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

from proxy.tokens.counter import Bounds, Counter, check_deadline, utf8

LEAST = 256
"""Code points below which counting is as fast as looking up."""
ENTRIES = 50_000
"""About 10 MB."""


class Cache:
    """The last `entries` counts by keyed hash; the oldest in use goes first. Threads may share it."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._entries, self._lock = entries, Lock()

    def __len__(self) -> int:
        return len(self._counts)

    def get(self, key: bytes) -> int | None:
        """The count, or None."""
        with self._lock:
            found = self._counts.get(key)
            if found is not None:
                self._counts.move_to_end(key)
            return found

    def put(self, key: bytes, count: int) -> None:
        """Remembers a count."""
        with self._lock:
            self._counts[key] = count
            self._counts.move_to_end(key)
            if len(self._counts) > self._entries:
                self._counts.popitem(last=False)


class CachedCounter:
    """Another counter's counts, remembered for one tenant: its key makes the hashes, so no other tenant's text can
    have the same ones, and how fast a text is counted tells nobody what others have sent."""

    def __init__(self, inner: Counter, cache: Cache, tenant: bytes) -> None:
        self.name = inner.name
        self._inner, self._cache = inner, cache
        self._key = hashlib.blake2b(tenant, person=b"token counts").digest()

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        if len(text) < LEAST:
            return self._inner.count(text, stop_above, deadline)
        check_deadline(deadline)
        hashed = hashlib.blake2b(utf8(text), key=self._key, digest_size=20)
        hashed.update(f"\0{self.name}".encode())
        key = hashed.digest()
        found = self._cache.get(key)
        if found is not None:
            return found
        count = self._inner.count(text, stop_above, deadline)
        if stop_above is None or count <= stop_above:  # above, counting may have stopped early
            self._cache.put(key, count)
        return count

    def bounds(self, text: str) -> Bounds:
        return self._inner.bounds(text)

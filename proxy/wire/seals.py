"""Which signed blocks an upstream really wrote: remembered as keyed digests, so that they may go back unread.

A provider that signs its model's thinking refuses the block when a byte of it has changed, so nothing in it may be
replaced; and a client could write anything into such a block. What this remembers was written by the upstream and
sent to this tenant: sending the same bytes back tells the upstream nothing. No text is kept, nothing outlives the
process. May import: model, the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from threading import Lock
from typing import Protocol

from proxy.model import JSON

MOST = 200_000
"""Digests kept; the one that was not used for longest goes first. About 100 bytes each."""


class Seals(Protocol):
    """One tenant's signed blocks. A block is an object of a message's content, without its `cache_control`."""

    def remember(self, block: dict[str, JSON]) -> None: ...

    def knows(self, block: dict[str, JSON]) -> bool: ...


class NoSeals:
    """Remembers nothing: every signed block that comes back is inspected."""

    def remember(self, block: dict[str, JSON]) -> None:
        return

    def knows(self, block: dict[str, JSON]) -> bool:
        return False


class SealStore:
    """The digests of all tenants; one a process, safe to share between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._key = secrets.token_bytes(32)
        self._digests: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._digests)

    def of(self, tenant: bytes) -> TenantSeals:
        """The view of one tenant, by its key."""
        return TenantSeals(self, tenant)

    def add(self, tenant: bytes, block: dict[str, JSON]) -> None:
        digest = self._digest(tenant, block)
        with self._lock:
            self._digests[digest] = None
            self._digests.move_to_end(digest)
            if len(self._digests) > self._most:
                self._digests.popitem(last=False)

    def has(self, tenant: bytes, block: dict[str, JSON]) -> bool:
        digest = self._digest(tenant, block)
        with self._lock:
            known = digest in self._digests
            if known:
                self._digests.move_to_end(digest)
        return known

    def _digest(self, tenant: bytes, block: dict[str, JSON]) -> bytes:
        # Clients write absent fields as null or leave them out, and in an order of their own.
        fields = {key: value for key, value in block.items() if value is not None and key != "cache_control"}
        written = json.dumps(fields, sort_keys=True).encode("ascii")
        return hmac.digest(self._key, hashlib.sha256(tenant).digest() + written, hashlib.sha256)


class TenantSeals:
    """`Seals` over a store."""

    def __init__(self, store: SealStore, tenant: bytes) -> None:
        self._store = store
        self._tenant = tenant

    def remember(self, block: dict[str, JSON]) -> None:
        self._store.add(self._tenant, block)

    def knows(self, block: dict[str, JSON]) -> bool:
        return self._store.has(self._tenant, block)

"""Which signed blocks an upstream really wrote, remembered so that they go back to it byte for byte.

A provider that signs its model's thinking refuses the block when a byte of it has changed, and a client could write
anything into one. What is remembered here was written by the upstream and sent to this tenant: sending the same bytes
back tells the upstream nothing. Kept are keyed digests and, for a block that the client was shown with its
placeholders restored, where they stood and what they were: no text and no value. Nothing outlives the process.

May import: model, base, the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Protocol, TypeAlias

from proxy.model import JSON, Moved
from proxy.wire.base import serialise

MOST = 20_000
"""Blocks kept; the one that was not used for longest goes first. Some 200 bytes each, and 100 a placeholder."""

Block: TypeAlias = "dict[str, JSON]"
Spans: TypeAlias = "tuple[tuple[int, int, str], ...]"
TEXT = "thinking"
"""The field of a block that is restored for display."""


class Seals(Protocol):
    """One tenant's signed blocks, as objects of a message's content."""

    @property
    def shows(self) -> bool:
        """Whether thinking is restored for display: only a block that is still remembered can then go back."""
        ...

    def remember(self, received: Block, shown: str | None = None, moved: Sequence[Moved] = ()) -> None:
        """Takes down a block; `shown` is its text as the client gets it, `moved` what was restored in it."""
        ...

    def received(self, block: Block) -> Block | None:
        """The block as the upstream wrote it, from the block as the client has it; None if it is not known."""
        ...


class NoSeals:
    """Remembers nothing: every signed block that comes back is inspected."""

    shows = False

    def remember(self, received: Block, shown: str | None = None, moved: Sequence[Moved] = ()) -> None:
        return

    def received(self, block: Block) -> Block | None:
        return None


class SealStore:
    """The blocks of all tenants; one a process, safe to share between threads."""

    def __init__(self, most: int = MOST, *, shows: bool = False) -> None:
        self.shows = shows
        self._most = most
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, Spans] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, tenant: bytes) -> TenantSeals:
        """The view of one tenant, by its key."""
        return TenantSeals(self, tenant)

    def add(self, tenant: bytes, block: Block, spans: Spans) -> None:
        digest = self._digest(tenant, block)
        with self._lock:
            self._known[digest] = spans
            self._known.move_to_end(digest)
            if len(self._known) > self._most:
                self._known.popitem(last=False)

    def find(self, tenant: bytes, block: Block) -> Spans | None:
        digest = self._digest(tenant, block)
        with self._lock:
            spans = self._known.get(digest)
            if spans is not None:
                self._known.move_to_end(digest)
        return spans

    def _digest(self, tenant: bytes, block: Block) -> bytes:
        # All that would go on unread, nulls and the digits of numbers included; clients order fields as they like.
        unread = {key: value for key, value in block.items() if key != "cache_control"}
        written = serialise(_in_order(unread))
        return hmac.digest(self._key, hashlib.sha256(tenant).digest() + written, hashlib.sha256)


def _in_order(node: JSON) -> JSON:
    if isinstance(node, dict):
        return {key: _in_order(node[key]) for key in sorted(node)}
    return [_in_order(value) for value in node] if isinstance(node, list) else node


class TenantSeals:
    """`Seals` over a store."""

    def __init__(self, store: SealStore, tenant: bytes) -> None:
        self._store = store
        self._tenant = tenant

    @property
    def shows(self) -> bool:
        return self._store.shows

    def remember(self, received: Block, shown: str | None = None, moved: Sequence[Moved] = ()) -> None:
        if shown is None:
            self._store.add(self._tenant, received, ())
            return
        text = str(received[TEXT])
        spans = tuple((span.new_start, span.new_end, text[span.start : span.end]) for span in moved)
        self._store.add(self._tenant, {**received, TEXT: shown}, spans)

    def received(self, block: Block) -> Block | None:
        spans = self._store.find(self._tenant, block)
        if not spans:
            return None if spans is None else block
        text, out, done = str(block[TEXT]), list[str](), 0
        for start, end, placeholder in spans:
            out += text[done:start], placeholder
            done = end
        return {**block, TEXT: "".join(out) + text[done:]}

"""Which signed blocks an upstream really wrote, remembered so that they go back to it byte for byte.

A provider that signs its model's thinking refuses the block when a byte of it has changed, and a client could write
anything into one. What is remembered here was written by the upstream and sent to this tenant: sending the same bytes
back tells the upstream nothing. Kept are keyed digests and, for a block that the client was shown with its
placeholders restored, where they stood and what they were: no text and no value.

May import: model, base, the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from proxy.model import JSON, Moved
from proxy.wire.base import serialise

Block: TypeAlias = "dict[str, JSON]"
Spans: TypeAlias = "tuple[tuple[int, int, str], ...]"
SIGNED = frozenset({"thinking", "redacted_thinking", "compaction"})
"""Blocks that a client must send back as the provider wrote them."""
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


NO_SEALS = NoSeals()


class Ledger:
    """One request's `Seals`: what was fetched for the blocks in it, and what its answer adds.

    Entries are keyed by `digest`; who keeps them from one request to the next is the caller's business. `key` is the
    tenant's. `shows` says whether thinking is restored for display.
    """

    def __init__(self, key: bytes, known: Mapping[str, Spans] | None = None, *, shows: bool = False) -> None:
        self.shows = shows
        self.entries: dict[str, Spans] = dict(known or {})
        self._key = key

    def remember(self, received: Block, shown: str | None = None, moved: Sequence[Moved] = ()) -> None:
        if shown is None:
            self.entries[digest(self._key, received)] = ()
            return
        text = str(received[TEXT])
        spans = tuple((span.new_start, span.new_end, text[span.start : span.end]) for span in moved)
        self.entries[digest(self._key, {**received, TEXT: shown})] = spans

    def received(self, block: Block) -> Block | None:
        spans = self.entries.get(digest(self._key, block))
        if not spans:
            return None if spans is None else block
        text, out, done = str(block[TEXT]), list[str](), 0
        for start, end, placeholder in spans:
            out += text[done:start], placeholder
            done = end
        return {**block, TEXT: "".join(out) + text[done:]}


def digests(key: bytes, body: JSON) -> list[str]:
    """Of every block in a request's messages that a provider may have signed."""
    messages = body.get("messages") if isinstance(body, dict) else None
    contents = [m.get("content") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    blocks = (block for content in contents if isinstance(content, list) for block in content)
    return [digest(key, block) for block in blocks if isinstance(block, dict) and str(block.get("type")) in SIGNED]


def digest(key: bytes, block: Block) -> str:
    """A block's name, 64 hexadecimal digits: over all that would go on unread, nulls and the digits of numbers
    included. Clients order fields as they like."""
    unread = {name: value for name, value in block.items() if name != "cache_control"}
    return hmac.new(key, b"seal\0" + serialise(_in_order(unread)), hashlib.sha256).hexdigest()


def _in_order(node: JSON) -> JSON:
    if isinstance(node, dict):
        return {key: _in_order(node[key]) for key in sorted(node)}
    return [_in_order(value) for value in node] if isinstance(node, list) else node


def written(spans: Spans) -> bytes:
    """What is kept of a block: where its placeholders stood in what the client was shown, and what they were."""
    return json.dumps(spans, separators=(",", ":")).encode("ascii")


def read(content: bytes) -> Spans:
    return tuple((int(start), int(end), str(placeholder)) for start, end, placeholder in json.loads(content))

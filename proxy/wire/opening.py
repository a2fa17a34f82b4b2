"""What a conversation begins with, and the leaves of a request as a list.

May import: model, wire.base, wire.chat.
"""

from __future__ import annotations

from proxy.model import JSON, Leaf
from proxy.wire.base import serialise
from proxy.wire.chat import rewrite_request


def opening(body: JSON) -> str:
    """The conversation's first user message as JSON text: the same at every turn, so it can name the conversation.

    Without a user message the first message stands in; without messages, nothing does.
    """
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        return ""
    users = (m for m in messages if isinstance(m, dict) and m.get("role") == "user")
    first = next(users, messages[0])
    return serialise(first.get("content") if isinstance(first, dict) else first).decode()


def leaves_of(body: JSON, allowed: frozenset[str]) -> list[Leaf]:
    """Every leaf of a request in document order. Raises what the walk raises: `BadRequest`, `UnsupportedByPolicy`."""
    found: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        found.append(leaf)
        return leaf.text if leaf.raw is None else leaf.raw

    rewrite_request(body, visit, allowed)
    return found

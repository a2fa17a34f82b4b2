"""What a chat begins with. May import: model, wire.base."""

from __future__ import annotations

from proxy.model import JSON
from proxy.wire.base import serialise


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

"""Citations of Anthropic's API that point into the documents of a request: their offsets follow what was replaced.

The provider counts in the documents that it was sent, the client in those that it wrote. Which document is meant says
`document_index`: the documents of all messages, in their order. Citations of pages and blocks need no change.

May import: model, answers, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from proxy.model import JSON, Moved, Rewritten
from proxy.wire.answers import remap

Documents: TypeAlias = "tuple[tuple[Moved, ...], ...]"
"""Of each document of a request, where its text was replaced: from what the client wrote to what was sent."""

_INDEX = "document_index"
_START, _END = "start_char_index", "end_char_index"


def documents(sent: JSON) -> Documents:
    """From a request as it is sent; empty if no document was changed."""
    found = tuple(_texts(sent.get("messages") if isinstance(sent, dict) else None))
    return found if any(found) else ()


def as_written(moved: Documents) -> Documents:
    """The way back: from what was sent to what the client wrote."""
    return tuple(tuple(Moved(span.new_start, span.new_end, span.start, span.end) for span in spans) for spans in moved)


def pointed(node: JSON, moved: Documents) -> JSON:
    """A citation, or anything that holds some, with its offsets mapped from the old to the new documents."""
    if isinstance(node, list):
        return [pointed(value, moved) for value in node]
    if not isinstance(node, dict):
        return node
    spans = _meant(node.get(_INDEX), moved)
    return {key: _offset(key, value, spans) if key in (_START, _END) else value for key, value in node.items()}


def cited(node: JSON, moved: Documents) -> JSON:
    """A block with its `citations` mapped."""
    if not moved or not isinstance(node, dict) or "citations" not in node:
        return node
    return {**node, "citations": pointed(node["citations"], moved)}


def recited(body: dict[str, JSON]) -> dict[str, JSON]:
    """A request with the citations of earlier answers mapped to its documents as they are sent."""
    moved, messages = documents(body), body.get("messages")
    if not moved or not isinstance(messages, list):
        return body
    return {**body, "messages": [_recited(message, moved) for message in messages]}


def _recited(message: JSON, moved: Documents) -> JSON:
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    return {**message, "content": [cited(block, moved) for block in _list(message["content"])]}


def _texts(node: JSON) -> Iterator[tuple[Moved, ...]]:
    if isinstance(node, list):
        for value in node:
            yield from _texts(value)
    elif isinstance(node, dict) and node.get("type") == "document":
        source = node.get("source")
        data = source.get("data") if isinstance(source, dict) and source.get("type") == "text" else None
        yield data.moved if isinstance(data, Rewritten) else ()
    elif isinstance(node, dict):
        yield from _texts(node.get("content"))


def _meant(index: JSON, moved: Documents) -> Sequence[Moved]:
    known = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(moved)
    return moved[index] if known and isinstance(index, int) else ()


def _offset(key: str, value: JSON, spans: Sequence[Moved]) -> JSON:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    return remap(value, spans, at_end=key == _END)


def _list(node: JSON) -> list[JSON]:
    return node if isinstance(node, list) else []

"""Restores the answers of Anthropic's Messages API, block by block.

Thinking and compactions are signed and go back to the provider byte for byte: they stay as they were received, or
thinking is restored where it is remembered how to undo that (`seals`).
The input of a tool is JSON, in which a number that was replaced becomes a number again. Offsets of citations follow
the documents of the request (`pointers`). Source: the Messages API reference and its Python SDK.

May import: model, answers, pointers, toolinput, seals.
"""

from __future__ import annotations

from proxy.model import JSON, Context, Restoring, Seen, Usage
from proxy.wire.answers import count, restored, restored_key
from proxy.wire.pointers import Documents, cited
from proxy.wire.seals import SIGNED, TEXT, NoSeals, Seals
from proxy.wire.toolinput import restored_input

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_PIECES = ("message", "content_block", "ping")


def restore_answer(
    body: JSON, restoring: Restoring, seen: Seen, seals: Seals | None = None, documents: Documents = ()
) -> JSON:
    """The answer (a message, a count of tokens, an error) as the client may read it; signed blocks are remembered.

    `documents` are those that its citations point into (`pointers.as_written`).
    """
    if not isinstance(body, dict):
        return body
    note(body, seen)
    return message(body, restoring, seals or NoSeals(), documents)


def message(node: dict[str, JSON], restoring: Restoring, seals: Seals, documents: Documents = ()) -> dict[str, JSON]:
    """A whole message, or the beginning of a streamed one."""
    return {
        restored_key(key, restoring): [cited(block(item, restoring, seals), documents) for item in value]
        if key == "content" and isinstance(value, list)
        else restored(value, key, restoring)
        for key, value in node.items()
    }


def block(node: JSON, restoring: Restoring, seals: Seals) -> JSON:
    """One block of a message's content."""
    if not isinstance(node, dict) or str(node.get("type")) not in SIGNED | CALLS:
        return restored(node, "content", restoring)
    if node["type"] in SIGNED:
        return _signed(node, restoring, seals)
    name = node.get("name")
    return {
        restored_key(key, restoring): restored_input(value, restoring, name if isinstance(name, str) else None)
        if key == "input"
        else value
        if key == "name"
        else restored(value, key, restoring)
        for key, value in node.items()
    }


def _signed(node: dict[str, JSON], restoring: Restoring, seals: Seals) -> JSON:
    text = node.get(TEXT)
    if not (seals.shows and isinstance(text, str)):
        seals.remember(node)
        return node
    shown, moved = restoring.whole(text, Context.PLAIN)
    seals.remember(node, shown, moved)
    return {**node, TEXT: shown}


def note(node: dict[str, JSON], seen: Seen) -> None:
    """Takes down model, usage, stop reason, and whether it is an error, from a message or a `message_delta`."""
    if isinstance(node.get("model"), str):
        seen.model = str(node["model"])
    seen.usage = usage_of(node.get("usage"), seen.usage)
    kind = str(node.get("type") or "")
    # What is a piece of the answer is no error: a stream that ends behind it was cut off.
    if kind == "error" or (node.get("error") and not kind.startswith(_PIECES)):
        seen.upstream_error = True
    delta = node.get("delta")
    ended = delta if isinstance(delta, dict) else node
    if isinstance(ended.get("stop_reason"), str):
        seen.finish_reasons.append(str(ended["stop_reason"]))


def usage_of(node: JSON, before: Usage | None) -> Usage | None:
    """Usage as far as `node` tells it, `before` for the rest.

    `input_tokens` leaves out what was read from or written to the provider's cache; a prompt is all three.
    """
    if not isinstance(node, dict):
        return before
    before = before or Usage()
    fresh, read = _count(node, "input_tokens"), _count(node, "cache_read_input_tokens")
    created = _count(node, "cache_creation_input_tokens")
    prompt = before.prompt if fresh is None else fresh + (read or 0) + (created or 0)
    completion = _count(node, "output_tokens")
    return Usage(
        prompt,
        before.completion if completion is None else completion,
        before.cached if read is None else read,
    )


def _count(node: dict[str, JSON], name: str) -> int | None:
    return count(node.get(name))

"""POST /messages and /messages/count_tokens (Anthropic's API and compatible): requests, answers, errors, streams.

Both endpoints take the same body. Signed thinking and compactions go back byte for byte (`signed`), so in answers
they stay as they were received, placeholders included. What runs or is kept at the provider is refused.
Source: the Messages API reference, its Python and Node SDKs.

May import: model, errors, base, attachments, bodies, messages_answers, messages_blocks, messages_errors,
messages_stream, pointers, schemas, seals, signed, state, walk.
"""

from __future__ import annotations

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON, Visit
from proxy.wire.attachments import gated
from proxy.wire.base import serialise
from proxy.wire.bodies import MODEL, UNREAD, checked, metadata
from proxy.wire.messages_answers import restore_answer
from proxy.wire.messages_blocks import CACHE, CONTENT, SYSTEM, tool
from proxy.wire.messages_errors import error_body
from proxy.wire.messages_stream import MessagesStream
from proxy.wire.pointers import recited
from proxy.wire.schemas import schema
from proxy.wire.seals import NoSeals, Seals
from proxy.wire.signed import SealedWalk
from proxy.wire.state import state
from proxy.wire.walk import Walk, anything, fields, fixed, identifier, identifiers, items, labelled

__all__ = ["SCOPE", "MessagesStream", "error_body", "opening", "restore_answer", "rewrite_request"]

SCOPE = "conversation"


def rewrite_request(
    body: JSON, visit: Visit, allowed: frozenset[str] = frozenset(), *, seals: Seals | None = None
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `allowed`: which of "images", "files" pass unread. `seals` says which signed blocks the upstream wrote; without
    it each is inspected, and refused if anything is found. Raises `BadRequest` and `UnsupportedByPolicy` with a JSON
    path as `param`; whatever `visit` raises passes.
    """
    checked(body, MODEL, ("messages", list, "a list"))
    rebuilt = _BODY(SealedWalk(visit, allowed, seals or NoSeals()), body, "$", "")
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return recited(rebuilt)


def opening(body: JSON) -> str:
    """The first user message as JSON text, without the cache marks that clients move from turn to turn."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        return ""
    first = next((m for m in messages if isinstance(m, dict) and m.get("role") == "user"), messages[0])
    return serialise(_unmarked(first.get("content") if isinstance(first, dict) else first)).decode()


def _unmarked(node: JSON) -> JSON:
    if isinstance(node, list):
        return [_unmarked(value) for value in node]
    if isinstance(node, dict):
        return {key: value for key, value in node.items() if key != "cache_control"}
    return node


def _servers(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Servers that the provider calls: a third party would be sent what the model writes."""
    if node in (None, []):
        return node
    raise UnsupportedByPolicy(f"{path} makes the provider call other servers, which is not inspected.", param=path)


_MESSAGE = fields({"role": identifier, "content": CONTENT, "id": identifier, "type": identifier})
_FORMAT = fields({"type": identifier, "schema": schema})
_CONTAINER = gated("files", "a container of files kept by the provider", anything)

_EFFORT = fields({"effort": identifier, "format": _FORMAT})
_THINKING = fields({"type": identifier, "display": identifier})


def _fallbacks(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Models to be asked instead, or a word."""
    table = {"model": identifier, "speed": identifier, "output_config": _EFFORT, "thinking": _THINKING}
    return items(fields(table))(walk, node, path, label) if isinstance(node, list) else identifier(walk, node, path, "")


_BODY = fields(
    {
        "model": identifier,
        "messages": items(_MESSAGE),
        "system": SYSTEM,
        "tools": items(tool),
        "tool_choice": fields({"type": identifier, "name": fixed}),
        "stop_sequences": labelled("", anything),
        "metadata": metadata,
        "cache_control": CACHE,
        "output_config": _EFFORT,
        "output_format": _FORMAT,
        "thinking": _THINKING,
        "container": _CONTAINER,
        "mcp_servers": _servers,
        "diagnostics": fields({"previous_message_id": identifier}),
        "thread": state(anything),
        "compaction": fields({"type": identifier}),
        "context_management": fields({"edits": items(fields({"type": identifier, "exclude_tools": fixed}))}),
        "fallbacks": _fallbacks,
        "betas": identifiers,
        **dict.fromkeys(("service_tier", "inference_geo", "speed", "user_profile_id", "workspace_id"), identifier),
        **UNREAD,
    }
)

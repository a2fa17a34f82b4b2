"""POST /messages and /messages/count_tokens (Anthropic's API and compatible): requests, answers, errors, streams.

Both endpoints take the same body. Signed thinking and compactions go back byte for byte (`signed`), so in answers
they stay as they were received, placeholders included. What runs or is kept at the provider is refused.
Source: the Messages API reference, its Python and Node SDKs.

May import: model, errors, base, sse, attachments, messages_answers, messages_blocks, messages_stream, parts, schemas,
seals, signed, walk, the standard library.
"""

from __future__ import annotations

import json

from proxy.errors import ContextLengthExceeded, Refusal, UnsupportedByPolicy
from proxy.model import JSON, Visit
from proxy.wire.attachments import gated
from proxy.wire.base import serialise
from proxy.wire.messages_answers import restore_answer
from proxy.wire.messages_blocks import CACHE, CONTENT, SYSTEM, tool
from proxy.wire.messages_stream import MessagesStream
from proxy.wire.parts import UNREAD, identifiers
from proxy.wire.schemas import schema
from proxy.wire.seals import NoSeals, Seals
from proxy.wire.signed import SealedWalk
from proxy.wire.sse import written
from proxy.wire.walk import Walk, anything, fields, fixed, identifier, items, labelled, mapping, wrong_type

__all__ = ["SCOPE", "MessagesStream", "error_body", "error_event", "opening", "restore_answer", "rewrite_request"]

SCOPE = "conversation"


def rewrite_request(
    body: JSON, visit: Visit, allowed: frozenset[str] = frozenset(), *, seals: Seals | None = None
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `allowed`: which of "images", "files" pass unread. `seals` says which signed blocks the upstream wrote; without
    it each is inspected, and refused if anything is found. Raises `BadRequest` and `UnsupportedByPolicy` with a JSON
    path as `param`; whatever `visit` raises passes.
    """
    if not isinstance(body, dict):
        raise wrong_type("$", "an object")
    if not isinstance(body.get("model"), str):
        raise wrong_type("$.model", "a string")
    if not isinstance(body.get("messages"), list):
        raise wrong_type("$.messages", "a list")
    rebuilt = _BODY(SealedWalk(visit, allowed, seals or NoSeals()), body, "$", "")
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


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


_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    504: "timeout_error",
}


def error_body(refusal: Refusal) -> dict[str, JSON]:
    """A refusal in the shape of this API: `{"type": "error", "error": {"type", "message"}}`.

    Types as the API documents them for each status. `error.code` and `error.param` say what ours say elsewhere.
    """
    kind = _KINDS.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "api_error")
    message = _too_long(refusal) if isinstance(refusal, ContextLengthExceeded) else refusal.message
    error: dict[str, JSON] = {"type": kind, "message": message, "code": refusal.code, "param": refusal.param}
    return {"type": "error", "error": error}


def error_event(refusal: Refusal) -> bytes:
    """The same as an event of a stream that has begun."""
    return written(json.dumps(error_body(refusal), separators=(",", ":")), "error")


def _too_long(refusal: ContextLengthExceeded) -> str:
    """In this API's own words, since agents look for them before they compact a conversation."""
    if refusal.prompt > refusal.limit:
        return f"prompt is too long: {refusal.prompt} tokens > {refusal.limit} maximum"
    return (
        f"input length and `max_tokens` exceed context limit: {refusal.prompt} + {refusal.completion} > "
        f"{refusal.limit}, decrease input length or `max_tokens` and try again"
    )


def _servers(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Servers that the provider calls: a third party would be sent what the model writes."""
    if node in (None, []):
        return node
    raise UnsupportedByPolicy(f"{path} makes the provider call other servers, which is not inspected.", param=path)


_MESSAGE = fields({"role": identifier, "content": CONTENT, "id": identifier, "type": identifier})
_FORMAT = fields({"type": identifier, "schema": schema})
_CONTAINER = gated("files", "a container of files kept by the provider", anything)


def _container(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return None if node is None else _CONTAINER(walk, node, path, label)


_BODY = fields(
    {
        "model": identifier,
        "messages": items(_MESSAGE),
        "system": SYSTEM,
        "tools": items(tool),
        "tool_choice": fields({"type": identifier, "name": fixed}),
        "stop_sequences": labelled("", anything),
        "metadata": mapping(anything),
        "cache_control": CACHE,
        "output_config": fields({"effort": identifier, "format": _FORMAT}),
        "output_format": _FORMAT,
        "thinking": fields({"type": identifier, "display": identifier}),
        "container": _container,
        "mcp_servers": _servers,
        "diagnostics": fields({"previous_message_id": identifier}),
        "betas": identifiers,
        **dict.fromkeys(("service_tier", "inference_geo", "speed", "user_profile_id", "workspace_id"), identifier),
        **UNREAD,
    }
)

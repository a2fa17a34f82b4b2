"""POST /responses and its relatives (OpenAI API and compatible): where text lives in requests.

The tables name exemptions only; what is not named here is read like text. Source: the OpenAI API reference, its
Python and Node SDKs. May import: model, errors, walk, attachments, bodies, seals, signed, state, base, the other
responses modules.
"""

from __future__ import annotations

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON, Visit
from proxy.wire.attachments import modalities, uninspected
from proxy.wire.base import serialise
from proxy.wire.bodies import identity, metadata
from proxy.wire.responses_answers import drawn, restore_answer
from proxy.wire.responses_items import FORMAT, REASONING, VARIABLES, text_or_items
from proxy.wire.responses_stream import ResponsesStream
from proxy.wire.responses_tools import TOOLS, tool_choice
from proxy.wire.seals import NO_SEALS, Seals
from proxy.wire.signed import SealedWalk
from proxy.wire.state import PROMPTS, STATEFUL, background, conversation, previous, state, state_id
from proxy.wire.walk import Walk, fields, identifier, identifiers, items, wrong_type

__all__ = ["ResponsesStream", "drawn", "opening", "restore_answer", "rewrite_request"]


def rewrite_request(
    body: JSON,
    visit: Visit,
    allowed: frozenset[str] = frozenset(),
    *,
    stateful: bool = False,
    seals: Seals = NO_SEALS,
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `allowed`: which of "images", "files", "audio" pass unread, and which references to what the provider has stored
    pass as identifiers (`state`; `stateful`: all). `seals`: which images the upstream drew for this tenant. Raises
    `BadRequest` (wrong types) and `UnsupportedByPolicy` (not inspected), both with a JSON path as `param`; whatever
    `visit` raises passes.
    """
    if not isinstance(body, dict):
        raise wrong_type("$", "an object")
    if not isinstance(body.get("model"), str):
        raise wrong_type("$.model", "a string")
    if not isinstance(body.get("input"), str | list | None):
        raise wrong_type("$.input", "a string or a list of items")
    rebuilt = _BODY(SealedWalk(visit, allowed | STATEFUL if stateful else allowed, seals), body, "$", "")
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


def opening(body: JSON) -> str:
    """The conversation's first user message as JSON text: the same at every turn, so it can name the conversation.

    A text, and a message or a part that holds the same text, are the same opening: the first turn is often sent
    as a bare string and comes back as an item. Without a user message the first item stands in.
    """
    said = body.get("input") if isinstance(body, dict) else None
    if isinstance(said, list) and said:
        users = (item for item in said if isinstance(item, dict) and item.get("role") == "user")
        first = next(users, said[0])
        said = first.get("content", first) if isinstance(first, dict) else first
    if not said:
        return ""
    texts = [_text(part) for part in said] if isinstance(said, list) else [said]
    joined = [text for text in texts if isinstance(text, str)]
    return serialise("".join(joined) if len(joined) == len(texts) else said).decode()


def _text(part: JSON) -> JSON:
    return part.get("text") if isinstance(part, dict) and part.get("type") == "input_text" else None


def _truncation(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """`auto` would let the provider drop what does not fit, silently: the limit is kept here instead."""
    if node not in (None, "disabled"):
        raise UnsupportedByPolicy(f"{path} must be disabled: nothing of a prompt may be dropped unseen.", param=path)
    return node


_TOKENS = uninspected("a prompt as token ids or embeddings")
_BODY = fields(
    {
        "input": text_or_items,
        "instructions": text_or_items,
        "model": identifier,
        "tools": TOOLS,
        "tool_choice": tool_choice,
        "text": FORMAT,
        "reasoning": REASONING,
        "include": identifiers,
        "modalities": modalities,
        "metadata": metadata,
        "user": identity,
        "safety_identifier": identity,
        "prompt_cache_key": identity,
        "truncation": _truncation,
        "previous_response_id": previous,
        "conversation": conversation,
        "background": background,
        "prompt": state(fields({"id": identifier, "version": identifier, "variables": VARIABLES}), PROMPTS),
        "prompt_cache_options": fields({"mode": identifier, "ttl": identifier, "comparison_response_id": state_id}),
        "context_management": items(fields({"type": identifier})),
        "moderation": fields({"model": identifier}),
        **dict.fromkeys(("service_tier", "prompt_cache_retention", "personality"), identifier),
        **dict.fromkeys(("input_ids", "prompt_token_ids", "token_ids", "prompt_embeds", "input_embeds"), _TOKENS),
    }
)

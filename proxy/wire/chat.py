"""POST /chat/completions (OpenAI API and compatible): where text lives in requests, answers and streams.

The tables name exemptions only; what is not named here is read like text. Citations in a conversation's earlier
answers are read, and their offsets are moved along with what is replaced. Source: the OpenAI API reference, its Python
and Node SDKs, and the dialects of vLLM, SGLang, Ollama and OpenRouter.

May import: model, walk, parts, bodies, schemas, attachments, answers, stream.
"""

from __future__ import annotations

from proxy.model import JSON, Kind, Leaf, Visit
from proxy.wire.answers import ENDS, cited, restore_answer
from proxy.wire.attachments import PARTS, audio_id, modalities
from proxy.wire.bodies import MEDIA, MODEL, UNREAD, checked, identity, logit_bias, metadata
from proxy.wire.parts import content
from proxy.wire.schemas import FUNCTION, NAMED_SCHEMA, pattern
from proxy.wire.stream import ChatStream
from proxy.wire.walk import (
    Reader,
    Table,
    Walk,
    anything,
    fields,
    fixed,
    identifier,
    identifiers,
    items,
    labelled,
    text,
    typed,
    walk,
    wrong_type,
)

__all__ = ["ChatStream", "restore_answer", "rewrite_request"]


def rewrite_request(
    body: JSON, visit: Visit, allowed: frozenset[str] = frozenset(), *, reader: Reader | None = None
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `allowed`: which of "images", "files", "audio" pass unread. `reader` reads the bodies of a dialect. Raises
    `BadRequest` (wrong types) and `UnsupportedByPolicy` (not inspected), both with a JSON path as `param`; whatever
    `visit` raises passes.
    """
    checked(body, MODEL, ("messages", list, "a list"))
    rebuilt = walk(body, "$", visit, reader or _BODY, allowed)
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


_PARTS: Table = {
    "refusal": fields({"type": identifier, "refusal": text}),
    "thinking": fields({"type": identifier}),
    **PARTS,
}
_content = content({"text": {}}, _PARTS)


def _arguments(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """JSON text as a rule; invalid JSON is plain text, and some dialects send the object itself."""
    return anything(walk, node, path, "")


def _name(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A participant's name: `<` and `>` are not in its alphabet."""
    if node is None or node == "":
        return node
    if not isinstance(node, str):
        raise wrong_type(path, "a string")
    return walk.visit(Leaf(path, node, Kind.NAME, "name"))


_CALLED = fields({"name": fixed, "arguments": _arguments})
_CALL: Reader = fields(
    {"id": identifier, "type": identifier, "function": _CALLED, "custom": fields({"name": fixed, "input": text})}
)
_CALLS = items(typed({"function": _CALL, "custom": _CALL}, "a tool call", default="function"))


def _message_table(name: Reader) -> Reader:
    return fields(
        {
            "role": identifier,
            "content": _content,
            "name": name,
            "refusal": text,
            "tool_call_id": identifier,
            "tool_calls": _CALLS,
            "function_call": _CALLED,
            "audio": audio_id,
            **dict.fromkeys(("images", "audios", "videos"), MEDIA),
            "id": identifier,
            "type": identifier,
        }
    )


_SPOKEN = _message_table(_name)
_RETURNED = _message_table(fixed)


def _message(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    if not isinstance(node, dict):
        raise wrong_type(path, "an object")
    role = node.get("role")
    if not isinstance(role, str):
        raise wrong_type(f"{path}.role", "a string")
    read = (_RETURNED if role.lower() in {"tool", "function"} else _SPOKEN)(walk, node, path, label)
    return cited(read, "content", ENDS) if isinstance(read, dict) else read


_GRAMMAR = fields({"syntax": identifier, "definition": pattern})
_CUSTOM_TOOL = fields({"name": fixed, "description": text, "format": fields({"type": identifier, "grammar": _GRAMMAR})})
_TOOL_NAME = fields({"name": fixed})
_TOOL: Reader = fields({"type": identifier, "function": FUNCTION, "custom": _CUSTOM_TOOL})
TOOLS = items(typed({"function": _TOOL, "custom": _TOOL}, "a tool"))
"""What the model may call."""
_CHOSEN = fields({"type": identifier, "function": _TOOL_NAME, "custom": _TOOL_NAME, "name": fixed})


def _tool_choice(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A word, one tool, or a list of allowed ones; all by name."""
    if node is None or isinstance(node, str):
        return identifier(walk, node, path, label)
    allowed_tools = fields({"mode": identifier, "tools": items(_CHOSEN)})
    return fields(
        {
            "type": identifier,
            "function": _TOOL_NAME,
            "custom": _TOOL_NAME,
            "name": fixed,
            "allowed_tools": allowed_tools,
        }
    )(walk, node, path, label)


def _function_call(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return _TOOL_NAME(walk, node, path, label) if isinstance(node, dict) else identifier(walk, node, path, label)


_FIELDS: Table = {
    "messages": items(_message),
    "model": identifier,
    "models": identifiers,
    "tools": TOOLS,
    "tool_choice": _tool_choice,
    "functions": items(FUNCTION),
    "function_call": _function_call,
    "response_format": fields({"type": identifier, "json_schema": NAMED_SCHEMA}),
    "prediction": fields({"type": identifier, "content": _content}),
    "stop": labelled("", anything),
    "metadata": metadata,
    "user": identity,
    "safety_identifier": identity,
    "prompt_cache_key": identity,
    "modalities": modalities,
    "logit_bias": logit_bias,
    **dict.fromkeys(("service_tier", "reasoning_effort", "verbosity", "prompt_cache_retention"), identifier),
    **UNREAD,
}
_BODY = fields(_FIELDS)


def body_with(more: Table) -> Reader:
    """The reader of a dialect's bodies, which have these fields, too."""
    return fields({**_FIELDS, **more})

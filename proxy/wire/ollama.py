"""Ollama's own API: chats, prompts and embeddings as JSON objects, streams as one object a line.

A tool is called with an object instead of JSON text; images stand beside the text of a message; a model answers in a
stream unless it is told not to. Ollama reads keys in any case, so a known field in another case is refused, as
everywhere. Pulling, pushing, creating, copying and deleting models do not exist here. Source: Ollama's API reference
and its Go types.

May import: model, answers, attachments, bodies, chat, embeddings, endpoints, opening, prompts, schemas,
toolinput, walk, ollama_stream, proxy.tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proxy.model import JSON, Visit
from proxy.tokens.media import chat_charges
from proxy.tokens.prompts import prompt_charges
from proxy.wire import embeddings, opening
from proxy.wire.attachments import BASE64, gated
from proxy.wire.bodies import UNREAD, checked
from proxy.wire.chat import TOOLS
from proxy.wire.endpoints import Aids, Endpoint, Rewriting
from proxy.wire.ollama_stream import NDJSON, OllamaStream, error_body, restore_answer
from proxy.wire.prompts import beginning, prompts
from proxy.wire.schemas import schema
from proxy.wire.toolinput import tool_input
from proxy.wire.walk import (
    Reader,
    Table,
    Walk,
    anything,
    fields,
    fixed,
    identifier,
    items,
    labelled,
    mapping,
    text,
    walk,
)


def _arguments(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What a tool is called with: an object; as text it is read like any."""
    return (tool_input if isinstance(node, dict) else anything)(walk, node, path, "")


_IMAGES = gated("images", "an image", items(BASE64))


def _images(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return node if node == [] else _IMAGES(walk, node, path, label)


_CALL = fields({"id": identifier, "type": identifier, "function": fields({"name": fixed, "arguments": _arguments})})
_MESSAGE = fields(
    {
        "role": identifier,
        "content": text,
        "thinking": text,
        "images": _images,
        "tool_calls": items(_CALL),
        **dict.fromkeys(("tool_name", "tool_call_id"), fixed),
    }
)
_COMMON: dict[str, Reader] = {
    **UNREAD,
    "model": identifier,
    "format": schema,
    "options": mapping(anything),
    "keep_alive": anything,
    "images": _images,
}
_CHAT: Table = {**_COMMON, "messages": items(_MESSAGE), "tools": TOOLS}
_GENERATE: Table = {**_COMMON, **dict.fromkeys(("prompt", "suffix", "system"), labelled("", text)), "template": text}
_EMBED: Table = {**_COMMON, **dict.fromkeys(("input", "prompt"), labelled("", prompts(None)))}
_SHOW: Table = {"model": identifier, "name": identifier}


def _reading(table: Table, *wanted: tuple[str, type, str]) -> Rewriting:
    reader = fields(table)

    def rewrite(body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        rebuilt = walk(checked(body, *wanted), "$", visit, reader, allowed)
        assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
        return rebuilt

    return rewrite


def _counted(body: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """With the requested completion where every other API has it; 0 and less say nothing."""
    options = body.get("options")
    asked = options.get("num_predict") if isinstance(options, dict) else None
    return {**body, "max_tokens": asked} if isinstance(asked, int) and asked > 0 else body


def _model_of(body: Mapping[str, JSON]) -> JSON:
    return body.get("model", body.get("name"))


_ANSWERING = Endpoint(
    rewrite_request=_reading(_CHAT, ("messages", list, "a list")),
    restore_answer=lambda body, restoring, seen, _: restore_answer(body, restoring, seen),
    opening=opening.opening,
    stream=lambda restoring, seen, _: OllamaStream(restoring, seen),
    prompt="messages",
    charging=chat_charges,
    error=error_body,
    streamed_as=NDJSON,
    counted=_counted,
)
_TABLES: Mapping[str, Endpoint] = {
    "/api/chat": _ANSWERING,
    "/api/generate": replace(
        _ANSWERING,
        rewrite_request=_reading(_GENERATE),
        opening=lambda body: beginning(body.get("prompt")) if isinstance(body, dict) else "",
        prompt="prompt",
    ),
    **dict.fromkeys(
        ("/api/embed", "/api/embeddings"),
        replace(
            _ANSWERING,
            rewrite_request=_reading(_EMBED),
            opening=embeddings.opening,
            stream=None,
            usage=False,
            prompt="input",
            charging=prompt_charges,
        ),
    ),
    "/api/show": replace(
        _ANSWERING, rewrite_request=_reading(_SHOW), stream=None, prompt="model", model_of=_model_of, usage=False
    ),
}


def endpoint(path: str) -> Endpoint | None:
    """What serves a path of Ollama's own API."""
    return _TABLES.get(path)

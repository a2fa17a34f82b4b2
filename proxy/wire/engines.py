"""What serving engines (vLLM, SGLang) add to the OpenAI API: fields for guided decoding, templates, sessions.

Schemas keep their property names, choices and grammars are text, so what the model may answer has the placeholders
of the prompt. A pattern is searched without its backslashes, too, since these can hide a value; a template or code of
the client's own could make anything of a prompt, and what a session holds is not in the request: refused. Source: the
protocol modules of vLLM and SGLang.

May import: errors, model, attachments, chat, completions, endpoints, schemas, state, walk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proxy.errors import Refusal
from proxy.model import JSON, Visit
from proxy.wire import chat, completions
from proxy.wire.attachments import uninspected
from proxy.wire.endpoints import ENDPOINTS, Aids, Endpoint, Rewriting
from proxy.wire.schemas import pattern, schema
from proxy.wire.state import state
from proxy.wire.walk import Reader, Table, anything, fields, identifier, items, labelled, mapping, text

_TEMPLATE = uninspected("a template of the client's own")
_CODE = uninspected("code of the client's own")
_FREE: Reader = mapping(anything)
_GUIDED = fields(
    {
        "json": schema,
        "regex": pattern,
        "choice": items(labelled("", text)),
        "grammar": pattern,
        "whitespace_pattern": pattern,
        "json_schema": schema,
    }
)

VLLM: Table = {
    "guided_json": schema,
    "guided_choice": items(labelled("", text)),
    **dict.fromkeys(("guided_regex", "guided_grammar", "guided_whitespace_pattern"), pattern),
    **dict.fromkeys(("guided_decoding_backend", "priority"), identifier),
    "structured_outputs": _GUIDED,
    "documents": items(_FREE),
    "chat_template": _TEMPLATE,
    **dict.fromkeys(("chat_template_kwargs", "mm_processor_kwargs", "media_io_kwargs", "vllm_xargs"), _FREE),
}
"""Fields of vLLM's requests that are no plain text."""

SGLANG: Table = {
    **dict.fromkeys(("regex", "ebnf", "stop_regex"), pattern),
    "json_schema": schema,
    "chat_template": _TEMPLATE,
    "chat_template_kwargs": _FREE,
    "custom_logit_processor": _CODE,
    "custom_params": _FREE,
    "session_params": state(_FREE),
}
"""The same of SGLang's."""

_PATHS = frozenset(
    ENDPOINTS.keys() & {"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages"}
)


def vllm(path: str) -> Endpoint | None:
    """What vLLM serves under a path."""
    return _served(path, VLLM)


def sglang(path: str) -> Endpoint | None:
    """What SGLang serves under a path; its errors have a form of their own."""
    endpoint = _served(path, SGLANG)
    return None if endpoint is None else replace(endpoint, error=flat_error)


def flat_error(refusal: Refusal) -> dict[str, JSON]:
    """A refusal as SGLang writes errors, with the OpenAI API's form beside it."""
    inner: Mapping[str, JSON] = {**refusal.body()["error"]}
    return {"object": "error", **inner, "code": refusal.status, "error": {**inner}}


def _served(path: str, more: Table) -> Endpoint | None:
    if path not in _PATHS:
        return None
    endpoint = ENDPOINTS[path]
    if path == "/v1/chat/completions":
        return replace(endpoint, rewrite_request=_chat(more))
    return replace(endpoint, rewrite_request=_completions(more)) if path == "/v1/completions" else endpoint


def _chat(more: Table) -> Rewriting:
    reader = chat.body_with(more)

    def rewrite(body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        return chat.rewrite_request(body, visit, allowed, reader=reader)

    return rewrite


def _completions(more: Table) -> Rewriting:
    def rewrite(body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        return completions.rewrite_request(body, visit, allowed, decode=aids.decode, more=more)

    return rewrite

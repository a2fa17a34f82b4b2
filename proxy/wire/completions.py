"""POST /completions (OpenAI API and compatible): one prompt or several, each continued or, with a suffix, filled in.

A text of the answer may repeat its prompt (`echo`), so it is restored like any other. Token probabilities spell
placeholders token by token, with offsets into the text: they are dropped. Source: the OpenAI API reference (legacy
completions), its SDKs, and vLLM's dialect. May import: model, answers, bodies, prompts, schemas, stream, walk.
"""

from __future__ import annotations

from typing import ClassVar

from proxy.model import JSON, Visit
from proxy.wire.answers import restore_answer
from proxy.wire.bodies import MODEL, UNREAD, checked, identity, logit_bias, metadata
from proxy.wire.prompts import Decode, beginning, prompts
from proxy.wire.schemas import NAMED_SCHEMA
from proxy.wire.stream import ChatStream
from proxy.wire.walk import Reader, Table, anything, fields, identifier, identifiers, labelled, text, walk

__all__ = ["SCOPE", "CompletionStream", "opening", "restore_answer", "rewrite_request"]

SCOPE = "conversation"
_NONE: Table = {}


def rewrite_request(
    body: JSON,
    visit: Visit,
    allowed: frozenset[str] = frozenset(),
    *,
    decode: Decode | None = None,
    more: Table = _NONE,
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `decode` makes token ids text, which then goes on in their place; without it they are refused. `more` are fields
    of a dialect. Raises
    `BadRequest` and `UnsupportedByPolicy` with a JSON path as `param`; whatever `visit` raises passes.
    """
    checked(body, MODEL)
    table = fields({**_BODY, **more, "prompt": labelled("", prompts(decode))})
    rebuilt = walk(body, "$", visit, table, allowed)
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


def opening(body: JSON) -> str:
    """The beginning of the first prompt: a client that keeps a conversation sends it longer every time."""
    return beginning(body.get("prompt")) if isinstance(body, dict) else ""


class CompletionStream(ChatStream):
    """Chunks whose choices carry `text`."""

    GROWING: ClassVar[frozenset[str]] = frozenset({"text"})


_BODY: dict[str, Reader] = {
    "model": identifier,
    "models": identifiers,
    "suffix": text,
    "stop": labelled("", anything),
    "user": identity,
    "metadata": metadata,
    "logit_bias": logit_bias,
    "service_tier": identifier,
    "response_format": fields({"type": identifier, "json_schema": NAMED_SCHEMA}),
    **UNREAD,
}

"""Which types of the SDKs belong to which endpoint: what is sent, what is answered, what is streamed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anthropic.types as a
import anthropic.types.beta as ab
import openai.types as o
import openai.types.chat as oc
import openai.types.responses as r
from anthropic.types.beta import message_count_tokens_params as beta_count
from anthropic.types.beta import message_create_params as beta_create
from openai.types.responses import input_token_count_params, response_compact_params, response_create_params

from tests.surface.shapes import Shape, shape


@dataclass(frozen=True)
class Surface:
    """One path's types. `stream` is the union of the events, None where nothing is streamed."""

    api: str
    path: str
    request: Shape
    answer: Shape
    stream: Shape | None = None


APIS = ("chat", "completions", "embeddings", "moderations", "responses", "messages")


def _surface(path: str, request: Any, answer: Any, stream: Any = None) -> Surface:
    api = next(api for api in APIS if path.startswith(f"/v1/{api}"))
    return Surface(api, path, shape(request), shape(answer), None if stream is None else shape(stream))


SURFACES = (
    _surface(
        "/v1/chat/completions",
        oc.completion_create_params.CompletionCreateParams,
        oc.ChatCompletion,
        oc.ChatCompletionChunk,
    ),
    _surface("/v1/completions", o.completion_create_params.CompletionCreateParams, o.Completion, o.Completion),
    _surface("/v1/embeddings", o.EmbeddingCreateParams, o.CreateEmbeddingResponse),
    _surface("/v1/moderations", o.ModerationCreateParams, o.ModerationCreateResponse),
    _surface("/v1/responses", response_create_params.ResponseCreateParams, r.Response, r.ResponseStreamEvent),
    _surface("/v1/responses/input_tokens", input_token_count_params.InputTokenCountParams, r.InputTokenCountResponse),
    _surface("/v1/responses/compact", response_compact_params.ResponseCompactParams, r.CompactedResponse),
    _surface("/v1/messages", a.message_create_params.MessageCreateParams, a.Message, a.RawMessageStreamEvent),
    _surface("/v1/messages/count_tokens", a.MessageCountTokensParams, a.MessageTokensCount),
    _surface("/v1/messages?beta=true", beta_create.MessageCreateParams, ab.BetaMessage, ab.BetaRawMessageStreamEvent),
    _surface("/v1/messages/count_tokens?beta=true", beta_count.MessageCountTokensParams, ab.BetaMessageTokensCount),
)

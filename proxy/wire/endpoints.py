"""The inspected endpoints: what each API puts in the place of the same few steps.

May import: model, errors, the modules of the APIs, opening.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from proxy.errors import Refusal
from proxy.model import JSON, Leaf, Restoring, Seen, Visit
from proxy.wire import chat, opening, responses


class AnswerStream(Protocol):
    """An answer that grows, sans-I/O: bytes of the upstream in, bytes of the client out.

    All raise `BadAnswer`; the stream then ends with what `broken` says, in the provider's form, and is cut.
    """

    def feed(self, chunk: bytes) -> bytes: ...

    def finish(self) -> bytes: ...

    def broken(self, refusal: Refusal) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint: how its requests are rewritten, its answers restored, its conversations named.

    `rewrite_request(body, visit, allowed)` visits every leaf; `opening(body)` is the same at every turn of a
    conversation; `stream` is None where no stream is offered; `prompt` is the field that holds the prompt.
    """

    rewrite_request: Callable[[JSON, Visit, frozenset[str]], dict[str, JSON]]
    restore_answer: Callable[[JSON, Restoring, Seen], JSON]
    opening: Callable[[JSON], str]
    stream: Callable[[Restoring, Seen], AnswerStream] | None
    prompt: str

    def leaves(self, body: JSON, allowed: frozenset[str]) -> list[Leaf]:
        """Every leaf of a request in document order; raises what `rewrite_request` raises."""
        found: list[Leaf] = []

        def visit(leaf: Leaf) -> str:
            found.append(leaf)
            return leaf.text if leaf.raw is None else leaf.raw

        self.rewrite_request(body, visit, allowed)
        return found


_CHAT = Endpoint(chat.rewrite_request, chat.restore_answer, opening.opening, chat.ChatStream, "messages")
_RESPONSES = Endpoint(
    responses.rewrite_request,
    responses.restore_answer,
    responses.opening,
    responses.ResponsesStream,
    "input",
)
_RESPONSES_ONCE = Endpoint(
    responses.rewrite_request, responses.restore_answer, responses.opening, stream=None, prompt="input"
)

ENDPOINTS: dict[str, Endpoint] = {
    "/v1/chat/completions": _CHAT,
    "/v1/responses": _RESPONSES,
    "/v1/responses/input_tokens": _RESPONSES_ONCE,
    "/v1/responses/compact": _RESPONSES_ONCE,
}
"""By path."""

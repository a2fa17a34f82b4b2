"""The inspected endpoints: what each API puts in the place of the same few steps.

May import: model, errors, the modules of the APIs, asking, opening.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from proxy.errors import Refusal
from proxy.model import JSON, Leaf, Restoring, Seen, Visit
from proxy.tokens.charges import Charging, charges
from proxy.tokens.media import chat_charges, response_charges
from proxy.tokens.messages import message_charges
from proxy.tokens.prompts import prompt_charges
from proxy.wire import chat, completions, embeddings, messages, moderations, opening, responses
from proxy.wire.asking import asks_usage
from proxy.wire.encoded import seeing
from proxy.wire.pointers import Documents, as_written, documents
from proxy.wire.prompts import Decode
from proxy.wire.seals import Seals, digests


class AnswerStream(Protocol):
    """An answer that grows, sans-I/O: bytes of the upstream in, bytes of the client out.

    All raise `BadAnswer`; the stream then ends with what `broken` says, in the provider's form, and is cut.
    """

    def feed(self, chunk: bytes) -> bytes: ...

    def finish(self) -> bytes: ...

    def broken(self, refusal: Refusal) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Aids:
    """What some endpoints need besides the body: `decode` makes token ids text (None: they are refused), `seals` are
    the signed blocks that the upstream wrote for this tenant, `hides_usage` says that the client did not ask for the
    token counts that the proxy asks a stream for, `documents` is what citations in the answer point into."""

    decode: Decode | None
    seals: Seals
    hides_usage: bool = False
    documents: Documents = ()

    def citing(self, sent: JSON) -> Aids:
        """With the documents of a request as it is sent."""
        return replace(self, documents=as_written(documents(sent)))


@dataclass(frozen=True, slots=True)
class Keeps:
    """What the provider keeps of an answer: a `kind` of record. `by_default`: unless the body says `store: false`."""

    kind: str
    by_default: bool = True

    def of(self, body: JSON) -> bool:
        """Whether the answer to this body is kept."""
        said = body.get("store") if isinstance(body, dict) else None
        return said is not False if self.by_default else said is True


Rewriting: TypeAlias = Callable[[JSON, Visit, frozenset[str], Aids], dict[str, JSON]]
"""`(body, visit, allowed, aids)` -> the body that goes on."""
EVENTS = "text/event-stream"


def as_it_is(body: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A body that says in the usual fields what it asks for."""
    return body


def named_in_body(body: Mapping[str, JSON]) -> JSON:
    """The model that a body asks for; None where it names none."""
    return body.get("model")


def plain_error(refusal: Refusal) -> JSON:
    """A refusal in the shape of the OpenAI API."""
    return {"error": {**refusal.body()["error"]}}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint: how its requests are rewritten, its answers restored, its conversations named.

    `rewrite_request(body, visit, allowed, aids)` visits every leaf; `opening(body)` is the same at every turn of a
    conversation; `stream` is None where no stream is offered; `prompt` is the field that holds the prompt;
    `charging` says what the provider counts; `error` is the form of refusals; `model` whether a request must name
    one, and `model_of(body)` what it names; `usage` whether answers tell how many tokens were counted; `asks_usage`
    whether a body's stream must be asked; `names_model` whether answers name the model that was asked for;
    `streamed_as` is a stream's content type; `counted(body)` is the body as it is measured, and `measured` whether it
    is a prompt; `generates` whether the provider does more with it than count. `keeps` is what the provider keeps of
    the answer, `blocks` names the signed blocks in a body by their digests (`seals`).
    """

    rewrite_request: Rewriting
    restore_answer: Callable[[JSON, Restoring, Seen, Aids], JSON]
    opening: Callable[[JSON], str]
    stream: Callable[[Restoring, Seen, Aids], AnswerStream] | None
    prompt: str
    charging: Charging = charges
    error: Callable[[Refusal], JSON] = plain_error
    model: bool = True
    usage: bool = True
    asks_usage: Callable[[Mapping[str, JSON]], bool] = lambda _: False
    measured: bool = True
    keeps: Keeps | None = None
    blocks: Callable[[bytes, JSON], list[str]] | None = None
    model_of: Callable[[Mapping[str, JSON]], JSON] = named_in_body
    names_model: bool = True
    streamed_as: str = EVENTS
    counted: Callable[[Mapping[str, JSON]], Mapping[str, JSON]] = as_it_is
    generates: bool = True

    def leaves(self, body: JSON, allowed: frozenset[str], aids: Aids) -> list[Leaf]:
        """Every leaf of a request in document order, what is encoded in one before it; raises what `rewrite` raises."""
        found: list[Leaf] = []

        def visit(leaf: Leaf) -> str:
            found.append(leaf)
            return leaf.text if leaf.raw is None else leaf.raw

        self.rewrite(body, visit, allowed, aids)
        return found

    def rewrite(self, body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        """`rewrite_request` with encoded texts taken apart."""
        return self.rewrite_request(body, seeing(visit), allowed, aids)


_CHAT = Endpoint(
    rewrite_request=lambda body, visit, allowed, _: chat.rewrite_request(body, visit, allowed),
    restore_answer=lambda body, restoring, seen, _: chat.restore_answer(body, restoring, seen),
    opening=opening.opening,
    stream=lambda restoring, seen, aids: chat.ChatStream(restoring, seen, hides_usage=aids.hides_usage),
    prompt="messages",
    asks_usage=asks_usage,
    keeps=Keeps("completion", by_default=False),
    charging=chat_charges,
)
_RESPONSES = Endpoint(
    rewrite_request=lambda body, visit, allowed, aids: responses.rewrite_request(
        body, visit, allowed, seals=aids.seals
    ),
    restore_answer=lambda body, restoring, seen, aids: responses.restore_answer(body, restoring, seen, aids.seals),
    opening=responses.opening,
    stream=lambda restoring, seen, aids: responses.ResponsesStream(restoring, seen, seals=aids.seals),
    prompt="input",
    keeps=Keeps("response"),
    blocks=responses.drawn,
    charging=response_charges,
)
_COMPLETIONS = Endpoint(
    rewrite_request=lambda body, visit, allowed, aids: completions.rewrite_request(
        body, visit, allowed, decode=aids.decode
    ),
    restore_answer=lambda body, restoring, seen, _: completions.restore_answer(body, restoring, seen),
    opening=completions.opening,
    stream=lambda restoring, seen, aids: completions.CompletionStream(restoring, seen, hides_usage=aids.hides_usage),
    prompt="prompt",
    charging=prompt_charges,
    asks_usage=asks_usage,
)
_EMBEDDINGS = Endpoint(
    rewrite_request=lambda body, visit, allowed, aids: embeddings.rewrite_request(
        body, visit, allowed, decode=aids.decode
    ),
    restore_answer=lambda body, restoring, seen, _: embeddings.restore_answer(body, restoring, seen),
    opening=embeddings.opening,
    stream=None,
    prompt="input",
    charging=prompt_charges,
)
_MODERATIONS = Endpoint(
    rewrite_request=lambda body, visit, allowed, _: moderations.rewrite_request(body, visit, allowed),
    restore_answer=lambda body, restoring, seen, _: moderations.restore_answer(body, restoring, seen),
    opening=moderations.opening,
    stream=None,
    prompt="input",
    charging=prompt_charges,
    model=False,
    usage=False,
)
_MESSAGES = Endpoint(
    rewrite_request=lambda body, visit, allowed, aids: messages.rewrite_request(body, visit, allowed, seals=aids.seals),
    restore_answer=lambda body, restoring, seen, aids: messages.restore_answer(
        body, restoring, seen, aids.seals, aids.documents
    ),
    opening=messages.opening,
    stream=lambda restoring, seen, aids: messages.MessagesStream(restoring, seen, aids.seals, aids.documents),
    prompt="messages",
    charging=message_charges,
    blocks=digests,
    error=lambda refusal: messages.error_body(refusal),
)

ENDPOINTS: dict[str, Endpoint] = {
    "/v1/chat/completions": _CHAT,
    "/v1/completions": _COMPLETIONS,
    "/v1/embeddings": _EMBEDDINGS,
    "/v1/moderations": _MODERATIONS,
    "/v1/responses": _RESPONSES,
    "/v1/responses/input_tokens": replace(_RESPONSES, stream=None, usage=False, keeps=None, generates=False),
    "/v1/responses/compact": replace(_RESPONSES, stream=None, usage=False, keeps=None, generates=False),
    "/v1/messages": _MESSAGES,
    "/v1/messages/count_tokens": replace(_MESSAGES, stream=None, usage=False, generates=False),
}
"""By path."""

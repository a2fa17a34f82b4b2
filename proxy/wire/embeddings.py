"""POST /embeddings (OpenAI API and compatible): texts in, vectors out.

An index and the queries against it are requests of their own, so a value's placeholder must be the same in all of
them: the tenant is the scope. Vectors hold no text and pass as they came, numbers digit for digit, base64 byte for
byte. Source: the OpenAI API reference and its SDKs. May import: model, answers, bodies, prompts, walk.
"""

from __future__ import annotations

from proxy.model import JSON, Restoring, Seen, Visit
from proxy.wire import answers
from proxy.wire.bodies import MODEL, UNREAD, checked, identity
from proxy.wire.prompts import Decode, prompts
from proxy.wire.walk import Reader, Walk, fields, identifier, identifiers, labelled, unknown_type, walk

__all__ = ["SCOPE", "opening", "restore_answer", "rewrite_request"]

SCOPE = "tenant"


def rewrite_request(
    body: JSON, visit: Visit, allowed: frozenset[str] = frozenset(), *, decode: Decode | None = None
) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order.

    `decode` makes token ids text, which then goes on in their place; without it they are refused. Raises
    `BadRequest` and `UnsupportedByPolicy` with a JSON path as `param`; whatever `visit` raises passes.
    """
    checked(body, MODEL)
    table = fields({**_BODY, "input": labelled("", prompts(decode))})
    rebuilt = walk(body, "$", visit, table, allowed)
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


def opening(body: JSON) -> str:
    """Nothing: every request of a tenant shares one scope."""
    return ""


def restore_answer(body: JSON, restoring: Restoring, seen: Seen) -> JSON:
    """The answer as the client may read it: its vectors untouched, everything else (an error's text) restored."""
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(data, list):
        return answers.restore_answer(body, restoring, seen)
    answers.note(body, seen)
    vectors: list[JSON] = [_vector(item, restoring) for item in data]
    return {
        answers.restored_key(key, restoring): vectors if key == "data" else answers.restored(value, key, restoring)
        for key, value in body.items()
    }


def _vector(item: JSON, restoring: Restoring) -> JSON:
    if not isinstance(item, dict):
        return answers.restored(item, "", restoring)
    return {
        answers.restored_key(key, restoring): value if key == "embedding" else answers.restored(value, key, restoring)
        for key, value in item.items()
    }


def _conversation(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Some engines embed a chat, with all that its parts may hold."""
    raise unknown_type(path, "a conversation to embed")


_BODY: dict[str, Reader] = {
    "model": identifier,
    "models": identifiers,
    "user": identity,
    "encoding_format": identifier,
    "messages": _conversation,
    **UNREAD,
}

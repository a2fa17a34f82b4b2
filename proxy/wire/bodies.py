"""Readers of top-level fields that several APIs' bodies have. May import: model, errors, attachments, walk."""

from __future__ import annotations

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf
from proxy.wire.attachments import uninspected
from proxy.wire.walk import Table, Walk, anything, mapping, text, wrong_type

MEDIA = uninspected("media")
TOKENS = uninspected("a prompt as token ids or embeddings")


def _perhaps_tokens(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A field that holds text in one engine and token ids in another: a list of numbers is a prompt left unread."""
    listed = isinstance(node, list) and any(isinstance(item, int | list) for item in node)
    return (TOKENS if listed else anything)(walk, node, path, label)


UNREAD: Table = {
    **dict.fromkeys(("context", "tokens", "inputIds", "prompt_ids"), _perhaps_tokens),
    **dict.fromkeys(("input_ids", "prompt_token_ids", "token_ids", "prompt_embeds", "input_embeds"), TOKENS),
    **dict.fromkeys(("image_data", "audio_data", "video_data", "images"), MEDIA),
}
"""Fields in which serving engines take a prompt that nobody can read here: refused unless empty."""


def checked(body: JSON, *fields: tuple[str, type, str]) -> dict[str, JSON]:
    """The body, an object that has these fields, each with its type and that type in words. Raises `BadRequest`."""
    if not isinstance(body, dict):
        raise wrong_type("$", "an object")
    for name, kind, words in fields:
        if not isinstance(body.get(name), kind):
            raise wrong_type(f"$.{name}", words)
    return body


HASH_IDENTITIES, REFUSE_IDENTITIES = "identities.hash", "identities.refuse"
"""Words among what is allowed, by which the policy says what is done with who a request is from."""


def identity(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Who the end user is, as the provider is told: a string or null."""
    if node is not None and REFUSE_IDENTITIES in walk.allowed:
        raise UnsupportedByPolicy(
            f"{path} tells whose request it is. The policy switch identities decides.", param=path
        )
    if isinstance(node, str) and node and HASH_IDENTITIES in walk.allowed:
        return walk.visit(Leaf(path, node, Kind.IDENTITY))
    return text(walk, node, path, label)


def metadata(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What the client notes about a request; its keys are fixed."""
    return mapping(_noted)(walk, node, path, label)


def _noted(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return (identity if isinstance(node, str) else anything)(walk, node, path, label)


MODEL = ("model", str, "a string")


def logit_bias(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Token ids as keys, which must be digits."""
    if not isinstance(node, dict):
        return anything(walk, node, path, label)
    if not all(key.isascii() and key.isdigit() and len(key) <= 7 for key in node):
        raise BadRequest(f"The keys of {path} must be token ids.", param=path)
    return {key: anything(walk, value, f"{path}.{key}", "") for key, value in node.items()}

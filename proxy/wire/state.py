"""Fields that refer to what the provider keeps from earlier requests.

What was stored then is no part of this request: it cannot be inspected or measured here, and the placeholders in it
belong to other vaults. So such fields are refused unless the caller says that it looks after that itself (`chain`),
by one of the words below among what is allowed; then they are identifiers. May import: model, errors, walk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.walk import Reader, Walk, fields, identifier

RESPONSES, CONVERSATIONS, PROMPTS, OTHER = "stored_responses", "stored_conversations", "stored_prompts", "stored"
NAMED = "stored_items"
STATEFUL = frozenset({RESPONSES, CONVERSATIONS, PROMPTS, NAMED, OTHER})
_SWITCHES = {RESPONSES: "state.responses", CONVERSATIONS: "state.conversations", PROMPTS: "state.prompts"}
_ID = re.compile(r"[A-Za-z0-9_.\-]{1,200}")


@dataclass(frozen=True, slots=True)
class Reference:
    """Something stored that a request goes on from: what it is, its id, and the field that says so."""

    kind: str
    id: str
    param: str


def is_id(node: JSON) -> bool:
    """Whether this can be what the provider calls something that it has stored."""
    return isinstance(node, str) and _ID.fullmatch(node) is not None


def references(body: JSON) -> list[Reference]:
    """What a body goes on from. Raises `BadRequest` for something else than an id."""
    if not isinstance(body, dict):
        return []
    talk = body.get("conversation")
    named = (
        ("response", body.get("previous_response_id"), "$.previous_response_id"),
        ("conversation", talk.get("id") if isinstance(talk, dict) else talk, "$.conversation"),
    )
    return [Reference(kind, _id(node, param), param) for kind, node, param in named if node is not None]


def is_reference(item: JSON) -> bool:
    """Whether an item of a conversation is only named: one without a type and a role is, too."""
    if not isinstance(item, dict):
        return False
    return item.get("type") == "item_reference" or (item.get("type") is None and "role" not in item)


def item_references(body: JSON) -> list[Reference]:
    """The items of earlier answers that a body names instead of saying them."""
    said = body.get("input") if isinstance(body, dict) else None
    return [
        Reference("item", _id(item.get("id"), f"$.input[{at}].id"), f"$.input[{at}].id")
        for at, item in enumerate(said if isinstance(said, list) else ())
        if isinstance(item, dict) and is_reference(item)
    ]


def _id(node: JSON, param: str) -> str:
    if not isinstance(node, str) or not is_id(node):
        raise BadRequest(f"{param} must be an id.", param=param)
    return node


def state(reader: Reader, word: str = OTHER) -> Reader:
    """`reader`, for something that the provider has stored; null passes. `word` allows it."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        if word not in walk.allowed:
            switch = f" The policy switch {_SWITCHES[word]} decides." if word in _SWITCHES else ""
            raise UnsupportedByPolicy(
                f"{path} refers to something that the provider has stored, which is not inspected. "
                f"Send the whole conversation instead.{switch}",
                param=path,
            )
        return reader(walk, node, path, label)

    return read


state_id = state(identifier)
previous = state(identifier, RESPONSES)
"""The id of an earlier response."""


def _reference(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return (fields({"id": identifier}) if isinstance(node, dict) else identifier)(walk, node, path, label)


conversation = state(_reference, CONVERSATIONS)
"""An id, or an object with one."""


def background(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Whether the answer is to be stored and fetched later."""
    return node if node is False else state(identifier, RESPONSES)(walk, node, path, label)

"""Fields that refer to what the provider keeps from earlier requests.

What was stored then is no part of this request: it cannot be inspected or measured here, and the placeholders in it
belong to other vaults. So such fields are refused unless the caller says that it can look after that itself, by
the word `STATEFUL` among what is allowed; then they are identifiers. May import: model, errors, walk.
"""

from __future__ import annotations

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.walk import Reader, Walk, fields, identifier

STATEFUL = "stored_state"


def state(reader: Reader) -> Reader:
    """`reader`, for something that the provider has stored; null passes."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        if STATEFUL not in walk.allowed:
            raise UnsupportedByPolicy(
                f"{path} refers to something that the provider has stored, which is not inspected. "
                f"Send the whole conversation instead.",
                param=path,
            )
        return reader(walk, node, path, label)

    return read


state_id = state(identifier)


def _reference(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return (fields({"id": identifier}) if isinstance(node, dict) else identifier)(walk, node, path, label)


state_reference = state(_reference)
"""An id, or an object with one."""


def background(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Whether the answer is to be stored and fetched later."""
    return node if node is False else state(identifier)(walk, node, path, label)

"""What the provider keeps of conversations and responses: the bodies that add to it.

`POST /conversations`, `/conversations/{id}`, `/conversations/{id}/items`, `/chat/completions/{id}`: items like those of
a response's input, and metadata. What is not named here is read like text. Source: the OpenAI API reference, its
Python SDK. May import: model, the responses modules, opening, walk.
"""

from __future__ import annotations

from proxy.model import JSON, Visit
from proxy.wire.responses_items import ITEMS
from proxy.wire.walk import anything, fields, mapping, walk, wrong_type

_BODY = fields({"items": ITEMS, "metadata": mapping(anything)})


def rewrite_request(body: JSON, visit: Visit, allowed: frozenset[str] = frozenset()) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order; raises as `responses.rewrite_request` does."""
    if not isinstance(body, dict):
        raise wrong_type("$", "an object")
    rebuilt = walk(body, "$", visit, _BODY, allowed)
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt

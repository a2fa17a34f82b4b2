"""POST /moderations (OpenAI API and compatible): texts to be classified; the answer holds scores and no text.

Source: the OpenAI API reference and its SDKs. May import: model, answers, attachments, bodies, parts, prompts, walk.
"""

from __future__ import annotations

from proxy.model import JSON, Visit
from proxy.wire.answers import restore_answer
from proxy.wire.attachments import PARTS
from proxy.wire.bodies import UNREAD, checked, identity
from proxy.wire.parts import content
from proxy.wire.prompts import beginning, prompts
from proxy.wire.walk import Walk, fields, identifier, walk

__all__ = ["SCOPE", "opening", "restore_answer", "rewrite_request"]

SCOPE = "conversation"


def rewrite_request(body: JSON, visit: Visit, allowed: frozenset[str] = frozenset()) -> dict[str, JSON]:
    """The body that goes on, every leaf visited in document order; `model` may be missing, as the API allows.

    `allowed`: "images" pass unread. Raises `BadRequest` and `UnsupportedByPolicy` with a JSON path as `param`;
    whatever `visit` raises passes.
    """
    checked(body)
    rebuilt = walk(body, "$", visit, _BODY, allowed)
    assert isinstance(rebuilt, dict)  # noqa: S101  (what `fields` returns for an object)
    return rebuilt


def opening(body: JSON) -> str:
    """The beginning of what is to be classified."""
    return beginning(body.get("input")) if isinstance(body, dict) else ""


def _input(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Texts, each classified alone, or the parts of one message."""
    is_message = isinstance(node, list) and any(isinstance(part, dict) for part in node)
    return (_parts if is_message else _texts)(walk, node, path, "")


_texts = prompts(None)
_parts = content({"text": {}}, {"image_url": PARTS["image_url"]})
_BODY = fields({"model": identifier, "input": _input, "user": identity, **UNREAD})

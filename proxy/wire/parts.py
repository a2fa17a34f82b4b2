"""Readers that the requests of several APIs share: content in parts, objects told apart by `type`, token prompts.

May import: model, errors, attachments, walk, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf
from proxy.wire.attachments import uninspected
from proxy.wire.walk import Reader, Table, Walk, anything, fields, identifier, items, text, unknown_type, wrong_type

TOKENS = uninspected("a prompt as token ids or embeddings")
MEDIA = uninspected("media")
UNREAD: dict[str, Reader] = {
    **dict.fromkeys(("input_ids", "prompt_token_ids", "token_ids", "prompt_embeds", "input_embeds"), TOKENS),
    **dict.fromkeys(("image_data", "audio_data", "video_data", "images"), MEDIA),
}
"""Fields of a body in which serving engines take a prompt that nobody can read here: refused unless empty."""

_BLOB = re.compile(r"[A-Za-z0-9_.:\-/=+|]*\Z")


def content(others: Mapping[str, Reader], beside_text: Table, *, strings: bool = True) -> Reader:
    """A string, or parts: of type `text` with fields `beside_text`, of a type in `others`, or bare strings.

    Text parts that follow one another are one run: a value may be split over them.
    """

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None or isinstance(node, str):
            return text(walk, node, path, label)
        if not isinstance(node, list):
            raise wrong_type(path, "a string or a list of parts")
        out: list[JSON] = []
        run: int | None = None
        for at, part in enumerate(node):
            is_text = isinstance(part, str) or (isinstance(part, dict) and part.get("type") == "text")
            run = (walk.new_run() if run is None else run) if is_text else None
            out.append(_part(walk, part, f"{path}[{at}]", run))
        return out

    def _part(walk: Walk, part: JSON, path: str, run: int | None) -> JSON:
        if isinstance(part, str) and strings:
            return walk.text(part, path, run=run)
        if not isinstance(part, dict):
            raise wrong_type(path, "a part with a type")
        kind = part.get("type")
        reader = others.get(kind) if isinstance(kind, str) else None
        if kind == "text":
            reader = fields({**beside_text, "type": identifier, "text": running(run)})
        if reader is None:
            raise unknown_type(path, "a content part")
        return reader(walk, part, path, "")

    return read


def running(run: int | None) -> Reader:
    """A string that is read together with the others of its run."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if not isinstance(node, str):
            raise wrong_type(path, "a string")
        return walk.text(node, path, label, run)

    return read


def typed(readers: Mapping[str, Reader], what: str, *, default: str | None = None) -> Reader:
    """An object whose `type` must be one of `readers`; a missing type counts as `default`."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if not isinstance(node, dict):
            raise wrong_type(path, "an object")
        kind = node.get("type", default)
        reader = readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise unknown_type(path, what)
        return reader(walk, node, path, label)

    return read


def identifiers(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """One identifier or a list of them."""
    return items(identifier)(walk, node, path, label) if isinstance(node, list) else identifier(walk, node, path, label)


def blob(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What the provider signed or encrypted, in base64 of any length; anything but a string is read like text."""
    if not isinstance(node, str):
        return anything(walk, node, path, label)
    if not _BLOB.match(node):
        raise UnsupportedByPolicy(f"{path} does not look like a signed or encrypted value.", param=path)
    return walk.visit(Leaf(path, node, Kind.ID)) if node else node


def logit_bias(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Token ids as keys, which must be digits."""
    if not isinstance(node, dict):
        return anything(walk, node, path, label)
    if not all(key.isascii() and key.isdigit() and len(key) <= 7 for key in node):
        raise BadRequest(f"The keys of {path} must be token ids.", param=path)
    return {key: anything(walk, value, f"{path}.{key}", "") for key, value in node.items()}

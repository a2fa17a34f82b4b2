"""Signed blocks in requests: they go back byte for byte or not at all.

A block that the upstream is known to have written passes unread (`seals`). Any other is inspected, and a finding in
it refuses: it cannot be replaced. Placeholders in it are the ones that the upstream was sent; they are left as they
are, and their numbers are kept out of what is inspected, so that this request may issue them again for the same
values. Thinking without a signature is plain text around its placeholders.

May import: model, errors, labels, seals, walk, the standard library.
"""

from __future__ import annotations

import re

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf, Visit
from proxy.wire.labels import hidden_path
from proxy.wire.seals import Seals
from proxy.wire.walk import Reader, Walk, fields, identifier, sealed, wrong_type

_PLACEHOLDER = re.compile(r"<([A-Z][A-Z0-9_]{0,60}?)_(?:[0-9]{9}|[0-9]{6})>")


class SealedWalk(Walk):
    """A walk that knows which signed blocks the upstream wrote."""

    def __init__(self, visit: Visit, allowed: frozenset[str], seals: Seals) -> None:
        super().__init__(visit, allowed)
        self.seals = seals


def known_or(reader: Reader, cache_control: Reader) -> Reader:
    """Blocks that the upstream is known to have written, as it wrote them; `reader` reads the others."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        known = walk.seals.received(node) if isinstance(node, dict) and isinstance(walk, SealedWalk) else None
        if known is None:
            return reader(walk, node, path, label)
        return {
            key: cache_control(walk, value, f"{path}.{key}", "") if key == "cache_control" else value
            for key, value in known.items()
        }

    return read


def signed(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Anything that was signed: inspected at any depth, never changed."""
    if isinstance(node, str):
        return _signed_text(walk, node, path)
    if isinstance(node, list):
        return [signed(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]
    if isinstance(node, dict):
        out: dict[str, JSON] = {}
        for at, (key, value) in enumerate(node.items()):
            hidden = hidden_path(path, at)
            out[_signed_text(walk, key, hidden)] = signed(walk, value, hidden, label)
        return out
    if node is None or isinstance(node, bool):
        return node
    return walk.number(node, path, label)


def _signed_text(walk: Walk, text: str, path: str) -> str:
    inspected = _PLACEHOLDER.sub(r"<\1>", text)
    if text and walk.visit(Leaf(path, inspected, Kind.FIXED)) != inspected:
        raise UnsupportedByPolicy(f"{path} is signed by the provider and cannot be replaced.", param=path)
    return text


def _around_placeholders(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    if not isinstance(node, str):
        raise wrong_type(path, "a string")
    run = walk.new_run()
    out: list[str] = []
    done = 0
    for match in [*_PLACEHOLDER.finditer(node), None]:
        piece = node[done : match.start() if match else len(node)]
        out.append(walk.visit(Leaf(path, piece, Kind.TEXT, run=run)) if piece else "")
        if match:
            out.append(match[0])
            done = match.end()
    return "".join(out)


_SIGNED_THINKING = fields({"type": identifier, "thinking": signed, "signature": sealed})
_UNSIGNED_THINKING = fields({"type": identifier, "thinking": _around_placeholders, "signature": sealed})


def thinking(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A block of the model's thinking: `{"type", "thinking", "signature"}`."""
    is_signed = isinstance(node, dict) and bool(node.get("signature"))
    return (_SIGNED_THINKING if is_signed else _UNSIGNED_THINKING)(walk, node, path, label)

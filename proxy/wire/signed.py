"""Signed blocks in requests: they go back byte for byte or not at all.

A block that the upstream is known to have written passes unread (`seals`). Any other is inspected, and a finding in
it refuses: it cannot be replaced. Placeholders in it are the ones that the upstream was sent; they are left as they
are, and their numbers are kept out of what is inspected, so that this request may issue them again for the same
values. Thinking without a signature is plain text around its placeholders. What only has a placeholder's form, with a
type that no entity would be called, is text like any other.

May import: model, errors, labels, seals, walk, the standard library.
"""

from __future__ import annotations

import re

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf, Visit
from proxy.wire.labels import hidden_path
from proxy.wire.seals import Seals
from proxy.wire.walk import Reader, Walk, fields, identifier, sealed, wrong_type

_PLACEHOLDER = re.compile(r"<([A-Z][A-Z0-9_]{0,60}?)_([0-9]{9}|[0-9]{6})>")
_TYPE = re.compile(r"(?!.*[0-9]{4})(?!(?:[^0-9]*[0-9]){6})[A-Z][A-Z0-9_]{0,39}\Z")
"""What an entity may be called: too few digits for an account, a card or a telephone."""


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
    inspected = _PLACEHOLDER.sub(_without_number, text)
    if text and walk.visit(Leaf(path, inspected, Kind.SIGNED)) != inspected:
        raise UnsupportedByPolicy(f"{path} is signed by the provider and cannot be replaced.", param=path)
    return text


def _without_number(match: re.Match[str]) -> str:
    # Apart from one another, an account and what follows it are both seen.
    return f"<{match[1]}>" if _TYPE.match(match[1]) else f"< {match[1]} > {match[2]}"


def _around_placeholders(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    if not isinstance(node, str):
        raise wrong_type(path, "a string")
    run = walk.new_run()
    out: list[str] = []
    for start, end, kept in _pieces(node):
        piece = node[start:end]
        out.append(piece if kept or not piece else walk.visit(Leaf(path, piece, Kind.TEXT, run=run)))
    return "".join(out)


def _pieces(text: str) -> list[tuple[int, int, bool]]:
    """`(start, end, kept)`: placeholders, and what is around them; the type of what only looks like one is apart."""
    found: list[tuple[int, int, bool]] = []
    done = 0
    for match in _PLACEHOLDER.finditer(text):
        kept = _TYPE.match(match[1]) is not None
        start, end = match.span() if kept else match.span(1)
        found += (done, start, False), (start, end, kept)
        done = end
    return [*found, (done, len(text), False)]


_SIGNED_THINKING = fields({"type": identifier, "thinking": signed, "signature": sealed})
_UNSIGNED_THINKING = fields({"type": identifier, "thinking": _around_placeholders, "signature": sealed})


def thinking(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A block of the model's thinking: `{"type", "thinking", "signature"}`."""
    is_signed = isinstance(node, dict) and bool(node.get("signature"))
    return (_SIGNED_THINKING if is_signed else _UNSIGNED_THINKING)(walk, node, path, label)

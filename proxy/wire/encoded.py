"""Encoded text inside leaves: what it says is visited like any other text, and put back encoded as it was.

May import: model, errors, codecs, jsontext, the standard library.
"""

from __future__ import annotations

import re
from dataclasses import replace

from proxy.errors import UnsupportedByPolicy
from proxy.model import Hidden, Kind, Leaf, Visit
from proxy.wire import jsontext
from proxy.wire.codecs import Run, runs

DEEPEST = 3
"""How often one text may be encoded."""

_AS_THEY_ARE = (Kind.FIXED, Kind.SIGNED, Kind.ID)
_FOREIGN = re.compile(r"data:text/[a-z0-9.+\-]{0,60}[^,\"'\s]{0,80}?;\s?charset=\"?(?!utf-?8|us-ascii|ascii)", re.I)
_OPAQUE = re.compile(r"data:text/[^,\"'\s]{0,200};base64,(?=[A-Za-z0-9+/_\-]{8})", re.I)


def seeing(visit: Visit) -> Visit:
    """`visit`, which is then also shown what is encoded in a leaf, before the leaf itself."""
    return lambda leaf: _seen(leaf, visit, 0)


def shown(leaf: Leaf) -> list[Leaf]:
    """What there is to be searched in a leaf that stands alone: what is encoded in it, and itself."""
    leaves: list[Leaf] = []

    def collect(inner: Leaf) -> str:
        leaves.append(inner)
        return inner.text

    _seen(leaf, collect, 0)
    return leaves


def _seen(leaf: Leaf, visit: Visit, depth: int) -> str:
    if leaf.kind in (Kind.NUMBER, Kind.IDENTITY):
        return visit(leaf)
    found = runs(leaf.text)
    _check_data_urls(leaf, found)
    if found and depth == DEEPEST:
        raise UnsupportedByPolicy(f"The text at {leaf.path} is encoded more than {DEEPEST} times.", param=leaf.path)
    hidden = tuple(Hidden(run.start, run.end, _rewritten(run, leaf, visit, depth)) for run in found)
    return visit(replace(leaf, hidden=hidden) if hidden else leaf)


def _rewritten(run: Run, leaf: Leaf, visit: Visit, depth: int) -> str:
    """The stretch with what it says replaced; to the letter as it was where nothing is."""
    path = f"{leaf.path}#{run.codec.name.split()[0]}"

    def inside(inner: Leaf) -> str:
        return _seen(inner, visit, depth + 1)

    if leaf.kind in _AS_THEY_ARE:
        inside(Leaf(path, run.says, leaf.kind))
        return leaf.text[run.start : run.end]
    new = jsontext.rewrite(run.says, path, leaf.label, inside)
    if new is None:
        new = inside(Leaf(path, run.says, Kind.TEXT, leaf.label))
    return leaf.text[run.start : run.end] if new == run.says else run.codec.write(new)


def _check_data_urls(leaf: Leaf, found: list[Run]) -> None:
    """Text in a `data:` URL is read in UTF-8; in another charset, or if it says no text, it cannot be."""
    if "data:text/" not in leaf.text and "data:" not in leaf.text.lower():
        return
    starts = {run.start for run in found}
    unread = (match.end() not in starts for match in _OPAQUE.finditer(leaf.text))
    if _FOREIGN.search(leaf.text) or any(unread):
        raise UnsupportedByPolicy(f"{leaf.path} holds a data: URL whose text cannot be read.", param=leaf.path)

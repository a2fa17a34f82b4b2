"""What the tests of several endpoints' wires share: values planted in bodies, and the way there and back."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proxy.model import JSON, Finding, Leaf
from proxy.restore import Restoration
from proxy.substitute import substitute
from proxy.vault import Vault, lookalikes
from proxy.wire.sse import SSEParser
from tests.bodies import as_is

KEY = b"k" * 32
NAME = 'Zoë "Zo" Müller'
MAIL = "zoe.mueller@example.com"
CARD = 4111111111111111
VALUES: Mapping[str, str] = {NAME: "PERSON", MAIL: "EMAIL_ADDRESS", str(CARD): "CREDIT_CARD"}

Rewrite = Callable[..., dict[str, JSON]]


def leaves_of(rewrite: Rewrite, body: Any, **more: Any) -> list[Leaf]:
    """The leaves of a body that comes out of the walk as it went in."""
    before = copy.deepcopy(body)
    leaves, rebuilt = _visited(rewrite, body, **more)
    assert rebuilt == before == body
    return leaves


def _visited(rewrite: Rewrite, body: Any, **more: Any) -> tuple[list[Leaf], Any]:
    leaves: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        leaves.append(leaf)
        return as_is(leaf)

    return leaves, rewrite(body, visit, **more)


def findings(text: str) -> list[Finding]:
    """Every planted value in a text."""
    places = sorted((at, value) for value in VALUES for at in _places(text, value))
    return [Finding(at, at + len(value), VALUES[value], "replace", 1.0) for at, value in places]


def _places(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)


def redacted(rewrite: Rewrite, body: Any, key: bytes = KEY, **more: Any) -> tuple[dict[str, Any], Restoration]:
    """What the upstream is sent, and what restores its answer: with the real vault, as the pipeline does it."""
    leaves, _ = _visited(rewrite, body, **more)
    vault = Vault(key, lookalikes(text for leaf in leaves for text in (leaf.text, leaf.raw) if text))
    sent = rewrite(body, lambda leaf: substitute(leaf, findings(leaf.text), vault, b"salt"), **more)
    return sent, Restoration(vault)


def values_in(sent: Any) -> list[str]:
    written = json.dumps(sent, ensure_ascii=False)
    return [value for value in VALUES if value in written or json.dumps(value)[1:-1] in written]


def strings_of(node: Any) -> Iterator[str]:
    """Every string, key and number (from five digits) at any depth, written as text."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from strings_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings_of(value)
    elif isinstance(node, str):
        yield node
    elif isinstance(node, int | float) and not isinstance(node, bool) and node >= 10_000:
        yield repr(node)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def run(stream: Any, data: bytes, cuts: list[int] | None = None) -> bytes:
    """`data` through a stream object, cut at any bytes."""
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts or [])})
    return b"".join([stream.feed(data[a:b]) for a, b in itertools.pairwise(edges)]) + bytes(stream.finish())


def events_of(stream: bytes) -> list[tuple[str | None, Any]]:
    """(name, payload) of every event."""
    found = [event for event in SSEParser().feed(stream) if not event.comment]
    return [(e.name, e.data if e.data == "[DONE]" else json.loads(e.data)) for e in found]

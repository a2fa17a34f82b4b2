"""What a tool is called with, where it is real JSON instead of JSON text: both ways, keys and numbers included.

A number in which something is found goes out as a string that holds a placeholder, and a string that is nothing but
that placeholder comes back as the number. May import: model, errors, base, labels, walk, the standard library.
"""

from __future__ import annotations

import re

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Context, Kind, Leaf, Restoring
from proxy.wire import jsontext
from proxy.wire.base import inspected_number, number_text, parse_answer
from proxy.wire.labels import field_path, hidden_path, label_of
from proxy.wire.walk import Walk

_ALONE = re.compile(r"\s*<?[A-Za-z][A-Za-z0-9_ \-]{1,60}[0-9]{6}>?\s*\Z")
"""A string that may be one placeholder and nothing else, in any spelling that needs no JSON escape."""


def tool_input(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Strings are text, keys and numbers replaceable, at any depth."""
    if isinstance(node, str):
        return walk.text(node, path, label)
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, int | float):
        return _number(walk, node, path, label)
    if isinstance(node, list):
        return [tool_input(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]
    out: dict[str, JSON] = {}
    for at, (key, value) in enumerate(node.items()):
        new = walk.visit(Leaf(hidden_path(path, at), key, Kind.KEY)) if key else key
        place = field_path(path, key, at) if new == key else hidden_path(path, at)
        if new in out:
            raise UnsupportedByPolicy(f"Two keys of {path} would become the same.", param=path)
        out[new] = tool_input(walk, value, place, label_of(key, label))
    return out


def _number(walk: Walk, node: int | float, path: str, label: str) -> JSON:
    digits = number_text(node)
    new = walk.visit(Leaf(path, inspected_number(digits), Kind.NUMBER, label, digits))
    if new == digits:
        return node
    if len(new) < 2 or new[0] != '"' or new[-1] != '"':
        raise UnsupportedByPolicy(f"The number {path} cannot be replaced.", param=path)
    return jsontext.decode(new[1:-1])


def restored_input(node: JSON, restoring: Restoring, tool: str | None) -> JSON:
    """The input as the client's tool may read it; `tool` is its name, which the policy may exclude."""
    if isinstance(node, str):
        return _restored_text(node, restoring, tool)
    if isinstance(node, list):
        return [restored_input(value, restoring, tool) for value in node]
    if isinstance(node, dict):
        return {
            key if key.isidentifier() and not _ALONE.match(key) else restoring.whole(key, Context.PLAIN, tool)[0]: (
                restored_input(value, restoring, tool)
            )
            for key, value in node.items()
        }
    return node


def _restored_text(text: str, restoring: Restoring, tool: str | None) -> JSON:
    if _ALONE.match(text):
        quoted, _ = restoring.whole(f'"{text.strip()}"', Context.JSON, tool)
        if quoted[:1] != '"':
            return _as_number(quoted)
        if text == text.strip() and '"' not in quoted[1:-1] and "\\" not in quoted:
            return quoted[1:-1]
    return restoring.whole(text, Context.PLAIN, tool)[0]


def _as_number(digits: str) -> JSON:
    try:
        return parse_answer(digits.encode())
    except BadRequest:
        return digits

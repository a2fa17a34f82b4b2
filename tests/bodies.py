"""For tests of requests: a visitor that changes nothing, and shapes to plant anywhere in a body."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proxy.model import Leaf

SHAPES = st.recursive(
    st.sampled_from(["text", "number", None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 99), inner, max_size=3),
    max_leaves=6,
)


def as_is(leaf: Leaf) -> str:
    return leaf.text if leaf.raw is None else leaf.raw


def nodes(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(found for key, value in inner for found in nodes(value, (*path, key)))]


def planted(shape: Any, canaries: list[str]) -> Any:
    """The shape with a canary in every string, key and number."""
    if isinstance(shape, dict):
        return {planted("text", canaries): planted(value, canaries) for value in shape.values()}
    if isinstance(shape, list):
        return [planted(value, canaries) for value in shape]
    if shape == "text":
        canaries.append(f"canary{len(canaries)}")
        return canaries[-1]
    if shape == "number":
        canaries.append(str(700_000 + len(canaries)))
        return int(canaries[-1])
    return shape


def put(body: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        body = body[key]
    body[path[-1]] = value

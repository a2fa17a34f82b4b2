"""Prompts that are no conversation: a string, a list of strings, or token ids, which are made text again.

Token ids are text that nobody can read here, so they are decoded and go on as the text that was inspected, or they
are refused. May import: model, errors, base, walk, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.base import serialise
from proxy.wire.walk import Reader, Walk, text, wrong_type

Decode: TypeAlias = Callable[[list[int]], str]
"""The text of token ids in the model's tokenizer. Raises `ValueError` for ids that are no text in it."""

_LARGEST_ID = 1 << 31
_OPENING = 256


def prompts(decode: Decode | None) -> Reader:
    """One prompt or a list of them, each a text of its own; null passes."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if not isinstance(node, list):
            return text(walk, node, path, label)
        if node and all(_is_id(value) for value in node):
            return one(walk, node, path)
        return [one(walk, value, f"{path}[{at}]") for at, value in enumerate(node)]

    def one(walk: Walk, node: JSON, path: str) -> JSON:
        if isinstance(node, str):
            return walk.text(node, path)
        if not isinstance(node, list) or not all(_is_id(value) for value in node):
            raise wrong_type(path, "a string or a list of token ids")
        return walk.text(_decoded(node, decode, path), path)

    return read


def _is_id(node: JSON) -> bool:
    return isinstance(node, int) and not isinstance(node, bool) and 0 <= node < _LARGEST_ID


def _decoded(node: list[JSON], decode: Decode | None, path: str) -> str:
    if decode is None:
        raise UnsupportedByPolicy(
            f"{path} is a prompt as token ids, which is not inspected. Send it as a string.", param=path
        )
    try:
        return decode([value for value in node if isinstance(value, int)])
    except ValueError:
        pass
    raise UnsupportedByPolicy(
        f"{path} is a prompt as token ids that are no text in the tokenizer that the policy states for this model.",
        param=path,
    )


def beginning(prompt: JSON) -> str:
    """What a prompt that grows from call to call begins with, as JSON text."""
    first = prompt[0] if isinstance(prompt, list) and prompt else prompt
    return serialise(first[:_OPENING] if isinstance(first, str | list) else first).decode()

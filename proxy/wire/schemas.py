"""JSON Schema and tool definitions inside requests, as every API of this kind has them.

Names that the answer will repeat (functions, properties) are fixed; what describes or exemplifies is text, so the
values of an `enum` get the same placeholders as the prompt. Patterns are searched without their backslashes, too, since
these can hide a value. May import: model, labels, walk, the standard library.
"""

from __future__ import annotations

import re

from proxy.model import JSON, Kind, Leaf
from proxy.wire.labels import hidden_path
from proxy.wire.walk import Reader, Walk, anything, fields, fixed, items, labelled, mapping, text


def schema(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A JSON Schema (any draft); what is no object (`true`, a list of schemas) is read as what it is."""
    if isinstance(node, dict):
        return _SCHEMA(walk, node, path, label)
    if isinstance(node, list):
        return items(schema)(walk, node, path, label)
    return anything(walk, node, path, label)


def _maybe_text(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return anything(walk, node, path, "")


_named: Reader = mapping(schema)
_ESCAPED = re.compile(r"\\(.)|\[([^\]\\^])\]", re.DOTALL)


def pattern(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A regular expression or a grammar: text, also as it reads without its backslashes and its `[.]`."""
    rewritten = anything(walk, node, path, "")
    if isinstance(node, str):
        _plainly(walk, node, path)
    return rewritten


def _plainly(walk: Walk, written: str, path: str) -> None:
    plain = _ESCAPED.sub(lambda match: match[1] or match[2], written)
    if plain != written:
        walk.visit(Leaf(path, plain, Kind.FIXED))


def _by_pattern(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Schemas by the pattern that the property's name must match."""
    for at, key in enumerate(node if isinstance(node, dict) else ()):
        _plainly(walk, key, hidden_path(path, at))
    return _named(walk, node, path, label)


_SCHEMA = fields(
    {
        **dict.fromkeys(("properties", "$defs", "definitions", "dependentSchemas"), _named),
        **dict.fromkeys(("required", "type", "format", "$ref", "$schema", "$id", "$anchor"), fixed),
        "dependentRequired": mapping(fixed),
        "patternProperties": _by_pattern,
        "pattern": pattern,
        **dict.fromkeys(("description", "title", "$comment"), _maybe_text),
        **dict.fromkeys(
            ("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
            schema,
        ),
    }
)

FUNCTION = fields({"name": fixed, "description": labelled("", text), "parameters": schema})
"""A function that the model may call: `{"name", "description", "parameters", "strict"}`."""

NAMED_SCHEMA = fields({"name": fixed, "description": labelled("", text), "schema": schema})
"""What `response_format.json_schema` holds."""

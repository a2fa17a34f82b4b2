"""JSON Schema and tool definitions inside requests, as every API of this kind has them.

Names that the answer will repeat (functions, properties) are fixed; what describes or exemplifies is text, so the
values of an `enum` get the same placeholders as the prompt. May import: model, walk, the standard library.
"""

from __future__ import annotations

from proxy.model import JSON
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

_SCHEMA = fields(
    {
        **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"), _named),
        **dict.fromkeys(("required", "type", "format", "$ref", "$schema", "$id", "$anchor"), fixed),
        "dependentRequired": mapping(fixed),
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

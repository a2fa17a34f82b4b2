"""The policy's JSON schema, for editors: `python -m proxy.policy.schema > policies/schema.json`.

May import: pydantic, proxy.policy.model.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import WithDefaultSchema

from proxy.policy.frozen import FrozenMap
from proxy.policy.model import Policy


class _Generate(GenerateJsonSchema):
    """Pydantic's schema with frozen defaults written out."""

    def get_default_value(self, schema: WithDefaultSchema) -> Any:
        default = super().get_default_value(schema)
        return dict(default) if isinstance(default, FrozenMap) else default


def generate() -> str:
    """The schema as it is committed, with a newline at the end."""
    schema = Policy.model_json_schema(schema_generator=_Generate)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **_extending(_tidy(schema))}, indent=2, ensure_ascii=False) + "\n"


def _extending(schema: JsonSchemaValue) -> JsonSchemaValue:
    """A policy that extends another needs to say nothing that the other says."""
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "anyOf": [{"required": schema["required"]}, {"required": ["extends"]}]}


def _tidy(schema: JsonSchemaValue) -> JsonSchemaValue:
    """Without titles that repeat the key, and without null, which no file may say."""
    return {key: _tidy_value(key, value) for key, value in _without_null(schema).items() if key != "title"}


def _tidy_value(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: _tidy(inner) for name, inner in value.items()}
    if key == "description":
        return " ".join(value.split())
    if isinstance(value, dict) and key != "default":
        return _tidy(value)
    return [_tidy(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _without_null(schema: JsonSchemaValue) -> JsonSchemaValue:
    if {"type": "null"} not in schema.get("anyOf", ()):
        return schema
    kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}


if __name__ == "__main__":
    sys.stdout.write(generate())

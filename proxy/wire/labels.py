"""What the fields above a leaf say about it, and how its place is written as a JSON path.

May import: the standard library.
"""

from __future__ import annotations

import re

_SEAM = re.compile(r"[\W_]+|(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_SHOWN = re.compile(r"[A-Za-z_][A-Za-z_\-]{0,39}[0-9]{0,2}\Z")
_LONGEST = 60
_SILENT = frozenset(
    {
        *("additional properties", "annotations", "any of", "args", "arguments", "array", "body", "choices", "const"),
        *(
            "content",
            "contents",
            "data",
            "default",
            "definition",
            "definitions",
            "defs",
            "delta",
            "description",
            "details",
        ),
        *("document", "documents", "element", "elements", "entries", "enum", "examples", "extra", "field", "fields"),
        *("format", "function", "input", "inputs", "item", "items", "json", "kwargs", "list", "message", "messages"),
        *("metadata", "object", "objects", "one of", "output", "outputs", "params", "parameters", "part", "parts"),
        *("payload", "properties", "reasoning", "reasoning content", "record", "records", "refusal", "request"),
        *("response", "result", "results", "row", "rows", "schema", "string", "text", "texts", "title"),
        *("thinking", "tool calls", "type", "url citation", "value", "values"),
    }
)
"""Words that say where a value stands, not what it is."""


def label_of(key: str, above: str) -> str:
    """`firstName` -> `first name`; a key that says nothing (`value`, `items`) leaves the label of what is above."""
    words = _SEAM.sub(" ", key[: 2 * _LONGEST]).strip().lower()
    return above if not words or len(words) > _LONGEST or words in _SILENT else words


def field_path(path: str, key: str, position: int) -> str:
    """The path of a member. Keys that could be somebody's data are shown as their position: `$.metadata{2}`."""
    return f"{path}.{key}" if _SHOWN.match(key) else hidden_path(path, position)


def hidden_path(path: str, position: int) -> str:
    """The path of the member at `position` without its key."""
    return f"{path}{{{position}}}"

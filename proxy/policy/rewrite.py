"""Writes what tests expect into a policy file, letter for letter as it was everywhere else.

Only the section `tests` goes through the YAML library, which keeps its comments and quotes.
May import: ruamel.yaml, proxy.policy.tree.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from proxy.policy import tree

_ITEM = re.compile(r"^( *)- ", re.MULTILINE)
_WIDE = 1 << 16


def rewritten(text: str, changes: Mapping[int, Mapping[str, Any]]) -> str:
    """The file's text with some keys of some tests set. `changes` is by a test's place (from 0), then by key.

    Raises `ValueError` where the tests are not a section of lines of their own.
    """
    root, _ = tree.parse(text, "policy")
    if not isinstance(root.value, dict) or "tests" not in root.value or root.keys["tests"][1] != 1:
        raise ValueError("the tests do not stand in a section of lines of their own")
    lines = text.splitlines(keepends=True)
    begin = root.keys["tests"][0] - 1
    end = min((line - 1 for line, _ in root.keys.values() if line - 1 > begin), default=len(lines))
    section = "".join(lines[begin:end])
    return "".join(lines[:begin]) + _section(section, changes) + "".join(lines[end:])


def _section(section: str, changes: Mapping[int, Mapping[str, Any]]) -> str:
    first = _ITEM.search(section)
    indent = len(first[1]) if first else 2
    yaml = YAML()
    yaml.version = (1, 2)
    yaml.preserve_quotes = True
    yaml.width = _WIDE
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=indent + 2, offset=indent)
    data = yaml.load(section)
    for at, keys in changes.items():
        for key, value in keys.items():
            data["tests"][at][key] = _written(value)
    yaml.version = None
    out = io.StringIO()
    yaml.dump(data, out)
    return out.getvalue()


def _written(value: Any) -> Any:
    """Short lists in brackets, texts in quotes: as a person would write them."""
    if isinstance(value, str):
        return DoubleQuotedScalarString(value)
    if isinstance(value, Mapping):
        return CommentedMap((key, _written(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        plain = all(isinstance(item, str) and re.fullmatch(r"[A-Z][A-Z0-9_]*", item) for item in value)
        made = CommentedSeq(value if plain else [_written(item) for item in value])
        if plain:
            made.fa.set_flow_style()
        return made
    return value

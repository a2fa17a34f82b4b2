"""YAML 1.2 text -> a tree that remembers where everything stands.

Built from the parser's events rather than by a loader: a loader has forgotten the place of a key by the time
it is known to be wrong, and expands aliases before anyone can count them. Only what a policy needs of YAML is
let in: one document, plain keys, no tags but `!!str`, no merge keys, bounded depth and size.
May import: ruamel.yaml, proxy.policy.faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from proxy.policy.faults import Fault

MAX_BYTES = 1_000_000
"""A list of 40,000 names fits. More belongs into a recognizer, not into a policy."""
MAX_DEPTH = 32
"""A policy is five deep."""
MAX_NODES = 200_000
"""With aliases expanded, so that a few lines cannot unfold into gigabytes."""


@dataclass(slots=True)
class Node:
    """One value with its place (from 1): a scalar, a list of nodes, or a dict of nodes.

    For a mapping, `keys` holds the place of each key, which stands in the file of its value.
    """

    line: int
    column: int
    value: Any = None
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    size: int = 1
    height: int = 1
    file: str = ""

    def hold(self, child: Node) -> None:
        """Counts a child, aliases as if they were written out."""
        self.size += child.size
        self.height = max(self.height, child.height + 1)

    def data(self) -> Any:
        """The value without places: None, bool, int, float, str, lists and dicts of these."""
        if isinstance(self.value, list):
            return [item.data() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.data() for key, item in self.value.items()}
        return self.value


def place(root: Node, path: tuple[str | int, ...], *, key: bool = False) -> tuple[str, int, int]:
    """File, line and column of what stands at `path`, or of the last part of it that exists.

    With `key`, of the key itself; the value otherwise.
    """
    node, spot = root, (root.line, root.column)
    for index, step in enumerate(path):
        inner: Any = node.value
        if isinstance(inner, dict) and step in inner:
            spot = node.keys[str(step)] if key and index == len(path) - 1 else (inner[step].line, inner[step].column)
            node = inner[step]
        elif isinstance(inner, list) and isinstance(step, int) and step < len(inner):
            node = inner[step]
            spot = (node.line, node.column)
        else:
            break
    return node.file, *spot


class Unreadable(Exception):
    """The text cannot be read any further. Holds the fault that says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def parse(text: str, file: str) -> tuple[Node, list[Fault]]:
    """The tree, and the faults that did not keep it from being read. Raises `Unreadable` on the others."""
    builder = _Builder(file, YAML(typ="safe", pure=True).parse(text))
    try:
        return builder.document(), builder.faults
    except ReaderError as error:
        line, column = _line_column(text, error.position)
        raise Unreadable(Fault(file, line, column, "encoding", "a character that YAML forbids")) from None
    except MarkedYAMLError as error:
        raise Unreadable(_syntax(error, text, file)) from None
    except Unreadable:
        raise
    except Exception:
        # The parser answers some junk (`"\\UFFFFFFFF"`, `%YAML 1.9`) with an accident instead of an error of its own.
        raise Unreadable(Fault(file, *builder.reached, "yaml", "not YAML somewhere behind this")) from None


def _line_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def _syntax(error: MarkedYAMLError, text: str, file: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = str(error.problem or "this is not YAML")
    if "'\\t'" in problem:
        return Fault(file, line, column, "yaml", "a tab where YAML wants spaces", "indent with spaces")
    if "mapping values are not allowed here" in problem:
        return Fault(file, line, column, "yaml", "a colon that starts no value", "put text that holds ': ' in quotes")
    return Fault(file, line, column, "yaml", f"not YAML: {problem}")


class _Builder:
    """Turns events into nodes, one call deep per level."""

    def __init__(self, file: str, events: Iterator[Any]) -> None:
        self.file, self.events = file, events
        self.faults: list[Fault] = []
        self.anchors: dict[str, Node | None] = {}
        self.reached = (1, 1)

    def next(self) -> Any:
        event = next(self.events)
        self.reached = (event.start_mark.line + 1, event.start_mark.column + 1)
        return event

    def fault(self, event: Any, rule: str, message: str, mend: str = "") -> Fault:
        mark = event.start_mark
        return Fault(self.file, mark.line + 1, mark.column + 1, rule, message, mend)

    def note(self, event: Any, rule: str, message: str, mend: str = "") -> None:
        self.faults.append(self.fault(event, rule, message, mend))

    def stop(self, event: Any, message: str) -> Unreadable:
        return Unreadable(self.fault(event, "yaml", message))

    def document(self) -> Node:
        root: Node | None = None
        for event in self.events:
            if not isinstance(event, DocumentStartEvent):
                continue
            if root is not None:
                raise self.stop(event, "a second document: a policy is one document")
            if event.version not in (None, (1, 2)):
                raise self.stop(event, "a %YAML directive for another version: a policy is YAML 1.2")
            root = self.node(self.next(), 0)
        return root or Node(1, 1, file=self.file)

    def node(self, event: Any, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            return self.alias(event)
        if depth > MAX_DEPTH:
            raise self.stop(event, f"nested deeper than {MAX_DEPTH} levels")
        node = Node(event.start_mark.line + 1, event.start_mark.column + 1, file=self.file)
        self.check_tag(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if isinstance(event, ScalarEvent):
            self.check_text(event)
            node.value = scalar(event.value) if event.implicit[0] and not event.style else event.value
        elif isinstance(event, SequenceStartEvent):
            self.sequence(node, depth)
        else:
            self.mapping(node, depth)
        if node.size > MAX_NODES:
            raise self.stop(event, f"more than {MAX_NODES} values, aliases expanded")
        if node.height > MAX_DEPTH:
            raise self.stop(event, f"nested deeper than {MAX_DEPTH} levels, aliases expanded")
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise self.stop(event, f"the alias '*{event.anchor}' has no anchor before it")
        target = self.anchors[event.anchor]
        if target is None:
            raise self.stop(event, f"the alias '*{event.anchor}' stands inside its own anchor")
        return target

    def check_text(self, event: Any) -> None:
        if any("\ud800" <= char <= "\udfff" for char in event.value):
            raise Unreadable(self.fault(event, "encoding", "half of a surrogate pair is not a character"))

    def check_tag(self, event: Any) -> None:
        tag = None if event.tag is None else str(event.tag)
        if tag not in (None, "!", "tag:yaml.org,2002:str"):
            short = tag.replace("tag:yaml.org,2002:", "!!")
            self.note(event, "yaml", f"unknown tag '{short}'", "a policy needs no tags: remove it")

    def sequence(self, node: Node, depth: int) -> None:
        items: list[Node] = []
        node.value = items
        while not isinstance(event := self.next(), SequenceEndEvent):
            items.append(self.node(event, depth + 1))
            node.hold(items[-1])

    def mapping(self, node: Node, depth: int) -> None:
        items: dict[str, Node] = {}
        node.value = items
        while not isinstance(event := self.next(), MappingEndEvent):
            spot = (event.start_mark.line + 1, event.start_mark.column + 1)
            key = self.key(event, depth)
            value = self.node(self.next(), depth + 1)
            node.hold(value)
            if key in node.keys:
                first = node.keys[key][0]
                self.note(event, "duplicate-key", f"duplicate key '{key}', first on line {first}", "keep one of them")
            elif key is not None:
                items[key], node.keys[key] = value, spot

    def key(self, event: Any, depth: int) -> str | None:
        """A key is text however it is written: `NO`, `1` and `null` are words here."""
        if isinstance(event, AliasEvent):
            target = self.alias(event)
            if isinstance(target.value, str):
                return target.value
        elif isinstance(event, ScalarEvent) and not (event.value == "<<" and event.implicit[0] and not event.style):
            self.check_tag(event)
            self.check_text(event)
            if event.anchor is not None:
                spot = event.start_mark
                self.anchors[event.anchor] = Node(spot.line + 1, spot.column + 1, event.value)
            return str(event.value)
        elif isinstance(event, ScalarEvent):
            self.note(event, "yaml", "merge keys ('<<') are not part of YAML 1.2", "write the keys out")
            return None
        else:
            self.node(event, depth + 1)
        self.note(event, "yaml", "a key that is not text")
        return None


_NULL = ("", "~", "null", "Null", "NULL")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?")


def scalar(text: str) -> bool | int | float | str | None:
    """A plain scalar by the core schema of YAML 1.2 (section 10.3.2), decimal numbers only.

    So `NO`, `on` and `off` are text, as are `1_000`, `0x10` and dates.
    """
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text

"""Walks a request's JSON and shows every leaf to a visitor: the default is that everything is text.

A table per object type says which fields are exempt, and how they are read instead; a field without an entry is
read like text at any depth, its keys and numbers included. So a new field of an API is inspected the day it
ships. The readers here are the words in which those tables are written; each takes the walk, a node, its path and
its label, and returns the node that goes on.

May import: model, errors, jsontext, labels, base, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf, Visit
from proxy.wire import jsontext
from proxy.wire.base import inspected_number, number_text
from proxy.wire.labels import field_path, hidden_path, label_of

ID_ALPHABET = re.compile(r"[A-Za-z0-9_.:\-/;=@+|]*\Z")
_BLOB_ALPHABET = re.compile(r"[A-Za-z0-9+/=_\-.:]*\Z")
_LONGEST_ID = 4096  # some gateways carry a signature inside the id of a tool call
_FEWEST_DIGITS = 5


class Walk:
    """One request being walked: its visitor, the attachments that the policy lets through, and a counter of runs."""

    def __init__(self, visit: Visit, allowed: frozenset[str] = frozenset()) -> None:
        self.visit = visit
        self.allowed = allowed
        self._runs = 0

    def new_run(self) -> int:
        self._runs += 1
        return self._runs

    def text(self, text: str, path: str, label: str = "", run: int | None = None) -> str:
        """A string that a person may have written; JSON text is taken apart."""
        if not text:
            return text
        taken_apart = jsontext.rewrite(text, path, label, self.visit)
        return taken_apart if taken_apart is not None else self.visit(Leaf(path, text, Kind.TEXT, label, run=run))

    def key(self, key: str, path: str, position: int) -> str:
        return self.visit(Leaf(hidden_path(path, position), key, Kind.FIXED)) if key else key

    def number(self, node: int | float, path: str, label: str) -> int | float:
        digits = number_text(node)
        if sum(char.isdigit() for char in digits) < _FEWEST_DIGITS:
            return node
        shown = inspected_number(digits)
        if self.visit(Leaf(path, shown, Kind.FIXED, label)) != shown:
            raise UnsupportedByPolicy(f"The number {path} cannot be replaced.", param=path)
        return node

    def need(self, switch: str, what: str, path: str) -> None:
        """Refuses an attachment unless its switch is on."""
        if switch not in self.allowed:
            raise UnsupportedByPolicy(
                f"{path} is {what}, which is not inspected. The policy switch attachments.{switch} decides.", param=path
            )


Reader: TypeAlias = Callable[[Walk, JSON, str, str], JSON]
Table: TypeAlias = Mapping[str, Reader]


def walk(node: JSON, path: str, visit: Visit, reader: Reader, allowed: frozenset[str] = frozenset()) -> JSON:
    """What `reader` makes of a request, every leaf visited in document order."""
    return reader(Walk(visit, allowed), node, path, "")


def wrong_type(path: str, wanted: str) -> BadRequest:
    return BadRequest(f"{path} must be {wanted}.", param=path)


def unknown_type(path: str, what: str) -> UnsupportedByPolicy:
    return UnsupportedByPolicy(f"{path} is {what} of a type that is not inspected.", param=path)


def anything(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Every string is text, every key and number fixed, at any depth. Labels come from the keys."""
    if isinstance(node, str):
        return walk.text(node, path, label)
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, int | float):
        return walk.number(node, path, label)
    if isinstance(node, list):
        return [anything(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]
    return mapping(anything)(walk, node, path, label)


def labelled(label: str, reader: Reader) -> Reader:
    """`reader` with a label of its own instead of the one from above."""

    def read(walk: Walk, node: JSON, path: str, _: str) -> JSON:
        return reader(walk, node, path, label)

    return read


def text(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A string or null."""
    if node is None or isinstance(node, str):
        return node if node is None else walk.text(node, path, label)
    raise wrong_type(path, "a string")


def identifier(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """An id, a model name or a word of the protocol; anything but a string is read like text."""
    if not isinstance(node, str):
        return anything(walk, node, path, label)
    if len(node) > _LONGEST_ID or not ID_ALPHABET.match(node):
        raise UnsupportedByPolicy(f"{path} does not look like an identifier.", param=path)
    return walk.visit(Leaf(path, node, Kind.ID)) if node else node


def optional(reader: Reader) -> Reader:
    """`reader`, or null."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        return None if node is None else reader(walk, node, path, label)

    return read


def identifiers(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """One identifier, or a list of them."""
    return items(identifier)(walk, node, path, label) if isinstance(node, list) else identifier(walk, node, path, label)


def sealed(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What the provider signed or encrypted and wants back byte for byte: base64 of any length, or null."""
    if node is not None and not (isinstance(node, str) and _BLOB_ALPHABET.match(node)):
        raise UnsupportedByPolicy(f"{path} does not look like something the provider sealed.", param=path)
    return walk.visit(Leaf(path, node, Kind.ID)) if node else node


def fixed(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """Names that both sides must agree on: nothing in them may be replaced."""
    if isinstance(node, str):
        return walk.visit(Leaf(path, node, Kind.FIXED)) if node else node
    if isinstance(node, list):
        return [fixed(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]
    return anything(walk, node, path, label)


def items(reader: Reader, wanted: str = "a list") -> Reader:
    """A list, each element read alike, or null."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        if not isinstance(node, list):
            raise wrong_type(path, wanted)
        return [reader(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]

    return read


def mapping(reader: Reader) -> Reader:
    """An object whose keys the client chose, or null: keys are fixed, values read alike."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        if not isinstance(node, dict):
            raise wrong_type(path, "an object")
        out: dict[str, JSON] = {}
        for at, (key, value) in enumerate(node.items()):
            new = walk.key(key, path, at)
            out[new] = reader(walk, value, field_path(path, key, at), label_of(key, label))
        return out

    return read


def fields(table: Table, other: Reader = anything) -> Reader:
    """An object with known fields, or null; `other` reads the unknown ones, whose keys are visited.

    A known field written in another case is refused: some parsers would take it for the known one.
    """
    folded = frozenset(key.casefold() for key in table)

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        if not isinstance(node, dict):
            raise wrong_type(path, "an object")
        out: dict[str, JSON] = {}
        for at, (key, value) in enumerate(node.items()):
            known = table.get(key)
            if known is not None:
                out[key] = known(walk, value, f"{path}.{key}", label)
                continue
            if key.casefold() in folded:
                raise BadRequest(f"{path} has a known field in another case.", param=path)
            out[walk.key(key, path, at)] = other(walk, value, field_path(path, key, at), label_of(key, label))
        return out

    return read


def typed(readers: Table, what: str, *, default: str | None = None) -> Reader:
    """An object whose `type` must be one of `readers`; a missing type counts as `default`."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if not isinstance(node, dict):
            raise wrong_type(path, "an object")
        kind = node.get("type", default)
        reader = readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise unknown_type(path, what)
        return reader(walk, node, path, label)

    return read

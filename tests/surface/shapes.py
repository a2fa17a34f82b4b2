"""The SDKs' types as plain shapes: records, lists, maps, unions, texts, numbers.

Reads TypedDicts (what is sent) and pydantic models (what is received). No name of any field is known here.
"""

from __future__ import annotations

import collections.abc
import datetime
import functools
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal, Union

import typing_extensions as te


@dataclass(frozen=True)
class Text:
    """A string; `words` are those that a Literal allows, none if any may stand there."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """An integer or a fraction; `values` as a Literal has them."""

    values: tuple[int, ...] = ()


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Nothing:
    """null."""


@dataclass(frozen=True)
class Free:
    """Any JSON."""


@dataclass(frozen=True)
class Many:
    """A list."""

    of: Shape


@dataclass(frozen=True)
class Map:
    """An object whose keys the client chooses."""

    of: Shape


@dataclass(frozen=True)
class OneOf:
    """A union, flattened."""

    options: tuple[Shape, ...]


@dataclass(frozen=True)
class Record:
    """An object with known fields; read by `members`, since types refer to themselves."""

    made_from: Any

    @property
    def name(self) -> str:
        name = str(self.made_from.__name__).removesuffix("Param")
        return name.removesuffix("NonStreaming").removesuffix("Streaming")


Shape: typing.TypeAlias = "Text | Number | Flag | Nothing | Free | Many | Map | OneOf | Record"


@dataclass(frozen=True)
class Member:
    """One field of a record."""

    shape: Shape
    required: bool


@functools.cache
def members(record: Record) -> dict[str, Member]:
    """The fields of a record by the names that they have in JSON."""
    made_from = record.made_from
    if hasattr(made_from, "model_fields"):
        made_from.model_rebuild()
        return {
            field.alias or name: Member(shape(field.annotation), field.is_required())
            for name, field in made_from.model_fields.items()
        }
    hints = te.get_type_hints(made_from, include_extras=True)
    total = _total(made_from)
    return {name: Member(shape(hint), _is_required(hint, total.get(name, True))) for name, hint in hints.items()}


def _total(made_from: Any) -> dict[str, bool]:
    """Of every field, whether the class that it was written in wants all of its fields."""
    found: dict[str, bool] = {}
    for base in te.get_original_bases(made_from):
        if te.is_typeddict(base):
            found.update(_total(base))
    return {name: found.get(name, bool(made_from.__total__)) for name in made_from.__annotations__}


def _is_required(hint: Any, total: bool) -> bool:
    origin = te.get_origin(hint)
    if origin in (te.Required, typing.Required):
        return True
    return total and origin not in (te.NotRequired, typing.NotRequired)


_LISTS = (list, tuple, set, frozenset, collections.abc.Iterable, collections.abc.Sequence)
_MAPS = (dict, collections.abc.Mapping)
_WRAPPERS = (te.Required, typing.Required, te.NotRequired, typing.NotRequired, typing.Annotated, te.Annotated)
_PLAIN: dict[Any, Shape] = {
    **dict.fromkeys((str, bytes, datetime.datetime, datetime.date), Text()),
    **dict.fromkeys((int, float), Number()),
    bool: Flag(),
    type(None): Nothing(),
    None: Nothing(),
    Any: Free(),
    object: Free(),
}


def shape(hint: Any) -> Shape:
    """The shape of a type hint. Raises `TypeError` for a kind of hint that is not known."""
    origin, arguments = te.get_origin(hint), te.get_args(hint)
    if origin in _WRAPPERS:
        return shape(arguments[0])
    if origin in (Union, types.UnionType):
        return _union([shape(option) for option in arguments])
    if origin in (Literal, te.Literal):
        return _literal(arguments)
    if origin in _LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        return Many(shape(arguments[0]))
    if origin in _MAPS:
        return Map(shape(arguments[1]))
    if isinstance(hint, te.TypeAliasType):
        return shape(hint.__value__)
    if isinstance(hint, typing.TypeVar):
        return Free()
    return _bare(hint)


def _bare(hint: Any) -> Shape:
    if hint in _MAPS:
        return Map(Free())
    if hint in _LISTS:
        return Many(Free())
    if hint in _PLAIN:
        return _PLAIN[hint]
    if te.is_typeddict(hint) or hasattr(hint, "model_fields"):
        return Record(hint)
    if isinstance(hint, type) or isinstance(te.get_origin(hint), type):
        return Text()  # files and paths, which SDKs write as base64
    raise TypeError(f"a type hint of an unknown kind: {hint!r}")


def _literal(values: tuple[Any, ...]) -> Shape:
    words = tuple(value for value in values if isinstance(value, str))
    numbers = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    found: list[Shape] = [Text(words)] if words else []
    found += [Number(numbers)] if numbers else []
    found += [Flag()] if any(isinstance(value, bool) for value in values) else []
    return _union(found)


def _union(options: list[Shape]) -> Shape:
    flat: list[Shape] = []
    for option in options:
        for one in option.options if isinstance(option, OneOf) else (option,):
            if one not in flat:
                flat.append(one)
    texts = [one for one in flat if isinstance(one, Text)]
    if len(texts) > 1:  # a word or any string: any string
        merged = Text() if Text() in texts else Text(tuple(dict.fromkeys(w for one in texts for w in one.words)))
        flat = [merged, *(one for one in flat if not isinstance(one, Text))]
    return flat[0] if len(flat) == 1 else OneOf(tuple(flat))

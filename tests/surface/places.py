"""Every place of a type where a string, a key or a number can stand, each with the smallest body that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.surface.shapes import Flag, Free, Many, Map, Nothing, Number, OneOf, Record, Shape, Text, members

Make = Callable[[Any], Any]

SAMPLES: dict[str, Any] = {
    "model": "gpt-4o",
    "url": "https://example.com/a",
    "image_url": "https://example.com/a.png",
    "file_url": "https://example.com/a.txt",
    "data": "AAAA",
    "file_data": "AAAA",
    "truncation": "disabled",
    "max_tokens": 16,
}
"""What stands in a required field where any text would not do."""
PLAIN = "x"
KEY = "1"
"""A key that may stand where keys are counted or chosen."""
TAGS = ("type", "role", "object")


@dataclass(frozen=True)
class Place:
    """`row` names the field by the record that has it, `path` by its way from the top; `make` builds a body.

    `what` is text, key or number.
    """

    path: str
    row: str
    what: str
    make: Make


@dataclass(frozen=True)
class Variant:
    """One record that a union offers, with a body that has it."""

    path: str
    name: str
    body: Any


def minimal(shape: Shape, field: str = "") -> Any:
    """The smallest value of a shape."""
    if isinstance(shape, OneOf):
        return minimal(next((one for one in shape.options if not isinstance(one, Nothing)), shape.options[0]), field)
    if isinstance(shape, Text):
        sample = SAMPLES.get(field)
        return shape.words[0] if shape.words and sample not in shape.words else sample or PLAIN
    if isinstance(shape, Number):
        return SAMPLES.get(field, shape.values[0] if shape.values else 1)
    if isinstance(shape, Record):
        return {
            name: minimal(member.shape, name)
            for name, member in members(shape).items()
            if (member.required and not isinstance(member.shape, Nothing)) or _is_tag(name, member.shape)
        }
    simple: dict[type, Any] = {Flag: False, Nothing: None, Free: PLAIN, Many: [], Map: {}}
    value = simple[type(shape)]
    return [minimal(shape.of)] if isinstance(shape, Many) and isinstance(shape.of, Record) else value


def _is_tag(name: str, shape: Shape) -> bool:
    return name in TAGS and isinstance(shape, Text) and len(shape.words) == 1


def tag(record: Record) -> str:
    """What tells a record apart in a union."""
    for name, member in members(record).items():
        if _is_tag(name, member.shape) and isinstance(member.shape, Text):
            return member.shape.words[0]
    return record.name


def places(shape: Shape) -> Iterator[Place]:
    """Every place below a shape; a record inside itself is not entered again."""
    yield from _places(shape, "$", "", "", ())


def _places(shape: Shape, path: str, row: str, field: str, above: tuple[Record, ...]) -> Iterator[Place]:
    if isinstance(shape, Text):
        yield Place(path, row, "text", lambda value: value)
    elif isinstance(shape, Number):
        yield Place(path, row, "number", lambda value: value)
    elif isinstance(shape, Free):
        yield Place(f"{path}.*", f"{row}.*", "text", lambda value: value)
        yield Place(f"{path}.*", f"{row}.*", "key", lambda value: {value: 1})
    elif isinstance(shape, Many):
        yield from _wrapped(_places(shape.of, f"{path}[]", f"{row}[]", field, above), lambda inner: [inner])
    elif isinstance(shape, Map):
        yield Place(f"{path}{{}}", f"{row}{{}}", "key", lambda value: {value: minimal(shape.of, field)})
        yield from _wrapped(_places(shape.of, f"{path}{{}}", f"{row}{{}}", field, above), lambda inner: {KEY: inner})
    elif isinstance(shape, OneOf):
        several = sum(isinstance(option, Record) for option in shape.options) > 1
        for option in shape.options:
            shown = f"{path}<{tag(option)}>" if several and isinstance(option, Record) else path
            yield from _places(option, shown, row, field, above)
    elif isinstance(shape, Record) and shape not in above:
        yield from _of_record(shape, path, (*above, shape))


def _of_record(record: Record, path: str, above: tuple[Record, ...]) -> Iterator[Place]:
    for name, member in members(record).items():
        inner = _places(member.shape, f"{path}.{name}", f"{record.name}.{name}", name, above)
        yield from _wrapped(inner, _setting(minimal(record), name))


def _setting(base: dict[str, Any], name: str) -> Make:
    return lambda inner: {**base, name: inner}


def _wrapped(inner: Iterator[Place], around: Make) -> Iterator[Place]:
    for place in inner:
        yield replace(place, make=_after(around, place.make))


def _after(outer: Make, inner: Make) -> Make:
    return lambda value: outer(inner(value))


def variants(shape: Shape) -> Iterator[Variant]:
    """Every record that a union anywhere below a shape offers."""
    yield from _variants(shape, "$", (), lambda inner: inner)


def _variants(shape: Shape, path: str, above: tuple[Record, ...], make: Make) -> Iterator[Variant]:
    if isinstance(shape, Many):
        yield from _variants(shape.of, f"{path}[]", above, _after(make, lambda inner: [inner]))
    elif isinstance(shape, Map):
        yield from _variants(shape.of, f"{path}{{}}", above, _after(make, lambda inner: {KEY: inner}))
    elif isinstance(shape, OneOf):
        several = sum(isinstance(option, Record) for option in shape.options) > 1
        for option in shape.options:
            if several and isinstance(option, Record):
                shown = f"{path}<{tag(option)}>"
                yield Variant(shown, option.name, make(minimal(option)))
                yield from _variants(option, shown, above, make)
            else:
                yield from _variants(option, path, above, make)
    elif isinstance(shape, Record) and shape not in above:
        for name, member in members(shape).items():
            inner = _after(make, _setting(minimal(shape), name))
            yield from _variants(member.shape, f"{path}.{name}", (*above, shape), inner)

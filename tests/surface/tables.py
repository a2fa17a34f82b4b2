"""What the code does everywhere, collected and compared with what was decided.

`python -m tests.surface` tells what differs; with `--decide` it writes what the code does today, for a person to read
in the diff.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.surface import asked
from tests.surface.decisions import DECISIONS, SECTIONS, Section, Table, decided, flat, written
from tests.surface.places import Place, Variant, places, variants
from tests.surface.sdks import APIS, SURFACES, Surface


@functools.cache
def found() -> Table:
    """What the code does: API -> section -> record -> class -> fields."""
    return {api: {section: rows for section in SECTIONS if (rows := _section(api, section))} for api in APIS}


def _section(api: str, section: str) -> Section:
    surfaces = [surface for surface in SURFACES if surface.api == api]
    classes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for surface in surfaces:
        for record, field, made in _rows(surface, section):
            classes[record, field].add(made)
    out: Section = {}
    for (record, field), made_in in sorted(classes.items()):
        out.setdefault(record, {}).setdefault(" | ".join(sorted(made_in)), []).append(field)
    return out


def _rows(surface: Surface, section: str) -> Iterable[tuple[str, str, str]]:
    if section == "request":
        return _fields(places(surface.request), lambda place: asked.request_place(surface, place))
    if section == "types":
        return _types(variants(surface.request), lambda variant: asked.request_variant(surface, variant))
    if section == "answer":
        return _fields(_texts(places(surface.answer)), lambda place: asked.answer_place(surface, place))
    if surface.stream is None:
        return []
    if section == "events":
        return [(kind, "", asked.event(surface, made)) for kind, made in asked.events(surface)]
    repeated = {place.row for place in places(surface.answer)}
    own = (place for place in asked.event_places(surface) if place.row not in repeated)
    return _fields(_texts(own), lambda place: asked.event_place(surface, place))


def _fields(found: Iterable[Place], ask: Callable[[Place], str]) -> Iterable[tuple[str, str, str]]:
    for place in found:
        record, _, field = place.row.partition(".")
        yield record, field if place.what == "text" else f"{field}:{place.what}", ask(place)


def _texts(found: Iterable[Place]) -> Iterable[Place]:
    """Numbers of an answer hold no placeholder."""
    return (place for place in found if place.what != "number")


def _types(found: Iterable[Variant], ask: Callable[[Variant], str]) -> Iterable[tuple[str, str, str]]:
    for variant in found:
        yield variant.name, "", ask(variant)


def differences() -> list[str]:
    """What nobody has decided, what the code does otherwise, and what no type has any more."""
    does, should = flat(found()), flat(decided())
    lines = [f"undecided: {' '.join(key)}: {does[key]}" for key in does if key not in should]
    lines += [
        f"decided {should[key]}, does {does[key]}: {' '.join(key)}"
        for key in does
        if should.get(key, does[key]) != does[key]
    ]
    return lines + [f"no such place: {' '.join(key)}" for key in should if key not in does]


def main(decide: bool) -> int:
    lines = differences() if DECISIONS.exists() else ["no decisions yet"]
    for line in lines:
        print(line)
    if decide:
        DECISIONS.write_text(written(found()), encoding="utf-8")
    return 1 if lines and not decide else 0

"""A text as people type it: without capitals, in capitals, without accents, with other names, glued to others.

Every function keeps the marks right and is deterministic for a given generator.
May import: its neighbours, the standard library.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable

from training.pools import Pools
from training.text import Mark, Text, tidy

_BETWEEN = ("\n", "\n", "\n", "\n\n", " ", " ")


def lower(item: Text) -> Text:
    """No capitals at all."""
    return _each(item, str.lower)


def upper(item: Text) -> Text:
    """CAPITALS ONLY."""
    return _each(item, str.upper)


def names_lower(item: Text) -> Text:
    """Only the names lose their capitals: `did anna write to Omar`."""
    return _inside(item, str.lower)


def names_upper(item: Text) -> Text:
    """Only the names are shouted, as French forms do."""
    return _inside(item, str.upper)


def plain(item: Text) -> Text:
    """No accents: `Helene est a l'ecole`."""
    return _each(item, _without_accent)


def renamed(item: Text, pools: Pools, rng: random.Random) -> Text:
    """Persons get other names of about the same shape, most places other cities. MISC and ORG stay."""
    text, marks, done = "", [], 0
    for start, end, label in item.marks:
        old = item.text[start:end]
        new = _another(old, label, pools, rng)
        text += item.text[done:start]
        marks.append(Mark(len(text), len(text) + len(new), label))
        text, done = text + new, end
    text += item.text[done:]
    return Text(text, tidy(text, marks), item.source)


def varied(item: Text, pools: Pools, rng: random.Random) -> Text:
    """One of the above, or, in more than half of all cases, the text as it is."""
    if item.marks and rng.random() < 0.25:
        item = renamed(item, pools, rng)
    roll = rng.random()
    if roll < 0.09:
        item = lower(item)
    elif roll < 0.15:
        item = upper(item)
    elif roll < 0.18:
        item = names_lower(item)
    elif roll < 0.22:
        item = names_upper(item)
    if rng.random() < 0.08:
        item = plain(item)
    return item


def between(rng: random.Random) -> str:
    """What stands between two texts that are read together."""
    return rng.choice(_BETWEEN)


def _another(old: str, label: str, pools: Pools, rng: random.Random) -> str:
    words = old.split()
    if not old[:1].isupper() or old.isupper() or len(words) > 3:
        return old
    if label == "PERSON":
        if len(words) == 1:
            return pools.given_name(rng) if rng.random() < 0.5 else pools.surname(rng)
        return pools.person(rng)
    if label == "LOC" and len(words) == 1 and rng.random() < 0.6:
        return pools.cities.draw(rng)
    return old


def _without_accent(char: str) -> str:
    return unicodedata.normalize("NFD", char)[0]


def _each(item: Text, change: Callable[[str], str]) -> Text:
    return item._replace(text="".join(_same_length(char, change) for char in item.text))


def _inside(item: Text, change: Callable[[str], str]) -> Text:
    chars = list(item.text)
    for start, end, label in item.marks:
        if label != "MISC":
            chars[start:end] = [_same_length(char, change) for char in chars[start:end]]
    return item._replace(text="".join(chars))


def _same_length(char: str, change: Callable[[str], str]) -> str:
    """`change(char)`, unless that is longer than one code point (`ß` in capitals)."""
    changed = change(char)
    return changed if len(changed) == 1 else char

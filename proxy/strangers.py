"""Placeholders in an answer that this request did not issue: whose are they?

A model only knows the placeholders of its own prompt. One that is well-formed and was neither issued nor written in
the request came from elsewhere: from another conversation's or another tenant's prompt, when a serving engine mixes
its memory up. Models also copy badly: a number one slip away from one of ours, under the same type, is a mangled one
of ours. Neither is ever restored; they are told apart for the verdict only.

Every decoration that restoring tolerates counts (`proxy.restore`): escaped and encoded brackets, inner spaces, any
case. Without brackets only the names of known entities in capitals count: `ORDER_123456` is anybody's.

May import: vault, regex, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import regex

from proxy.vault import Vault

_SIX = re.compile(r"[0-9]{6}")
_OPENING = r"(?:\\{0,2}<|&lt;|%3C|\\{1,2}u003c)\s{0,2}"
_CLOSE = r"\s{0,2}(?:\\{0,2}>|&gt;|%3E|\\{1,2}u003e)"
_JOINT = r"(?:\\{0,2}_|%5F|[ \-])"
_TAIL = 128
"""Code points kept of what was read: more than the longest placeholder with all its decoration."""


class Strays(Protocol):
    """Where is counted what was met in one answer."""

    foreign: int
    foreign_numbers: set[str]
    mangled: int


def pattern(entities: Iterable[str]) -> regex.Pattern[str]:
    """Anybody's placeholders, where `entities` are the known ones: group `t` is the type, `n` the number."""
    known = [regex.escape(name) for name in sorted(entities, key=lambda name: (-len(name), name))]
    forms = [r"<(?P<t>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)_(?P<n>[0-9]{9}|[0-9]{6})>"]
    if known:
        loose = "|".join(known).replace("_", _JOINT)
        forms.append(rf"(?i:{_OPENING}(?P<t>{loose}){_JOINT}\s?(?P<n>[0-9]{{9}}|[0-9]{{6}})(?![0-9])(?:{_CLOSE})?)")
        plain = "|".join(known).replace("_", r"\\{0,2}_")
        forms.append(rf"(?<![A-Za-z0-9_<])(?P<t>{plain})\\{{0,2}}_(?P<n>[0-9]{{9}}|[0-9]{{6}})(?![0-9A-Za-z_])")
    return regex.compile("|".join(forms))


@dataclass(slots=True)
class Strangers:
    """Reads one growing text. `feed` takes it in pieces of any size, `finish` says that no more will come."""

    vault: Vault
    pattern: regex.Pattern[str]
    strays: Strays
    _tail: str = field(default="", repr=False)

    def feed(self, text: str) -> None:
        self._read(text, final=False)

    def finish(self) -> None:
        self._read("", final=True)

    def _read(self, text: str, *, final: bool) -> None:
        window = self._tail + text
        read = max(0, len(window) - _TAIL)
        if _SIX.search(window):
            for match in self.pattern.finditer(window):
                if match.end("n") == len(window) and not final:
                    read = min(read, match.start())  # more digits could follow
                    break
                read = max(read, match.end())
                self._judge(match["t"], match["n"])
        self._tail = "" if final else window[read:]

    def _judge(self, entity: str, number: str) -> None:
        if self.vault.find(number) is not None or number in self.vault.taken:
            return
        letters = _letters(entity)
        if any(_letters(entry.entity) == letters and is_slip(number, entry.number) for entry in self.vault):
            self.strays.mangled += 1
        else:
            self.strays.foreign += 1
            self.strays.foreign_numbers.add(number)


def is_slip(number: str, issued: str) -> bool:
    """Whether `number` is one slip away from `issued`: one digit wrong, two neighbours swapped, the ending lost."""
    if number[:6] == issued[:6]:
        return True
    differing = [at for at, (one, other) in enumerate(zip(number, issued, strict=False)) if one != other]
    if len(number) != len(issued) or len(differing) > 2:
        return False
    if len(differing) == 1:
        return True
    first, second = differing
    return second == first + 1 and number[first] == issued[second] and number[second] == issued[first]


def _letters(entity: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", entity.upper().replace("%5F", ""))

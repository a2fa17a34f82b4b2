"""Once a value is known in a request, its other occurrences there are the same entity, in any leaf and any case.

May import: recognizers.base, recognizers.shape, recognizers.words, ahocorasick, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import ahocorasick

from recognizers.base import Span, fold
from recognizers.lexicon import Lexicon, build
from recognizers.shape import tokens
from recognizers.words import ALSO_WORDS, CALENDAR, COMMON, FUNCTION, PARTICLES, SUFFIXES, TECHNICAL, TITLES

NAME = "known"
SCORE = 0.55
_MIN_VALUE, _MIN_DIGITS, _MIN_PART, _MIN_RUN = 4, 6, 3, 5
_MAX_TAIL = 4
_LONGEST_KEY = 64
"""Of a longer value its beginning is looked for and the rest compared: in a text that repeats itself, the automaton
tries at every character all needles that are beginnings and ends of one another."""
_LONGEST_HANDLE = 40
_HANDLE = re.compile(r"(?<![\w.])@((?:\w{1,30}[_.]){0,4})$")
_REST_OF_HANDLE = re.compile(r"(?:[_.]\w{1,30}){1,4}")
INITIAL, INITIALS, USER = "initial and a known name", "initials of a known name", "a known name as in user names"
_NOT_INITIALS = frozenset({"eg", "ie", "us", "uk", "am", "pm", "ps", "nb", "cv", "dc", "ba", "ma", "bc", "ad", "ca"})
_NOT_KNOWN = frozenset({"TITLE"})
"""A form of address is one where it stands, and a plain word elsewhere."""


class Needle(NamedTuple):
    """What is looked for, folded. `cased` asks for a capital at its start: the word is also a plain word."""

    text: str
    entity: str
    cased: bool
    why: str


def propagate(texts: Sequence[str], known: Mapping[str, str], lexicon: Lexicon | None = None) -> list[list[Span]]:
    """Other occurrences of known values (`value -> entity`, the value in any case) in each of `texts`.

    Whole words only, possessives included without their ending. A person's name is also looked for part by part,
    except grammar words, with initials, and as user names have it (`_abbreviated`); parts that are or may be plain
    words (`Rose`, `Mark`; without a dictionary in `lexicon`, any that is no registered given name) count only with a
    capital. Linear in the length of the texts, whatever the number of values.
    """
    needles = {needle.text: needle for needle in _needles(known, lexicon or build(frozenset()))}
    if not needles:
        return [[] for _ in texts]
    automaton = ahocorasick.Automaton()
    for key, same in groupby(sorted(needles), key=lambda text: text[:_LONGEST_KEY]):
        automaton.add_word(key, [needles[text] for text in same])
    automaton.make_automaton()
    return [list(_occurrences(automaton, text)) for text in texts]


def _needles(known: Mapping[str, str], lexicon: Lexicon) -> Iterator[Needle]:
    """Parts first, so that a value that is itself known wins over the same word as a part of another."""
    persons = [value for value, entity in known.items() if entity == "PERSON"]
    for value in persons:
        yield from _abbreviated(value, lexicon)
    for value in persons:
        yield from _parts(value, lexicon)
    for value, entity in known.items():
        whole = fold(value)
        if entity == "PERSON":
            plain = whole in COMMON or whole in CALENDAR or whole in ALSO_WORDS
            if len(whole) >= _MIN_PART and whole not in FUNCTION | TITLES | TECHNICAL:
                yield Needle(whole, entity, plain, "known value")
        elif entity in _NOT_KNOWN:
            continue
        elif len(whole) >= _MIN_VALUE and (
            any(char.isalpha() for char in whole) or sum(map(str.isdigit, whole)) >= _MIN_DIGITS
        ):
            yield Needle(whole, entity, False, "known value")


def _abbreviated(value: str, lexicon: Lexicon) -> Iterator[Needle]:
    """`T. Mokoena`, `Mokoena T.`, `T.M.`, and what user names and mail boxes are made of: `tmokoena`, `mokoenat`.

    The given name is the first word, the surname what follows it. A surname that is also a plain word asks for the
    point behind the initial, and is not run together with it (`Anna Mark`: no `amark`, no `A mark`).
    """
    words = [word.folded for word in tokens(value, 0, len(value))]
    words = [word for word in words if word not in SUFFIXES and word not in TITLES]
    if len(words) < 2 or len(words[0]) < 2 or len(words[-1]) < _MIN_PART:
        return
    given, surname, last = words[0], " ".join(words[1:]), words[-1]
    initial, plain = given[0], last in COMMON | CALENDAR | FUNCTION or lexicon.is_common(last)
    for name in dict.fromkeys((surname, last)):
        yield Needle(f"{initial}. {name}", "PERSON", True, INITIAL)
        yield Needle(f"{initial}.{name}", "PERSON", True, INITIAL)
        yield Needle(f"{name} {initial}.", "PERSON", True, INITIAL)
        if not plain:
            yield Needle(f"{initial} {name}", "PERSON", True, INITIAL)
    if initial + last[0] not in _NOT_INITIALS:
        yield Needle(f"{initial}.{last[0]}.", "PERSON", True, INITIALS)
        yield Needle(f"{initial}. {last[0]}.", "PERSON", True, INITIALS)
    together = "".join(words[1:])
    runs = (
        given + together,
        together + given,
        *(() if plain else (initial + last, initial + together, last + initial)),
    )
    for run in dict.fromkeys(runs):
        if len(run) >= _MIN_RUN and run.isalpha() and not lexicon.is_common(run):
            yield Needle(run, "PERSON", False, USER)


def _parts(value: str, lexicon: Lexicon) -> Iterator[Needle]:
    words = tokens(value, 0, len(value))
    if len(words) < 2:
        return
    for word in words:
        if len(word.folded) < _MIN_PART or word.folded in PARTICLES or word.folded in SUFFIXES or word.folded in TITLES:
            continue
        unknown = bool(lexicon.words) and not lexicon.is_common(word.folded)
        listed = any(word.folded in words for words in (COMMON, CALENDAR, FUNCTION, ALSO_WORDS))
        plain = listed or not (unknown or lexicon.is_name(word.folded))
        if not (word.folded in FUNCTION and word.folded != "will") and word.folded not in TECHNICAL:
            yield Needle(word.folded, "PERSON", plain, "part of a known name")


def _occurrences(automaton: ahocorasick.Automaton, text: str) -> Iterator[Span]:
    folded = fold(text)
    for start, needle in _hits(automaton, folded):
        end = start + len(needle.text)
        if needle.why == USER:
            end = _past_digits(text, end)
        if _continues(folded, start, end) or (needle.cased and not text[start].isupper()):
            continue
        if needle.why == INITIALS and text[start:end] != text[start:end].upper():
            continue
        start, end = _whole_handle(text, start, end)
        yield Span(start, end, needle.entity, SCORE, NAME, needle.why)


def _hits(automaton: ahocorasick.Automaton, folded: str) -> Iterator[tuple[int, Needle]]:
    """Where each needle stands in a folded text."""
    for last, needles in automaton.iter(folded):
        start = last + 1 - min(_LONGEST_KEY, len(needles[0].text))
        for needle in needles:
            if len(needle.text) <= _LONGEST_KEY or folded.startswith(needle.text, start):
                yield start, needle


def _whole_handle(text: str, start: int, end: int) -> tuple[int, int]:
    """`@bea_t`: a name inside a handle takes the rest of it along, so that none is torn."""
    before = text[max(0, start - _LONGEST_HANDLE) : start]
    if "@" not in before or (head := _HANDLE.search(before)) is None:
        return start, end
    rest = _REST_OF_HANDLE.match(text, end)
    return start - len(head[1]), rest.end() if rest else end


def _past_digits(text: str, end: int) -> int:
    """`tmokoena42`: up to four digits belong to a user name."""
    upto = end
    while upto < len(text) and upto - end < _MAX_TAIL and text[upto].isdigit():
        upto += 1
    return upto


def _continues(text: str, start: int, end: int) -> bool:
    """True if a letter or digit adjoins: then this is the middle of another word or number."""
    left, right = text[start - 1 : start], text[end : end + 1]
    return (left.isalnum() and text[start].isalnum()) or (right.isalnum() and text[end - 1].isalnum())

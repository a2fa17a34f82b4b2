"""The text that recognizers read: what a person sees, in one spelling, with a way back to what was written.

Zero-width characters, look-alike digits, typographic dashes and quotes, HTML entities, percent escapes, the
backslash escapes of JSON and its kin, quoted-printable mail, control characters, and Markdown emphasis all hide a
value from a pattern, most often by accident of copy and paste. `shadow` writes them out plainly (Unicode NFKC, UAX
#15, and the rules below), remembers which stretch of the original each stretch came from, and never touches the
original.

May import: backslashes, controls, quoted, the standard library. Linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import html5

from recognizers.backslashes import BACKSLASHED, backslashed
from recognizers.controls import COLOURS, CONTROLS, SMUGGLED, separates, smuggled
from recognizers.quoted import ESCAPES, Quoted, characters


@dataclass(frozen=True, slots=True)
class Shadow:
    """Normalised text, made of pieces, and where each piece stood in the original.

    Piece i begins at `at[i]` in `text` and stands for `[starts[i], ends[i])` of the original; what lies between two
    pieces was removed. In a piece whose two lengths agree, characters correspond one to one. Without pieces, `text`
    is the original itself. All offsets are in code points.
    """

    text: str
    at: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def identical(self) -> bool:
        """True if nothing had to be changed."""
        return not self.at

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that `text[start:end]` came from, without removed characters at its edges."""
        if not self.at:
            return start, end
        if start >= end:
            place = self._place(start, at_end=False) if start < len(self.text) else self.ends[-1]
            return place, place
        return self._place(start, at_end=False), self._place(end - 1, at_end=True)

    def _place(self, index: int, *, at_end: bool) -> int:
        piece = bisect_right(self.at, index) - 1
        upto = self.at[piece + 1] if piece + 1 < len(self.at) else len(self.text)
        if upto - self.at[piece] == self.ends[piece] - self.starts[piece]:
            return self.starts[piece] + index - self.at[piece] + at_end
        return self.ends[piece] if at_end else self.starts[piece]


class Builder:
    """Collects the pieces of a shadow from left to right."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._at, self._starts, self._ends = array("Q"), array("Q"), array("Q")
        self._aligned = False

    def put(self, new: str, start: int, end: int) -> None:
        """`new` stands for `[start, end)` of the original; an empty `new` removes it."""
        if not new:
            return
        aligned = len(new) == end - start
        if aligned and self._aligned and self._ends[-1] == start:
            self._ends[-1] = end
        else:
            self._at.append(self._length)
            self._starts.append(start)
            self._ends.append(end)
        self._aligned = aligned
        self._parts.append(new)
        self._length += len(new)

    def done(self) -> Shadow:
        return Shadow("".join(self._parts), self._at, self._starts, self._ends)


def shadow(text: str) -> Shadow:
    """The shadow of `text`; `text` itself, uncopied, when there is nothing to normalise."""
    if _plain(text):
        return Shadow(text)
    builder, done, emphasis, quoted = Builder(), 0, _emphasis(text), Quoted(text)
    for spot in _SPOT.finditer(text):
        start, end = spot.span()
        if start > done:
            builder.put(text[done:start], done, start)
        if text[start] == "=":
            _put_quoted(builder, text, start, end, quoted)
        else:
            _put(builder, text, start, end, emphasis)
        done = end
    if done < len(text):
        builder.put(text[done:], done, len(text))
    result = builder.done()
    return Shadow(text) if result.text == text else result


_ASCII_SPOT = re.compile(
    r"[*_`\x00-\x08\x0e-\x1b\x7f]|=(?:[0-9A-F]{2}|\r?\n)|%[0-9A-Fa-f]{2}|&[#A-Za-z]|\\[uUx0-7.@+/ ,;:!\-]"
)
_SPOT = re.compile(
    r"[A-Za-z0-9]?[^\x00-\x7f]+"
    rf"|{COLOURS}|[\x00-\x08\x0e-\x1b\x7f]"
    r"|&(?:#0*[0-9]{1,7}|#[xX]0*[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
    r"|(?:%[0-9A-Fa-f]{2})+"
    rf"|{ESCAPES}"
    r"|(?<!\\)\\+(?:u[dD][89ABab][0-9A-Fa-f]{2}\\+u[dD][C-Fc-f][0-9A-Fa-f]{2}"
    r"|u[0-9A-Fa-f]{4}|u\{0*[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2})"
    rf"|{BACKSLASHED}"
    r"|(?<!\*)\*{1,3}(?!\*)|(?<!_)_{1,3}(?!_)|(?<!`)`{1,2}(?!`)"
)


def _plain(text: str) -> bool:
    if _ASCII_SPOT.search(text):
        return False
    return text.isascii() or all(_CHARS[char] == char and not _EXTENDS[char] for char in set(text))


def _put(builder: Builder, text: str, start: int, end: int, emphasis: set[int]) -> None:
    first = text[start]
    if first == "&":
        _put_escape(builder, text, start, end, _entity(text[start + 1 : end - 1]))
    elif first == "\\" and text[start:end].lstrip("\\")[:1] not in ("u", "U", "x"):
        for new, at, upto in backslashed(text, start, end):
            _put_escape(builder, text, at, upto, new) if new else builder.put("", at, upto)
    elif first == "\\":
        _put_escape(builder, text, start, end, _backslashed(text[start:end].lstrip("\\")))
    elif first == "%":
        _put_escapes(builder, text, start, end)
    elif first in CONTROLS:
        builder.put(text[start:end] if separates(text, start) else "", start, end)
    elif first in "*_`":
        builder.put("" if start in emphasis else text[start:end], start, end)
    else:
        _put_characters(builder, text, start, end)


def _put_characters(builder: Builder, text: str, start: int, end: int) -> None:
    while start < end:
        upto = start + 1
        if text[start] > _PLANES and (unseen := SMUGGLED.match(text, start, end)):
            builder.put(smuggled(unseen[0]), *unseen.span())
            start = unseen.end()
            continue
        while upto < end and upto - start < _LONGEST_SEQUENCE and _EXTENDS[text[upto]]:
            upto += 1
        if upto > start + 1:
            new = _sequence(text[start:upto])
        elif text[start] == _JOINER and _is_picture(text[start - 1 : start]) and _is_picture(text[upto : upto + 1]):
            new = _JOINER
        else:
            new = _CHARS[text[start]]
        builder.put(new, start, upto)
        start = upto


# UAX #15 (Stream-Safe Text Format) allows 30 marks behind a base; a longer run makes canonical reordering slow.
_LONGEST_SEQUENCE = 31
_PLANES = "\U000e0000"
_JOINER = "\u200d"


def _sequence(sequence: str) -> str:
    """A base with its marks: composed where Unicode composes, else (strike-through, zalgo) the bare ASCII base."""
    new = unicodedata.normalize("NFKC", _CHARS[sequence[0]] + sequence[1:])
    if new[:1].isascii():
        return "".join(char for char in new if not _EXTENDS[char])
    return new


def _is_picture(char: str) -> bool:
    return char != "" and (
        char == "\ufe0f" or unicodedata.category(char) == "So" or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


class _Characters(dict[str, str]):
    """What stands for a single character; "" if it is removed. Fills itself: a pure function of the character."""

    def __missing__(self, char: str) -> str:
        new = _plain_character(char)
        self[char] = new
        return new


class _Extends(dict[str, bool]):
    """True for a character that belongs to the one before it. Fills itself: a pure function of the character."""

    def __missing__(self, char: str) -> bool:
        mark = unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"
        self[char] = mark and not _INVISIBLE.match(char)
        return self[char]


_CHARS = _Characters()
_EXTENDS = _Extends()

# Format characters without a glyph (Unicode property Default_Ignorable_Code_Point), and the enclosing keycap.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_QUOTES = dict.fromkeys("‘’‚‛ʹʻʼʽ′‵´＇❛❜", "'") | dict.fromkeys("“”„‟″‶«»＂❝❞〝〞", '"')
_EXTRA_DASHES = "\u2212\u2043\u02d7\uff0d"
_LINE_ENDS = "\u0085\u2028\u2029"


def _plain_character(char: str) -> str:
    category = unicodedata.category(char)
    if char.isascii():
        return char
    if _INVISIBLE.match(char):
        return ""
    if char in _QUOTES:
        return _QUOTES[char]
    if category == "Pd" or char in _EXTRA_DASHES:
        return "-"
    if category == "Zs":
        return " "
    if char in _LINE_ENDS:
        return "\n"
    if category == "Nd":
        return str(unicodedata.decimal(char))
    # Footnote marks, circled numbers and vulgar fractions would melt into the number beside them, and the
    # spacing accents would become a space with a mark.
    if category in ("No", "Sk"):
        return char
    new = unicodedata.normalize("NFKC", char)
    return new if category != "So" or len(new) == 1 else char


# No escape is as short as this, so what stands for one never has its length by chance, and maps back as a whole.
_SHORTER_THAN_ESCAPES = 6


def _put_escape(builder: Builder, text: str, start: int, end: int, char: str) -> None:
    """`char` for the escape `[start, end)`; the escape itself if there is no such character, or none to be seen."""
    category = unicodedata.category(char) if char else ""
    new = _CHARS[char] if char else ""
    if category == "Cc":
        new = " "
    elif "\u0300" <= char <= "\u036f":
        new = ""
    elif not char or (new == char and not char.isprintable()):
        new = text[start:end]
    elif len(new) >= _SHORTER_THAN_ESCAPES:
        new = char
    builder.put(new, start, end)


def _entity(name: str) -> str:
    """The character of an HTML character reference, or "" if it names none, or more than one."""
    if name[0] == "#":
        return _character(name[2:], 16) if name[1] in "xX" else _character(name[1:], 10)
    char = html5.get(name + ";", "")
    return char if len(char) == 1 else ""


def _backslashed(escape: str) -> str:
    """The character of `u0040`, `ud83dude00` (two UTF-16 halves), `U00000040`, `u{40}` or `x40`, or ""."""
    first, _, second = escape[1:].partition("u")
    if second:
        halves = int(first.rstrip("\\"), 16), int(second, 16)
        return chr(0x10000 + (halves[0] - 0xD800) * 0x400 + halves[1] - 0xDC00)
    return _character(first.strip("{}"), 16)


def _character(number: str, base: int) -> str:
    """The character of a code; the zeros before it, of which there may be any number, are not read."""
    code = int(number.lstrip("0") or "0", base)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


_ONE_ESCAPE = 3


def _put_escapes(builder: Builder, text: str, start: int, end: int) -> None:
    """A run of percent escapes (RFC 3986), decoded where it is not a figure or a format; wrong UTF-8 stays."""
    decoded = bytes.fromhex(text[start:end].replace("%", "")).decode("utf-8", "surrogateescape")
    left, right = text[start - 1 : start] if start else "", text[end : end + 1]
    if not (end - start > _ONE_ESCAPE or _beside(left, right) or _part_of_a_value(decoded, left, right)):
        builder.put(text[start:end], start, end)
        return
    for char in decoded:
        wrong = "\ud800" <= char <= "\udfff"
        upto = start + _ONE_ESCAPE * (1 if wrong else len(char.encode()))
        _put_escape(builder, text, start, upto, "" if wrong else char)
        start = upto


def _put_quoted(builder: Builder, text: str, start: int, end: int, quoted: Quoted) -> None:
    """A run of quoted-printable escapes; anything else that looks like one stays."""
    if not quoted.holds(start):
        builder.put(text[start:end], start, end)
        return
    for char, first, last in characters(text[start:end]):
        _put_escape(builder, text, start + first, start + last, char)


def _beside(left: str, right: str) -> bool:
    """`0% 20` is a figure and `%20s` a format; in a URL an escape touches text on at least its right side."""
    return (left.isalnum() or left in tuple("=/&?:;.,_-~+@#")) and (right.isalnum() or right in tuple("=/&?:;.,_-~+@#"))


def _part_of_a_value(char: str, left: str, right: str) -> bool:
    """`%2B336...` and `...%30` at the edge of a text; `100%25` and `10%20 of` are neither."""
    return (char in "+@" or char.isalnum()) and (left.isalnum() or right.isalnum())


@dataclass(slots=True)
class _Opener:
    start: int
    end: int
    intraword: bool
    touches: bool


def _emphasis(text: str) -> set[int]:
    """Where the Markdown emphasis and code marks of `text` begin that belong together in pairs.

    A pair opens before and closes behind visible text, in one paragraph (`**`) or line (`*`). Underscores between
    letters are part of a name (`snake_case`); stars between letters on both ends of a pair are arithmetic.
    """
    removed: set[int] = set()
    openers: dict[str, _Opener] = {}
    for marker, start, end in _markers(text):
        left, right = text[start - 1 : start] if start else "", text[end : end + 1]
        intraword = left.isalnum() and right.isalnum()
        if intraword and marker[0] == "_":
            continue
        opener = openers.get(marker)
        if opener and left.strip() and (intraword or not right.isalnum()):
            del openers[marker]
            stop = "\n\n" if len(marker) > 1 and marker[0] != "`" else "\n"
            touches = opener.touches or left.isalnum() or right.isalnum()
            both = opener.intraword and intraword and marker[0] == "*"
            if touches and not both and opener.end < start and text.find(stop, opener.end, start) < 0:
                removed.update((opener.start, start))
                continue
        if right.strip() and (intraword or not left.isalnum()):
            openers[marker] = _Opener(start, end, intraword, left.isalnum() or right.isalnum())
    return removed


_MARKER = re.compile(r"(?<!\*)\*{1,3}(?!\*)|(?<!_)_{1,3}(?!_)|(?<!`)`{1,2}(?!`)")


def _markers(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _MARKER.finditer(text):
        yield match.group(), match.start(), match.end()

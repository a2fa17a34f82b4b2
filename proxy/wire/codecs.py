"""Text in other clothes (base64, base32, hexadecimal digits): recognised, decoded, encoded again in the same form.

Escapes (percent, HTML, backslash) are read where they stand by whoever searches a text. Here they matter only where
every character is escaped and what that says is encoded again.

What looks encoded but says no text is left alone, so nothing is ever changed because of a wrong guess. Sources: RFC
4648 (base64 in both alphabets, base32 in either case; padding optional), RFC 2045 6.8 (lines). Linear.

May import: codec, the standard library.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from proxy.wire.codec import ESCAPED, Codec

SHORTEST = 8
"""Fewest characters of an encoded text: five or six letters in base64."""
_SURE = 16
"""From this many decoded bytes on, chance no longer makes text: a random byte is a printable one in 3 of 8 cases."""
_SHORTEST_LINE = 32
_MOST_CONTROLS = 8
_MOST_PADDING = 2
_NO_BASE32 = (1, 3, 6)
"""Characters of a last group that no number of bytes gives."""

_RUN = re.compile(
    r"(?P<skip>\\[nrt])|(?P<spaced>(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?P<sep>[ :\-])"
    r"(?:[0-9A-Fa-f]{2}(?P=sep)){4,}[0-9A-Fa-f]{2}(?![0-9A-Fa-f]))"
    r"|(?P<escaped>(?:%[0-9A-Fa-f]{2}){8,}+|(?:&#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6});){8,}+|(?:\\u[0-9A-Fa-f]{4}){8,}+)"
    r"|(?:[A-Za-z0-9+/_\-]|%2[BbFf]){8,}+(?P<pad>={1,6}|(?:%3[Dd]){1,2})?"
)
_TWICE = re.compile(r"%25[0-9A-Fa-f]{2}|&amp;(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|&(?:#[0-9xX]|[A-Za-z]{2,30};)|\\[uUx][0-9A-Fa-f]")
_WORD = re.compile(r"[^\s\"'<>]+")
_BASE32 = re.compile(r"(?:[A-Z2-7]+|[a-z2-7]+)={0,6}\Z")
_HEX = re.compile(r"(?:0[xX])?(?:[0-9A-Fa-f]{2})+\Z")
_LINE_BREAK = r"(?:\r?\n[ \t>]{0,8}|(?:\\r)?\\n|(?:%0[Dd])?%0[Aa])"
_BREAK = re.compile(_LINE_BREAK)
_QUOTED = re.compile(r"[A-Za-z0-9_.~+/\-]*+%[0-9A-Fa-f]{2}(?:[A-Za-z0-9_.~+/\-]|%[0-9A-Fa-f]{2})*+")
_SAFE = ("/", "", "+", "/+")
_TAIL = re.compile(rf"({_LINE_BREAK})" + r"([A-Za-z0-9+/_\-]{1,7}={0,6})(?![A-Za-z0-9+/_\-=%])")
_TO_STANDARD = str.maketrans("-_", "+/")
_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])
_WORDLIKE = re.compile(r"[\w .@,:;/+\-'()\n\r\t]*\Z")


@dataclass(frozen=True, slots=True)
class Run:
    """`[start, end)` of a text says `says`, encoded with `codec`."""

    start: int
    end: int
    says: str
    codec: Codec


def runs(text: str) -> list[Run]:
    """Every encoded text in `text`, in order and disjoint."""
    if len(text) < SHORTEST:
        return []
    twice = list(_twice(text)) if _TWICE.search(text) else []
    if not twice and "%" in text:
        twice = list(_words(text))
    found = _once(text)
    if not twice:
        return found
    starts = [run.start for run in twice]
    apart = [run for run in found if not _overlaps(run, twice, bisect_right(starts, run.start))]
    return sorted([*twice, *apart], key=lambda run: run.start)


def _overlaps(run: Run, others: list[Run], place: int) -> bool:
    before, after = others[place - 1] if place else None, others[place] if place < len(others) else None
    return (before is not None and before.end > run.start) or (after is not None and after.start < run.end)


def _twice(text: str) -> Iterator[Run]:
    """Words in which every escape is escaped once more (`%2540`, `&amp;#64;`): without that, they are read as usual."""
    for word in _WORD.finditer(text):
        written = word[0]
        for name, sign, escaped in (("percent twice", "%", "%25"), ("html twice", "&", "&amp;")):
            if escaped in written and written.count(sign) == written.count(escaped) and _TWICE.search(written):
                yield Run(word.start(), word.end(), written.replace(escaped, sign), Codec(name))
                break


def _words(text: str) -> Iterator[Run]:
    """Words quoted for a URL whose text is itself encoded, so that reading the quoting alone would say nothing."""
    for word in _QUOTED.finditer(text):
        try:
            says = unquote(word[0], errors="strict")
        except UnicodeDecodeError:
            continue
        if not (_ESCAPE.search(says) or "\n" in says):
            continue
        codec = next((codec for codec in _word_codecs(word[0]) if codec.write(says) == word[0]), None)
        if codec is not None and (_ESCAPE.search(says) or runs(says)):
            yield Run(word.start(), word.end(), says, codec)


def _word_codecs(word: str) -> Iterator[Codec]:
    upper = not any("a" <= char <= "f" for escape in ESCAPED.findall(word) for char in escape)
    return (Codec("percent word", upper=upper, prefix=safe) for safe in _SAFE)


def _once(text: str) -> list[Run]:
    found: list[Run] = []
    waiting = [match for match in _RUN.finditer(text) if not match["skip"]]
    at = 0
    while at < len(waiting):
        lines = waiting[at : at + _lines(text, waiting, at)]
        run = _of_lines(text, lines)
        found += [run] if run is not None else [piece for line in lines for piece in _of_match(line)]
        at += len(lines)
    return found


def _lines(text: str, matches: list[re.Match[str]], at: int) -> int:
    """How many runs from `at` on are lines of one text: equally long but for the last, nothing but breaks between."""
    first = matches[at]
    width = _size(first)
    if width < _SHORTEST_LINE or first["spaced"] or first["escaped"]:
        return 1
    count = 1
    while at + count < len(matches):
        last, following = matches[at + count - 1], matches[at + count]
        if last["pad"] or _size(last) != width or _size(following) > width:
            break
        if (
            not _BREAK.fullmatch(text, last.end(), min(following.start(), last.end() + 12))
            or following["spaced"]
            or following["escaped"]
        ):
            break
        if following.start() > last.end() + 12:
            break
        count += 1
    return count


def _size(match: re.Match[str]) -> int:
    """Characters of the alphabet in a line, quoted ones counted once."""
    return len(match[0]) - 2 * match[0].count("%")


def _of_lines(text: str, matches: list[re.Match[str]]) -> Run | None:
    """One text over several lines, the last of which may be too short to count as a run."""
    start, end = matches[0].span()
    width = _size(matches[0])
    joined = "".join(match[0] for match in matches)
    last = matches[-1]
    end = last.end()
    tail = None
    if width >= _SHORTEST_LINE and not last["pad"] and not (last["spaced"] or last["escaped"]) and _size(last) == width:
        tail = _TAIL.match(text, end)
    if tail is not None:
        joined, end = joined + tail[2], tail.end()
    if tail is None and len(matches) == 1:
        return None
    run = _letters(joined, start)
    if run is None:
        return None
    line_break = tail[1] if len(matches) == 1 and tail is not None else text[matches[0].end() : matches[1].start()]
    return Run(start, end, run.says, replace(run.codec, width=width, line_break=line_break))


def _of_match(match: re.Match[str]) -> Iterator[Run]:
    """What one run of characters says: all of it, or else its parts between signs of the alphabet."""
    written, start = match[0], match.start()
    if match["spaced"]:
        run = _hex(written, start, match["sep"])
        yield from [run] if run is not None else []
        return
    run = _escaped(written, start) if match["escaped"] else _either(written, start)
    if run is not None:
        yield run
    if run is not None or match["escaped"]:
        return
    for signs in ("-_", "-_/+"):
        parts = list(_pieces(written, start, signs))
        if parts:
            yield from parts
            return


def _pieces(written: str, start: int, signs: str) -> Iterator[Run]:
    for part in re.finditer(rf"[^{re.escape(signs)}]{{{SHORTEST},}}", written):
        if len(part[0]) < len(written):
            run = _either(part[0], start + part.start())
            if run is not None:
                yield run


def _either(written: str, start: int) -> Run | None:
    """Hexadecimal digits, base64 or base32, whichever says something."""
    run = _hex(written, start, "") if _HEX.match(written) else None
    return run or _letters(written, start)


def _letters(written: str, start: int) -> Run | None:
    return _base64(written, start) or (_base32(written, start) if _BASE32.match(written) else None)


def _escaped(written: str, start: int) -> Run | None:
    """Escapes that say something encoded once more."""
    try:
        if written[0] == "%":
            codec = Codec("percent", upper=written.upper() == written)
            says = bytes.fromhex(written.replace("%", "")).decode("utf-8")
        elif written[0] == "&":
            says, codec = html.unescape(written), Codec("html", prefix="x" if written[2] in "xX" else "")
        else:
            data = bytes.fromhex(written.replace("\\u", ""))
            says, codec = data.decode("utf-16-be"), Codec("escapes")
    except UnicodeDecodeError:
        return None
    again = says.lstrip()[:1] in {"{", "["} or _ESCAPE.search(says) or runs(says)
    return Run(start, start + len(written), says, codec) if again else None


def _hex(written: str, start: int, between: str) -> Run | None:
    prefix = written[:2] if written[1:2] in ("x", "X") else ""
    digits = written[len(prefix) :].replace(between, "") if between else written[len(prefix) :]
    told = _text(bytes.fromhex(digits))
    if told is None:
        return None
    upper = any("A" <= char <= "F" for char in digits)
    return Run(start, start + len(written), told[0], Codec("hex", told[1], upper, prefix, between))


def _base32(written: str, start: int) -> Run | None:
    bare = written.rstrip("=")
    padding = "=" * (-len(bare) % 8)
    if len(bare) % 8 in _NO_BASE32 or (bare != written and written != bare + padding):
        return None
    told = _text(base64.b32decode(bare.upper() + padding))
    if told is None:
        return None
    upper, padded = bare.upper() == bare, "=" if bare != written or not padding else ""
    return Run(start, start + len(written), told[0], Codec("base32", told[1], upper, padding=padded))


def _base64(written: str, start: int) -> Run | None:
    bare = written.rstrip("=")
    written = written[: len(bare) + _MOST_PADDING]  # what else may stand there belongs to base32
    percent = "%" in bare
    padding = "=" if len(bare) < len(written) else ""
    if percent:
        unpadded = re.sub(r"(?:%3[Dd]){1,2}\Z", "", bare)
        padding = "%3D" if len(unpadded) < len(bare) else padding
        bare = re.sub(r"%2[Bb]", "+", re.sub(r"%2[Ff]", "/", unpadded))
    url = "-" in bare or "_" in bare
    if len(bare) % 4 == 1 or len(bare) < SHORTEST - 2 or (url and ("+" in bare or "/" in bare)):
        return None
    if not padding and len(bare) % 4 == 0 and not url:
        padding = "="
    try:
        data = binascii.a2b_base64(bare.translate(_TO_STANDARD) + "=" * (-len(bare) % 4))
    except binascii.Error:
        return None
    told = _text(data)
    if told is None:
        return None
    return Run(
        start, start + len(written), told[0], Codec("base64", told[1], url=url, padding=padding, percent=percent)
    )


def _text(data: bytes) -> tuple[str, str] | None:
    """What bytes say and in which charset; None if they are no text, which short ones must be more clearly."""
    for charset in _charsets(data):
        try:
            text = data.decode(charset)
        except UnicodeDecodeError:
            continue
        return (text, charset) if _is_text(text, len(data)) else None
    return None


def _charsets(data: bytes) -> tuple[str, ...]:
    if len(data) % 2 == 0 and len(data) >= SHORTEST:
        if data[1::2].count(0) * 4 >= len(data[1::2]) * 3:
            return ("utf-16-le",)
        if data[::2].count(0) * 4 >= len(data[::2]) * 3:
            return ("utf-16-be",)
    plain = sum(32 <= byte < 127 for byte in data[:256])
    return ("utf-8", "latin-1") if plain * 4 >= len(data[:256]) * 3 else ("utf-8",)


def _is_text(text: str, size: int) -> bool:
    controls = len(text) - len(text.translate(_WITHOUT_CONTROLS))
    if size >= _SURE:
        return controls * _MOST_CONTROLS <= len(text)
    return not controls and _WORDLIKE.match(text) is not None and any(map(str.isalnum, text))


_WITHOUT_CONTROLS = {**dict.fromkeys(_CONTROLS), **dict.fromkeys(range(0x80, 0xA0))}

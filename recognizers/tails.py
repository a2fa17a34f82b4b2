"""How a postal address goes on around what a pattern took: house number before; unit, town, postcode, country behind.

Addresses of all countries meet in English text, in every order (`Suite 3, Hella 851`, `Sparta, United States 49345`).
A street is what patterns are sure of; from there on, one part after the other is taken along while it can be nothing
else. Pure; looks at a hundred code points around a span, whatever the length of the text.

May import: recognizers.words, the standard library.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recognizers.words import CALENDAR, FUNCTION

COUNTRIES = (
    "United States of America|United States|USA|U\\.S\\.A\\.|United Kingdom|Great Britain|England|Scotland|Wales|"
    "Northern Ireland|Ireland|Germany|Deutschland|France|Austria|Österreich|Switzerland|Schweiz|Suisse|Svizzera|"
    "Netherlands|The Netherlands|Nederland|Belgium|Belgique|België|Luxembourg|Liechtenstein|Denmark|Danmark|Greenland|"
    "Sweden|Sverige|Norway|Norge|Finland|Suomi|Iceland|Ísland|Estonia|Latvia|Lithuania|Poland|Polska|Czech Republic|"
    "Czechia|Slovakia|Slovenia|Slovenija|Hungary|Magyarország|Romania|Bulgaria|Croatia|Serbia|Bosnia and Herzegovina|"
    "North Macedonia|Albania|Greece|Cyprus|Malta|Turkey|Türkiye|Italy|Italia|Spain|España|Portugal|Ukraine|Russia|"
    "Canada|Mexico|México|Brazil|Brasil|Argentina|Chile|Uruguay|Colombia|Peru|Australia|New Zealand|South Africa|"
    "Nigeria|Kenya|Egypt|Morocco|Maroc|Tunisia|Tunisie|Algeria|Israel|India|Pakistan|Bangladesh|China|Hong Kong|Japan|"
    "South Korea|Singapore|Malaysia|Indonesia|Philippines|Thailand|Vietnam|Saudi Arabia|United Arab Emirates"
)
"""As addresses name them; an alternation."""

_GAP = r"(?:[ \u00a0]{1,2}|[ ]?\.?,[ ]{0,2}|\.(?=\n))?(?:\r?\n[ \t]{0,8})?"
_UNIT_WORD = r"apt|apartment|appartement|suite|ste|unit|flat|floor|room|rm|bldg|building|studio|lot|box"
_UNIT = re.compile(rf"(?:(?:{_UNIT_WORD})\b\.?[ ]?#?[ ]?|#[ ]?)(?:[a-z]-?)?\d{{1,5}}[a-z]?\b", re.IGNORECASE)
_UNIT_AHEAD = re.compile(rf"\b(?:{_UNIT_WORD})\.?$", re.IGNORECASE)
_UNIT_NUMBER = re.compile(r"\.?[ ]?#?\d{1,5}[A-Za-z]?\b")
_LONG = (
    r"\d{5}-\d{3,4}|\d{4}-\d{3}|\d{2}-\d{3}|\d{3} \d{2}|\d{4} ?[A-Z]{2}|\d{4,6}"
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d"
)
_POSTCODE = re.compile(
    rf"(?:{_LONG}|\d{{3}}(?=[ ]?(?:[\n,.;?]|$|[ ][a-z])))(?![\w€$£%]|[.,:/\-]\d|[ ]\d)",
)
_SHORT_POSTCODE = re.compile(r"\d{3}(?=[ ][^\W\d_]{3})")
_REST_OF_ZIP = re.compile(r"-\d{3,4}(?![\w\-])")
_COUNTS = re.compile(
    r"[ ](?:euros?|dollars?|pounds|usd|gbp|eur|items?|units?|people|users|times|days|hours|years|miles|km|m2)\b", re.I
)
_YEAR = re.compile(r"(?:19|20)\d\d$")
_HELD = re.compile(rf"\d.*?[\s,](?:{_LONG})(?:,?[ ][^\W\d_][^\d]{{0,40}})?$", re.DOTALL)
_COUNTRY = re.compile(rf"(?:{COUNTRIES}|{COUNTRIES.upper()})(?![\w])")
_STATE = re.compile(r"[A-Z]{2,3}(?=,?[ ]\d{4,5}(?!\d))")
_WORD = r"[^\W\d_][\w'’.\-]{1,30}"
_TOWN = re.compile(rf"{_WORD}(?:[ \-](?:(?:am|an der|sur|de|di|do|da|la|le|of|upon|in|i|på|nad)[ ])?{_WORD}){{0,3}}")
_ENDS = re.compile(r"(?:[ ][A-Z])?[ ]?(?:[.;,!?)](?:\s|$)|\r?\n|$)")
_SENTENCE_END = re.compile(r"\.[ \t]*\r?\n")
_QUARTER = re.compile(r"[ ][A-ZÅÄÖØ](?=[ ]?(?:,|\n|$))")
_UNIT_BEFORE = re.compile(rf"(?<!\w)(?:{_UNIT_WORD}|psc|cmr)\.?[ ](?:\d{{1,4}}[a-z]?,?[ ])?$", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(
    rf"(?<![\w.,:/€$£#\-])(?:(?:{_UNIT_WORD}|house|no)\.?[ ]?\d{{1,4}}[a-z]?,?[ ])?\d{{1,6}}[a-z]?[ ]$"
    rf"|(?<![\w.,:/€$£#\-])(?:{_UNIT_WORD})[ ]\d{{1,4}}[a-z]?,?[ ]$",
    re.IGNORECASE,
)
_PARTICLE_BEFORE = re.compile(
    r"(?<!\w)(?:(?:\d{1,4}[ ])?(?:[Vv]an (?:de[nr]?|het)|[Vv]an|[Dd]e|[Tt]en|[Tt]er|Am|An der)"
    r"|[Uu]l\.|[Aa]l\.|[Pp]l\.|[Oo]s\.|quai|Place|Quai)[ ]$"
)
_NO_TOWN = FUNCTION | CALENDAR
_REACH, _MOST_PARTS = 100, 6


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The address around `text[start:end]`, which holds its street at least."""
    start = _begin(text, start)
    seen = _Seen(code=_HELD.search(text[max(start, end - _REACH) : end]) is not None)
    for _ in range(_MOST_PARTS):
        taken = _next(text, start, end, seen)
        if taken is None:
            break
        end, seen = taken
    return start, end


class _Seen(NamedTuple):
    """What the address holds so far."""

    code: bool = False
    country: bool = False


def _begin(text: str, start: int) -> int:
    for pattern in (_NUMBER_BEFORE, _PARTICLE_BEFORE, _UNIT_BEFORE):
        if pattern is not _UNIT_BEFORE and not text[start : start + 1].isupper():
            continue
        before = text[max(0, start - 40) : start]
        if found := pattern.search(before):
            start -= len(before) - found.start()
    return start


def _next(text: str, start: int, end: int, seen: _Seen) -> tuple[int, _Seen] | None:
    """Where the next part of the address ends, and what it holds then."""
    value, ahead = text[start:end], text[end : end + _REACH]
    if seen.code and _SENTENCE_END.match(ahead):
        return None
    if seen.code and value[-4:].isdigit() and (rest := _REST_OF_ZIP.match(ahead)):
        return end + rest.end(), seen
    if _UNIT_AHEAD.search(value) and (number := _UNIT_NUMBER.match(ahead)):
        return end + number.end(), seen
    gap = re.match(_GAP, ahead)
    if gap is None or not gap.end():
        return None
    at = gap.end()
    if not seen.country:
        if unit := _UNIT.match(ahead, at):
            return end + unit.end(), seen
        if country := _COUNTRY.match(ahead, at):
            return end + country.end(), seen._replace(country=True)
        if quarter := _QUARTER.match(ahead):
            return end + quarter.end(), seen
    if not seen.code and (code := _postcode(ahead, at)):
        return end + code, seen._replace(code=True)
    if not seen.country and (town := _town(value, ahead, at, seen)):
        return end + town, seen
    return None


def _postcode(ahead: str, at: int) -> int | None:
    code = _POSTCODE.match(ahead, at)
    if code is None and ("\n" in ahead[:at] or "," in ahead[:at]):
        code = _SHORT_POSTCODE.match(ahead, at)
    if code is None or _COUNTS.match(ahead, code.end()):
        return None
    plain_year = _YEAR.match(code.group()) and not ahead[:at].strip(" ") and "\n" not in ahead[:at]
    return None if plain_year else code.end()


def _town(value: str, ahead: str, at: int, seen: _Seen) -> int | None:
    """A state before its postcode; capitalised words before a postcode or country, or behind a comma and at an end."""
    if state := _STATE.match(ahead, at):
        return state.end()
    town = _TOWN.match(ahead, at)
    if town is None:
        return None
    words = re.split(r"[ \-]", town.group())
    if not words[0][0].isupper() or words[0].rstrip(".").lower() in _NO_TOWN:
        return None
    for count in range(len(words), 0, -1):
        stop = at + len(town.group()) if count == len(words) else at + _length(town.group(), count)
        if not words[count - 1][0].isupper():
            continue
        gap = re.match(_GAP, ahead[stop:])
        behind = stop + (gap.end() if gap else 0)
        if behind > stop and (_COUNTRY.match(ahead, behind) or _postcode(ahead, behind)):
            return stop
        announced = "," in ahead[:at] if "\n" not in ahead[:at] else False
        if (announced or seen.code) and value[-1:].isdigit() and count <= 3 and _ENDS.match(ahead, stop):
            return stop
    return None


def _length(words: str, count: int) -> int:
    """Of the first `count` words."""
    return [found.start() for found in re.finditer(r"[ \-]", words)][count - 1]

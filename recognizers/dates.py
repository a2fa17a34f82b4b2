"""Dates of birth (a date behind a birth label) and plain dates.

May import: recognizers.base, recognizers.national.common, presidio_analyzer.
"""

from __future__ import annotations

import re
from datetime import date

from presidio_analyzer import EntityRecognizer

from recognizers.base import Entity, Rule, RuleRecognizer, fold
from recognizers.national.common import stated, words

_MONTHS = (
    ("january", "jan", "janvier", "janv", "januar", "jänner", "enero", "ene", "gennaio", "genn", "gen"),
    ("february", "feb", "février", "févr", "fév", "februar", "febrero", "febbraio", "febb"),
    ("march", "mar", "mars", "märz", "marzo", "mrz"),
    ("april", "apr", "avril", "avr", "abril", "abr", "aprile"),
    ("may", "mai", "mayo", "maggio", "magg", "mag"),
    ("june", "jun", "juin", "juni", "junio", "giugno", "giu"),
    ("july", "jul", "juillet", "juil", "juli", "julio", "luglio", "lug"),
    ("august", "aug", "août", "agosto", "ago"),
    ("september", "sept", "sep", "septembre", "septiembre", "setiembre", "settembre", "sett", "set"),
    ("october", "oct", "octobre", "oktober", "okt", "octubre", "ottobre", "ott"),
    ("november", "nov", "novembre", "noviembre"),
    ("december", "dec", "décembre", "déc", "dezember", "dez", "diciembre", "dic", "dicembre"),
)
_MONTH_OF = {fold(name): number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH = f"(?:{words(_MONTH_OF)})"
_YEAR = r"(?:1[89]|20)\d{2}"
_DAY = r"[0-3]?\d(?:st|nd|rd|th|er|ère|e|º|°|\.|o)?"

# What an unlabelled date may look like: years in full, except with slashes and two digits everywhere.
_ISO = rf"{_YEAR}-\d{{1,2}}-\d{{1,2}}|{_YEAR}/\d{{1,2}}/\d{{1,2}}|{_YEAR}\.\d{{2}}\.\d{{2}}"
_NUMERIC = (
    rf"\d{{1,2}}/\d{{1,2}}/{_YEAR}|\d{{1,2}}-\d{{1,2}}-{_YEAR}|\d{{1,2}}\.\d{{1,2}}\.{_YEAR}|\d{{2}}/\d{{2}}/\d{{2}}"
)
_NAMED = (
    rf"(?i:{_DAY}[ \-]?(?:of |de |di )?{_MONTH}\.?,?[ \-]{{0,2}}(?:de |del )?{_YEAR}"
    rf"|{_MONTH}\.?[ \-]{{0,2}}{_DAY},?[ \-]{{0,2}}{_YEAR}|{_YEAR}[ \-]{_MONTH}[ \-]\d{{1,2}})"
)
PLAIN = f"{_ISO}|{_NUMERIC}|{_NAMED}"
# Behind a birth label also: two-digit years in every form, spaces, and digits without separators.
_SHORT = (
    r"\d{1,2}/\d{1,2}/\d{2}|\d{1,2}-\d{1,2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{2}"
    rf"|\d{{1,2}}(?: ?[/.|\-]\s?| )\d{{1,2}}(?: ?[/.|\-]\s?| ){_YEAR}|{_YEAR} \d{{2}} \d{{2}}|\d{{8}}"
)
_SHORT_NAMED = rf"(?i:{_DAY}[ \-]?{_MONTH}\.?,?[ \-]{{0,2}}'?\d{{2}}|{_MONTH}\.?[ \-]{{0,2}}{_DAY},[ \-]'?\d{{2}})"
_WRAPPED = rf"(?i:{_DAY}\s{{1,2}}{_MONTH}\s{{1,2}}{_YEAR})"
LABELLED = f"{PLAIN}|{_WRAPPED}|{_SHORT}|{_SHORT_NAMED}"

_BIRTH = (
    "dob",
    "d.o.b.",
    "date of birth",
    "birth date",
    "birthdate",
    "birthday",
    "born",
    "born on",
    "birth",
    "ddn",
    "d.d.n.",
    "né le",
    "née le",
    "né(e) le",
    "ne(e) le",
    "né",
    "née",
    "né(e)",
    "mise au monde",
    "mis au monde",
    "mise au monde le",
    "date de mise au monde",
    "né·e le",
    "nés le",
    "nées le",
    "date de naissance",
    "naissance",
    "date naissance",
    "anniversaire",
    "geboren",
    "geboren am",
    "geb",
    "geb.",
    "geb am",
    "geburtsdatum",
    "geburtstag",
    "nacido",
    "nacida",
    "nacido el",
    "nacida el",
    "nacido/a",
    "nacido/a el",
    "nacido(a) el",
    "fecha de nacimiento",
    "fecha nacimiento",
    "f. nac.",
    "f. nacimiento",
    "nacimiento",
    "nato",
    "nata",
    "nato il",
    "nata il",
    "nato/a",
    "nato/a il",
    "nato(a) il",
    "data di nascita",
    "data nascita",
    "nascita",
    "geboortedatum",
    "geboren op",
    "data urodzenia",
    "fecha de nac",
    "fec nac",
    "fnac",
)
_ON = r"(?:on|the|le|am|el|il|den|der|dem|du|vom|is|est|ist|es|was|a)"
_WEEKDAY = r"(?:\pL{3,10}(?:day|di|tag|manche|nes|es|og|mstag|ì|nica|bado|coles)\.?,? )?"


def calendar_date(value: str) -> bool:
    """True if the value is a day that exists, read in any of the usual orders (proleptic Gregorian calendar)."""
    numbers = [int(number) for number in re.findall(r"\d+", value)]
    name = next((_MONTH_OF[word] for word in re.findall(r"[a-z]{3,}", fold(value)) if word in _MONTH_OF), None)
    if name is not None:
        return len(numbers) == 2 and any(_exists(year, name, day) for year, day in (numbers, numbers[::-1]))
    if len(numbers) == 1:
        text = re.sub(r"\D", "", value)
        numbers = [int(text[:4]), int(text[4:6]), int(text[6:])]
        other = [int(text[:2]), int(text[2:4]), int(text[4:])]
        return _any_order(numbers) or _any_order(other)
    return len(numbers) == 3 and _any_order(numbers)


def _any_order(numbers: list[int]) -> bool:
    first, second, third = numbers
    return any(_exists(*order) for order in ((first, second, third), (third, second, first), (third, first, second)))


def _exists(year: int, month: int, day: int) -> bool:
    if year < 100:
        year += 1900 if year > 30 else 2000
    if not 1850 <= year <= 2100:
        return False
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _birth(name: str, between: str) -> Rule:
    regex = rf"(?i:(?:\A|[^\pL\pN])(?:{words(_BIRTH)}){between}){_WEEKDAY}(?P<v>{LABELLED})"
    return Rule("DATE_OF_BIRTH", name, regex, check=calendar_date, bare=0.95, labelled=0.95)


RULES: tuple[Rule, ...] = (
    Rule(
        "DATE_OF_BIRTH",
        "date glued to its birth label",
        r"(?i:(?:\A|[^\pL\pN])(?:n[ée]e?(?:\(e\))? ?le|ddn|dob))(?P<v>\d\d?[/.\-]\d\d?[/.\-](?:\d{4}|\d\d))\b",
        check=calendar_date,
        bare=0.9,
        boundary="digit",
    ),
    stated("DATE_OF_BIRTH", "date behind a birth label", _BIRTH, LABELLED, 0.95, calendar_date),
    _birth("date behind a birth label and a small word", rf"[^\pL\pN]{{0,4}}(?:{_ON}[^\pL\pN]{{1,3}}){{0,2}}"),
    _birth(
        "date behind a birth label and a name or place",
        r"[ ,:]{1,2}[\pL'’.() \-]{1,48}[ ,](?:on|le|am|il|el|den|,|:)[ :]{1,2}",
    ),
    Rule(
        "DATE_OF_BIRTH",
        "year or month behind a birth label",
        rf"(?i:(?:\A|[^\pL\pN])(?:born|née?s?|geboren|jahrgang|geb\.|jg\.|nacid[oa]|nat[oa]|ddn|dob|date of birth|"
        rf"year of birth|"
        rf"birth year|année de naissance|geburtsjahr|año de nacimiento|anno di nascita)"
        rf"(?:[ :=,]{{1,3}}|[ ](?:in|en|im|nel|on|le|el|il|am|est)[ ])(?:the year |l['’]année |jahr |año )?)"
        rf"(?P<v>(?i:(?:{_DAY} ?)?{_MONTH}\.?(?: de| del)? )?(?:19|20)\d{{2}}|\d{{1,2}}[/.\-](?:19|20)\d{{2}}|"
        rf"(?i:{_DAY} ?(?:de )?{_MONTH}))",
        bare=0.75,
        labelled=0.75,
    ),
    Rule(
        "DATE_OF_BIRTH",
        "date before a birth label",
        rf"(?P<v>{LABELLED})[ ,]?[ \-]?[(\[](?i:dob|d\.o\.b\.?|date of birth|birth ?date|born|ddn|"
        r"(?:date de )?naissance|geburtsdatum|geb\.?|n[ée]e?)[)\]]",
        check=calendar_date,
        bare=0.9,
        labelled=0.9,
    ),
    Rule(
        "DATE_OF_BIRTH",
        "date behind a star",
        r"[\pL)] ?[,(]{0,2} ?\* ?(?P<v>\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2}))",
        check=calendar_date,
        bare=0.8,
        labelled=0.8,
    ),
    Rule(
        "DATE_OF_BIRTH",
        "date between sex and next field",
        rf"[|,;] ?[\"']?(?:[MFHWmfhw]|(?i:male|female|homme|femme))[\"']? ?[|,;] ?[\"']?(?P<v>{_ISO}|{_NUMERIC})",
        check=calendar_date,
        bare=0.75,
        labelled=0.75,
    ),
    Rule(
        "DATE_OF_BIRTH",
        "date before an age",
        rf"(?P<v>{PLAIN}) ?[(,] ?(?:aged? )?\d{{1,3}} ?(?i:ans|years|yrs|y\.?/?o|jahre|años|anni)\b",
        check=calendar_date,
        bare=0.8,
        labelled=0.8,
    ),
    Rule("DATE_TIME", "calendar date", PLAIN, check=calendar_date, bare=0.6, labelled=0.6),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "DATE_OF_BIRTH",
        "Date of birth",
        "Date of birth: 29/02/1988",
        "29/02/1988",
        "a day that exists, at a birth label",
        "HIPAA 45 CFR 164.514(b)(2)(i)(C)",
    ),
    Entity(
        "DATE_TIME",
        "Calendar date",
        "The meeting of 29 February 2024 is off.",
        "29 February 2024",
        "a day that exists",
        "ISO 8601; usual forms of en, fr, de, es, it",
    ),
)


def build() -> list[EntityRecognizer]:
    return [RuleRecognizer("dates", RULES)]

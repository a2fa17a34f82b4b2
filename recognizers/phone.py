"""Telephone numbers: international, national of the configured regions, and North American by their shape.

Source: ITU-T E.164 and E.123, the North American Numbering Plan, and libphonenumber's metadata for validity.
`phonenumbers.PhoneNumberMatcher` is not used: it tries the same digits many times over, for every region. Here RE2
finds chains of digit groups, cheap tests on their shape come first, and libphonenumber judges what is left.
May import: base, phonenumbers, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import phonenumbers

from recognizers.base import Rule, RuleRecognizer, Span, compile_re2, digits, fold, label_near

FEWEST, MOST = 7, 15

_LABELS = (
    "tel", "tél", "téléphone", "telephone", "phone", "phone number", "telefon", "telefono", "teléfono", "telefone",
    "telefoon", "tlf", "tfno", "mobile", "mob", "mobil", "móvil", "cell", "cellphone", "cell phone", "cellulare",
    "celular", "portable", "handy", "handynummer", "fax", "telefax", "télécopie", "call", "call me", "calling",
    "called", "dial", "ring", "text", "text me", "sms", "whatsapp", "signal", "gsm", "hotline", "landline",
    "rufnummer", "telefonnummer", "durchwahl", "anrufen", "erreichbar", "appeler", "appelez", "appelle", "rappeler",
    "rappelle", "joindre", "joignable", "joignables", "contacter", "numéro de téléphone", "n° de tél", "llamar",
    "llama", "llámame", "chiamare", "chiamami", "contact number", "contact no", "ph", "phones", "téléphones",
    "work phone", "home phone", "mobilnummer", "meine nummer", "rückruf", "rückruf unter", "mi número", "su número",
    "número de contacto", "contacto", "il mio numero", "mio numero", "suo numero", "recapito", "recapiti",
    "mon numéro", "son numéro", "my number", "her number", "his number", "their number", "your number", "teléfonos",
    "tfno.", "tlfno", "tlf.", "telf", "telf.", "pager", "beeper", "bip", "callback", "call back", "reached at",
    "angehörige", "familiar", "familiare", "contacto familiar", "dect", "secrétariat", "secretariat", "mov",
    "tel/fax", "wapp", "linea", "línea", "ligne directe", "standard", "emergency contact",
    "reach me", "reach me on", "reach us", "reach him", "reach her", "reach them", "helpline", "helpdesk",
)  # fmt: skip

_EXTENSION = re.compile(
    r"(?i)[ ,;]{0,2}(?:ext(?:ension)?|x|poste|durchwahl|dw|int|anexo)[ .:]{0,3}[0-9]{1,6}(?![0-9A-Za-z])"
    r"|,? ?#[0-9]{1,5}(?![0-9A-Za-z])"
)
_DATE_OR_FRACTION = re.compile(
    r"[0-9]{1,2}([./\-])[0-9]{1,2}\1(?:[0-9]{4}|[0-9]{2})(?:[ ]\(?[0-9]{1,3})?"
    r"|[0-9]{4}([./\-])[0-9]{1,2}\2[0-9]{1,2}(?:[ .\-/][0-9]+)*"
    r"|[0-9]+\.[0-9]+(?: [0-9]+\.[0-9]+)+|(?:[0-9] ){3,}[0-9]+(?: [0-9])*|0[.][0-9]+|(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
    r"|[0-9]+[.][0-9]{1,2}|(?:19|20)[0-9]{2}\s*-\s*(?:19|20)[0-9]{2}"
)
_NANP = (
    r"(?:(?:\+|00)?1[ .\-]{0,2})?(?:\([0-9]{3}\)[ .\-]{0,2}[0-9]{3}[ .\-]{1,2}[0-9]{4}"
    r"|[0-9]{3}([.\-])[0-9]{3}\1[0-9]{4})"
)
_SOCIAL_SECURITY = re.compile(r"[0-9]{3}[\-. ][0-9]{2}[\-. ][0-9]{4}")
_NANP_GROUPS = re.compile(_NANP)
_NANP_BLANKS = re.compile(r"[2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}")
_OTHER_NUMBER = re.compile(
    r"(?<![a-z0-9])(?:nhs|ssn|order|invoice|ref|reference|ticket|case|id|ids|account|acct|siret|siren|nir|isbn|issn"
    r"|ean|sku"
    r"|imei|serial|bsn|nif"
    r"|vat|tva|zip|postcode|version|mrn|rpps|policy|tracking|commande|facture|dossier|contrat|patient|kundennummer"
    r"|iban|card|page)s?"
    r"(?:[\s_\-]*(?:no|nr|number|numero|nummer|num|id|n))?[\s:.=#°\"']*$"
)
_DIRECT = re.compile(
    r"(?:[\s:.=#\"'()/|,\-]|to|number|no|nr|num|numero|nummer|n°|is|est|ist|es|e|me|at|on|au|le|him|her|us|sur|unter"
    r"|al|a|en|or|ou)*"
)


def unknown_regions(regions: Sequence[str]) -> list[str]:
    """The codes among `regions` that are no ISO 3166 region with telephone numbers (`UK`, `FE`)."""
    return [region for region in regions if region not in phonenumbers.SUPPORTED_REGIONS]


def phone_recognizer(regions: Sequence[str]) -> PhoneRecognizer:
    """Raises ValueError for a region that does not exist."""
    if wrong := unknown_regions(regions):
        raise ValueError(f"unknown phone regions: {', '.join(wrong)}")
    rule = Rule(
        entity="PHONE_NUMBER",
        name="phone",
        regex=r"(?:\+|\(\+?)?[0-9]{1,17}(?:(?: ?[().\-/] ?| )[().\-/]?[0-9]{1,17})*",
        labels=_LABELS,
        bare=0.6,
        labelled=0.9,
        wrong=0.6,
        before=45,
        after=0,
    )
    return PhoneRecognizer("phone", [rule], [_region(code) for code in regions])


@dataclass(frozen=True)
class Region:
    """What libphonenumber knows of a region: its trunk prefix, and the pattern of all its national numbers."""

    code: str
    prefix: str
    pattern: str

    @cached_property
    def national(self) -> Any:
        return compile_re2(self.pattern)


def _region(code: str) -> Region:
    data: Any = phonenumbers.PhoneMetadata.metadata_for_region(code)
    return Region(code, data.national_prefix or "", data.general_desc.national_number_pattern)


class PhoneRecognizer(RuleRecognizer):
    def __init__(self, name: str, rules: Sequence[Rule], regions: Sequence[Region]) -> None:
        self.regions = tuple(regions)
        super().__init__(name, rules)

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for chain in rule.pattern.finditer(text):
            start, end = chain.span()
            if end - start < FEWEST or not _stands_alone(text, start, end):
                continue
            for begin, upto in _pieces(text, start, end):
                begin, upto, score, why = self._best(rule, text, begin, upto)
                if score:
                    tail = _EXTENSION.match(text, upto, min(len(text), upto + 24))
                    yield Span(begin, tail.end() if tail else upto, rule.entity, score, f"{self.name}:{rule.name}", why)

    def _best(self, rule: Rule, text: str, start: int, end: int) -> tuple[int, int, float, str]:
        """The piece, or what is left of it without a count behind or before it (`212-555-0105 2 times`)."""
        whole = self._judge(rule, text, start, end)
        if "check failed" in whole[1] or "international form" in whole[1] or not whole[0]:
            for begin, upto in _shorter(text, start, end):
                score, why = self._judge(rule, text, begin, upto)
                if score >= 0.6 and score > whole[0] and "check failed" not in why:
                    return begin, upto, score, why
        return start, end, *whole

    def _judge(self, rule: Rule, text: str, start: int, end: int) -> tuple[float, str]:
        """Score and reason of one piece: 0 if it is no telephone number."""
        value = text[start:end]
        number = digits(value)
        if not FEWEST <= len(number) <= MOST + 2 or len(set(number)) < 2 or _DATE_OR_FRACTION.fullmatch(value):
            return 0.0, ""
        label = label_near(text, start, end, rule)
        other = label is None and _OTHER_NUMBER.search(fold(text[max(0, start - 30) : start]))
        if other and not _international(value, number):
            return 0.0, ""
        bare, why = self._bare(value, number)
        if label is None and bare < _BESIDE and _beside_contact(text, start, end) and self._valid_somewhere(number):
            return _BESIDE, "check passed, beside a name or mail address"
        if label is None and not bare and _USE_BEHIND.match(fold(text[end : end + 12])) and _GROUPED.fullmatch(value):
            return rule.wrong, "its use behind it"
        if label is None and _FOURS.fullmatch(value):
            return 0.0, ""
        if label is None:
            return (0.0, "") if _SOCIAL_SECURITY.fullmatch(value) else (bare, why)
        if bare or self._valid_somewhere(number):
            return rule.labelled, f"label '{label}'"
        near = _directly_labelled(rule, text, start)
        return (rule.wrong if near and len(number) <= MOST else 0.0), f"check failed, label '{label}'"

    def _bare(self, value: str, number: str) -> tuple[float, str]:
        """How sure the writing alone is."""
        if value.startswith(("+", "(+")):
            if _valid(value):
                return 0.9, "check passed"
            grouped = len(_GROUP.findall(value)) > 1 and number[0] != "0"
            return (
                0.62 if grouped and len(number) >= 8 else 0.5 if len(number) >= 10 and number[0] != "0" else 0.0
            ), "international form"
        exit_code = _EXIT_CODE.match(number)
        if exit_code and len(number) >= 10 and _valid(number[exit_code.end() :]):
            return 0.8, "check passed"
        if _NANP_GROUPS.fullmatch(value):
            return 0.75, "usual grouping"
        groups = len(_GROUP.findall(value))
        if _EUROPEAN.fullmatch(value) and self._valid_somewhere(number):
            return 0.65, "check passed, usual grouping"
        for region in self.regions:
            if region.prefix != "1" and region.prefix and not number.startswith(region.prefix):
                continue
            if not region.prefix and (len(number) < 9 or groups < 3):
                continue
            if region.prefix == "1" and not _NANP_BLANKS.fullmatch(value):
                continue
            if _national(region, number):
                # Ten digits behind a trunk 0 are a French number of any kind; elsewhere only mobiles are as rare.
                usual = region.code == "FR" and len(number) == 10 and value == number
                rare = groups <= 1 and number.startswith("0") and (usual or _mobile(region, number))
                return (0.65 if groups > 1 else 0.5 if rare else 0.0), f"check passed, region {region.code}"
        return 0.0, ""

    def _valid_somewhere(self, number: str) -> bool:
        return any(_national(region, number) for region in self.regions)


_FOURS = re.compile(r"[0-9]{4}(?:[ \-][0-9]{4}){1,4}")  # how cards are written, whole or in part
_BESIDE = 0.65
_USE_BEHIND = re.compile(r"[ ]{1,2}\(?(?:office|fax|mobile|cell|home|work|tel|direct|landline|buro|privat|mobil)\b")
_GROUPED = re.compile(r"\(?[0-9]{2,4}\)?[ .\-][0-9]{2,5}(?:[ .\-][0-9]{2,5}){0,3}")
# Italian mobiles and towns, German towns and mobiles: two groups, the second long enough.
_EUROPEAN = re.compile(
    r"3[0-9]{2}[ ./\-][0-9]{6,7}|0[1-9][0-9]{0,3}[ /\-][0-9]{5,8}|[679][0-9]{2}(?: [0-9]{2}){3}"
    r"|[679][0-9]{2}(?: [0-9]{3}){2}"
)
_MAIL_BEFORE = re.compile(r"@[\w.\-]{3,60}[ \t]?[,;|·/\t][ \t]?$")
_MAIL_AFTER = re.compile(r"[ \t]?[,;|·/\t][ \t]?(?:e-?mail|mail|correo|courriel|[\w.+\-]{1,60}@)")
_NAME_BEFORE = re.compile(r"[^\W\d_a-z][^\W\d_]+ [^\W\d_a-z][^\W\d_'’\-]+(?: \(|, )$")


def _beside_contact(text: str, start: int, end: int) -> bool:
    """`Rosa Ribas (689 179 166)`, `hr@x.example, 667374531`: in the place of a telephone number."""
    before, after = text[max(0, start - 64) : start], text[end : end + 64]
    if _MAIL_BEFORE.search(before) or _MAIL_AFTER.match(fold(after)):
        return True
    bracket = before.endswith("(") and after.startswith(")")
    return _NAME_BEFORE.search(before) is not None and (bracket or after[:1] in ("", ".", ",", "\n"))


def _national(region: Region, number: str) -> bool:
    significant = number[len(region.prefix) :] if region.prefix and number.startswith(region.prefix) else number
    if not region.national.fullmatch(significant):
        return False
    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(number, region.code)))
    except phonenumbers.NumberParseException:
        return False


def _mobile(region: Region, number: str) -> bool:
    """A mobile number with its trunk prefix (`06...`, `07...`) is one even without blanks: little else begins so."""
    kind = phonenumbers.number_type(phonenumbers.parse(number, region.code))
    return bool(kind == phonenumbers.PhoneNumberType.MOBILE)


def _international(value: str, number: str) -> bool:
    """A valid number with its country code: a label may say whose it is (`wa_id`), but not that it is none."""
    if value.startswith(("+", "(+")):
        return _valid(value)
    return number.startswith("00") and len(number) >= 10 and _valid(number[2:])


def _valid(value: str) -> bool:
    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse("+" + digits(value.replace("(0)", "")))))
    except phonenumbers.NumberParseException:
        return False


_EXIT_CODE = re.compile(r"00|011")
_GROUP = re.compile(r"[0-9]+")
_INTERNATIONAL_PREFIX = re.compile(r" 00(?=[1-9](?:[ .()/\-]{0,3}[0-9]){7})")
_USUAL = compile_re2(
    r"(?:\+|00)[1-9][0-9]{0,3}(?:[ .\-]?\(?[0-9]{1,4}\)?){2,5}"
    r"|(?:\+?1[ .\-])?\([0-9]{3}\)[ ]?[0-9]{3}[.\-][0-9]{4}|(?:\+?1[ .\-])?[0-9]{3}-[0-9]{3}-[0-9]{4}"
    r"|0[1-9](?: [0-9]{2}){4}|0[1-9](?:\.[0-9]{2}){4}|0[1-9](?:-[0-9]{2}){4}"
)


def _shorter(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The chain without its last group or two, and without its first, where groups stand apart by a blank."""
    gaps = [match.start() for match in re.finditer(" ", text[start:end])][-2:]
    for gap in reversed(gaps):
        yield start, start + gap
    first = text.find(" ", start, end)
    if first > 0 and _USUAL.fullmatch(text[first + 1 : end]):
        yield first + 1, end


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The chain itself, its opening bracket only with the closing one; in a long chain the usual forms of a number.

    A chain may also be two numbers (`06 12 34 56 78 / 06 98 ...`) or a number and a count (`0123456789 2`).
    """
    second = _INTERNATIONAL_PREFIX.search(text, start + FEWEST, end)
    while second:
        yield from _pieces_of_one(text, start, second.start())
        start = second.start() + 1
        second = _INTERNATIONAL_PREFIX.search(text, start + FEWEST, end)
    yield from _pieces_of_one(text, start, end)


def _pieces_of_one(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start <= 64 and sum(map(str.isdigit, text[start:end])) <= MOST + 2:
        if text[start] == "(" and ")" not in text[start:end]:
            start += 1
        yield start, end
        return
    for match in _USUAL.finditer(text[start:end]):
        begin, upto = start + match.start(), start + match.end()
        if not text[begin - 1 : begin].isdigit() and not text[upto : upto + 1].isdigit():
            yield begin, upto


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not part of a word, a decimal number, an identifier with dashes, or a currency amount."""
    left, right = text[start - 1 : start] if start else "", text[end : end + 1]
    before, after = text[max(0, start - 2) : start - 1] if start else "", text[end + 1 : end + 2]
    if (left.isascii() and left.isalnum()) or (right.isascii() and right.isalnum() and not _EXTENSION.match(text, end)):
        return False
    if (left in ("$", "€", "£", "¥", "#", "%") and text[start : start + 1] != "+") or right in ("%", "€", "$", "£"):
        return False
    if left in (".", "-", "_", "/", ":") and before.isascii() and before.isalnum() and text[start] != "+":
        return left == ":" and not before.isdigit()
    if left == "-" and text[start].isdigit() and before.strip() == "" and right == ".":
        return False
    return not (
        right in ("-", "_", "/", ":", ".", ",")
        and after.isascii()
        and after.isalnum()
        and right != ","
        and right != ":"
    )


def _directly_labelled(rule: Rule, text: str, start: int) -> bool:
    pattern = rule.label_pattern
    lead = fold(text[max(0, start - 30) : start])
    found = list(pattern.finditer(lead)) if pattern else []
    return bool(found) and _DIRECT.fullmatch(lead[found[-1].end() :]) is not None

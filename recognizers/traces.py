"""What a person leaves behind besides names and numbers of the state: pages, devices, places on the map, ages, recipes.

May import: recognizers.base, recognizers.national.common, python-stdnum, presidio_analyzer, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer
from stdnum import imei, imsi

from recognizers.base import Entity, Rule, RuleRecognizer, Span, alnum, digits, stdnum_check
from recognizers.national.common import has_digits, stated

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "URL",
        "Page of one person, or of an internal network",
        "CV: https://www.linkedin.com/in/mira-tallow-84",
        "https://www.linkedin.com/in/mira-tallow-84",
        "profile path of a known network, or a host name that only an internal network has",
        "the networks' own URL forms; RFC 6761, RFC 6762",
    ),
    Entity(
        "DEVICE_ID",
        "Number of a telephone, SIM card or medical device",
        "IMEI 35 999999 999998 0",
        "35 999999 999998 0",
        "Luhn (IMEI) or form, and a label",
        "3GPP TS 23.003; HIPAA 45 CFR 164.514(b)(2)(i)(M); stdnum.imei",
    ),
    Entity(
        "GEO_COORDINATES",
        "Geographic coordinates",
        "seen at 48.85837, 2.29448 last night",
        "48.85837, 2.29448",
        "range of both numbers, four decimals and more; or degrees, minutes, seconds; or a label",
        "ISO 6709, RFC 5870",
    ),
    Entity(
        "AGE",
        "Age over 89",
        "a 97-year-old woman",
        "97",
        "90 and more, with a unit or label that means an age",
        "HIPAA 45 CFR 164.514(b)(2)(i)(C)",
    ),
    Entity(
        "PRESCRIPTION_NUMBER",
        "Prescription number",
        "Rx number 9999998",
        "9999998",
        "behind its label",
        "HIPAA 45 CFR 164.514(b)(2)(i)(R)",
    ),
    Entity(
        "ICD_CODE",
        "Diagnosis code",
        "ICD-10: J45.909",
        "J45.909",
        "form, behind its label",
        "WHO ICD-10; CMS ICD-10-CM",
    ),
)

_NETWORK = (
    r"linkedin\.com/(?:in|pub)/|xing\.com/profile/|facebook\.com/|fb\.com/|instagram\.com/|tiktok\.com/@|twitter\.com/"
    r"|x\.com/|t\.me/|github\.com/|gitlab\.com/|bitbucket\.org/|keybase\.io/|orcid\.org/|researchgate\.net/profile/"
    r"|medium\.com/@|youtube\.com/@|threads\.net/@|mastodon\.social/@|stackoverflow\.com/users/\d+/|about\.me/|calendly\.com/"
    r"|doctolib\.fr/[a-z\-]+/[a-z\-]+/|strava\.com/athletes/|vk\.com/|ok\.ru/profile/|pinterest\.[a-z]{2,3}/"
)
_PROFILE = rf"(?i:(?:https?://)?(?:[a-z]{{2,3}}\.)?(?:{_NETWORK}))(?P<last>[\pL\pN_.%\-]{{2,64}})/?"
_INTERNAL = (
    r"(?i:https?://(?:(?:intranet|intra|sharepoint|wiki|jira|confluence|gitlab|git|hr|rh|portal|extranet|files)"
    r"(?:\.[a-z0-9\-]{1,63}){1,4}|[a-z0-9\-]{1,63}(?:\.[a-z0-9\-]{1,63}){0,4}\.(?:corp|internal|intranet|lan|local|home\.arpa))"
    r"(?::\d{1,5})?/[^\s\"'<>)\]]{1,200})"
)
_PUBLIC_WORDS = """
    about apps blog business careers company contact docs download events explore features groups hashtag help
    home i in intent issues jobs join legal login logout marketplace news notifications orgs pages policies
    policy pricing privacy pub pulls report search security settings share sharer sharer.php signin signup
    sponsors status store support terms topics tos trending watch
"""
_PUBLIC = frozenset(_PUBLIC_WORDS.split())


class PageRecognizer(RuleRecognizer):
    """A profile has one word behind its network's name; a repository or a help page has more, or a common word."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            value = text[span.start : span.end].rstrip(".,;:!?")
            last = value.rstrip("/").rpartition("/")[2].lstrip("@").lower()
            goes_on = text[span.end : span.end + 1]
            if rule.name == "profile" and (last in _PUBLIC or (goes_on.isalnum() or goes_on in ("/", "#", "?"))):
                continue
            if rule.name == "profile" and text[span.end - 1] == "/" and goes_on.isalnum():
                continue
            yield span._replace(end=span.start + len(value))


_LATITUDE = r"[+\-]?\d{1,2}\.\d{2,10}"
_LONGITUDE = r"[+\-]?\d{1,3}\.\d{2,10}"
_DMS = r"\d{1,3} ?° ?(?:\d{1,2} ?['’′m] ?)?(?:\d{1,2}(?:[.,]\d{1,6})? ?(?:[\"”″s]|'') ?)?"
_GEO_LABELS = (
    "gps",
    "coordinates",
    "coordonnées",
    "koordinaten",
    "coordenadas",
    "coordinate",
    "lat",
    "latitude",
    "lon",
    "long",
    "longitude",
    "lng",
    "geo",
    "location",
    "position",
    "breitengrad",
    "längengrad",
    "latitud",
    "longitud",
)


def _on_earth(value: str) -> bool:
    numbers = [float(number) for number in re.findall(r"[+\-]?\d+\.\d+", value)]
    return len(numbers) == 2 and abs(numbers[0]) <= 90 and abs(numbers[1]) <= 180


def _precise(value: str) -> bool:
    """Four decimals and more on both: eleven metres. Probabilities and weights lie between -1 and 1."""
    parts = re.findall(r"[+\-]?(\d+)\.(\d+)", value)
    return all(len(after) >= 4 for _, after in parts) and any(int(before) > 1 for before, _ in parts)


class GeoRecognizer(RuleRecognizer):
    """Two numbers alone: in a row of more they are a vector."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            before = text[max(0, span.start - 12) : span.start].rstrip(" ([")
            after = text[span.end : span.end + 12].lstrip(" )]")
            listed = re.search(r"\d[,;]$", before) or re.match(r"[,;] ?[+\-]?\d", after)
            if rule.name != "pair" or not listed:
                yield span


_YEARS_OLD = (
    r"(?:[ \-]?(?:years?|yrs?)[ \-]?(?:old|of age)|[ \-]?y[./]?o\b|[ \-]?year-old|[ \-]?jährig\pL{0,2}|[ \-]?Jahre? alt"
    r"| años de edad| anni di età| ans révolus)"
)
_AGED = (
    r"(?:\b(?i:aged?|âgée?s? de|âgé\(e\) de|alter|im alter von|edad|età|eta|di anni|de edad|âge|age|anni|ans)"
    r"(?: (?:is|of|est|ist|es|:))? ?[:=]? ?|\b(?i:homme|femme|patiente?|monsieur|madame|dame|varón|mujer|hombre"
    r"|paciente|señora?|uomo|donna|paziente|signora?) (?:de|di) )"
)
_OLD = r"(?:9\d|1[01]\d|12[0-5])"

_DEVICE = (
    "imei",
    "imsi",
    "iccid",
    "meid",
    "udid",
    "idfa",
    "device id",
    "device identifier",
    "sim card",
    "sim no",
    "android id",
    "advertising id",
    "geräte-id",
    "geräte id",
    "identifiant appareil",
    "device serial",
    "device serial number",
    "pacemaker serial",
    "implant serial",
    "pump serial",
    "udi",
    "n° de série de l'appareil",
    "pacemaker sn",
    "device sn",
    "numéro de série du stimulateur",
    "implant no",
    "lot implant",
)
_PRESCRIPTION = (
    "rx",
    "rx no",
    "rx number",
    "prescription number",
    "prescription no",
    "prescription id",
    "n° d'ordonnance",
    "numéro d'ordonnance",
    "ordonnance n°",
    "rezeptnummer",
    "rezept nr",
    "e-rezept",
    "número de receta",
    "n° receta",
    "receta n°",
    "numero ricetta",
    "nre",
    "ricetta n°",
    "ricetta elettronica",
)
_ICD = (
    "icd",
    "icd-10",
    "icd10",
    "icd-10-cm",
    "icd-9",
    "icd-11",
    "cim-10",
    "cim10",
    "cie-10",
    "cie10",
    "icd-10-gm",
    "diagnosis code",
    "diagnostic code",
    "dx code",
    "code diagnostic",
    "diagnoseschlüssel",
    "icd code",
)


def build() -> list[EntityRecognizer]:
    return [
        PageRecognizer("page", _page_rules()),
        GeoRecognizer("geo", _geo_rules()),
        RuleRecognizer("traces", [*_age_rules(), *_device_rules(), *_health_rules()]),
    ]


def _page_rules() -> list[Rule]:
    return [
        Rule("URL", "profile", _PROFILE.replace("?P<last>", ""), bare=0.85, boundary="none"),
        Rule("URL", "internal page", _INTERNAL, bare=0.85, boundary="none"),
    ]


def _geo_rules() -> list[Rule]:
    return [
        Rule(
            "GEO_COORDINATES",
            "pair",
            rf"{_LATITUDE} ?[,;] ?{_LONGITUDE}",
            lambda v: _on_earth(v) and _precise(v),
            bare=0.75,
            labelled=0.9,
            labels=_GEO_LABELS,
            boundary="digit",
        ),
        Rule(
            "GEO_COORDINATES",
            "labelled pair",
            rf"{_LATITUDE} ?[,;/ ] ?{_LONGITUDE}",
            _on_earth,
            _GEO_LABELS,
            labelled=0.85,
            before=30,
            after=0,
            boundary="digit",
        ),
        Rule("GEO_COORDINATES", "degrees", rf"{_DMS}[NS][ ,;/]{{0,3}}{_DMS}[EWO]\b", bare=0.9, boundary="digit"),
        Rule(
            "GEO_COORDINATES", "geo uri", r"(?i:geo:)(?P<v>[+\-]?\d{1,2}(?:\.\d+)?,[+\-]?\d{1,3}(?:\.\d+)?)", bare=0.9
        ),
        Rule(
            "GEO_COORDINATES",
            "field",
            r"(?i:\b(?:lat|latitude|lon|lng|longitude|latitud|longitud)\b[\"']?)[ \t]{0,2}[:=][ \t]{0,2}[\"']?"
            r"(?P<v>[+\-]?\d{1,3}\.\d{3,10})",
            bare=0.85,
        ),
    ]


def _age_rules() -> list[Rule]:
    return [
        Rule("AGE", "with its unit", rf"(?P<v>{_OLD}){_YEARS_OLD}", bare=0.9, boundary="digit"),
        Rule("AGE", "behind its label", rf"{_AGED}(?P<v>{_OLD})(?:\b|_)", bare=0.8, boundary="alnum"),
    ]


def _device_rules() -> list[Rule]:
    return [
        Rule(
            "DEVICE_ID",
            "IMEI",
            r"\d{2}[ \-]?\d{6}[ \-]?\d{6}[ \-]?\d",
            stdnum_check(imei, digits),
            _DEVICE,
            labelled=0.95,
        ),
        Rule(
            "DEVICE_ID", "IMSI", r"\d{14,15}", stdnum_check(imsi, digits), ("imsi",), labelled=0.9, before=20, after=0
        ),
        stated(
            "DEVICE_ID",
            "stated number",
            _DEVICE,
            r"(?i:\d{2}[ \-]?\d{6}[ \-]?\d{6}(?:[ \-]?\d{1,2})?|[A-Z0-9][A-Z0-9\-]{5,39})",
            0.85,
            _is_device,
        ),
    ]


def _is_device(value: str) -> bool:
    return len(digits(value)) >= 4 and len(alnum(value)) >= 6


def _health_rules() -> list[Rule]:
    return [
        stated(
            "PRESCRIPTION_NUMBER",
            "stated number",
            _PRESCRIPTION,
            r"(?i:[A-Z]{0,4}-?\d[A-Z\d\-]{4,19})",
            0.8,
            has_digits(5),
        ),
        stated(
            "ICD_CODE", "stated code", _ICD, r"(?i:[A-TV-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?[!*+]?|\d{3}\.\d{1,2})", 0.8
        ),
    ]

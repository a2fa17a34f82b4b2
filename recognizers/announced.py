"""Places that the words before them announce: `reside en X`, `la ville de X`, `prison de X`, `nato a X`.

For towns too small for a list and sentences that a model reads over: courts' and administrations' prose.
May import: recognizers.base, recognizers.words, presidio_analyzer.
"""

from __future__ import annotations

from collections.abc import Iterator

from presidio_analyzer import EntityRecognizer

from recognizers.base import Rule, RuleRecognizer, Span, fold
from recognizers.words import CALENDAR

_PLACE = (
    r"(?:(?:La|Las|Los|El|Le|Les|San|Santa|Saint|Sainte|Sankt|Bad)[ \-])?(?:\p{Lu}\p{Ll}{0,5}['’])?"
    r"\p{Lu}[\p{Ll}’']{2,24}"
    r"(?:[ \-](?:(?:de la|de los|de|del|sur|sous|en|la|le|les|an der|am|di|lès)[ \-])?\p{Lu}[\p{Ll}’']{2,24}){0,2}"
)
_SPANISH = (
    r"(?:resid(?:e|en|ía|ían|ente|entes|iendo)|domiciliad[oa]s?|nacid[oa]s?|naci(?:ó|eron)|ejercicio|ejercientes?"
    r"|empadronad[oa]s?|detenid[oa]s?|encarcelad[oa]s?|ingresad[oa]s?|recluid[oa]s?|sita?|afincad[oa]s?) en "
    r"|(?:ciudad|localidad|municipio|pueblo|provincia|isla|barrio|aeropuerto|puerto|prisión|cárcel|penal"
    r"|partido judicial|término municipal|centro penitenciario) de "
)
_FRENCH = (
    r"(?:rés(?:ide|ident|idait|idaient|idant)|demeurant|domiciliée?s?|né(?:e|s|es)?|détenue?s?|incarcérée?s?|écrouée?s?"
    r"|habit(?:e|ent|ait|ant)|exerçant|avocate?s?|installée?s?) (?:alors |actuellement )?à "
    r"|née?s? (?:au|à) "
    r"|(?:ville|commune|village|département|prison|aéroport|île|gare|quartier|sous-préfecture|canton) (?:de |d['’]|du )"
)
_GERMAN = r"(?:wohnhaft|geboren|ansässig|wohnt|wohnte|aufgewachsen) (?:in |zu )|(?:Stadt|Gemeinde|Landkreis|Bezirk) "
_ITALIAN = (
    r"(?:residente|residenti|nat[oaie]|domiciliat[oaie]|detenut[oaie]) (?:a |ad )"
    r"|(?:città|comune|provincia|carcere|aeroporto|isola) di "
)
_ENGLISH = (
    r"(?:born|lives|lived|living|resides|resided|residing|detained|grew up|raised|headquartered) in "
    r"|(?:city|town|village|county) of "
)
_RULES = (
    Rule(
        "LOCATION",
        "announced place",
        rf"\b(?:{_SPANISH}|{_FRENCH}|{_GERMAN}|{_ITALIAN}|{_ENGLISH})(?P<v>{_PLACE})",
        bare=0.6,
    ),
)


class PlaceRecognizer(RuleRecognizer):
    """Leaves out months: `born in March`."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for span in super().spans(rule, text):
            if fold(text[span.start : span.end]).partition(" ")[0] not in CALENDAR:
                yield span


def build() -> list[EntityRecognizer]:
    return [PlaceRecognizer("place", _RULES)]

"""What the countries share: rules for a value that follows its label, and documents named alike everywhere.

May import: recognizers.base.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from recognizers.base import Entity, Rule, alnum, digits, fold

ABOUT_A_PATIENT = (
    "patient",
    "patiente",
    "né le",
    "née le",
    "né",
    "née",
    "ddn",
    "hospitalisé",
    "hospitalisée",
    "hospitalisation",
    "consultation",
    "compte rendu",
    "identité",
    "dossier",
    "hôpital",
    "urgences",
    "nip",
    "ipp",
    "nda",
    "madame",
    "monsieur",
    "mme",
    "mlle",
)
"""What stands beside the bare numbers of a French hospital note: weak, so only for numbers of a hospital's form."""
_VARIANTS = {
    "a": "aàáâäãåąă",
    "c": "cçčć",
    "e": "eèéêëěę",
    "i": "iìíîïı",
    "n": "nñňń",
    "o": "oòóôöõőø",
    "r": "rř",
    "s": "sšśş",
    "u": "uùúûüůű",
    "z": "zžźż",
}
_GAP = {" ": r"[\s_\-]{0,3}", "'": "['’]?", ".": r"\.?", "°": "[°º]?"}
_OTHER = r"[^\pL\pN]"
_FILLERS = (
    "number",
    "numbers",
    "numero",
    "nummer",
    "num",
    "n.o",
    "nr",
    "n",
    "id",
    "ref",
    "code",
    "is",
    "was",
    "est",
    "ist",
    "es",
    "the",
    "of",
    "de",
    "du",
    "lautet",
    "provisoire",
)


def words(labels: Iterable[str]) -> str:
    """RE2 alternation of labels, longest first: accents, plain spaces, hyphens and underscores are optional in text."""
    ordered = sorted({fold(label) for label in labels}, key=len, reverse=True)
    return "|".join("".join(_letter(char) for char in label) for label in ordered)


def _letter(char: str) -> str:
    if char in _VARIANTS:
        return f"[{_VARIANTS[char]}]"
    return _GAP.get(char) or re.escape(char)


BEHIND_LABEL = (
    rf"(?:{_OTHER}{{0,2}}\([^()\n\d]{{0,24}}\))?"
    rf"(?:(?:{_OTHER}{{0,4}}(?:{words(_FILLERS)})){{0,3}}{_OTHER}{{1,6}}|[^:=\d\n]{{0,30}}[:=]{_OTHER}{{0,6}})"
)


def stated(
    entity: str,
    name: str,
    labels: Iterable[str],
    value: str,
    score: float = 0.8,
    check: Callable[[str], bool] | None = None,
) -> Rule:
    """A rule for a value that stands right behind its label (`No. 12`, `number is: 12`).

    No check digit is asked for: what the label names is somebody's number, even when mistyped. Written into the
    pattern, because a label this close outweighs a check and must not reach over other numbers.
    """
    regex = rf"(?i:(?:\A|{_OTHER})(?:{words(labels)}){BEHIND_LABEL})(?P<v>{value})(?:\b|_)"
    return Rule(entity, name, regex, check=check, bare=score, labelled=score)


def full(pattern: str) -> Callable[[str], bool]:
    """An `is_grouped` that wants the whole value to match `pattern` (Python syntax)."""
    compiled = re.compile(pattern)
    return lambda value: compiled.fullmatch(value) is not None


def has_digits(least: int, most: int = 99) -> Callable[[str], bool]:
    """A check that counts digits: words and short numbers are not document numbers."""
    return lambda value: least <= len(digits(value)) <= most


_PASSPORT = (
    "passport",
    "passport no",
    "passport number",
    "passeport",
    "n° passeport",
    "reisepass",
    "reisepassnummer",
    "passnummer",
    "pasaporte",
    "passaporto",
    "paspoort",
    "paspoortnummer",
    "paszport",
)
_ID_CARD = (
    "identity card",
    "id card",
    "national id",
    "carte d'identité",
    "carte nationale d'identité",
    "cni",
    "cnie",
    "personalausweis",
    "personalausweisnummer",
    "ausweisnummer",
    "ausweis nr",
    "carta d'identità",
    "c.i.e.",
    "identiteitskaart",
    "identitätskarte",
    "dowód osobisty",
    "documento de identidad",
)
_DRIVER = (
    "permis de conduire",
    "permis",
    "permis no",
    "führerschein",
    "führerscheinnummer",
    "führerschein nr",
    "rijbewijs",
    "permiso de conducir",
    "carnet de conducir",
    "patente di guida",
    "patente",
    "prawo jazdy",
)

_DOCUMENT = r"(?i:[A-Z]{0,3} ?\d{5,9}[A-Z]{0,2}|\d{2} ?[A-Z]{2} ?\d{5}|\d{12}|[A-Z0-9]{8,9})"


def _is_document(value: str) -> bool:
    return len(digits(value)) >= 3 and 6 <= len(alnum(value)) <= 14


RULES: tuple[Rule, ...] = (
    stated("PASSPORT", "passport", _PASSPORT, _DOCUMENT, 0.8, _is_document),
    stated("ID_CARD", "identity card", _ID_CARD, _DOCUMENT, 0.8, _is_document),
    stated(
        "DRIVER_LICENSE", "driving licence", _DRIVER, r"(?i:\d{2} ?[A-Z]{2} ?\d{5}|[A-Z0-9]{7,12})", 0.8, has_digits(4)
    ),
)

ENTITIES: tuple[Entity, ...] = (
    Entity("PASSPORT", "Passport number", "Passport no: 99ZZ99998", "99ZZ99998", "behind its label", "ICAO Doc 9303"),
    Entity(
        "ID_CARD",
        "Identity card number",
        "Carte nationale d'identité : ZZ9Z999Z8",
        "ZZ9Z999Z8",
        "behind its label",
        "ICAO Doc 9303; Regulation (EU) 2019/1157",
    ),
    Entity(
        "DRIVER_LICENSE",
        "European driving licence number",
        "Permis de conduire n° 99ZZ99998",
        "99ZZ99998",
        "behind its label",
        "Directive 2006/126/EC, field 5",
    ),
)

"""Postal addresses as one span each: street, unit, postcode and town, on one line or several.

Every pattern asks for a house number (or a postcode behind a street) and a capitalised name: a town, a postcode or
`5 rue` alone is not an address. May import: recognizers.base, recognizers.national.common, presidio_analyzer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers.base import Entity, Rule, RuleRecognizer, Span, to_result
from recognizers.national.common import words

_WORD = r"\p{Lu}[\pL'’.\-]{0,30}"
_CITY = rf"{_WORD}(?: (?:(?:de la|la|le|les|sur|sous|en|de|del|du|des|di|da|dei|am|an der|im|bei|of|on|upon|the) )?{_WORD}){{0,4}}"
_SEP = r"(?: ?, ?\n? {0,8}| ?[|·] ?| {0,2}\n {0,12}| {1,2})"
_BREAK = r"(?: ?, ?\n? {0,8}| ?[|·] ?| {0,2}\n {0,12})"

# -- English: USPS Publication 28 and Royal Mail forms ---------------------------------------------------------
_SUFFIX = (
    "street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|crescent|cres|terrace|terr?|close|"
    "gardens|gdns|grove|square|sq|highway|hwy|parkway|pkwy|circle|cir|way|mews|alley|turnpike|expressway|freeway"
)
_SUFFIX_CAPITALISED = "|".join(
    f"{word[0].upper()}(?:{word[1:]}|{word[1:].upper()})" for word in _SUFFIX.replace("terr?", "ter|terr").split("|")
)
_STATE = (
    "A[AEKLPRSZ]|C[AOT]|D[CE]|F[LM]|G[AU]|HI|I[ADLN]|K[SY]|LA|M[ADEHINOPST]|N[CDEHJMVY]|O[HKR]|P[ARW]|RI|S[CD]|T[NX]|UT|"
    "V[AIT]|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|"
    "Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|"
    "Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|"
    "Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|"
    "Wisconsin|Wyoming|District of Columbia|Puerto Rico"
)
_ZIP = r"\d{5}(?:-\d{4})?"
_COUNTRY = r"(?:,? (?:USA|U\.S\.A\.|United States|UK|United Kingdom|England|Scotland|Wales|France|FRANCE|Germany|Deutschland|España|Spain|Italia|Italy|Belgique|Suisse))?"
_US_TAIL = rf"{_CITY},?\s{{1,3}}(?:{_STATE}),?\s{{1,2}}{_ZIP}{_COUNTRY}"
_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_UNIT = r"(?:(?i:apt|apartment|suite|ste|unit|floor|fl|room|rm|bldg|building|flat|studio|lot|#)\.? ?#? ?[A-Za-z]?-?\d{0,5}[A-Za-z]?)"
_NUMBER = r"\d{1,6}(?:[A-Za-z]|-\d{1,4}[a-z]?| 1/2)?"
_NAME = rf"(?:[NSEW]{{1,2}}\.?|\d{{1,3}}(?:st|nd|rd|th)|{_WORD})"
_NAMES = rf"{_NAME}(?: (?:(?:of|the|de|la|del|and|le|st\.?) )?{_NAME}){{0,5}}"
_STREET = rf"{_NUMBER} {_NAME}(?: (?:(?:of|the|de|la) )?{_NAME}){{0,3}} (?:{_SUFFIX_CAPITALISED})\b\.?(?: (?:NE|NW|SE|SW|[NSEW])\b)?"
_BOX = r"(?:P\.? ?O\.? ?|Post Office )(?i:box) ?#?\d{1,6}"
_HOUSE = r"(?i:flat|apartment|apt|unit|studio|suite|room|floor)\.? ?\d{0,4}[A-Za-z]?"
_LOWER = r"[\pL'’.\-]{1,30}"

_ENGLISH = (
    ("US address", rf"{_NUMBER} {_NAMES}(?:{_SEP}{_UNIT})?{_SEP}(?:{_WORD}(?: {_WORD}){{0,3}}{_BREAK})?{_US_TAIL}", 0.9),
    ("US address with box", rf"{_BOX}{_SEP}{_US_TAIL}", 0.9),
    (
        "UK address",
        rf"(?:{_HOUSE},? (?:{_NUMBER} )?|{_NUMBER} |{_BOX}{_SEP})(?:{_NAMES}{_BREAK}){{0,4}}{_NAMES}(?:{_SEP}){_POSTCODE}{_COUNTRY}",
        0.9,
    ),
    (
        "UK address of a named house",
        rf"(?:{_WORD}(?: {_WORD}){{0,2}}, ?)?{_WORD}(?: {_WORD}){{0,2}} (?:{_SUFFIX_CAPITALISED}){_SEP}(?:{_NAMES}{_BREAK}){{0,2}}(?:{_NAMES}{_SEP})?{_POSTCODE}",
        0.85,
    ),
    (
        "lower-case address with postcode",
        rf"(?i:{_NUMBER} (?:{_LOWER} ){{1,4}}(?:{_SUFFIX})\b\.?(?:{_SEP}{_UNIT})?,?[ \n]{{1,2}}(?:{_LOWER},? ){{1,4}}(?:(?:{_STATE}),? {_ZIP}|{_POSTCODE}))",
        0.85,
    ),
    ("street with number", rf"(?:{_HOUSE},? )?{_STREET}(?:,? {_UNIT})?(?:, {_CITY}, (?:{_STATE})\b)?", 0.8),
    ("post office box", _BOX, 0.7),
)  # fmt: skip

# -- French: NF Z 10-011 ---------------------------------------------------------------------------------------
_VOIE = words((
    "rue", "avenue", "av", "av.", "ave", "boulevard", "bd", "bd.", "bld", "blvd", "boul.", "chemin", "ch.", "che", "impasse", "imp.",
    "allée", "allées", "all.", "place", "pl.", "route", "rte", "quai", "cours", "square", "sq.", "passage", "sentier", "ruelle",
    "faubourg", "fg", "fbg", "esplanade", "promenade", "rond-point", "lotissement", "hameau", "villa", "cité", "montée", "côte",
    "traverse", "venelle", "voie", "mail", "parvis", "clos", "résidence", "rampe", "chaussée", "galerie", "sente", "grande rue",
))  # fmt: skip
_PARTICLE = r"(?i:de la |de l['’] ?|du |des |de |d['’] ?|la |le |les |l['’] ?|au |aux |à |en |sur |et )"
_VOIE_NAME = (
    rf"(?:{_PARTICLE}{{0,2}}(?:{_WORD}|\d{{1,2}}(?:er)? (?i:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)(?: \d{{4}})?)"
    rf"(?: {_PARTICLE}{{0,2}}{_WORD}){{0,5}})"
)
_NO = r"\d{1,4}(?: ?(?i:bis|ter|quater|[a-f])\b)?(?: ?[\-/] ?\d{1,4})?"
_FR_BOX = r"(?:(?:B\.?P\.?|CS|TSA) ?\d{1,6}(?: \d{1,3})?)"
_FR_CITY = rf"(?:(?:{_CITY} )?(?i:cedex|paris|lyon|marseille) \d{{1,2}}\b|{_CITY}(?: (?i:cedex))?)"
_FR_TAIL = rf"(?:{_FR_BOX}{_SEP})?(?:(?:F|FR|B|L|CH)-? ?)?\d{{4,5}} {_FR_CITY}{_COUNTRY}"
_EXTRA = (
    r"(?:(?i:résidence|rés\.?|bâtiment|b[âa]t\.?|appartement|appt?\.?|étage|escalier|esc\.?|immeuble|imm\.?|entrée|porte|lotissement|lieu-dit|chez|c/o)"
    rf" (?:[\pL\d'’.\-]{{1,20}})(?: [\pL'’\-]{{1,20}}){{0,4}}|\d{{1,2}}(?:er|e|ème) étage){_BREAK}"
)
_FRENCH = (
    (
        "French address",
        rf"(?:{_EXTRA}){{0,3}}(?:{_NO} ?,? {{0,2}})?(?i:{_VOIE})\.? (?:{_VOIE_NAME}|(?:{_LOWER} ){{0,4}}{_LOWER})(?:{_SEP}(?:{_EXTRA}){{1,2}})?{_SEP}{_FR_TAIL}",
        0.9,
    ),
    ("French address of a place", rf"(?i:lieu-?dit|hameau|z\.?a\.?c?\.?|z\.?i\.?|résidence) {_VOIE_NAME}{_SEP}{_FR_TAIL}", 0.85),
    ("French post box", rf"{_FR_BOX}{_SEP}\d{{5}} {_FR_CITY}", 0.85),
    ("French street with number", rf"(?:{_EXTRA}){{0,3}}{_NO} ?,? {{0,2}}(?i:{_VOIE})\.? {_VOIE_NAME}", 0.8),
)  # fmt: skip

# -- German, Dutch, Spanish, Italian ---------------------------------------------------------------------------
_TAIL = rf"(?:(?:D|A|CH|DE|AT|E|I|NL|B)-? ?)?(?:\d{{5}}|\d{{4}}(?: ?[A-Z]{{2}})?) {_CITY}(?: \(?[A-Z]{{2}}\)?)?"
_DE_ALONE = r"(?:stra(?:ß|ss)e|str\.|allee|gasse|straat|gracht|laan)"
_DE_TYPE = r"(?:stra(?:ß|ss)e|str\.?|weg|allee|platz|gasse|ring|damm|ufer|steig|pfad|chaussee|markt|berg|hof|graben|wall|stieg|straat|laan|plein|gracht|kade|dijk|singel)"
_DE_NUMBER = r"\d{1,4} ?[a-z]?(?: ?[\-/] ?\d{1,4}[a-z]?)?"
_DE_PREFIX = r"(?:(?:Alte|Neue|Große|Kleine|Obere|Untere|Am|An der|An den|Auf der|Im|In der|Zum|Zur|Unter den|Bei der|Hinter der) )?"
_ES_TYPE = (
    r"(?:Calle|C/ ?|C\.|Cl\.|Avenida|Avda\.?|Av\.|Plaza|Pza\.?|Paseo|Ronda|Camino|Carretera|Ctra\.?|Travesía|Pasaje|Glorieta|"
    r"Alameda|Rambla|Callejón|Cañada|Cuesta|Vial|Pasadizo|Urbanización|Urb\.|Acceso|Polígono|Barrio|Carrer|calle|avenida|plaza|paseo)"
)
_ES_NAME = rf"(?:(?:de|del|de la|de los|de las|la|los) )?{_WORD}(?: (?:(?:de|del|la|de la|y|los) )?{_WORD}){{0,4}}"
_ES_UNIT = r"(?: ?,? (?:(?i:piso|puerta|apt\.?|pta\.?|esc\.?|portal|planta) ?[\dA-Z]{1,3}|(?i:bajo)|\d{1,2} ?[ºª°o]\.? ?[A-Z]?\b))"
_IT_TYPE = (
    r"(?:Via|Viale|V\.le|Piazza|P\.zza|Piazzale|Corso|C\.so|Vicolo|Largo|Strada|Contrada|C\.da|Borgo|Rotonda|Canale|Incrocio|Stretto|Lungomare|"
    r"Località|Loc\.|Frazione|Salita|via|viale|piazza|corso)"
)
_IT_NAME = rf"(?:(?:del|della|dei|degli|delle|di|dell['’]|d['’]|san) ?)?(?:{_WORD}|[IVX]+)(?: (?:(?:di|da|del|della|dei|e) )?{_WORD}){{0,4}}"
_IT_UNIT = r"(?:,? (?i:appartamento|piano|interno|int\.?|scala|sc\.?) ?[\dA-Z]{1,3})"
_OTHERS = (
    ("German street with town", rf"{_DE_PREFIX}(?:\p{{Lu}}[\pL.]{{0,25}}-){{0,5}}\p{{Lu}}?\pL{{0,30}}(?i:{_DE_TYPE}) {_DE_NUMBER}{_SEP}{_TAIL}", 0.9),
    ("German street of two words", rf"{_DE_PREFIX}{_WORD} (?i:{_DE_TYPE}) {_DE_NUMBER}{_SEP}{_TAIL}", 0.85),
    ("German street", rf"(?:\p{{Lu}}[\pL.]{{0,25}}-){{0,5}}\p{{Lu}}[\pL]{{0,30}}{_DE_ALONE} {_DE_NUMBER}", 0.75),
    ("German street with hyphens", rf"(?:\p{{Lu}}\pL{{0,25}}-){{1,5}}(?:Stra(?:ß|ss)e|Str\.|Weg|Platz|Allee|Gasse|Ring) {_DE_NUMBER}", 0.75),
    ("Spanish address", rf"{_ES_TYPE} ?{_ES_NAME} ?,? (?:(?i:n)[úu]?m?\.?[ºo°]? ?)?(?:\d{{1,4}}(?:[A-Z]|-\d{{1,3}})?|s/n){_ES_UNIT}{{0,4}}{_SEP}{_TAIL}", 0.9),
    ("Spanish street", rf"{_ES_TYPE} ?{_ES_NAME} ?,? (?:(?i:n)[úu]?m?\.?[ºo°]? ?)?(?:\d{{1,4}}(?:[A-Z]|-\d{{1,3}})?|s/n){_ES_UNIT}{{0,4}}", 0.8),
    ("Italian address", rf"{_IT_TYPE} {_IT_NAME}(?:,? (?:(?i:n)\.?[°o]? ?)?\d{{1,4}}(?: ?/? ?[A-Za-z]\b)?){_IT_UNIT}{{0,3}}{_SEP}{_TAIL}", 0.9),
    ("Italian street", rf"{_IT_TYPE} {_IT_NAME},? (?:n\.?[°o]? ?)?\d{{1,4}}(?:/[A-Za-z])?", 0.6),
    ("number, street, postcode, town", rf"\d{{1,6}} {_WORD}(?: {_WORD}){{1,4}}(?:{_SEP}{_UNIT})?{_BREAK}\d{{5}} {_CITY}", 0.82),
    ("street, number, postcode, town", rf"{_WORD}(?: (?:(?:den|der|dem|die|das|de|la) )?{_WORD}){{0,4}} {_DE_NUMBER}{_BREAK}(?:D-?\d{{5}}|(?:A|CH|B|L)-?\d{{4}}|\d{{5}}) {_CITY}", 0.82),
)  # fmt: skip

# -- by label ----------------------------------------------------------------------------------------------------
_LABEL = (
    r"(?:(?:\A|[\n.;,|\"'({\[*>\-] {0,4}|\b(?:home|postal|mailing|shipping|billing|street|permanent|current|residential|delivery|work|"
    r"registered|office|patient|customer|his|her|my|their|our|the|votre|mon|son|notre|leur|l['’]|postale|domicile) {0,1})"
    r"(?:address|adresse|anschrift|direcci[óo]n|domicilio|indirizzo|residenza|adres|domicile)(?: (?:line )?1| postale| en| in| is| est| ist| complète)? {0,2}[:=]? {0,2}\n? {0,4}"
    r"|\b(?:lives?|living|resid(?:es|ing)|resident) (?:at|in) |\b(?:j['’]habite|habite|demeurant|domiciliée?|résidant)(?: au| à)? "
    r"|\b(?:wohnhaft|wohnt|wohne)(?: in)? |\b(?:vivo|vive|residente) en |\b(?:abito|residente|abita) in )"
)
_PART = r"[\pL\pN'’.\-/#°º ]{1,48}"
_NEXT = r" ?, ?[\p{Lu}\d#][\pL\pN'’.\-/#°º ]{1,48}"
_LABELLED = rf"(?i:{_LABEL})(?P<v>{_PART}(?:{_NEXT}){{0,4}}(?:,?\n {{0,8}}(?:{_US_TAIL}|{_FR_TAIL}|{_TAIL}|{_CITY},? {_POSTCODE}))?)"

_FIELD = (
    r"phone|tel|t[ée]l|telephone|t[ée]l[ée]phone|telefon|fax|mobile|cell|portable|e-?mail|mail|courriel|siret|siren|tva|dob|ssn|nhs|gp|"
    r"contact|iban|rib|bic|bank|cuenta|born|date|passport|attn|sex|age|ref|réf|client|patient|insurance|website|web|https?|www|rcs|versichertennummer"
)
_STOP = re.compile(
    rf"[\s,|·(\-]*(?:\b(?:{_FIELD})\b\.?\s*(?:(?:no|number|nr|n°)\b\.?\s*)?(?:[:=#+]|\d|$)|\d{{7,}}|\b\d{{2}}(?:[ .]\d{{2}}){{3}})", re.IGNORECASE
)
_CLAUSE = re.compile(r"[\s,\-]+(?:and|but|because|since|who|where|with|from|et|mais|avec|depuis|und|aber|seit|pero|desde|y|ma|da quando)\s")
_SENTENCE = re.compile(r"(?<=[^\W\d_]{4})(?<!str)(?<!lvd)\.\s+(?=\D)|(?<=\d)\.\s+(?=[^\W\d_])")
_NOT_A_STREET = re.compile(
    r"\b(?:hard|flash|test|google|disk|usb|ssd|tb|gb|mb|c|one|shared|network|backup) dr(?:ive)?\b|\b(?:steps?|ways?|days?|hours?|minutes?) "
    r"|\b(?:one|two|no|any|other|right|wrong|easy|best|only|same|new|proper|first|second|third|long|short|terminal|gate) (?:way|place|close|court|circle|square)\b",
    re.IGNORECASE,
)
_NOT_A_TOWN = re.compile(
    r"\b\d{4,5} (?:euros?|dollars?|pounds|usd|gbp|eur|lines?|items?|units?|users?|rows?|tokens?|words?|points?|records?|files?|bytes|kb|mb|gb|km|kg|people|"
    r"steps?|stars|miles|views|likes|calls|rpm)\b"
    r"|\b(?:jan|feb|f[ée]v|mar|apr|avr|may|mai|june?|juin|jul|juil|aug|ao[uû]|sep|oct|okt|nov|dec|d[ée]c|dez)\w{0,7}\.? \d{1,2}(?:st|nd|rd|th)?, (?:19|20)\d\d",
    re.IGNORECASE,
)
_NUMBER_AND_NAME = re.compile(r"(?=.*\d)(?=.*[^\W\d_]{3})", re.DOTALL)


def _is_street(value: str) -> bool:
    return _NOT_A_STREET.search(value) is None and _NOT_A_TOWN.search(value) is None


def _is_labelled(value: str) -> bool:
    """A house number or postcode and a word: `IP address: 10.0.0.1` and `address: unknown` are none."""
    return (
        _NUMBER_AND_NAME.match(value) is not None
        and re.search(r"\b\d{1,5}[A-Za-z]?\b", value) is not None
        and len(re.findall(r"[^\W\d_]{2,}", value)) >= 2
    )


RULES: tuple[Rule, ...] = (
    *(
        Rule("ADDRESS", name, regex, check=_is_street, bare=score, labelled=score)
        for name, regex, score in (*_ENGLISH, *_FRENCH, *_OTHERS)
    ),
    Rule("ADDRESS", "behind a label", _LABELLED, check=None, bare=0.81, labelled=0.81),
)

ENTITIES: tuple[Entity, ...] = (
    Entity(
        "ADDRESS",
        "Postal address",
        "Send it to 99 Nowhere Street, Testville, CA 99999 please.",
        "99 Nowhere Street, Testville, CA 99999",
        "street with a house number, or a street with postcode and town, or a label",
        "USPS Publication 28; Royal Mail PAF guide; NF Z 10-011",
    ),
)


class AddressRecognizer(RuleRecognizer):
    """Rules as elsewhere, then one span an address: ends are trimmed, and the surest reading wins."""

    def analyze(
        self, text: str, entities: Iterable[str], nlp_artifacts: Any = None, regex_flags: Any = None
    ) -> list[RecognizerResult]:
        """Presidio's entry point."""
        if "ADDRESS" not in set(entities):
            return []
        found = [kept for rule in self.rules for span in self.spans(rule, text) if (kept := _trimmed(span, text))]
        return [to_result(span, self) for span in _best(found)]


def _trimmed(span: Span, text: str) -> Span | None:
    """The span without a field, a sentence or a number that follows the address; None if nothing is left."""
    labelled = span.recognizer.endswith("behind a label")
    value = text[span.start : span.end]
    for pattern in (_STOP, _SENTENCE, _CLAUSE) if labelled else (_STOP, _SENTENCE):
        cut = pattern.search(value, 1)
        if cut is not None:
            value = value[: cut.start()]
    value = value.rstrip(" ,.\n|·-/")
    if not any(char.isdigit() for char in value) or (labelled and not _is_labelled(value)):
        return None
    return span._replace(end=span.start + len(value))


_UNSURE = 0.82


def _best(spans: list[Span]) -> list[Span]:
    """Spans that do not overlap: the surest reading stays, of equally or hardly sure ones the longest."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda item: (-max(item.score, _UNSURE), item.start - item.end, item.start)):
        if not any(span.start < other.end and other.start < span.end for other in kept):
            kept.append(span)
    return kept


def build() -> list[EntityRecognizer]:
    return [AddressRecognizer("address", RULES)]

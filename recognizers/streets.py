"""The patterns of `recognizers.address`: how streets, towns and whole addresses are written, language by language.

RE2 syntax. `ENGLISH`, `FRENCH` and `OTHERS` are rows of name, pattern, score; `LABELLED` holds the value in group `v`.
May import: recognizers.national.common, recognizers.tails.
"""

from __future__ import annotations

from recognizers.national.common import words
from recognizers.tails import COUNTRIES

_WORD = r"\p{Lu}[\pL'’.\-]{0,30}"
_OF = "(?:de la|la|le|les|sur|sous|en|de|del|du|des|di|da|dei|am|an der|im|bei|of|on|upon|the|v|na|pod)"
_CITY = rf"{_WORD}(?: (?:{_OF} )?{_WORD}){{0,4}}"
_SEP = r"(?: ?, ?\n? {0,8}| ?[|·] ?| {0,2}\n {0,12}| {1,2})"
_BREAK = r"(?: ?, ?\n? {0,8}| ?[|·] ?| {0,2}\n {0,12})"

# -- English: USPS Publication 28 and Royal Mail forms ---------------------------------------------------------
_SUFFIX = (
    "street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|crescent|cres|terrace|ter|terr|"
    "close|gardens|gdns|grove|square|sq|highway|hwy|parkway|pkwy|circle|cir|way|mews|alley|turnpike|expressway|freeway"
)
_SUFFIX_CAPITALISED = "|".join(f"{word[0].upper()}(?:{word[1:]}|{word[1:].upper()})" for word in _SUFFIX.split("|"))
_STATE = (
    "A[AEKLPRSZ]|C[AOT]|D[CE]|F[LM]|G[AU]|HI|I[ADLN]|K[SY]|LA|M[ADEHINOPST]|N[CDEHJMVY]|O[HKR]|P[ARW]|RI|S[CD]|T[NX]"
    "|UT|"
    "V[AIT]|W[AIVY]|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|"
    "Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|"
    "Missouri|Montana|Nebraska|Nevada|New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio|"
    "Oklahoma|Oregon|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|(?:West )?Virginia|Washington|Wisconsin|"
    "Wyoming|District of Columbia|Puerto Rico"
)
_ZIP = r"\d{5}(?:-\d{4})?"
_COUNTRY = (
    r"(?:,? (?:USA|U\.S\.A\.|United States|UK|United Kingdom|England|Scotland|Wales|France|FRANCE|Germany|Deutschland|"
    r"España|Spain|Italia|Italy|Belgique|Suisse))?"
)
_US_TAIL = rf"{_CITY},?\s{{1,3}}(?:{_STATE}),?\s{{1,2}}{_ZIP}{_COUNTRY}"
_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_UNIT = (
    r"(?:(?i:apt|apartment|suite|ste|unit|floor|fl|room|rm|bldg|building|flat|studio|lot|#)\.? ?#? ?"
    r"[A-Za-z]?-?\d{0,5}[A-Za-z]?)"
)
_UNIT_NUMBER = r"(?:(?i:apt|apartment|suite|ste|unit|flat)\.? ?#? ?\d{1,5}[A-Za-z]?)"
_NUMBER = r"\d{1,6}(?:[A-Za-z]|-\d{1,4}[a-z]?| 1/2)?"
_NAME = rf"(?:[NSEW]{{1,2}}\.?|\d{{1,3}}(?:st|nd|rd|th)|{_WORD})"
_NAMES = rf"{_NAME}(?: (?:(?:of|the|de|la|del|and|le|st\.?) )?{_NAME}){{0,5}}"
_STREET = (
    rf"{_NUMBER} {_NAME}(?: (?:(?:of|the|de|la) )?{_NAME}){{0,3}} (?:{_SUFFIX_CAPITALISED})\b\.?"
    r"(?: (?:NE|NW|SE|SW|[NSEW])\b)?"
)
_BOX = r"(?:P\.? ?O\.? ?|Post Office )(?i:box) ?#?\d{1,6}"
_HOUSE = r"(?i:flat|apartment|apt|unit|studio|suite|room|floor)\.? ?\d{0,4}[A-Za-z]?"
_LOWER = r"[\pL'’.\-]{1,30}"

ENGLISH = (
    (
        "US address",
        rf"{_NUMBER} {_NAMES}(?:{_SEP}{_UNIT})?{_SEP}(?:{_WORD}(?: {_WORD}){{0,3}}{_BREAK})?{_US_TAIL}",
        0.9,
    ),
    ("US address with box", rf"{_BOX}{_SEP}{_US_TAIL}", 0.9),
    (
        "UK address",
        rf"(?:{_HOUSE},? (?:{_NUMBER} )?|{_NUMBER} |{_BOX}{_SEP})(?:{_NAMES}{_BREAK}){{0,4}}{_NAMES}"
        rf"(?:{_SEP}){_POSTCODE}{_COUNTRY}",
        0.9,
    ),
    (
        "UK address of a named house",
        rf"(?:{_WORD}(?: {_WORD}){{0,2}}, ?)?{_WORD}(?: {_WORD}){{0,2}} (?:{_SUFFIX_CAPITALISED}){_SEP}"
        rf"(?:{_NAMES}{_BREAK}){{0,2}}(?:{_NAMES}{_SEP})?{_POSTCODE}",
        0.85,
    ),
    (
        "lower-case address with postcode",
        rf"(?i:{_NUMBER} (?:{_LOWER} ){{1,4}}(?:{_SUFFIX})\b\.?(?:{_SEP}{_UNIT})?,?[ \n]{{1,2}}"
        rf"(?:{_LOWER},? ){{1,4}}(?:(?:{_STATE}),? {_ZIP}|{_POSTCODE}))",
        0.85,
    ),
    ("street with number", rf"(?:{_HOUSE},? )?{_STREET}(?:,? {_UNIT})?(?:, {_CITY}, (?:{_STATE})\b)?", 0.8),
    ("street with unit", rf"{_NUMBER} {_WORD}(?: {_WORD}){{0,4}}{_SEP}{_UNIT_NUMBER}", 0.78),
    ("studio with street", rf"(?i:flat|studio|unit|apt|apartment) \d{{1,4}}[A-Za-z]?,? {_WORD} {_WORD}", 0.65),
    ("post office box", _BOX, 0.7),
    (
        "military address",
        rf"(?:PSC|CMR|Unit|USNV|USNS|USCGC|USS) (?:\d{{1,5}}|\p{{Lu}}\pL{{1,20}}){_SEP}?"
        rf"(?i:box \d{{1,5}}{_SEP})?(?:APO|FPO|DPO),?(?:,? A[AEP])? {_ZIP}",
        0.9,
    ),
)

CITY_AND_STATE = (
    rf"{_WORD}(?: {_WORD}){{0,3}},\s{{1,2}}(?:{_STATE})\b(?:,? {_ZIP})?|(?i:zip(?: ?code)?|postcode|postal code|plz|"
    rf"code postal|"
    rf"código postal|c\.p\.|cap)\b[ :is]{{1,5}}(?:\d{{4,5}}(?:-\d{{4}})?|{_POSTCODE})"
)
"""A town with its state, and a postcode behind its name: a place, no address."""

# -- French: NF Z 10-011 ---------------------------------------------------------------------------------------
_VOIE = words(
    (
        *(
            "rue",
            "avenue",
            "av",
            "av.",
            "ave",
            "boulevard",
            "bd",
            "bd.",
            "bld",
            "blvd",
            "boul.",
            "chemin",
            "ch.",
            "che",
        ),
        *(
            "impasse",
            "imp.",
            "allée",
            "allées",
            "all.",
            "place",
            "pl.",
            "route",
            "rte",
            "quai",
            "cours",
            "square",
            "sq.",
        ),
        *(
            "passage",
            "sentier",
            "ruelle",
            "faubourg",
            "fg",
            "fbg",
            "esplanade",
            "promenade",
            "rond-point",
            "lotissement",
        ),
        *(
            "hameau",
            "villa",
            "cité",
            "montée",
            "côte",
            "traverse",
            "venelle",
            "voie",
            "mail",
            "parvis",
            "clos",
            "sente",
        ),
        *("résidence", "rampe", "chaussée", "galerie"),
    )
)
_PARTICLE = r"(?i:de la |de l['’] ?|du |des |de |d['’] ?|la |le |les |l['’] ?|au |aux |à |en |sur |et )"
_VOIE_NAME = (
    rf"(?:{_PARTICLE}{{0,2}}(?:{_WORD}|\d{{1,2}}(?:er)? (?i:janvier|février|mars|avril|mai|juin|juillet|août|septembre|"
    rf"octobre|novembre|décembre)(?: \d{{4}})?)"
    rf"(?: {_PARTICLE}{{0,2}}{_WORD}){{0,5}})"
)
_VOIE_AHEAD = "rue|avenue|av|boulevard|bd|chaussée|chemin|allée|impasse|quai|square|drève|clos|place|venelle|sentier"
_NO = r"\d{1,4}(?: ?(?i:bis|ter|quater|[a-f])\b)?(?: ?[\-/] ?\d{1,4})?"
_FR_BOX = r"(?:(?:B\.?P\.?|CS|TSA) ?\d{1,6}(?: \d{1,3})?)"
_FR_CITY = rf"(?:(?:{_CITY} )?(?i:cedex|paris|lyon|marseille) \d{{1,2}}\b|{_CITY}(?: (?i:cedex))?)"
_FR_TAIL = rf"(?:{_FR_BOX}{_SEP})?(?:(?:F|FR|B|L|CH)-? ?)?\d{{4,5}} {_FR_CITY}{_COUNTRY}"
_EXTRA = (
    r"(?:(?i:résidence|rés\.?|bâtiment|b[âa]t\.?|appartement|appt?\.?|étage|escalier|esc\.?|immeuble|imm\.?|entrée"
    r"|porte|"
    r"lotissement|lieu-dit|chez|c/o)"
    rf" (?:[\pL\d'’.\-]{{1,20}})(?: [\pL'’\-]{{1,20}}){{0,4}}|\d{{1,2}}(?:er|e|ème) étage){_BREAK}"
)
FRENCH = (
    (
        "French address",
        rf"(?:{_EXTRA}){{0,3}}(?:{_NO} ?,? {{0,2}})?(?i:{_VOIE})\.? (?:{_VOIE_NAME}|(?:{_LOWER} ){{0,4}}{_LOWER})"
        rf"(?:{_SEP}(?:{_EXTRA}){{1,2}})?{_SEP}{_FR_TAIL}",
        0.9,
    ),
    (
        "French address of a place",
        rf"(?i:lieu-?dit|hameau|z\.?a\.?c?\.?|z\.?i\.?|résidence) {_VOIE_NAME}{_SEP}{_FR_TAIL}",
        0.85,
    ),
    ("French post box", rf"{_FR_BOX}{_SEP}\d{{5}} {_FR_CITY}", 0.85),
    ("French street before its number", rf"(?i:{_VOIE_AHEAD})\.? {_VOIE_NAME},? \d{{1,4}} ?[a-f]?\b", 0.75),
    ("French street with number", rf"(?:{_EXTRA}){{0,3}}{_NO} ?,? {{0,2}}(?i:{_VOIE})\.? {_VOIE_NAME}", 0.8),
)

# -- German, Dutch, Spanish, Italian ---------------------------------------------------------------------------
_TAIL = rf"(?:(?:D|A|CH|DE|AT|E|I|NL|B)-? ?)?(?:\d{{5}}|\d{{4}}(?: ?[A-Z]{{2}})?) {_CITY}(?: \(?[A-Z]{{2}}\)?)?"
_DE_ALONE = r"(?:stra(?:ß|ss)e|str\.|allee|gasse|straat|gracht|laan|gatan|vägen|gade|vej|veien)"
_DE_TYPE = (
    r"(?:stra(?:ß|ss)e|str\.?|weg|allee|platz|gasse|ring|damm|ufer|steig|pfad|chaussee|markt|berg|hof|graben|wall"
    r"|stieg|"
    r"straat|laan|plein|gracht|kade|dijk|singel)"
)
_DE_NUMBER = r"\d{1,4} ?[a-z]?(?: ?[\-/] ?\d{1,4}[a-z]?)?"
_DE_UNIT = (
    r"(?:,? ?(?:\d{1,2}\. ?(?:OG|Stock|Etage|Stiege)|EG|DG|UG|Whg\.? ?(?:Nr\.? ?)?\d{1,4}|Hinterhaus|Vorderhaus"
    r"|Seitenflügel|"
    r"Erdgeschoss|Top \d{1,3}|Stiege \d{1,2})(?: (?:links|rechts|Mitte|li\.?|re\.?))?){0,2}"
)
_DE_PREFIX = (
    r"(?:(?:Alte|Neue|Große|Kleine|Obere|Untere|Am|An der|An den|Auf der|Im|In der|Zum|Zur|Unter den|Bei der|"
    r"Hinter der) )?"
)
_ES_TYPE = (
    r"(?:Calle|[Cc]/\.? ?|C\. |Cl\. |Avenida|Avda\.?|Av\.|Plaza|Pza\.?|Paseo|Ronda|Camino|Carretera|Ctra\.?|Travesía|"
    r"Pasaje|Glorieta|Alameda|Rambla|Callejón|Cañada|Cuesta|Vial|Pasadizo|Urbanización|Urb\.|Acceso|Polígono|Barrio|"
    r"Carrer|calle|avenida|plaza|paseo)"
)
_ES_NAME = rf"(?:(?:de|del|de la|de los|de las|la|los) )?{_WORD}(?: (?:(?:de|del|la|de la|y|los) )?{_WORD}){{0,4}}"
_ES_UNIT = (
    r"(?: ?,? (?:(?i:piso|puerta|apt\.?|pta\.?|esc\.?|portal|planta) ?[\dA-Z]{1,3}|(?i:bajo)|"
    r"\d{1,2}\.? ?[ºª°oa]\.?(?:[ \-]?[A-Z])?\b|\d{1,2}(?:, ?\d{1,2})?,? ?[A-Z]\b))"
)
_ES_NUMBER = r"(?:(?i:n)[úu]?m?\.?[ºo°]? ?)?(?:\d{1,4}(?:[A-Z]|-\d{1,3})?|s/n)"
_IT_TYPE = (
    r"(?:Via|Viale|V\.le|Piazza|P\.zza|Piazzale|Corso|C\.so|Vicolo|Largo|Strada|Contrada|C\.da|Borgo|Rotonda|Canale|"
    r"Incrocio|Stretto|Lungomare|Località|Loc\.|Frazione|Salita|via|viale|piazza|corso)"
)
_IT_NAME = (
    rf"(?:(?:del|della|dei|degli|delle|di|dell['’]|d['’]|san) ?)?{_WORD}"
    rf"(?: (?:(?:di|da|del|della|dei|e) )?{_WORD}){{0,4}}"
)
_IT_UNIT = r"(?:,? (?i:appartamento|piano|interno|int\.?|scala|sc\.?) ?[\dA-Z]{1,3})"
OTHERS = (
    (
        "German street with town",
        rf"{_DE_PREFIX}(?:\p{{Lu}}[\pL.]{{0,25}}-){{0,5}}(?:\p{{Lu}}\pL{{1,30}}|\p{{Lu}}[\pL.]{{0,25}}-)"
        rf"(?i:{_DE_TYPE}) {_DE_NUMBER}{_DE_UNIT}{_SEP}{_TAIL}",
        0.9,
    ),
    ("German street of two words", rf"{_DE_PREFIX}{_WORD} (?i:{_DE_TYPE}) {_DE_NUMBER}{_DE_UNIT}{_SEP}{_TAIL}", 0.9),
    ("German street", rf"(?:\p{{Lu}}[\pL.]{{0,25}}-){{0,5}}\p{{Lu}}[\pL]{{0,30}}{_DE_ALONE} {_DE_NUMBER}", 0.75),
    ("German street of two words alone", rf"{_WORD} (?:Stra(?:ß|ss)e|Str\.) {_DE_NUMBER}", 0.75),
    (
        "German street with hyphens",
        rf"(?:\p{{Lu}}\pL{{0,25}}-){{1,5}}(?:Stra(?:ß|ss)e|Str\.|Weg|Platz|Allee|Gasse|Ring) {_DE_NUMBER}",
        0.75,
    ),
    (
        "Spanish address",
        rf"{_ES_TYPE} ?{_ES_NAME} ?,? {_ES_NUMBER}{_ES_UNIT}{{0,4}}{_SEP}{_TAIL}",
        0.9,
    ),
    (
        "Spanish street",
        rf"{_ES_TYPE} ?{_ES_NAME} ?,? {_ES_NUMBER}{_ES_UNIT}{{0,4}}",
        0.8,
    ),
    (
        "Italian address",
        rf"{_IT_TYPE} {_IT_NAME}(?:,? (?:(?i:n)\.?[°o]? ?)?\d{{1,4}}(?: ?/? ?[A-Za-z]\b)?)"
        rf"{_IT_UNIT}{{0,3}}{_SEP}{_TAIL}",
        0.9,
    ),
    ("Italian street", rf"{_IT_TYPE} {_IT_NAME},? (?:n\.?[°o]? ?)?\d{{1,4}}(?:/[A-Za-z])?", 0.6),
    (
        "number, street, postcode, town",
        rf"\d{{1,6}} {_WORD}(?: {_WORD}){{1,4}}(?:{_SEP}{_UNIT})?{_BREAK}\d{{5}} {_CITY}",
        0.82,
    ),
    (
        "street, number, postcode, town",
        rf"{_WORD}(?: (?:(?:den|der|dem|die|das|de|la) )?{_WORD}){{0,4}} {_DE_NUMBER}{_BREAK}"
        rf"(?:D-?\d{{5}}|(?:A|CH|B|L)-?\d{{4}}|\d{{5}}) {_CITY}",
        0.82,
    ),
)

# -- any country: a street with its number, then a postcode with its town, in either order ------------------------
_POST = (
    r"(?:(?:[A-Z]{1,3}-)?(?:\d{4,6}|\d{3} \d{2}|\d{2}-\d{3}|\d{4}-\d{3}|\d{5}-\d{3}|\d{3}-\d{4})(?: [A-Z]{2}\b)?"
    rf"|{_POSTCODE}|[A-Z]\d[A-Z] ?\d[A-Z]\d)"
)
_TOWN_NAME = (
    r"(?:\p{Lu}[\pL'’.\-]{1,30}"
    r"(?:[ \-](?:(?:am|an der|sur|de|di|do|da|dos|la|le|of|upon|in|i|på|nad) )?\p{Lu}[\pL'’.\-]{1,30}){0,3})"
)
_LAND = rf"(?:{_BREAK}(?:\p{{Lu}}[\pL.]{{1,20}}(?: (?:and |of )?\p{{Lu}}[\pL]{{1,20}}){{0,3}}))?"
_STREET_WORD = (
    r"(?:u\.|utca|krt\.|trg|cesta|gatan|gata|vägen|väg|gade|vej|allé|veien|vei|gate|gata|katu|tie|kuja|polku|utca|út|utja|tér|körút|ulice|ulica|"
    r"náměstí|třída|straat|laan|weg|plein|gracht|kade|dreef|lei|steenweg|götu|gata|stræti|strasse|straße|str\.|platz"
    r"|gasse|"
    r"allee|ring|damm|ufer)"
)
_STREET_AHEAD = (
    r"(?:Rua|Avenida|Av\.|Praça|Travessa|Alameda|Largo|Estrada|Rodovia|ul\.|ulica|Ul\.|al\.|pl\.|os\.|Str\.|Strada"
    r"|Bd\.|"
    r"Bulevardul|Calea|Odos|Leoforos|Jalan|Jl\.|Carrera|Cra\.?|Cl\.?|Transversal|Jirón|Jr\.|Chaussée)"
)
_STREET_LINE = (
    rf"(?:(?:{_WORD} ){{0,2}}\p{{Lu}}[\pL\-]{{1,30}} ?{_STREET_WORD} \d{{1,4}} ?[A-Za-z]?\b"
    rf"|{_STREET_AHEAD} (?:(?:{_OF} )?[\pL\d'’.\-]{{1,30}} ?){{1,5}}"
    rf",? ?(?:#|[nN][º°o.]{{1,2}} ?)?\d{{1,5}}(?:[ \-]\d{{1,4}})?[A-Za-z]?\b)"
)
_ANY_LINE = (
    rf"(?:{_WORD}(?: (?:{_OF} )?{_WORD}){{0,4}},? \d{{1,5}}(?: ?[A-Za-z]|[/\-]\d{{1,4}})?"
    rf"|\d{{1,5}}(?:[A-Za-z]|[/\-]\d{{1,4}})?,? {_WORD}(?: (?:{_OF} )?{_WORD}){{0,5}})"
)
_UNIT_LINE = rf"(?:(?:{_SEP}{_UNIT})|{_BREAK}(?:{_WORD} ?){{1,3}})?"
_TOWN_TAIL = rf"(?:{_POST},? {_TOWN_NAME}|{_TOWN_NAME},? ?(?:{_BREAK}|,? )(?:[A-Z]{{2,3}},? )?{_POST})"
ANYWHERE = (
    ("street of any country with town", rf"{_STREET_LINE}(?:{_UNIT_LINE})?{_SEP}{_TOWN_TAIL}{_LAND}", 0.88),
    ("street of any country", _STREET_LINE, 0.7),
    (
        "line, town and country",
        rf"{_ANY_LINE}(?:{_UNIT_LINE})?{_SEP}(?:(?:{_POST}|\d{{3}}),? )?{_TOWN_NAME}(?: [A-Z])?"
        rf"(?:{_BREAK}{_POST})?{_BREAK}(?i:{COUNTRIES})",
        0.84,
    ),
    ("line, unit and town", rf"{_ANY_LINE}{_SEP}{_UNIT_NUMBER}{_SEP}{_TOWN_NAME}", 0.83),
    ("line and town with country", rf"{_ANY_LINE} {_TOWN_NAME}{_SEP}(?i:{COUNTRIES})", 0.83),
    ("two lines with postcode", rf"{_ANY_LINE}(?:{_UNIT_LINE})?{_BREAK}{_TOWN_TAIL}{_LAND}", 0.82),
)
_INTRODUCED = (
    r"(?:\b(?:(?:i|we|he|she|they)(?:['’]ve| have|['’]m|['’]re| am| is| are)? (?:just )?(?:live|lives|lived|living"
    r"|stay|staying|"
    r"moved|moving|reside|resides|relocated|relocating|based|located)(?: (?:here|now|there))?(?: at| to| in| on| near)|"
    r"(?:send|ship|mail|deliver|bring|post|forward)(?:ed)?(?: (?:it|this|them|the \pL{2,20}|my \pL{2,20}|everything"
    r"|all))?(?: to)(?: my (?:new )?address)?|"
    r"(?:address|location|located|residence|office|offices|headquarters|store|shop|branch|house|home|apartment|flat"
    r"|place|"
    r"property|site|venue|meeting|event|clinic|hotel)(?: (?:is|was|are|has moved|moved|will be))?(?: (?:now|located"
    r"|situated))?"
    r"(?: at| to| in| on|:)?)[ :]{1,3}\n?)"
)
INTRODUCED = (
    rf"(?i:{_INTRODUCED})(?P<v>(?:{_ANY_LINE}|{_STREET_LINE})(?:{_UNIT_LINE})?"
    rf"(?:{_SEP}(?:{_POST},? )?{_TOWN_NAME}(?:,? {_POST})?)(?:{_BREAK}(?:{_POST}|{_TOWN_NAME}(?:,? {_POST})?)){{0,3}})"
)
"""An address of any country behind a phrase that announces one."""

_TOWN = r"\d{4,5} (?:\p{Lu}|[cplm])"
_ANY_POST = r"\d{4}|\d{3} \d{2}|\d{2}-\d{3}|\d[A-Z\d]? ?\d[A-Z]"
NEEDS = {
    "UK address": _POSTCODE,
    "UK address of a named house": _POSTCODE,
    "US address": _ZIP,
    "French address": _TOWN,
    "French address of a place": _TOWN,
    "French street with number": rf"\d(?: ?(?i:bis|ter|quater|[a-f]))? ?,? {{0,2}}(?i:{_VOIE})",
    "Spanish address": r"\d{4,5}(?: ?[A-Z]{2})? \p{Lu}",
    "number, street, postcode, town": r"\d{5} \p{Lu}",
    "street, number, postcode, town": r"\d{4} \p{Lu}",
    "street of any country with town": rf"{_STREET_WORD} \d|{_STREET_AHEAD} ",
    "line, town and country": rf"{_BREAK}(?i:{COUNTRIES})",
    "line, unit and town": rf"{_SEP}{_UNIT_NUMBER}{_SEP}\p{{Lu}}",
    "line and town with country": rf"[\pL'’.\-]{_SEP}(?i:{COUNTRIES})",
    "two lines with postcode": rf"(?:{_ANY_POST})[\dA-Z \-]{{0,9}},? \p{{Lu}}|\p{{Lu}}[\pL'’.\-]{{1,30}},? ?"
    rf"(?:{_BREAK}|,? )(?:[A-Z]{{2,3}},? )?(?:{_ANY_POST})",
}
"""By name of a costly pattern: a cheap one, of which each of its matches holds a match. Nothing in it may look at what
stands beside a match (`\\b`), or match NUL (see `excerpt`)."""

# -- behind a label ----------------------------------------------------------------------------------------------
_LABEL = (
    r"(?:(?:\A|[\n.;,|\"'({\[*>\-] {0,4}|\b(?:home|postal|mailing|shipping|billing|street|permanent|current|"
    r"residential|delivery|work|registered|office|patient|customer|his|her|my|their|our|the|votre|mon|son|notre|leur"
    r"|l['’]|postale|"
    r"domicile) {0,1})(?:address|adresse|anschrift|direcci[óo]n|domicilio|indirizzo|residenza|adres|domicile)"
    r"(?: (?:line )?1| postale| en| in| is| est| ist| complète)? {0,2}[:=]? {0,2}\n? {0,4}"
    r"|\b(?:lives?|living|resid(?:es|ing)|resident) (?:at|in) |\b(?:j['’]habite|habite|demeurant|domiciliée?|résidant)"
    r"(?: au| à)? |\b(?:wohnhaft|wohnt|wohne)(?: in)? |\b(?:vivo|vive|residente) en |\b(?:abito|residente|abita) in )"
)
_PART = r"[\pL\pN'’.\-/#°º ]{1,48}"
_NEXT = r" ?, ?[\p{Lu}\d#][\pL\pN'’.\-/#°º ]{1,48}"
LABELLED = (
    rf"(?i:{_LABEL})(?P<v>(?:\d|\p{{Lu}}|(?i:{_VOIE}) ){_PART}(?:{_NEXT}){{0,4}}"
    rf"(?:,?\n {{0,8}}(?:{_US_TAIL}|{_FR_TAIL}|{_TAIL}|{_CITY},? {_POSTCODE}))?)"
)

LEADS = {
    "announced": rf"(?i:{_INTRODUCED})(?:[\p{{Lu}}\d]|{_STREET_AHEAD})".replace(r"\b", ""),
    "behind a label": rf"(?i:{_LABEL})(?:\d|\p{{Lu}}|(?i:{_VOIE}) )".replace(r"\b", "").replace(r"\A|", "|"),
}
"""As `NEEDS`, and each match of the costly pattern begins with a match of the cheap one."""

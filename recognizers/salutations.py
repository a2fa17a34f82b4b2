"""Names that a greeting, a closing, a form of address or an introduction announces, in any case.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recognizers.guarded import Guarded
from recognizers.labels import Tier
from recognizers.lexicon import Lexicon
from recognizers.people import person_at

_TITLE = (
    r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Mx|Prof|Professor|Doctor|Mme|Mmes|Mlle|Docteur|Professeur|Maître|"
    r"Madame|Monsieur|Mademoiselle|M|Pr|Me|Sir|Herr|Herrn|Frau|Hr|Fr|Dipl|PD|Priv|Doz|Sr|Sra|Srta|Señor|Señora"
    r"|Señorita|Doña|Don|"
    r"Dra|Doctora|Doctor|Lic|Ing|Sig|Sigra|Signor|Signora|Signorina|Dott|Dottor|Dottore|Dottoressa|Avv|Geom|Rag"
    r"|Prof\.ssa|"
    r"Dott\.ssa|Sig\.ra|Sig\.na|Egr|Gent|Spett)\b(?:\.[ \u00a0]{0,2}|[ \u00a0]{1,2}))"
)
_RULES: tuple[tuple[re.Pattern[str], Tier, str], ...] = (
    (
        re.compile(
            r"(?im)^[ \t>*_]{0,8}(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|bonjour|bonsoir|salut|coucou|"
            r"ch[eè]re?s?|hallo|liebe[r]?|lieb|servus|moin|grüezi|guten (?:tag|morgen|abend)"
            r"|sehr geehrte[rs]?(?: (?:herr|frau))?|"
            r"hola|buenos días|buenas(?: tardes| noches)?|estimad[oa]s?|querid[oa]s?|apreciad[oa]s?|ciao|salve"
            r"|buongiorno|"
            r"buonasera|buona sera|gentile|gentilissim[oa]|egregi[oa]|car[oaie]|spett\.?(?:le"
            r"|mo)?)[ \u00a0,]{1,3}(?=\S)"
        ),
        Tier.ROLE,
        "greeting",
    ),
    (
        re.compile(
            r"(?im)^[ \t>*_]{0,8}(?:(?:with )?(?:kind|best|warm|warmest|many)?[ ]?(?:regards|wishes)|best|"
            r"cheers|thanks|thank you|"
            r"many thanks|thx|sincerely|yours(?: (?:truly|faithfully|sincerely))?|(?:bien |"
            r"très )?cordialement|bien à (?:vous|toi)|"
            r"(?:sincères |meilleures )?salutations(?: distinguées)?|amicalement|respectueusement|"
            r"merci(?: d'avance| beaucoup)?|"
            r"bises|à bientôt|a bientot|sent by|(?:mit )?(?:freundlichen?|besten?|vielen?|herzlichen?|lieben?"
            r"|schönen?) "
            r"(?:grüßen?|grüssen?|gruß|dank)|viele grüße|liebe grüße|lg|vg|mfg|hochachtungsvoll|danke(?: und gruß)?"
            r"|gruß|bis bald|"
            r"(?:un |cordiales |atentos )?(?:cordial )?saludos?(?: cordial(?:es)?)?|(?:muy )?atentamente|un abrazo|"
            r"(?:muchas )?gracias(?: de antemano)?|le saluda(?: atentamente)?|"
            r"(?:cordiali |distinti |tanti )?saluti|cordialmente|distintamente|grazie(?: mille)?|un caro saluto"
            r"|a presto|"
            r"in fede|firmato|fdo\.?|gez\.?|"
            r"envoyé par)[ ]?(?:and thanks)?[,.!]{0,3}[ \t*_]{0,4}(?:\r?\n[ \t>*_\-]{0,8}){1,3}(?=\S)"
        ),
        Tier.ROLE,
        "closing",
    ),
    (
        re.compile(
            r"(?im)^[ \t>]{0,8}(?:best|cheers|regards|kind regards|best regards|thanks|cordialement|"
            r"bien à vous|amicalement|viele grüße|liebe grüße|lg|vg|saludos|un saludo|saluti"
            r"|un abrazo)[,!][ ]{1,2}(?=\S)"
        ),
        Tier.ROLE,
        "closing",
    ),
    (re.compile(r"(?m)^--[ ]?\r?\n(?=\S)"), Tier.ROLE, "signature"),
    (re.compile(r"(?m)^(?=[^\W\d_][^\n|]{1,40} \| )"), Tier.GUESS, "signature"),
    (
        re.compile(
            r"(?i)\b(?:my name is|my name['’]s|my full name is|je m['’]appelle|je me nomme|mon nom est|mon prénom est|"
            r"(?:his|her|their) name is|il s['’]appelle|elle s['’]appelle|mi nombre es|me llamo|ich heiße|ich heisse|"
            r"mein name ist|mein name lautet|er heißt|sie heißt|se llama|su nombre es|mi nombre completo es|"
            r"il mio nome è|si chiama|il suo nome è|mi chiamo)[ \u00a0:]{1,2}(?=\S)"
        ),
        Tier.ROLE,
        "introduction",
    ),
    (
        re.compile(
            r"(?i)\b(?:i am|i['’]m|im|this is|it['’]s|its|it is|here is|moi c['’]est|c['’]est|je suis|ici|named"
            r"|called|ich bin|hier ist|hier spricht|soy|yo soy|sono|qui è|"
            r"namens|de nombre|llamad[oa]|di nome|chiamat[oa]|nommée?|prénommée?|dénommée?|signed)[ \u00a0]{1,2}(?=\S)"
        ),
        Tier.GUESS,
        "introduction",
    ),
    (
        re.compile(
            r"\b(?:[Cc]lient|[Cc]liente|[Cc]ustomer|[Pp]atient|[Pp]atiente|[Aa]gent|[Pp]artner|[Mm]anager|"
            r"[Cc]olleague|[Cc]ollègue|"
            r"husband|wife|mari|épouse|époux|son|daughter|fils|fille|frère|sœur|brother|sister|mère|père|"
            r"mother|father|friend|"
            r"amie?|[Vv]oisine?|[Nn]eighbou?r|[Ll]andlord|[Ll]andlady|[Pp]ropriétaire|[Tt]enant|[Ll]ocataire|"
            r"[Oo]fficer|PC|"
            r"[Cc]onstable|[Ii]nspector|[Nn]urse|[Ii]nfirmi(?:er|ère)|[Ee]mployee|[Ss]alariée?|[Ss]tudent|"
            r"[Éé]lève|[Ww]itness|"
            r"[Tt]émoin|[Dd]etective|[Ss]ergeant|[Cc]onseill(?:er|ère)|[Aa]ssistante?|[Bb]oss|[Cc]oach|"
            r"[Tt]utor|[Uu]ncle|[Aa]unt|"
            r"oncle|tante|cousine?|[Pp]atientin|Kunde|Kundin|Mieter|Mieterin|Vermieter|Vermieterin|Nachbar|Nachbarin|"
            r"Kollege|Kollegin|Kollegen|Chef|Chefin|chef|chefin|Mann|Frau|Tochter|Sohn|Bruder|Schwester|Mutter|Vater"
            r"|Onkel|Tante|"
            r"Zeuge|Zeugin|Anwalt|Anwältin|Richter|Richterin|Lehrer|Lehrerin|Angeklagte[rn]?|Kläger|Klägerin"
            r"|Beklagte[rn]?|"
            r"[Pp]aciente|[Cc]liente|[Cc]ompañer[oa]|[Jj]ef[ea]|[Vv]ecin[oa]|[Aa]mig[oa]|[Ee]spos[oa]|[Mm]arido"
            r"|[Mm]ujer|[Hh]ij[oa]|"
            r"[Hh]erman[oa]|[Mm]adre|[Pp]adre|[Tt]estigo|[Aa]bogad[oa]|[Ii]nquilin[oa]|[Cc]aser[oa]|[Pp]rofesor[a]?"
            r"|[Aa]lumn[oa]|"
            r"[Pp]aziente|[Cc]ollega|[Cc]apo|[Vv]icin[oa]|[Aa]mic[oa]|[Mm]oglie|[Mm]arito|[Ff]igli[oa]|[Ff]ratello"
            r"|[Ss]orella|"
            r"[Tt]estimone|[Aa]vvocat[oa]|[Ii]nquilin[oa]|[Rr]eferente|[Dd]ipendente|[Ll]andlord"
            r"|[Bb]oss)[ \u00a0](?=[^\W\d_a-z])"
        ),
        Tier.ROLE,
        "role before a name",
    ),
    (
        re.compile(
            r"\b(?:AFFAIRE|ASUNTO|CASE OF|RECHTSSACHE|CAUSA|[Aa]ffaire|[Aa]sunto|[Cc]ase of|[Rr]echtssache|[Cc]ausa)[ ]"
            r"(?=[^\W\d_a-z][^\n;()]{1,80}[ ](?:c|v|vs)\.?[ ][^\W\d_a-z])"
        ),
        Tier.NAME,
        "case name",
    ),
    (re.compile(rf"(?<![\w.'’]){_TITLE}{{1,3}}(?=[^\W\d_a-z])"), Tier.TITLE, "form of address"),
    (
        re.compile(
            r"(?m)^[ \t>*\-]{0,4}[\[(]?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}[:h]\d\d(?::\d\d)?(?: ?[AaPp][Mm])?[\])]?"
            r"[ \t,\-–]{1,3}<?(?=[^\n:]{2,40}:)"
        ),
        Tier.ROLE,
        "speaker",
    ),
    (re.compile(r"(?m)^[ \t>*\-]{0,4}<?(?=[^\W\d_][^\n:.,;]{1,30}>? ?:[ \n])"), Tier.GUESS, "speaker"),
)
_REACH = 80
_BEGINS = ("(?i)\\b", "\\b", "(?<!")
_SEARCHES = tuple(
    (Guarded(pattern) if pattern.pattern.startswith(_BEGINS) else pattern, tier, why) for pattern, tier, why in _RULES
)
"""Patterns that begin with a line are quick as they are."""


def spoken(text: str, lexicon: Lexicon) -> Iterator[tuple[int, int, str]]:
    """`(start, end, why)` of each name that is announced."""
    for pattern, tier, why in _SEARCHES:
        for match in pattern.finditer(text):
            hit = person_at(text, match.end(), min(len(text), match.end() + _REACH), tier, lexicon)
            if hit and not _bare_title(text, match):
                yield *hit, why


def _bare_title(text: str, match: re.Match[str]) -> bool:
    """`M A` and `Me Too`: a lone letter or pronoun without its point proves nothing."""
    return match.group().strip() in {"M", "Me"} and not text[match.end() : match.end() + 2].isalpha()

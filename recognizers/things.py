"""Is this name here the name of a thing? Eponyms, varieties, dishes, plants, months, modules of a program.

A model or a list of given names says `PERSON`; where the word is also a plain word, or stands where only things stand,
that guess needs a second piece of evidence, and evidence by label, title or greeting comes from other recognizers.
May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re

from recognizers.base import Span, fold
from recognizers.lexicon import Lexicon
from recognizers.shape import tokens
from recognizers.words import ALSO_WORDS, TECHNICAL, word_set

_DOUBLE = ALSO_WORDS | word_set(
    # plants, spices, fruit and their varieties
    "jasmine rose iris ivy violet lily daisy heather holly olive basil rosemary saffron sage ginger fern hazel "
    "willow poppy "
    "myrtle marigold clementine cherry peach plum juniper laurel lavender magnolia camellia dahlia petunia rosalba "
    "romarin "
    "violette marguerite capucine jacinthe hortense melisse anis garance olivia rosmarin basilikum margerite "
    "veilchen azucena "
    "margarita rosa romero albahaca salvia rosmarino basilico gelsomino margherita viola bartlett anjou comice bosc "
    "gala fuji "
    "braeburn conference williams granny valentine bourbon arabica romaine "
    # gems, colours, weather, seasons, months, days
    "ruby pearl amber jade crystal opal coral garnet emerald sapphire diamond gem april may june august summer "
    "autumn dawn sky "
    "storm rain misty sunny tempest aurora luna stella star nova januar mai juni avril juin mayo abril "
    # places, cars, products, programs that are given names too
    "sierra savannah paris london chelsea brooklyn austin dallas florence sydney georgia virginia carolina madison "
    "lincoln "
    "jackson washington houston phoenix memphis mercedes lexus porsche megane clio alexa siri cortana claude gemini "
    "cassandra "
    "julia ruby perl ada pascal delphi jade django flask travis jenkins jasmine selenium phoenix ember sinatra hugo "
    "jekyll maven "
    "ant bash basil kafka ansible salt pandas apollo athena hermes atlas hades zeus titan "
    # virtues and plain words
    "faith grace hope joy harmony melody charity patience prudence destiny angel heaven serenity liberty justice "
    "chance chase "
    "hunter mason carter cooper parker taylor tyler porter baker miller smith cook page dean guy rich penny bill "
    "mark art frank "
    "pat sue rob will grant jay robin martin drake colt buck earl duke prince king lance pierce miles wade brook "
    "cliff glen heath "
    "dale forest reed bay royal sterling norm gene jean denim carol viola mai"
)
_PRODUCTS = (
    TECHNICAL | word_set("rails maven gradle jackson junit hibernate kafka jenkins travis circleci selenium"),
    word_set("ford tesla mercedes bmw audi toyota honda volkswagen renault peugeot fiat ferrari porsche volvo nissan"),
)
"""Kinds of thing of which one beside another is a thing too: `Maven, Jackson`, `Ford, Tesla and Mercedes`."""
_VERSUS = r" (?:vs\.?|versus|(?:is )?(?:better|worse|faster|slower) than)"
_LISTED_BEFORE = re.compile(rf"([^\W\d_]{{2,20}})(?:,? (?:and|or|et|ou|und|oder|y|o|e)|,|{_VERSUS}) $")
_LISTED_AFTER = re.compile(
    rf"(?:, ([^\W\d_]{{2,20}})(?=,| (?:and|or|et|ou|und|oder|y|o|e) )|{_VERSUS} ([^\W\d_]{{2,20}}))"
)
_LIST_GOES_ON = re.compile(r"\s*(?:[.?!;)]|,|(?:and|or|et|ou|und|oder|y|o|e) |$)")
"""A product before proves nothing where a sentence begins behind it: `Once we had Docker, Jackson said`."""
_BEFORE = re.compile(
    r"(?:syndrom|syndrome|morbus|krankheit|satz|theorem|gesetz|verteilung|kurve|maladie|signe|score|test|echelle"
    r"|scala|escala|"
    r"skala|indice|index|classification|klassifikation|manoeuvre|loi|legge|ley|theoreme|teorema|courbe|curva|campana|"
    r"enfermedad|sindrome|malattia|morbo|mal|prueba|metodo|methode|principe|principio|prinzip|canal|ligament"
    r"|cellules?|corps|"
    r"reflexe|nodule|sauce|salade|tarte|poires?|pommes?|pera|peras|manzana|manzanas|queso|jamon|formaggio|prosciutto"
    r"|vin|vino|"
    r"rose|rosa|module|package|library|class|paquet|classe|libreria|bibliothek|modul|paket|syndrome of|law of|ville"
    r"|city|town|"
    r"saint|st\.|sainte|san|santa|santo|sankt)[ ](?:de la |de |du |d['’]|di |von |des |of |della |del |dei |dell['’]"
    r"|named |"
    r"called |nomme |namens )?[\"'`]?$"
)
_QUOTED_NAME_OF = re.compile(
    r"(?:attribute?|attributo|atributo|key|field|column|variable|function|method|property|enum|constant|argument)"
    r"[ ][\"'`]$"
)
_AFTER = re.compile(
    r"(?:['’]s)?[ \-](?:disease|syndrome|scores?|catheters?|signs?|tests?|scales?|index|reflex|maneuver|manoeuvre"
    r"|laws?|theorem|"
    r"criteria|classification|lymphoma|palsy|method|algorithm|coma|pears?|apples?|cheese|cake|sauce|salads?|rice|tea"
    r"|oil|"
    r"dressing|terriers?|retrievers?|shepherds?|engines?|motors?|cycle|cells?|series|transform|filters?|distribution"
    r"|process|"
    r"constant|equations?|inequality|lemma|conjecture|matrix|space|functions?|effect|paradox|principle|curve|burner"
    r"|flask|"
    r"dish|tubes?|paths?|delta|blossoms?|petals?|leaves|bush|tree|wine|beer|bread|butter|soup|steak|eggs|benedict"
    r"|pudding|chocolate|"
    r"krankheit|syndrom|verteilung|kurve|satz|zahl|skala|test|gesetz|integral|torte|schnitzel)\b"
)
_INDEFINITE = re.compile(r"(?:^|[\s(])(?:an?|une?|ein|eine[mnrs]?|una?|some|des|del|dei|delle|unos|unas)[ ]$")
_NEXT_WORD = re.compile(r"[ ]([^\W\d_]{2,30})")
_MEASURE = re.compile(
    r"(?:\d|\b(?:g|kg|ml|cl|cups?|tbsp|tsp|spoons?|cuilleres?|teeloffel|bunch|sprigs?|feuilles)) (?:of |de |d['’])?$"
)


_OF_A_PLACE = re.compile(
    r"(?:syndrom|syndrome|morbus|maladie|score|scores|test|echelle|scala|escala|skala|indice|theoreme|teorema|loi|legge"
    r"|ley|courbe|curva|campana|enfermedad|sindrome|malattia|morbo|metodo|methode|lymphome|linfoma|signe|signo|segno"
    r"|classification|clasificacion|classificazione|fracture|fractura|protocole|reflexe|ligament|sauce|salade|tarte|moutarde|jambon"
    r"|saucisse|savon|queso|jamon|turron|formaggio|prosciutto|mortadella|aceto|pesto|ragu|schinken|senf)"
    r"[ ](?:de la |de |du |d['’]|di |von |des |of |della |del |dei |dell['’])$"
)
_THING_AFTER = re.compile(
    r"(?:['’]s)?[ \-](?:sponge|pudding|delta|sandwich|cheese|cheddar|ham|mustard|sausages?|terriers?|dressing|cake"
    r"|brest|steak|eggs|coma|syndrome|disease|fever|distribution|theorem|transform|paradox|lemma|conjecture|inequality|t-test"
    r"|t|criteria|classification)\b"
)
_SCORES = frozenset({"glasgow", "gleason", "apgar"})
_POINTS = re.compile(r"[ ](?:coma |scale |score |[aà] |of |de )?\d{1,2}\b|[ ](?:coma|scale|score)\b")


def is_eponym(text: str, span: Span) -> bool:
    """The same of a place or organisation: `score de Glasgow`, `queso de Burgos`, `Poisson distribution`."""
    words = tokens(text, span.start, span.end)
    before, after = fold(text[max(0, span.start - 40) : span.start]), fold(text[span.end : span.end + 32])
    if _OF_A_PLACE.search(before):
        return True
    if len(words) != 1:
        return False
    return _THING_AFTER.match(after) is not None or (words[0].folded in _SCORES and _POINTS.match(after) is not None)


def _is_product(word: str, before: str, after: str) -> bool:
    """`Ruby on Rails`, and a product in a list with another of its kind."""
    if word == "ruby" and after.startswith(" on rails"):
        return True
    first = _LISTED_BEFORE.search(before) if _LIST_GOES_ON.match(after) else None
    second = _LISTED_AFTER.match(after)
    beside = {found for match in (first, second) if match for found in match.groups() if found}
    return any(word in kind and not beside.isdisjoint(kind) for kind in _PRODUCTS)


def is_thing(text: str, span: Span, lexicon: Lexicon) -> bool:
    """True if a model's or list's `PERSON` at `span` is what a thing is called."""
    words = tokens(text, span.start, span.end)
    if not words:
        return False
    before, after = fold(text[max(0, span.start - 40) : span.start]), fold(text[span.end : span.end + 32])
    if _AFTER.match(after) or _BEFORE.search(before) or _QUOTED_NAME_OF.search(before):
        return len(words) <= 2
    if len(words) == 1 and _is_product(words[0].folded, before, after):
        return True
    if len(words) == 2 and words[1].text.islower() and _AFTER.match(f" {words[1].folded}"):
        return True  # the model took the thing along: Bartlett pear
    follows = _NEXT_WORD.match(after)
    plain_follows = follows is not None and text[span.end + 1].islower() and lexicon.is_common(follows[1])
    lower = all(word.text[0].islower() for word in words)
    if len(words) == 1:
        double = words[0].folded in _DOUBLE or lexicon.is_common(words[0].folded)
        if _INDEFINITE.search(before) and (plain_follows or double):
            return True
        return double and (lower or _MEASURE.search(before) is not None)
    if lower:
        return words[0].folded in _DOUBLE and any(lexicon.is_common(word.folded) for word in words[1:])
    return False

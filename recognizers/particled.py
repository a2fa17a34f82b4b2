"""Names with particles (`María del Carmen Ruiz`, `João da Silva`, `avv. Lo Presti`), which models take for places.

In Spanish, Portuguese and Italian a place and a family name are built alike, and the models of other languages have
seen neither. A listed given name before the particle says which of the two it is, in a text of any language.
May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from recognizers import multilingual
from recognizers.base import Span, fold
from recognizers.lexicon import Lexicon
from recognizers.ordinary import inner
from recognizers.shape import ORGANISATION_WORDS
from recognizers.words import CALENDAR, FUNCTION, OFFICES, TECHNICAL, TITLES, word_set

SCORE = 0.86
"""A little above a model's, whose guess at the same words this is to outweigh."""
_NAME = "names:list"
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][^\W\d_]{1,30}(?:[\-'’][^\W\d_]{1,30})*"
_PARTICLE = r"(?:del|de l[ao]s|de la|dos|das|da|di|della|dello|van de[rn]|van|lo)"
_CHAIN = re.compile(
    rf"(?<![\w@.\-/\\#$_'’])({_CAPITAL})((?: {_CAPITAL}){{0,2}}) {_PARTICLE} ({_CAPITAL})"
    rf"((?: {_CAPITAL}){{0,3}})(?![\w@])"
)
_BEFORE = re.compile(
    r"\b(?:san|santa|santo|sao|saint|st|calle|c/|plaza|avenida|avda|av|paseo|rua|praca|avenue|rue|place|via|viale"
    r"|piazza|corso|largo|hospital|clinica|colegio|instituto|universidad|iglesia|convento|castillo|palacio|parque"
    r"|puerto|puente|isla|villa|vila|ciudad|pueblo|municipio|provincia|rio|barrio|aeropuerto|estacion)\.?[ ]$"
)
_TOWNS = word_set("santiago valencia florence florencia victoria cordoba leon merida paris san santa santo")
"""Given names that are towns first: `Santiago del Estero`."""
_HOUSES = word_set(
    "departamento banco banca ministerio ministero equipo servicio servizio area seccion oficina ufficio grupo gruppo "
    "empresa universidad universita ayuntamiento comune norte sur este oeste nord sud"
)
_NOT = _HOUSES | FUNCTION | TECHNICAL | TITLES | OFFICES
_CAPITAL_PARTICLE = re.compile(
    r"(?:(?<=[^\W\d_A-ZÀ-Þ] )|(?<=[,(] )|(?<=\b(?:avv|ing|sig|sra|rag)\. )|(?<=\b(?:dott|prof|geom)\. ))"
    r"(?:Lo|La|Li|Di|De|Del|Della|Dello|Da|Dal|Van|Von)[ ]$"
)
_LOOK_BACK = 24


def particled(text: str, lexicon: Lexicon) -> Iterator[Span]:
    """Names of a listed given name, a particle and capitalised words."""
    for match in _CHAIN.finditer(text):
        first, family = fold(match[1]), fold(match[3])
        if not _is_given(first, lexicon) or first in _NOT | CALENDAR or first in _TOWNS:
            continue
        if family in _NOT or family in ORGANISATION_WORDS:
            continue
        if family not in CALENDAR and inner(text, match.start(3), match.end()) is None:
            continue
        if _BEFORE.search(fold(text[max(0, match.start() - _LOOK_BACK) : match.start()])):
            continue
        yield Span(*match.span(), "PERSON", SCORE, _NAME, "given name and particle")


def widened(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """The persons of `found` that a capitalised particle inside a sentence begins: `avv. Lo Presti`."""
    for span in found:
        before = text[max(0, span.start - _LOOK_BACK) : span.start]
        if span.entity == "PERSON" and (particle := _CAPITAL_PARTICLE.search(before)):
            yield span._replace(start=span.start - len(before) + particle.start())


def _is_given(folded: str, lexicon: Lexicon) -> bool:
    return lexicon.is_given(folded) or folded.partition("-")[0] in _european()


@cache
def _european() -> frozenset[str]:
    return frozenset(multilingual.lists("european_names.txt.xz")["given"])

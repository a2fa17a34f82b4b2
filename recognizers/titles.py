"""The form of address before a person's name (`M.`, `Mme`, `Dr`, `Sir`): it tells sex, rank or trade.

It stays outside the name, so that `Mrs Tallow` and `Tallow` are one person, and is an entity of its own, which only
a policy that asks for it replaces. May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recognizers.base import Entity, Span
from recognizers.words import word_set

TITLE = Entity(
    name="TITLE",
    title="Form of address before a name",
    example="The file was sent to Dr. Mira Tallow.",
    value="Dr.",
    checked="stands before the name of a person",
    source="forms of address in English, French, German, Spanish and Italian",
)

_WORDS = word_set(
    "M Mr Mrs Ms Miss Mx MM Mme Mmes Mlle Mlles Me Mes Maître Madame Monsieur Mademoiselle Messieurs Mesdames Dr Drs "
    "Dre Docteur Pr Pre Prof Professor Professeur Doctor Sir Lady Lord Dame Judge Justice Rev Capt Col Gen Sgt Lt Hon "
    "Nurse Herr Frau Hr Fr Dipl Ing Sr Sra Srta Señor Señora Don Doña D Dña Dra Sig Signor Signora Dott Avv"
)
_ONE = rf"(?:{'|'.join(sorted(_WORDS, key=lambda word: (-len(word), word)))})\b\.?"
_BEFORE = re.compile(rf"(?<![^\W_])({_ONE}(?:[ \u00a0]+(?:(?:le|la)[ \u00a0]+)?{_ONE}){{0,2}})[ \u00a0]?$")
_REACH = 40
SCORE = 0.8


def titles(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The form of address right before each `PERSON` of `spans` that no other span holds."""
    ends = sorted(span.end for span in spans)
    taken = set(ends)
    for span in spans:
        if span.entity != "PERSON":
            continue
        first = max(0, span.start - _REACH)
        match = _BEFORE.search(text[first : span.start])
        if match is None:
            continue
        start, end = first + match.start(1), first + match.end(1)
        if not any(start < at <= end for at in taken):
            yield Span(start, end, TITLE.name, SCORE, "titles", "before a name")

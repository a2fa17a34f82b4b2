"""National identifiers, one country a file. May import: its own modules and recognizers.base."""

from __future__ import annotations

from presidio_analyzer import EntityRecognizer

from recognizers.base import RuleRecognizer
from recognizers.national import at, be, ch, common, companies, de, es, europe, fr, it, nl, pl, uk, us, world

_SETS = {
    "at": at,
    "be": be,
    "ch": ch,
    "de": de,
    "es": es,
    "fr": fr,
    "it": it,
    "nl": nl,
    "pl": pl,
    "uk": uk,
    "us": us,
    "europe": europe,
    "world": world,
    "companies": companies,
    "documents": common,
}

ENTITIES = tuple(entity for module in _SETS.values() for entity in module.ENTITIES)
RULES = tuple(rule for module in _SETS.values() for rule in module.RULES)


def build() -> list[EntityRecognizer]:
    """One recognizer a country, and one for the documents that are named alike everywhere."""
    return [RuleRecognizer(f"national_{code}", module.RULES) for code, module in _SETS.items()]

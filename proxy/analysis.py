"""From a policy to what a detection worker needs. Pure. May import: policy, recognizers.

The entities that the policy acts on are the only ones that are looked for: what nobody asked for costs no time.
"""

from __future__ import annotations

from proxy.policy import Policy, declared_recognizers
from recognizers import ENTITIES
from recognizers.analyzer import Settings
from recognizers.models import SOURCES

SPOKEN = frozenset(
    (
        "ar",
        "bg",
        "bn",
        "cs",
        "da",
        "de",
        "el",
        "en",
        "es",
        "et",
        "fi",
        "fr",
        "ga",
        "he",
        "hi",
        "hr",
        "hu",
        "id",
        "it",
        "ja",
        "ko",
        "lt",
        "lv",
        "mt",
        "nl",
        "no",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "sv",
        "th",
        "tr",
        "uk",
        "vi",
        "zh",
    )
)
"""The official languages of the European Union and others with many speakers: who uses them should know."""


def wanted(policy: Policy) -> frozenset[str]:
    """Entities, built in or the policy's own, that the policy does something about."""
    return frozenset(entity for entity in {*ENTITIES, *policy.declared} if policy.rule(entity).action != "allow")


def settings_for(policy: Policy) -> Settings:
    """Picklable settings of an analyzer for this policy."""
    entities = wanted(policy)
    return Settings(
        languages=policy.languages,
        phone_regions=policy.phone_regions,
        custom=declared_recognizers(policy),
        entities=entities,
        least=tuple(sorted((entity, policy.rule(entity).min_score) for entity in entities)),
    )


def examples(policy: Policy) -> tuple[tuple[str, str, str], ...]:
    """(entity, text, value) for every built-in entity that the policy acts on: what a self-test must find."""
    found = wanted(policy)
    return tuple((row.name, row.example, row.value) for row in ENTITIES.values() if row.name in found)


def not_covered(policy: Policy) -> dict[str, list[str]]:
    """What goes through although one may think it does not: built-in entities that the policy leaves alone, and
    languages (ISO 639-1, the more spoken ones) in whose texts no model looks for names."""
    return {
        "entities": sorted(set(ENTITIES) - wanted(policy)),
        "languages": sorted({*SPOKEN, *SOURCES} - set(policy.languages)),
    }

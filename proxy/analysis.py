"""From a policy to what a detection worker needs. Pure. May import: policy, recognizers.

The entities that the policy acts on are the only ones that are looked for: what nobody asked for costs no time.
"""

from __future__ import annotations

from proxy.policy import Policy, declared_recognizers
from recognizers import ENTITIES
from recognizers.analyzer import Settings


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

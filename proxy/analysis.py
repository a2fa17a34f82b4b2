"""From a policy to what a detection worker needs. Pure. May import: policy, recognizers.

The entities that the policy acts on are the only ones that are looked for: what nobody asked for costs no time.
"""

from __future__ import annotations

from collections.abc import Iterator

from proxy.policy import Policy, PresidioRecognizer
from recognizers import ENTITIES
from recognizers.analyzer import Settings
from recognizers.custom import CustomRule, CustomSpec, DenyTerms, Foreign


def wanted(policy: Policy) -> frozenset[str]:
    """Entities, built in or the policy's own, that the policy does something about."""
    return frozenset(entity for entity in {*ENTITIES, *policy.declared} if policy.rule(entity).action != "allow")


def settings_for(policy: Policy) -> Settings:
    """Picklable settings of an analyzer for this policy."""
    return Settings(
        languages=policy.languages,
        phone_regions=policy.phone_regions,
        custom=tuple(_specs(policy)),
        entities=wanted(policy),
    )


def examples(policy: Policy) -> tuple[tuple[str, str, str], ...]:
    """(entity, text, value) for every built-in entity that the policy acts on: what a self-test must find."""
    found = wanted(policy)
    return tuple((row.name, row.example, row.value) for row in ENTITIES.values() if row.name in found)


def _specs(policy: Policy) -> Iterator[CustomSpec]:
    for name, made in policy.recognizers.items():
        if isinstance(made, PresidioRecognizer):
            yield Foreign(made.presidio, made.entities or (name,))
        else:
            yield CustomRule(name, made.regex, made.context, made.score, made.ignore_case)
    for entity, terms in policy.deny.items():
        yield DenyTerms(entity, terms)

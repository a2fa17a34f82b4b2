"""What loads and may surprise: rules that seldom or never act, and switches that let something through.

Sees a policy that is right in itself and what is known about the recognizers. Pure.
May import: proxy.policy.{faults,lint,model,sections,surprising_*}, recognizers.facts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from proxy.policy.faults import listed
from proxy.policy.lint import Slip
from proxy.policy.model import Policy
from proxy.policy.surprising_limits import of_limits
from proxy.policy.surprising_lists import of_lists
from proxy.policy.surprising_switches import of_switches
from recognizers.facts import Facts

_ANYTHING = 0.1
_SPOKEN = {
    "en": ("GB", "US", "IE", "CA", "AU", "NZ", "ZA", "IN", "SG", "HK", "NG", "KE", "GH", "JM", "MT", "PH", "PK"),
    "fr": ("FR", "BE", "CH", "CA", "LU", "MC", "CI", "SN", "CM", "MA", "TN", "DZ", "CD", "GP", "MQ", "RE", "GF"),
    "de": ("DE", "AT", "CH", "LI", "LU", "BE"),
    "es": ("ES", "MX", "AR", "CO", "CL", "PE", "VE", "EC", "UY", "PY", "BO", "CR", "GT", "DO", "PA", "HN", "SV", "NI"),
    "it": ("IT", "CH", "SM", "VA"),
}
_HOME = {"GB": "en", "US": "en", "FR": "fr", "DE": "de", "AT": "de", "ES": "es", "IT": "it"}
_NAMED = {"en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian"}
MOST_NAMED = 8
FEW_NAMED = 4


def surprises(policy: Policy, facts: Facts, usual: Collection[str] = ()) -> Iterator[Slip]:
    """Every warning about a policy that loads. `usual` is what the shipped default acts on."""
    yield from _scores(policy, facts)
    yield from _entities(policy, facts)
    yield from _usual(policy, usual)
    yield from _languages(policy, facts)
    yield from _regions(policy)
    yield from of_lists(policy, facts)
    yield from of_limits(policy)
    yield from of_switches(policy)
    yield from _tests(policy)


def _scores(policy: Policy, facts: Facts) -> Iterator[Slip]:
    for entity, rule in policy.entities.items():
        if "min_score" not in rule.model_fields_set:
            continue
        path, least = ("entities", entity, "min_score"), rule.min_score
        if rule.action == "allow":
            yield Slip(path, "score-of-allowed", f"'{entity}' is allowed, so its min_score has no effect", _EITHER)
        elif entity in policy.declared or entity not in facts.reach:
            continue
        elif least > facts.reach[entity]:
            message = f"nothing scores {entity} above {facts.reach[entity]:g}, so it is never found"
            yield Slip(path, "score-unreachable", message, f"ask for {facts.reach[entity]:g} at most")
        elif least > facts.bare[entity] > 0:
            message = f"without a label {entity} scores {facts.bare[entity]:g} at best, so only a labelled one is found"
            yield Slip(path, "score-labelled-only", message, f"ask for {facts.bare[entity]:g} at most")
        elif least <= _ANYTHING:
            message = f"at {least:g} whatever has the shape of {entity} counts as one"
            yield Slip(path, "score-anything", message, "leave it out (0.5), or ask for 0.3 at least")


_EITHER = "remove it, or choose another action"


def _entities(policy: Policy, facts: Facts) -> Iterator[Slip]:
    acted = [name for name in {*policy.entities, *policy.declared} if policy.rule(name).action != "allow"]
    if not acted:
        message = "no entity has an action: every prompt is passed on as it is"
        yield Slip(("entities",), "nothing-found", message, "give at least one an action", on_key=True)
    left = [name for name in facts.reach if name not in policy.entities and name not in policy.declared]
    if left and len(left) < len(facts.reach) / 4:
        more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
        message = f"built in, not listed, so left alone: {', '.join(left[:MOST_NAMED])}{more}"
        yield Slip(("entities",), "entity-unlisted", message, "list them, with allow if that is meant", on_key=True)
    for name in sorted(facts.guessed):
        if policy.rule(name).action == "block":
            message = f"{name} is a model's guess, and stands in most texts: many requests are refused"
            yield Slip(("entities", name), "block-guessed", message, "replace it instead", on_key=True)


def _usual(policy: Policy, usual: Collection[str]) -> Iterator[Slip]:
    left = [name for name in usual if name not in policy.entities and name not in policy.declared]
    if len(left) > len(usual) / 2:
        few = f"{', '.join(left[:FEW_NAMED])} and {len(left) - FEW_NAMED} more"
        message = f"of what the default policy replaces, {len(left)} are not listed, so left alone: {few}"
        mend = "begin with extends: default, or list them, with allow if that is meant"
        yield Slip(("entities",), "default-unlisted", message, mend, on_key=True)


def _languages(policy: Policy, facts: Facts) -> Iterator[Slip]:
    for at, language in enumerate(policy.languages):
        if language not in facts.models:
            message = f"the model for {_NAMED[language]} is not installed here"
            yield Slip(("languages", at), "language-without-model", message, "install it, or remove the language")
    acted = any(policy.rule(name).action != "allow" for name in facts.guessed)
    said = acted and "phone_regions" in policy.model_fields_set
    for at, region in enumerate(policy.phone_regions if said else ()):
        other = _HOME.get(region)
        if other is not None and other not in policy.languages:
            message = f"telephone numbers of {region} are looked for, and names in {_NAMED[other]} are not"
            yield Slip(("phone_regions", at), "entity-without-language", message, f"add '{other}' to 'languages'")


def _regions(policy: Policy) -> Iterator[Slip]:
    if policy.rule("PHONE_NUMBER").action == "allow":
        if "phone_regions" in policy.model_fields_set:
            message = "telephone numbers are left alone, so their regions have no effect"
            yield Slip(("phone_regions",), "region-unused", message, "list PHONE_NUMBER, or remove this", on_key=True)
        return
    for language in policy.languages:
        if not set(_SPOKEN[language]).intersection(policy.phone_regions):
            message = f"no region where {_NAMED[language]} is spoken: numbers without a country code are passed on"
            mend = f"add {listed(_SPOKEN[language][:3])}"
            yield Slip(("phone_regions",), "region-missing", message, mend, on_key=True)


def _tests(policy: Policy) -> Iterator[Slip]:
    if not policy.tests:
        yield Slip((), "no-tests", "this policy has no tests", "say under 'tests' what it must find and leave")
    tested = {entity for trial in policy.tests for entity in trial.finds or ()}
    for name in policy.recognizers if policy.tests else ():
        if name in policy.declared and name not in tested:
            message = f"no test shows that '{name}' finds anything"
            mend = f"add one: {{text: '...', finds: [{name}]}}"
            yield Slip(("recognizers", name), "recognizer-untested", message, mend, on_key=True)

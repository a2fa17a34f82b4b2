"""A policy as it stands in a text field: read like a file, and held to what the service has loaded.

May import: analysis, policy, recognizers.

What an edit may change is everything but code and models: rules, scores, lists, regular expressions, limits, answers.
A language or a recognizer brought along that the live policy does not have would have to be loaded, for one look and
for every worker, and a class named in a text field would be run: that is what `caviardage test` is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.analysis import settings_for
from proxy.policy import Fault, Policy, PolicyError, parse_policy
from recognizers import ENTITIES
from recognizers.analyzer import Settings
from recognizers.custom import Brought, CustomSpec, build_custom

UNTRIED = "not-loaded"
"""The rule of what the inspector cannot try."""


def read(text: str, file: str) -> Policy:
    """The policy. Raises `PolicyError` with every fault in it; `file` is what faults call it."""
    return parse_policy(text.encode("utf-8", "surrogatepass"), file=file, entities=ENTITIES)


def settings(policy: Policy, live: Settings, file: str) -> Settings:
    """What a worker needs to look under this policy. Raises `PolicyError` if it has not loaded all of that."""
    asked = settings_for(policy)
    faults = [Fault(file, 1, 1, UNTRIED, what, "try it with caviardage test") for what in _untried(asked, live)]
    if faults:
        raise PolicyError(faults)
    return replace(asked, custom=tuple(_lent(spec, live) or spec for spec in asked.custom), shared=live.shared)


def _untried(asked: Settings, live: Settings) -> Iterator[str]:
    for language in asked.languages:
        if language not in live.languages:
            yield f"the service has not loaded the language '{language}'"
    for spec in asked.custom:
        if isinstance(spec, Brought) and _lent(spec, live) is None:
            yield "the service has not loaded one of the recognizers that this policy brings along"
    try:
        build_custom([spec for spec in asked.custom if not isinstance(spec, Brought)])
    except ValueError as error:
        yield str(error)


def _lent(spec: CustomSpec, live: Settings) -> Brought | None:
    """The live policy's own declaration of the same recognizer, whatever the tests say that it must find."""
    if not isinstance(spec, Brought):
        return None
    known = (had for had in live.custom if isinstance(had, Brought))
    return next((had for had in known if replace(had, examples=()) == replace(spec, examples=())), None)

"""What a policy declares of its own, in the words of `recognizers`, which must not know what a policy is.

May import: proxy.policy.{model,sections}, recognizers.custom.
"""

from __future__ import annotations

from proxy.policy.model import Policy, entities_of
from proxy.policy.sections import PresidioRecognizer, RegexRecognizer
from recognizers.custom import CustomRule, CustomSpec, DenyTerms, Foreign


def declared_recognizers(policy: Policy) -> tuple[CustomSpec, ...]:
    """The policy's own recognizers and its `deny` lists, for `recognizers.custom.build_custom`."""
    made = (_recognizer(name, made) for name, made in policy.recognizers.items())
    return (*made, *(DenyTerms(entity, terms) for entity, terms in policy.deny.items()))


def _recognizer(name: str, made: RegexRecognizer | PresidioRecognizer) -> CustomSpec:
    if isinstance(made, PresidioRecognizer):
        return Foreign(made.presidio, entities_of(name, made))
    return CustomRule(name, made.regex, made.context, made.score, made.ignore_case)

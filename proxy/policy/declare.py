"""What a policy declares of its own, in the words of `recognizers`, which must not know what a policy is.

May import: proxy.policy.{checks,model,sections}, recognizers.{custom,foreign,onnx,pipeline}.
"""

from __future__ import annotations

from proxy.policy import checks
from proxy.policy.model import Policy, entities_of
from proxy.policy.sections import OnnxRecognizer, Own, PresidioRecognizer, SpacyRecognizer
from recognizers.custom import CustomRule, CustomSpec, DenyTerms
from recognizers.foreign import Foreign
from recognizers.onnx import OnnxModel
from recognizers.pipeline import SpacyPipeline


def declared_recognizers(policy: Policy) -> tuple[CustomSpec, ...]:
    """The policy's own recognizers and its `deny` lists, for `recognizers.custom.build_custom`."""
    made = (_recognizer(policy, name, made) for name, made in policy.recognizers.items())
    return (*made, *(DenyTerms(entity, terms) for entity, terms in policy.deny.items()))


def _recognizer(policy: Policy, name: str, made: Own) -> CustomSpec:
    entities = entities_of(name, made)
    match made:
        case PresidioRecognizer():
            return Foreign(made.presidio, entities, checks.thawed(made.arguments), _examples(policy, entities))
        case SpacyRecognizer():
            examples = _examples(policy, entities)
            return SpacyPipeline(made.spacy, dict(made.labels), made.version, made.sha256, made.score, examples)
        case OnnxRecognizer():
            examples = _examples(policy, entities)
            return OnnxModel(made.onnx, made.sha256, dict(made.labels), made.file, made.window, examples)
    return CustomRule(name, made.regex, made.context, made.score, made.ignore_case)


def _examples(policy: Policy, entities: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of the policy's tests that speak of one of the entities."""
    return tuple(trial.text for trial in policy.tests if set(entities).intersection(trial.finds or ()))

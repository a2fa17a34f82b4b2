"""The policy: what the security team wrote, read strictly, frozen, and explained when it is wrong.

    faults    what can be wrong, and the nearest right word
    tree      YAML 1.2 with the place of every key and value
    sections  the parts of a policy, key by key
    model     the whole, and what the stages ask of it
    checks    single values: names, regular expressions, terms, regions
    limits    model names, tokenizers, factors
    lint      what only shows across sections
    explain   the model's errors in plain words
    load      all of the above, in order
    declare   the policy's own recognizers, as `recognizers` wants them
    trial     the policy's own tests
    schema    JSON schema for editors

May import: pydantic, ruamel.yaml, phonenumbers, recognizers.{base,custom,foreign,onnx,pipeline}.
"""

from proxy.policy.declare import declared_recognizers
from proxy.policy.faults import Fault, PolicyError, report, report_json
from proxy.policy.limits import ModelLimit
from proxy.policy.load import load_policy, parse_policy
from proxy.policy.model import Policy
from proxy.policy.sections import EntityRule, PresidioRecognizer, RegexRecognizer
from proxy.policy.trial import TrialResult, run_trials

__all__ = [
    "EntityRule",
    "Fault",
    "ModelLimit",
    "Policy",
    "PolicyError",
    "PresidioRecognizer",
    "RegexRecognizer",
    "TrialResult",
    "declared_recognizers",
    "load_policy",
    "parse_policy",
    "report",
    "report_json",
    "run_trials",
]

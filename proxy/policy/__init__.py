"""The policy: what the security team wrote, read strictly, frozen, and explained when it is wrong.

    faults    what can be wrong, and the nearest right word
    rules     every rule: how grave it is and why it matters
    tree      YAML 1.2 with the place of every key and value
    extends   the policies that one builds on, and how it goes over them
    sections  the parts of a policy, key by key
    model     the whole, and what the stages ask of it
    checks    single values: names, regular expressions, terms, regions
    limits    model names, tokenizers, factors
    lint      what only shows across sections
    surprises what loads and may surprise (with surprising_{lists,limits,switches})
    explain   the model's errors in plain words
    load      all of the above, in order
    declare   the policy's own recognizers, as `recognizers` wants them
    formats   faults as text, JSON, SARIF and JUnit XML
    trial     the policy's own tests, and rewrite, which renews what they expect
    bodies    JSON inside a policy
    schema    JSON schema for editors

May import: pydantic, ruamel.yaml, phonenumbers, recognizers.{base,custom,facts,foreign,onnx,pipeline}.
"""

from proxy.policy.bodies import thawed
from proxy.policy.declare import declared_recognizers
from proxy.policy.faults import Fault, PolicyError, report, report_json
from proxy.policy.limits import ModelLimit
from proxy.policy.load import inspect_policy, inspected, load_policy, parse_policy, place_in
from proxy.policy.model import Policy
from proxy.policy.rewrite import rewritten
from proxy.policy.sections import EntityRule, PresidioRecognizer, RegexRecognizer
from proxy.policy.trial import Outcome, TrialResult, judged, numbered, run_trials, text_outcome

__all__ = [
    "EntityRule",
    "Fault",
    "ModelLimit",
    "Outcome",
    "Policy",
    "PolicyError",
    "PresidioRecognizer",
    "RegexRecognizer",
    "TrialResult",
    "declared_recognizers",
    "inspect_policy",
    "inspected",
    "judged",
    "load_policy",
    "numbered",
    "parse_policy",
    "place_in",
    "report",
    "report_json",
    "rewritten",
    "run_trials",
    "text_outcome",
    "thawed",
]

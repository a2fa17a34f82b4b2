"""Every rule that a fault may name: how grave it is, what is wrong, and why that matters.

An error does not load. A warning loads and does something that its author may not have meant. The pages in
`docs/rules/` are made from this table and from the two examples of each rule in `tests/rules/`.
May import: the standard library, proxy.policy.faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from proxy.policy.faults import RULES, TENANT_RULES, Fault

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`id` is what a fault names; `what` and `why` are whole sentences; `about` is the file in which it is met."""

    id: str
    severity: Severity
    what: str
    why: str
    about: Literal["policy", "tenants"] = "policy"


_WHY: Mapping[str, str] = MappingProxyType(
    {
        "unreadable": "A policy that cannot be read protects nobody, so nothing starts with it.",
        "encoding": "A name in another encoding would never be met in a request, which is UTF-8.",
        "yaml": "What YAML reads in two ways, people read in two ways. A policy keeps to what can be read in one.",
        "empty": "Without a policy nothing is known to be personal.",
        "duplicate-key": "One of the two would win silently, and it could be the weaker one.",
        "bad-extends": "Half a policy would be in force: all that stands in the other one would be missing.",
        "unknown-key": "A misspelt key has no effect: what it was to switch on would stay off, and nobody would know.",
        "missing-key": "There is no default that would be right for everybody here.",
        "wrong-type": "What is read in another way than it was meant does something else than it was meant to.",
        "wrong-value": "A misspelt word has no effect: what it was to switch on would stay off.",
        "unknown-entity": "Nothing finds an entity of this name, so what is to be done with it is never done.",
        "bad-name": "A placeholder carries the entity's name. One that it cannot carry could not be restored.",
        "bad-regex": "An expression that is not RE2 could take forever on one prompt; an empty match is everywhere.",
        "bad-term": "A term that stands in every text would make every text unreadable for the model.",
        "bad-limit": "A request over what is really served is cut or answered from a part of the prompt.",
        "bad-region": "Telephone numbers of a region that does not exist are never found.",
        "dead-rule": "Whoever wrote it believes that it protects something. It does not.",
        "no-example": "What somebody else made may find nothing at all here, and nothing else would show it.",
    }
)

_WARNINGS = (
    (
        "score-unreachable",
        "A `min_score` above the best score that anything gives this entity.",
        "Nothing is ever sure enough, so the entity is never found, and every one of them leaves the house.",
    ),
    (
        "score-labelled-only",
        "A `min_score` that this entity reaches only beside a label.",
        "`06 12 34 56 78` in a sentence is passed on; only `Phone: 06 12 34 56 78` is found.",
    ),
    (
        "score-anything",
        "A `min_score` so low that whatever has the shape counts.",
        "Numbers that are nothing become placeholders, and the model no longer understands the text.",
    ),
    (
        "score-of-allowed",
        "A `min_score` for an entity that is allowed.",
        "It has no effect: an allowed entity is left alone at any score. Perhaps another action was meant.",
    ),
    (
        "allow-swallows-entity",
        "The allow list frees all that a recognizer or list of your own could find.",
        "The entity is declared and never acted on.",
    ),
    (
        "allow-swallows-test",
        "The allow list frees the whole text of a test that expects something to be found.",
        "The test cannot pass, and neither would the same value be found in a request.",
    ),
    (
        "allow-never-frees",
        "An allowed term whose check digit is right.",
        "Such a number cannot be told from a customer's, so the allow list never frees it.",
    ),
    (
        "term-twice",
        "A term that its list already has, perhaps in another case.",
        "Terms are met in any case, so the second one does nothing. Perhaps another word was meant.",
    ),
    (
        "deny-covered",
        "A term that is listed under two entities.",
        "Only one of the two names a finding; the action of the other is never taken for this term.",
    ),
    (
        "deny-common-word",
        "A denied term that is a plain word of English or French.",
        "It stands in nearly every text, in any case, and each time becomes a placeholder.",
    ),
    (
        "deny-short",
        "A denied term of two characters.",
        "Terms are met in any case: `IT` is also `it`, in every sentence.",
    ),
    (
        "pattern-covered",
        "A regular expression that finds only what another entity's finds too.",
        "Where both match the same text, one of them names it. The action of the other is never taken.",
    ),
    (
        "regex-too-wide",
        "A regular expression that matches plain words or small numbers as they stand in any text.",
        "Nearly everything becomes a placeholder, and the model no longer understands the text.",
    ),
    (
        "recognizer-untested",
        "A recognizer of your own that no test of the policy finds.",
        "A pattern that matches nothing looks like one that works, until the day that it was needed.",
    ),
    (
        "model-syntax",
        "A model's name with signs that mean something in other pattern languages, and here stand for themselves.",
        "No model has them in its name, so the limit is never used.",
    ),
    (
        "model-shadowed",
        "A pattern for models that never decides, because a longer one always matches too.",
        "Its limit is never used; the limit that is used may be a larger one.",
    ),
    (
        "advertised-as-served",
        "An advertised limit that is used as the served one.",
        "What a provider advertises is often more than a deployment holds. `caviardage probe` finds out.",
    ),
    (
        "no-model-allowed",
        "No model has a limit, and there is none by default.",
        "Every prompt is refused.",
    ),
    (
        "language-without-model",
        "A language whose model is not installed.",
        "The service does not start; without it, names in that language would be passed on.",
    ),
    (
        "entity-without-language",
        "Telephone numbers of a country are looked for, and names in its language are not.",
        "Texts from there are expected. Names in them are found less often than in a language that is read.",
    ),
    (
        "region-missing",
        "A language without a telephone region where it is spoken.",
        "National numbers in those texts, without a country code, are passed on.",
    ),
    (
        "region-unused",
        "Telephone regions, and telephone numbers are left alone.",
        "The list has no effect. Perhaps PHONE_NUMBER was forgotten under `entities`.",
    ),
    (
        "entity-unlisted",
        "Most built-in entities are listed, and a few are not.",
        "What is not listed is left alone and leaves the house. A new version may have brought new entities.",
    ),
    (
        "default-unlisted",
        "Less than half of what the shipped default replaces is listed, here or in what the policy extends.",
        "Only what is listed is looked for. A policy that begins with `extends: default` replaces all the rest too.",
    ),
    (
        "nothing-found",
        "No entity has an action.",
        "Every prompt is passed on as it is.",
    ),
    (
        "block-guessed",
        "An entity that a statistical model guesses is blocked.",
        "A guess is sometimes wrong, and names stand in most texts: many requests are refused that need not be.",
    ),
    (
        "deadline-small",
        "Less than five seconds for detection.",
        "A long prompt needs more on a busy machine, and a request whose detection is late is refused.",
    ),
    (
        "attachment-unseen",
        "Attachments that are passed on unseen.",
        "A photographed letter is a letter: what stands in it reaches the provider.",
    ),
    (
        "monitor-mode",
        "The policy only watches.",
        "Everything is counted, and every value is passed on.",
    ),
    (
        "checks-off",
        "No check of the answers blocks anything, or none is made.",
        "An answer that belongs to somebody else's prompt is handed to the client.",
    ),
    (
        "foreign-passes",
        "A placeholder of another conversation does not block the answer.",
        "It is the plainest sign that a provider has mixed up two customers.",
    ),
    (
        "usage-unasked",
        "Streams without a token count are blocked, and none is asked for.",
        "Most clients do not ask a stream for its count, so their long answers are cut.",
    ),
    (
        "hold-never",
        "Streams are never held until their token count has been checked.",
        "By the time that a wrong count is seen, the client has read the answer.",
    ),
    (
        "stream-held",
        "Unsolicited values block, so streams are held until they are complete.",
        "Clients see nothing for as long as the whole answer takes.",
    ),
    (
        "tool-gets-values",
        "A tool that sends its arguments elsewhere gets the real values.",
        "What was hidden from the model's provider is then told to whoever serves the tool.",
    ),
    (
        "prompts-unmeasured",
        "Prompt templates are allowed, and their tokens count as nothing known.",
        "They need `unknown_tokens` too: every request that uses one is refused.",
    ),
    (
        "no-tests",
        "The policy has no tests.",
        "Nobody will notice when an edit, or a new version, no longer finds what it has to.",
    ),
)

_TENANT_WHY: Mapping[str, str] = MappingProxyType(
    {
        "tenant-name": "The audit trail names tenants. A name like a hash could be taken for another tenant.",
        "key-in-clear": "Whoever reads the file, or a copy of it, could use the key.",
        "key-twice": "A request with it would belong to one tenant and be counted, and paid for, as that one only.",
        "tenant-upstream": "Requests of the tenant would go nowhere, or to somebody else.",
        "tenant-policy": "Without a policy nothing is known to be personal.",
        "not-stricter": "A header could then let something leave that the tenant's own policy keeps.",
        "no-upstream-key": "Every request of the tenant would be refused by the provider.",
    }
)
_TENANT_WARNINGS = (
    (
        "tenant-unlimited",
        "A tenant without any limit.",
        "One program in a loop can use up what all tenants share: connections, workers, and the provider's bill.",
    ),
    (
        "tenant-plain-http",
        "A tenant's upstream on another machine without TLS.",
        "Placeholders, the rest of the prompt and the upstream's key travel unencrypted.",
    ),
)

TABLE: Mapping[str, Rule] = MappingProxyType(
    {
        **{name: Rule(name, "error", what, _WHY.get(name, "")) for name, what in RULES.items()},
        **{name: Rule(name, "warning", what, why) for name, what, why in _WARNINGS},
        **{
            name: Rule(name, "error", what, _TENANT_WHY.get(name, ""), "tenants") for name, what in TENANT_RULES.items()
        },
        **{name: Rule(name, "warning", what, why, "tenants") for name, what, why in _TENANT_WARNINGS},
    }
)
"""By id, errors first."""


def severity(fault: Fault) -> Severity:
    """How grave a fault is; what no rule knows is an error."""
    rule = TABLE.get(fault.rule)
    return "error" if rule is None else rule.severity

"""What counts as a stricter policy: never one under which more leaves, or is let pass, than under the other."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proxy.policy import Policy, load_policy, parse_policy
from proxy.policy.extends import SHIPPED
from proxy.policy.stricter import looser, stricter
from recognizers import ENTITIES
from tests.test_extends import BASE


def parsed(data: dict[str, Any]) -> Policy:
    return parse_policy(json.dumps(data).encode(), file="p.yaml", entities=ENTITIES)


def over(changes: dict[str, Any]) -> Policy:
    """The base of these tests with other values at these paths; None takes a key away."""
    data = copy.deepcopy(BASE_DATA)
    for path, value in changes.items():
        *above, last = path.split(".")
        inner = data
        for step in above:
            inner = inner[step]
        if value is None:
            del inner[last]
        else:
            inner[last] = value
    return parsed(data)


BASE_DATA: dict[str, Any] = {
    "version": 1,
    "languages": ["en", "fr"],
    "limits": {
        "default": 1000,
        "models": {"a*": 100, "b": {"served": 50, "factor": 1.5}},
        "budgets": {"tokens_per_day": 9},
    },
    "entities": {"PERSON": "replace", "IBAN_CODE": {"action": "mask", "min_score": 0.4}, "LOCATION": "allow"},
    "recognizers": {"BADGE": {"regex": "B-[0-9]{6}"}},
    "deny": {"PROJECT": ["Nightjar", "Halcyon"]},
    "allow": ["ACME SA", "Globex"],
    "attachments": {"images": "pass", "files": "text"},
    "identities": "read",
    "answers": {"unsolicited": "flag", "hold_above": 500, "restore_in_tools": {"*": True, "fetch": False}},
    "state": {"unknown_tokens": 100, "responses": "allow"},
    "detection": {"deadline_seconds": 60.0},
}
BASE_POLICY = parsed(BASE_DATA)

BADGE = {"regex": "B-[0-9]{6}"}
STRICTER: tuple[dict[str, Any], ...] = (
    {},
    {"languages": ["fr", "en", "de"]},
    {"limits.default": "refuse", "limits.models.a*": 99, "limits.models.b": {"served": 50, "factor": 2.0}},
    {"limits.budgets": {"tokens_per_day": 8, "tokens_per_minute": 1}},
    {"entities.PERSON": "block", "entities.IBAN_CODE": {"action": "redact", "min_score": 0.1}},
    {"entities.LOCATION": "mask", "entities.CREDIT_CARD": {"action": "replace", "min_score": 0.9}},
    {"recognizers.DESK": {"regex": "D-[0-9]{6}"}},
    {"deny": {"PROJECT": ["Halcyon", "Nightjar", "Osprey"], "CLIENT": ["Tallow"]}},
    {"allow": ["Globex"]},
    {"attachments": {"images": "refuse", "files": "refuse"}},
    {"identities": "hash"},
    {"answers.unsolicited": "block", "answers.hold_above": 0, "answers.restore_in_tools": {"*": False}},
    {"answers.restore_in_tools.*": False},
    {"state.unknown_tokens": "refuse", "state.responses": "refuse", "state.thinking": "keep"},
    {"state.unknown_tokens": 101},
    {"detection.deadline_seconds": 9.0},
    {"tests": [{"text": "Nothing.", "finds": []}]},
)
LOOSER: tuple[tuple[str, dict[str, Any]], ...] = (
    ("languages", {"languages": ["en"]}),
    ("limits", {"limits.default": 1001}),
    ("limits", {"limits.models.b": None}),
    ("limits", {"limits.models.ab": 9}),
    ("limits", {"limits.models.b": {"served": 50, "factor": 1.4}}),
    ("limits", {"limits.models.b": {"served": 50}}),
    ("limits", {"limits.models.a*": {"served": 100, "tokenizer": "bytes"}}),
    ("limits", {"limits.budgets": None}),
    ("entities", {"entities.PERSON": "mask"}),
    ("entities", {"entities.PERSON": "allow"}),
    ("entities", {"entities.PERSON": {"action": "block", "min_score": 0.6}}),
    ("entities", {"entities.IBAN_CODE": "mask"}),
    ("entities", {"entities.IBAN_CODE": None}),
    ("entities", {"entities.PROJECT": "mask"}),
    ("recognizers", {"recognizers.BADGE": {"regex": "B-[0-9]{7}"}}),
    ("recognizers", {"recognizers.BADGE": BADGE | {"context": ["badge"]}}),
    ("deny", {"deny": {"PROJECT": ["Nightjar"]}}),
    ("allow", {"allow": ["Globex", "ACME SA", "Initech"]}),
    ("attachments", {"attachments.files": "pass"}),
    ("answers", {"answers.unsolicited": "off"}),
    ("answers", {"answers.hold_above": "never"}),
    ("answers", {"answers.hold_above": 501}),
    ("answers", {"answers.restore_in_tools.fetch": True}),
    ("answers", {"answers.restore_in_tools.fetch": None}),
    ("answers", {"answers.restore_in_tools.f*": False}),
    ("answers", {"answers.ask_usage": False}),
    ("state", {"state.unknown_tokens": 99}),
    ("detection", {"detection.deadline_seconds": 61.0}),
    ("mode", {"mode": "monitor"}),
)


@pytest.mark.parametrize("changes", STRICTER)
def test_what_takes_nothing_away_is_stricter(changes: dict[str, Any]) -> None:
    assert looser(over(changes), BASE_POLICY, ENTITIES) == ()


@pytest.mark.parametrize(("key", "changes"), LOOSER)
def test_what_takes_something_away_is_not(key: str, changes: dict[str, Any]) -> None:
    assert key in looser(over(changes), BASE_POLICY, ENTITIES)


def test_every_key_of_a_policy_is_compared() -> None:
    compared = {key for key, _ in LOOSER} | {"phone_regions", "identities"}
    assert compared == set(Policy.model_fields) - {"version", "tests", "extends"}
    fewer = over({"phone_regions": ["FR"]})
    assert looser(fewer, BASE_POLICY, ENTITIES) == ("phone_regions",)
    assert looser(BASE_POLICY, over({"identities": "refuse"}), ENTITIES) == ("identities",)


def test_of_the_shipped_policies_strict_is_the_stricter_one() -> None:
    default, strict = (load_policy(SHIPPED / f"{name}.yaml", entities=ENTITIES) for name in ("default", "strict"))
    assert stricter(strict, default, ENTITIES)
    assert not stricter(default, strict, ENTITIES)


actions = st.sampled_from(["replace", "mask", "hash", "redact", "block", "allow"])
rules = st.fixed_dictionaries({"action": actions, "min_score": st.sampled_from([0.2, 0.5, 0.8])})
served = st.integers(1, 6)
policies = st.fixed_dictionaries(
    {
        "version": st.just(1),
        "entities": st.dictionaries(st.sampled_from(["PERSON", "IBAN_CODE", "CREDIT_CARD"]), rules, max_size=3),
        "limits": st.fixed_dictionaries(
            {"default": served | st.just("refuse"), "models": st.dictionaries(st.sampled_from(["a*", "ab"]), served)}
        ),
    },
    optional={
        "deny": st.fixed_dictionaries({"TERM": st.lists(st.sampled_from(["Osprey", "Halcyon"]), min_size=1)}),
        "allow": st.lists(st.sampled_from(["Tallow", "Globex"]), max_size=2),
        "answers": st.fixed_dictionaries(
            {"restore_in_tools": st.dictionaries(st.sampled_from(["*", "f*", "fetch"]), st.booleans())}
        ),
        "mode": st.sampled_from(["enforce", "monitor"]),
    },
)
_KEEPS = {"allow": 0, "replace": 1, "mask": 1, "hash": 1, "redact": 2, "block": 3}


@settings(max_examples=300, deadline=None)
@given(
    one=policies, changes=policies, keys=st.sets(st.sampled_from(["entities", "limits", "deny", "allow", "answers"]))
)
def test_under_a_stricter_policy_nothing_more_leaves_or_passes(
    one: dict[str, Any], changes: dict[str, Any], keys: set[str]
) -> None:
    policy = parsed(one)
    other = parsed(one | {key: changes[key] for key in keys if key in changes})
    assume(stricter(policy, other, ENTITIES))
    for entity in ("PERSON", "IBAN_CODE", "CREDIT_CARD", "TERM", "LOCATION"):
        mine, theirs = policy.rule(entity), other.rule(entity)
        for score in (0.1, 0.3, 0.6, 0.9):
            acts = theirs.action if score >= theirs.min_score else "allow"
            does = mine.action if score >= mine.min_score else "allow"
            assert _KEEPS[does] >= _KEEPS[acts]
    for model in ("a", "ab", "abc", "b"):
        mine_limit, their_limit = policy.limit_for(model), other.limit_for(model)
        assert mine_limit is None or (their_limit is not None and mine_limit.served <= their_limit.served)
    for tool in ("fetch", "f", "g"):
        assert other.answers.restores_in(tool) or not policy.answers.restores_in(tool)
    assert set(policy.allow) <= set(other.allow)
    assert policy.mode == "enforce" or other.mode == "monitor"


@settings(max_examples=150, deadline=None)
@given(first=policies, second=policies, third=policies)
def test_stricter_is_an_order(first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]) -> None:
    one, two, three = map(parsed, (first, second, third))
    assert stricter(one, one, ENTITIES)
    if stricter(one, two, ENTITIES) and stricter(two, three, ENTITIES):
        assert stricter(one, three, ENTITIES)


def test_the_example_of_extends_is_a_policy_to_compare(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    base.write_text(BASE)
    own = tmp_path / "own.yaml"
    own.write_text("extends: ./base.yaml\nentities: {PERSON: block}\n")
    made, below = (load_policy(path, entities=ENTITIES) for path in (own, base))
    assert stricter(made, below, ENTITIES)
    assert not stricter(below, made, ENTITIES)

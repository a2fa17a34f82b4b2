"""`extends`: what a policy is that builds on another one, where its faults stand, and what it may not reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from proxy.__main__ import command_line
from proxy.inspector import edited
from proxy.policy import Policy, PolicyError, inspect_policy, load_policy, parse_policy
from proxy.policy.extends import SHIPPED
from recognizers import ENTITIES
from recognizers.facts import facts

BASE = """\
version: 1
limits: {default: 1000, models: {gpt-4o: 2000, a*: {served: 5, advertised: 9}}, budgets: {tokens_per_day: 7}}
entities: {PERSON: replace, CREDIT_CARD: {action: block, min_score: 0.3}, IBAN_CODE: mask}
deny: {PROJECT: [Nightjar, Halcyon]}
allow: [ACME SA]
answers: {restore_in_tools: {"*": true, fetch: false}, unsolicited: block}
tests: [{text: "IBAN FR76 3000 6000 0112 3456 7890 189", finds: [IBAN_CODE]}]
"""


def write(folder: Path, **texts: str) -> Path:
    """Files by their stem; the path of the last one."""
    for name, text in texts.items():
        path = folder / f"{name}.yaml"
        path.write_text(text)
    return path


def load(path: Path) -> Policy:
    return load_policy(path, entities=ENTITIES)


def faults(path: Path) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load(path)
    return [f"{Path(fault.file).name}:{fault.line}:{fault.column}: {fault.rule}" for fault in caught.value.faults]


def test_a_policy_that_adds_nothing_does_what_the_other_does(tmp_path: Path) -> None:
    made, base = load(write(tmp_path, own="extends: default\n")), load(SHIPPED / "default.yaml")
    assert (made.name, made.digest, made.tests) == ("own", base.digest, base.tests)
    assert made.files == (tmp_path / "own.yaml", SHIPPED / "default.yaml")


def test_sections_are_merged_and_what_stands_in_them_is_replaced(tmp_path: Path) -> None:
    own = """\
extends: ./base.yaml
limits: {models: {gpt-4o: 3000, a*: 4}}
entities: {CREDIT_CARD: mask, ORGANIZATION: replace}
deny: {PROJECT: [Osprey], CLIENT: [Tallow]}
allow: [Globex]
answers: {restore_in_tools: {fetch: true}}
mode: monitor
"""
    written_out = """\
version: 1
limits: {default: 1000, models: {gpt-4o: 3000, a*: 4}, budgets: {tokens_per_day: 7}}
entities: {PERSON: replace, CREDIT_CARD: mask, IBAN_CODE: mask, ORGANIZATION: replace}
deny: {PROJECT: [Osprey], CLIENT: [Tallow]}
allow: [Globex]
answers: {restore_in_tools: {"*": true, fetch: true}, unsolicited: block}
mode: monitor
"""
    made = load(write(tmp_path, base=BASE, own=own))
    assert made.digest == parse_policy(written_out.encode(), file="p.yaml", entities=ENTITIES).digest
    assert made.rule("CREDIT_CARD").min_score == 0.5
    assert len(made.tests) == 1


def test_one_may_extend_another_that_extends_a_third(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", middle="extends: ../base.yaml\nentities: {PERSON: block}\n")
    top = write(tmp_path, base=BASE, top="extends: sub/middle.yaml\nmode: monitor\n")
    made = load(top)
    assert (made.rule("PERSON").action, made.rule("IBAN_CODE").action, made.mode) == ("block", "mask", "monitor")
    assert [path.name for path in made.files] == ["top.yaml", "middle.yaml", "base.yaml"]


def test_a_fault_is_told_of_the_file_that_it_stands_in(tmp_path: Path) -> None:
    base = BASE.replace("PERSON: replace", "PERSN: replace")
    own = "extends: ./base.yaml\nentities: {IBAN_CODE: hide}\nlimits:\n  modles: {}\n"
    assert faults(write(tmp_path, base=base, own=own)) == [
        "base.yaml:3:12: unknown-entity",
        "own.yaml:2:23: wrong-value",
        "own.yaml:4:3: unknown-key",
    ]


def test_a_base_that_is_not_there_hides_no_other_fault(tmp_path: Path) -> None:
    own = "extends: defualt\nentities: {PERSN: replace, PROJECT: mask, IBAN_CODE: hide}\nlimits: {modles: {}}\nmode:\n"
    assert faults(write(tmp_path, own=own)) == [
        "own.yaml:1:10: bad-extends",
        "own.yaml:2:12: unknown-entity",
        "own.yaml:2:28: unknown-entity",
        "own.yaml:2:54: wrong-value",
        "own.yaml:3:10: unknown-key",
        "own.yaml:4:1: wrong-type",
    ]


def test_what_a_base_that_is_not_there_may_declare_is_no_fault(tmp_path: Path) -> None:
    own = "extends: ./gone.yaml\nentities: {PERSN: replace, PROJECT: mask}\n"
    assert faults(write(tmp_path, own=own)) == ["own.yaml:1:10: bad-extends", "own.yaml:2:12: unknown-entity"]


def test_a_warning_is_told_of_the_file_that_it_stands_in(tmp_path: Path) -> None:
    path = write(tmp_path, base=BASE + "mode: monitor\n", own="extends: ./base.yaml\nattachments: {images: pass}\n")
    _, found = inspect_policy(path, entities=ENTITIES, facts=facts())
    places = {(Path(fault.file).name, fault.line, fault.rule) for fault in found}
    assert {("base.yaml", 8, "monitor-mode"), ("own.yaml", 2, "attachment-unseen")} <= places


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a": "extends: ./b.yaml\n", "own": "extends: ./a.yaml\n"}, "a.yaml:1:10: bad-extends"),
        ({"a": "extends: ./own.yaml\n", "own": "extends: ./a.yaml\n"}, "a.yaml:1:10: bad-extends"),
        ({"own": "extends: Default\n"}, "own.yaml:1:10: bad-extends"),
        ({"own": "extends: ''\n"}, "own.yaml:1:10: wrong-type"),
        ({"own": "extends: ~\n"}, "own.yaml:1:10: wrong-type"),
        ({"a": "a: [\n", "own": "extends: ./a.yaml\n"}, "a.yaml:2:1: yaml"),
        ({"a": "- b\n", "own": BASE + "extends: ./a.yaml\n"}, "a.yaml:1:1: empty"),
        ({"own": "extnds: default\n"}, "own.yaml:1:1: unknown-key"),
    ],
)
def test_what_is_not_there_or_leads_back_does_not_load(tmp_path: Path, files: dict[str, str], told: str) -> None:
    assert told in faults(write(tmp_path, **files))


def test_policies_are_not_piled_up_without_end(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path, **{f"p{number}": f"extends: ./p{number + 1}.yaml\n"})
    write(tmp_path, p12=BASE)
    assert faults(tmp_path / "p0.yaml") == ["p8.yaml:1:10: bad-extends"]
    assert load(tmp_path / "p5.yaml").allow == ("ACME SA",)


@pytest.mark.parametrize("named", ["./secret.yaml", "secret.yaml", "../secret.yaml", "/etc/passwd", "default/../x.yml"])
def test_what_is_typed_into_the_inspector_reaches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, secret=BASE)
    with pytest.raises(PolicyError) as caught:
        edited.read(f"extends: {named}\n", "policy.yaml")
    assert [fault.rule for fault in caught.value.faults] == ["bad-extends"]
    assert edited.read("extends: strict\n", "policy.yaml").digest == load(SHIPPED / "strict.yaml").digest


def test_the_commands_read_the_whole(tmp_path: Path) -> None:
    good = write(tmp_path, base=BASE, own="extends: ./base.yaml\n")
    bad = write(tmp_path, worse="extends: ./base.yaml\nentities: {PERSON: hide}\n")
    checked = CliRunner().invoke(command_line(), ["check", str(good), str(bad), "--format", "json"])
    told = [(fault["file"], fault["line"]) for fault in json.loads(checked.stdout) if fault["rule"] == "wrong-value"]
    assert told == [(str(bad), 2)]


names = st.sampled_from(["PERSON", "IBAN_CODE", "CREDIT_CARD", "EMAIL_ADDRESS"])
actions = st.sampled_from(["replace", "mask", "block", "allow"])
rules = st.dictionaries(names, actions | st.fixed_dictionaries({"action": actions, "min_score": st.just(0.25)}))
limits = st.dictionaries(st.sampled_from(["a", "b*", "c?"]), st.integers(1, 99))
made = st.fixed_dictionaries(
    {"entities": rules, "limits": st.fixed_dictionaries({"models": limits})},
    optional={"allow": st.lists(st.sampled_from(["Tallow", "Globex", "Initech"])), "mode": st.just("monitor")},
)


@settings(max_examples=60, deadline=None)
@given(base=made, own=made)
def test_every_key_comes_from_one_of_the_two_and_its_own_goes_first(
    tmp_path_factory: pytest.TempPathFactory, base: dict[str, Any], own: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("p")
    path = write(folder, base=json.dumps({"version": 1, **base}), own=json.dumps({"extends": "./base.yaml", **own}))
    whole = {
        "version": 1,
        "entities": {**base["entities"], **own["entities"]},
        "limits": {"models": {**base["limits"]["models"], **own["limits"]["models"]}},
        **{key: own.get(key, base.get(key)) for key in ("allow", "mode") if key in own or key in base},
    }
    expected = parse_policy(json.dumps(whole).encode(), file="p.yaml", entities=ENTITIES)
    assert load(path).digest == expected.digest

"""What `caviardage check` says: each rule about its bad example and about nothing else, in every format."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.policy import Fault, PolicyError, formats, inspect_policy, load_policy, parse_policy, tree
from proxy.policy.faults import RULES
from proxy.policy.limits import best, matches
from proxy.policy.rules import TABLE, Rule, severity
from proxy.policy.surprising_limits import includes
from proxy.tenants.load import inspect_tenants, load_tenants
from recognizers import ENTITIES
from recognizers.facts import Facts, facts

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tests" / "rules"
NAMES = sorted(path.name for path in EXAMPLES.iterdir())
SHIPPED = sorted((ROOT / "policies").glob("*.yaml"))


def known(name: str) -> Facts:
    """The facts of this installation, or of one without French where the rule is about that."""
    lacking = name == "language-without-model"
    return dataclasses.replace(facts(), models=frozenset({"en"})) if lacking else facts()


def inspected_example(path: Path, name: str) -> tuple[object | None, tuple[Fault, ...]]:
    """What is said about an example of a rule: a policy, or a tenants file. Examples are short, so that they list few
    entities is said about the one example that is about it."""
    if TABLE[name].about == "tenants":
        return inspect_tenants(path, ENTITIES)
    policy, found = inspect_policy(path, entities=ENTITIES, facts=known(name))
    return policy, tuple(fault for fault in found if fault.rule in (*(TABLE.keys() - {"default-unlisted"}), name))


def test_every_rule_is_explained_and_has_examples() -> None:
    assert set(NAMES) == set(TABLE) - {"unreadable", "no-upstream-key"}
    assert set(RULES) <= set(TABLE)
    assert len(NAMES) >= 50
    for rule in TABLE.values():
        assert rule.what.endswith(".")
        assert rule.why.endswith("."), rule.id


@pytest.mark.parametrize("name", NAMES)
def test_the_bad_example_gives_exactly_its_message(name: str) -> None:
    path = EXAMPLES / name / "bad.yaml"
    (expected,) = re.findall(r"^# expect: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    policy, found = inspected_example(path, name)
    assert [fault.rule for fault in found] == [name]
    assert formats.as_text(found).splitlines() == [f"{path}:{expected}", f"    {TABLE[name].why}"]
    assert (policy is None) == (severity(found[0]) == "error")


@pytest.mark.parametrize("name", NAMES)
def test_the_good_example_gives_nothing(name: str) -> None:
    policy, found = inspected_example(EXAMPLES / name / "good.yaml", name)
    assert found == ()
    assert policy is not None


def test_few_entities_are_no_surprise_on_top_of_the_default_and_are_on_top_of_few(tmp_path: Path) -> None:
    (tmp_path / "few.yaml").write_text("version: 1\nlimits: {default: 9000}\nentities: {PERSON: replace}\n")
    for base, told in (("default", False), ("strict", False), ("./few.yaml", True)):
        (tmp_path / "own.yaml").write_text(f"extends: {base}\nentities: {{LOCATION: replace}}\n")
        policy, found = inspect_policy(tmp_path / "own.yaml", entities=ENTITIES, facts=facts())
        assert policy is not None
        assert ("default-unlisted" in {fault.rule for fault in found}) == told, base
    usual = list(load_policy(ROOT / "policies" / "default.yaml", entities=ENTITIES).entities)
    for listed, told in ((usual[:10], True), (usual[:60], False)):
        rules = ", ".join(f"{name}: allow" for name in listed)
        _, found = _inspect(f"version: 1\nlimits: {{default: 9000}}\nentities: {{{rules}}}\n")
        assert ("default-unlisted" in {fault.rule for fault in found}) == told


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_policies_surprise_nobody(path: Path) -> None:
    assert inspect_policy(path, entities=ENTITIES, facts=facts())[1] == ()


def test_a_page_for_every_rule_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("docs_generate_rules", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_generate_rules"] = module
    spec.loader.exec_module(module)
    pages = module.rule_pages()
    assert {path.name for path in (ROOT / "docs" / "rules").iterdir()} == set(pages)
    for name, text in pages.items():
        assert (ROOT / "docs" / "rules" / name).read_text(encoding="utf-8") == text, "run: python docs/generate.py"


def test_the_reference_lists_every_warning() -> None:
    text = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    rows = [f"| [`{rule.id}`](rules/{rule.id}.md) | {rule.what} |" for rule in TABLE.values() if rule.id not in RULES]
    own = [row for row, rule in zip(rows, _beyond_errors(), strict=True) if rule.about == "policy"]
    assert "\n".join(own) in text
    tenants = (ROOT / "docs" / "tenants.md").read_text(encoding="utf-8")
    assert "\n".join(row for row in rows if row not in own) in tenants


def _beyond_errors() -> list[Rule]:
    return [rule for rule in TABLE.values() if rule.id not in RULES]


# --- No slip in a key is accepted silently ------------------------------------------------------------------------


def _keys(node: tree.Node) -> list[tuple[str, int, int]]:
    if isinstance(node.value, list):
        return [key for item in node.value for key in _keys(item)]
    if isinstance(node.value, dict):
        own = [(key, *node.keys[key]) for key in node.value]
        return own + [key for item in node.value.values() for key in _keys(item)]
    return []


SLIPS = (
    lambda key: key[:-1],
    lambda key: key + key[-1],
    lambda key: key[1:2] + key[:1] + key[2:] if key[:1] != key[1:2] else key[1:],
    lambda key: key.swapcase(),
    lambda key: key[:1] + "x" + key[2:],
)


def _open(root: tree.Node) -> set[tuple[int, int]]:
    """Places of names of models and tools: any text is one."""
    named = [root.value.get(section) for section in ("limits", "answers")]
    inner = [node.value.get(key) for node, key in zip(named, ("models", "restore_in_tools"), strict=True) if node]
    return {place for node in inner if node for place in node.keys.values()}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_slip_in_any_key_is_an_error_where_it_stands(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    root, _ = tree.parse(text, "p")
    tried = 0
    for at, (key, line, column) in enumerate(_keys(root)):
        if (line, column) in _open(root):
            continue
        slip = SLIPS[at % len(SLIPS)](key)
        changed = list(lines)
        changed[line - 1] = lines[line - 1][: column - 1] + slip + lines[line - 1][column - 1 + len(key) :]
        with pytest.raises(PolicyError) as caught:
            parse_policy("\n".join(changed).encode(), file="p.yaml", entities=ENTITIES)
        assert any((fault.line, fault.column) == (line, column) for fault in caught.value.faults), (key, slip)
        tried += 1
    assert tried > (15 if "extends" in root.value else 80)


# --- Patterns for models --------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.text("ab*?", min_size=1, max_size=5), st.text("ab*?", min_size=1, max_size=5), st.text("ab", max_size=5))
def test_a_wider_pattern_matches_whatever_the_narrower_does(wide: str, narrow: str, name: str) -> None:
    if includes(wide, narrow) and matches(narrow, name):
        assert matches(wide, name)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text("ab*?", min_size=1, max_size=4), min_size=2, max_size=3, unique=True), st.text("ab", max_size=4)
)
def test_a_pattern_that_is_said_to_be_shadowed_never_decides(patterns: list[str], name: str) -> None:
    written = "".join(f"    '{pattern}': 9\n" for pattern in patterns)
    content = f"version: 1\nentities: {{PERSON: replace}}\nlimits:\n  models:\n{written}"
    _, found = _inspect(content)
    told = {fault.message.split("'")[1] for fault in found if fault.rule == "model-shadowed"}
    if name not in patterns:
        assert best(name, patterns) not in told


def _inspect(content: str) -> tuple[Any, tuple[Fault, ...]]:
    from proxy.policy import inspected

    return inspected(content.encode(), file="p.yaml", entities=ENTITIES, facts=facts())


# --- Formats ----------------------------------------------------------------------------------------------------------

FAULTS = (
    Fault("a b/ü.yaml", 3, 1, "unknown-key", "unknown key 'limts' in a policy", "did you mean 'limits'?"),
    Fault("a b/ü.yaml", 4, 7, "monitor-mode", "'monitor' changes \x01 <nothing> & \"all\"", "enforce it"),
)

SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "name": {"type": "string", "minLength": 1},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "required": ["id"],
                                            "properties": {
                                                "shortDescription": {"$ref": "#/$defs/text"},
                                                "fullDescription": {"$ref": "#/$defs/text"},
                                                "help": {"$ref": "#/$defs/text"},
                                                "defaultConfiguration": {
                                                    "properties": {"level": {"$ref": "#/$defs/level"}}
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "additionalProperties": False,
                            "properties": {
                                "message": {"$ref": "#/$defs/text"},
                                "level": {"$ref": "#/$defs/level"},
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": -1},
                                "locations": {
                                    "type": "array",
                                    "items": {
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "required": ["uri"],
                                                        "properties": {"uri": {"pattern": "^[!-~]+$"}},
                                                    },
                                                    "region": {
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1},
                                                            "startColumn": {"type": "integer", "minimum": 1},
                                                        }
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "text": {"required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "level": {"enum": ["none", "note", "warning", "error"]},
    },
}
"""What section 3 of SARIF 2.1.0 (OASIS) requires of the parts that are written."""


def test_sarif() -> None:
    report = json.loads(formats.as_sarif(FAULTS))
    Draft202012Validator(SARIF).validate(report)
    (run,) = report["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["unknown-key", "monitor-mode"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/%C3%BC.yaml"},
        "region": {"startLine": 3, "startColumn": 1},
    }


@pytest.mark.parametrize(("strict", "failures"), [(False, 1), (True, 2)])
def test_junit(strict: bool, failures: int) -> None:
    root = ElementTree.fromstring(formats.as_junit(FAULTS, ["a b/ü.yaml", "fine.yaml"], strict=strict))  # noqa: S314
    first, second = root.findall("testsuite")
    assert (first.get("tests"), first.get("failures"), second.get("failures")) == ("2", str(failures), "0")
    assert len(root.findall(".//failure")) == failures
    assert [case.get("name") for case in root.iter("testcase")] == ["unknown-key 3:1", "monitor-mode 4:7", "loads"]
    assert 'changes \ufffd <nothing> & "all"' in "".join(root.itertext())


def test_json_says_how_grave_and_why() -> None:
    rows = json.loads(formats.as_json(FAULTS))
    assert [row["severity"] for row in rows] == ["error", "warning"]
    assert rows[0]["why"] == TABLE["unknown-key"].why
    assert rows[0]["line"] == 3


def test_the_command_fails_on_errors_and_with_strict_on_warnings() -> None:
    warned, bad = EXAMPLES / "monitor-mode" / "bad.yaml", EXAMPLES / "unknown-key" / "bad.yaml"

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "proxy", "check", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        return done.returncode, done.stdout

    status, text = run(str(warned))
    assert (status, "2 warnings" in text, "[monitor-mode]" in text) == (0, True, True)
    assert run("--strict", str(warned))[0] == 1
    status, text = run("--format", "sarif", str(warned), str(bad))
    assert status == 1
    Draft202012Validator(SARIF).validate(json.loads(text))


def test_a_policy_that_is_warned_about_loads() -> None:
    for name in NAMES:
        if TABLE[name].severity == "warning" and TABLE[name].about == "tenants":
            load_tenants(EXAMPLES / name / "bad.yaml")
        elif TABLE[name].severity == "warning":
            load_policy(EXAMPLES / name / "bad.yaml", entities=ENTITIES)

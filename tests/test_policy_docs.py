"""What is written about the policy (JSON schema, reference) says what the model says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from proxy.policy import Policy, parse_policy, schema, sections, tree
from proxy.policy.faults import RULES
from proxy.policy.frozen import FrozenMap
from proxy.policy.limits import family
from recognizers import ENTITIES
from recognizers.custom import LABEL_BONUS

ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "policies").glob("*.yaml"))


def test_the_bonus_of_a_context_word_is_told_as_it_is() -> None:
    assert f"it is {LABEL_BONUS} higher" in str(sections.RegexRecognizer.model_fields["score"].description)


def test_the_committed_schema_is_what_the_model_says() -> None:
    assert (ROOT / "policies" / "schema.json").read_text(encoding="utf-8") == schema.generate()


def _subschemas(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) else []) + [found for item in inner for found in _subschemas(item)]


def test_the_schema_is_closed_complete_and_described() -> None:
    root = json.loads(schema.generate())
    known = {f"#/$defs/{name}" for name in root["$defs"]}
    parts = _subschemas(root)
    assert {part["$ref"] for part in parts if isinstance(part.get("$ref"), str)} <= known
    objects = [part for part in parts if part.get("type") == "object"]
    assert len(objects) >= 10
    assert all("additionalProperties" in part for part in objects)
    assert not [part for part in parts if part.get("type") == "null" or part.get("const", 0) is None]
    for name, field in root["properties"].items():
        assert field.get("description") or "$ref" in field, name


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_policies_are_valid_under_the_schema(path: Path) -> None:
    root = json.loads(schema.generate())
    data = tree.parse(path.read_text(encoding="utf-8"), "p")[0].data()
    assert _valid(data, root, root)
    assert not _valid({**data, "mod": "enforce"}, root, root)
    assert not _valid({**data, "mode": "shadow"}, root, root)
    assert not _valid({**data, "limits": {"models": {"a": {"served": "9"}}}}, root, root)


def _valid(value: Any, rule: dict[str, Any], root: dict[str, Any]) -> bool:
    """The part of JSON Schema 2020-12 that the schema uses; an unknown keyword fails the test."""
    notes = {"$schema", "$defs", "default", "description", "examples"}
    checks: dict[str, Callable[[Any], bool]] = {
        "$ref": lambda to: _valid(value, root["$defs"][to.rsplit("/", 1)[1]], root),
        "anyOf": lambda kinds: any(_valid(value, kind, root) for kind in kinds),
        "oneOf": lambda kinds: sum(_valid(value, kind, root) for kind in kinds) == 1,
        "enum": lambda words: value in words,
        "const": lambda word: value == word,
        "type": lambda name: isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)),
        "items": lambda inner: not isinstance(value, list) or all(_valid(item, inner, root) for item in value),
        "minItems": lambda least: not isinstance(value, list) or len(value) >= least,
        "minLength": lambda least: not isinstance(value, str) or len(value) >= least,
        "minimum": lambda bound: not isinstance(value, int | float) or value >= bound,
        "maximum": lambda bound: not isinstance(value, int | float) or value <= bound,
        "exclusiveMinimum": lambda bound: not isinstance(value, int | float) or value > bound,
        "required": lambda names: not isinstance(value, dict) or set(names) <= value.keys(),
        "properties": lambda known: (
            not isinstance(value, dict) or all(_valid(value[k], known[k], root) for k in value if k in known)
        ),
        "additionalProperties": lambda more: _valid_rest(value, rule, more, root),
    }
    return all(checks[key](argument) for key, argument in rule.items() if key not in notes)


_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def _valid_rest(value: Any, rule: dict[str, Any], more: Any, root: dict[str, Any]) -> bool:
    rest = [value[key] for key in value if key not in rule.get("properties", {})] if isinstance(value, dict) else []
    return all(more is not False and _valid(item, more, root) for item in rest)


REFERENCE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
SECTIONS = [Policy, sections.Limits, sections.ModelEntry, sections.EntityRule, sections.RegexRecognizer]
SECTIONS += [sections.PresidioRecognizer, sections.SpacyRecognizer, sections.OnnxRecognizer]
SECTIONS += [sections.Attachments, sections.Answers, sections.Detection, sections.Trial]
SECTIONS += [sections.State, sections.TokenizerFile, sections.Budgets]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_the_reference_shows_every_key_as_the_model_has_it(section: type[BaseModel]) -> None:
    rows = [
        f"| `{name}` | {_shown(field)} | {' '.join(str(field.description).split())} |"
        for name, field in section.model_fields.items()
    ]
    assert "\n".join(["| key | left out | what it is |", "|---|---|---|", *rows, ""]) in REFERENCE


def _shown(field: Any) -> str:
    default = field.default
    if field.is_required() or default in (None, "") or isinstance(default, BaseModel):
        return "required" if field.is_required() else "–" if default is None or default == "" else "see below"
    if isinstance(default, FrozenMap | bool):
        return f"`{json.dumps(dict(default) if isinstance(default, FrozenMap) else default)}`"
    return f"`[{', '.join(default)}]`" if isinstance(default, tuple) else f"`{default}`"


def test_no_section_is_missing_from_the_reference() -> None:
    assert {section.__name__ for section in SECTIONS} == {*json.loads(schema.generate())["$defs"], "Policy"}


def test_the_reference_lists_every_rule_and_family() -> None:
    assert "\n".join(f"| `{rule}` | {words} |" for rule, words in RULES.items()) in REFERENCE
    for pattern, tokenizer, factor in re.findall(
        r"^\| `([^`]+)` \| `(\w+_base)` \| ([\d.]+) \|$", REFERENCE, re.MULTILINE
    ):
        assert family(pattern.replace("*", "")) == (tokenizer, float(factor))


BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split(":")[0])
def test_every_block_of_the_reference_loads(block: str) -> None:
    needed = {"version": "1", "limits": "{default: 9}", "entities": "{PERSON: replace}"}
    missing = [f"{key}: {value}\n" for key, value in needed.items() if not re.search(rf"^{key}:", block, re.MULTILINE)]
    parse_policy(("".join(missing) + block).encode(), file="p.yaml", entities=ENTITIES)

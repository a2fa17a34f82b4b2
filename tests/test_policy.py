"""The policy: what loads, what does not and in which words, and that what was loaded cannot change."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from proxy.policy import (
    EntityRule,
    Fault,
    ModelLimit,
    Policy,
    PolicyError,
    RegexRecognizer,
    declared_recognizers,
    load_policy,
    parse_policy,
    report,
    report_json,
    run_trials,
    tree,
)
from proxy.policy.faults import RULES, nearest
from proxy.policy.frozen import FrozenMap
from proxy.policy.limits import best, family, matches
from recognizers import ENTITIES
from recognizers.custom import CustomRule, DenyTerms, build_custom
from recognizers.foreign import Foreign
from recognizers.onnx import OnnxModel
from recognizers.pipeline import SpacyPipeline

ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "policies").glob("*.yaml"))
BAD = sorted((ROOT / "tests" / "policies_bad").glob("*.yaml"))
HEAD = "version: 1\nlimits: {default: 1000}\nentities: {PERSON: replace, CREDIT_CARD: block, LOCATION: allow}\n"


def parse(text: str | bytes) -> Policy:
    content = text.encode() if isinstance(text, str) else text
    return parse_policy(content, file="p.yaml", entities=ENTITIES)


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        parse(text)
    return [str(fault) for fault in caught.value.faults]


# --- What does not load, and why -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_file_gives_exactly_its_messages(path: Path) -> None:
    expected = re.findall(r"^# expect: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    with pytest.raises(PolicyError) as caught:
        load_policy(path, entities=ENTITIES)
    assert report(caught.value.faults).splitlines() == [f"{path}:{line}" for line in expected]


def test_every_rule_has_a_bad_file_or_a_test_here() -> None:
    shown = {
        rule for path in BAD for rule in re.findall(r"^# expect: .*\[([a-z-]+)\]$", path.read_text(), re.MULTILINE)
    }
    assert shown | {"unreadable"} == set(RULES)


def test_all_faults_are_reported_at_once_in_the_order_of_the_file() -> None:
    found = faults("version: 2\nlimts: {}\nentities: {PERSONN: replace, PERSON: hide}\nphone_regions: [UK]\n")
    assert [line.split(":")[1] for line in found] == ["1", "1", "2", "3", "3", "4"]


def test_too_long_a_regex() -> None:
    (found,) = faults(HEAD + f"recognizers: {{EMP: {{regex: {'a' * 2001}}}}}\n")
    assert found == "p.yaml:4:28: longer than 2000 characters; 'deny' takes lists of terms"


def test_no_more_than_500_faults_of_a_kind() -> None:
    assert len(faults(HEAD + "allow:\n" + "  - x\n" * 600 + "  -\n" * 600)) == 1000


def test_missing_file_and_directory(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path, "a\0b"):
        with pytest.raises(PolicyError, match="cannot be read"):
            load_policy(path, entities=ENTITIES)


def test_too_large_a_file(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("#" * (tree.MAX_BYTES + 1))
    with pytest.raises(PolicyError, match=r"large\.yaml:1:1: larger than 1000000 bytes"):
        load_policy(path, entities=ENTITIES)


def test_not_utf8_names_the_place() -> None:
    assert faults(HEAD.encode() + b"allow: [Caf\xe9]\n") == ["p.yaml:4:12: not UTF-8; save the file as UTF-8"]
    assert faults(HEAD.encode("utf-16")) == ["p.yaml:1:1: not UTF-8; save the file as UTF-8"]


def test_control_characters_name_the_place() -> None:
    assert faults(HEAD + "allow: [AC\x00ME]\n") == ["p.yaml:4:11: a character that YAML forbids"]


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse(b"\xef\xbb\xbf" + HEAD.encode()).version == 1


def test_columns_count_code_points() -> None:
    assert faults(HEAD + "deny: {PROJECT: [Éléphant 🐘, x]}\n")[0].startswith("p.yaml:4:30:")


@pytest.mark.parametrize("section", ["entities", "recognizers", "deny", "limits", "answers", "tests", "allow"])
@pytest.mark.parametrize("junk", ["7", "[7]", "text", "{a: 7}", "null", "[[x]]", "[{a: b}]", "{a: [b]}", "{a: {b: c}}"])
def test_a_section_of_another_shape_is_a_fault_and_no_accident(section: str, junk: str) -> None:
    base = {"version": "1", "limits": "{default: 9}", "entities": "{PERSON: replace}"}
    with pytest.raises(PolicyError):
        parse("".join(f"{key}: {value}\n" for key, value in {**base, section: junk}.items()))


def test_a_fault_is_sortable_text_and_json() -> None:
    fault = Fault("p.yaml", 3, 1, "unknown-key", "unknown key 'entites' in a policy", "did you mean 'entities'?")
    assert str(fault) == "p.yaml:3:1: unknown key 'entites' in a policy; did you mean 'entities'?"
    assert report([fault]) == f"{fault} [unknown-key]"
    assert json.loads(report_json([fault])) == [
        {"file": "p.yaml", "line": 3, "column": 1, "rule": "unknown-key", "message": fault.message, "mend": fault.mend}
    ]


def test_an_error_survives_pickling() -> None:
    error = PolicyError([Fault("p", 2, 1, "yaml", "b"), Fault("p", 1, 1, "yaml", "a")])
    assert pickle.loads(pickle.dumps(error)).faults == error.faults  # noqa: S301 (our own bytes)
    assert str(error) == "p:1:1: a [yaml]\np:2:1: b [yaml]"


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("person", "PERSON"),
        ("IBAN", "IBAN_CODE"),
        ("email", "EMAIL_ADDRESS"),
        ("NIR", "FR_NIR"),
        ("SSN", "US_SSN"),
        ("date-of-birth", "DATE_OF_BIRTH"),
        ("ORGANISATION", "ORGANIZATION"),
        ("API_KEY", "SECRET"),
        ("CREDITCARD", "CREDIT_CARD"),
        ("QUX", None),
        ("", None),
    ],
)
def test_nearest_word(word: str, right: str | None) -> None:
    assert nearest(word, ENTITIES) == right


# --- No slip loads silently -------------------------------------------------------------------------------------


def _keys(node: tree.Node) -> list[tuple[str, int, int]]:
    if isinstance(node.value, list):
        return [key for item in node.value for key in _keys(item)]
    if isinstance(node.value, dict):
        own = [(key, *node.keys[key]) for key in node.value]
        return own + [key for item in node.value.values() for key in _keys(item)]
    return []


def _free(key: str) -> bool:
    """Names of models and tools: any text is one."""
    return key == "*" or re.match(r"(chat)?gpt|o\d|text-emb|claude|glm", key) is not None


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_typo_in_any_key_of_a_shipped_policy_is_found_where_it_is(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    # The tests section is many lines of one shape: its first and its last line stand for all.
    root, _ = tree.parse("\n".join(lines), "p")
    seen: set[str] = set()
    for key, line, column in _keys(root):
        if _free(key) or key in seen:
            continue
        seen.add(key)
        mutated = list(lines)
        at = column - 1
        mutated[line - 1] = lines[line - 1][:at] + key + "Q" + lines[line - 1][at + len(key) :]
        with pytest.raises(PolicyError) as caught:
            parse("\n".join(mutated))
        assert any((fault.line, fault.column) == (line, column) for fault in caught.value.faults), key
    assert len(seen) > (10 if "extends" in seen else 50)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_policy_says_what_is_done_with_every_entity(path: Path) -> None:
    policy = load_policy(path, entities=ENTITIES)
    assert set(policy.entities) == set(ENTITIES)
    assert policy.tests
    assert policy.limit_for("some-model-of-tomorrow") == ModelLimit(128000, "o200k_base", 2.0)
    assert policy.limit_for("glm-5.3") == ModelLimit(681280, "o200k_base", 1.4, 1048576)


def test_strict_is_default_and_five_entities_more() -> None:
    default, strict = (
        load_policy(ROOT / "policies" / f"{name}.yaml", entities=ENTITIES) for name in ("default", "strict")
    )
    differ = {name for name in ENTITIES if default.rule(name) != strict.rule(name)}
    assert differ == {"ORGANIZATION", "LOCATION", "DATE_TIME", "COMPANY_ID", "TITLE"}
    assert default.limits == strict.limits
    assert {default.rule(name).action for name in ENTITIES} == {"replace", "allow"}


_PIECES = (
    "version limits default models entities PERSON replace recognizers regex deny allow tests text finds leaves "
    "answers restore_in_tools phone_regions context presidio min_score a{2 (?=x) * &a *a << !!str { } [ ] , ' | > % "
    "--- ... # 1 0.4 true null ~ .inf NO é"
)
_SIGNS = ("? ", "- ", ": ", "\n", "\n  ", "\t", '"', "\u2028", "\x85", "\ufeff")
_WORDS = st.sampled_from([*re.split(" ", _PIECES), *_SIGNS])


@settings(max_examples=300, deadline=None)
@given(st.lists(_WORDS, max_size=40).map("".join) | st.text(max_size=60) | st.binary(max_size=60))
@example("? ? ? a")
@example("&a [*a]")
@example("%TAG ! x\n---\n!y z")
@example('"\\UFFFFFFFF"')
@example("%YAML 1.9\n---\na")
@example("!<%FF> x")
@example("[" * 5000)
@example("- " * 5000)
def test_junk_gives_a_policy_or_a_policy_error(junk: str | bytes) -> None:
    content = junk.encode("utf-8", "surrogatepass") if isinstance(junk, str) else junk
    found: Policy | PolicyError
    try:
        found = parse(content)
    except PolicyError as error:
        found = error
    assert isinstance(found, Policy) or found.faults


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["EMP", "PERSON"])
)
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(Policy.model_fields)), st.sampled_from(["", "EMP", "0"]), _TREES)
def test_any_value_in_any_section_gives_a_policy_or_a_policy_error(section: str, key: str, value: Any) -> None:
    base: dict[str, Any] = {"version": 1, "limits": {"default": 9}, "entities": {"PERSON": "replace"}}
    base[section] = [value] if key == "0" else {key: value} if key else value
    found: Policy | PolicyError
    try:
        found = parse(json.dumps(base))
    except PolicyError as error:
        found = error
    assert isinstance(found, Policy) or all(f.rule in RULES and f.line == 1 and f.column >= 1 for f in found.faults)


# --- What a policy answers --------------------------------------------------------------------------------------


def test_norway_is_a_country_and_off_is_a_word() -> None:
    policy = parse(HEAD + "phone_regions: [NO, FR, NO]\nanswers: {unsolicited: off}\n")
    assert policy.phone_regions == ("NO", "FR")
    assert policy.answers.unsolicited == "off"


def test_rules_listed_declared_and_neither() -> None:
    policy = parse(
        HEAD
        + "deny: {PROJECT: [Nightjar]}\nrecognizers:\n"
        + "  EMP: {regex: 'E\\d'}\n  KIT: {presidio: a.B, entities: [X1, X2]}\n"
        + "tests: [{text: x, finds: [X1]}]\n"
    )
    assert policy.rule("PERSON") == EntityRule(action="replace", min_score=0.5)
    assert policy.declared == {"PROJECT", "EMP", "X1", "X2"}
    assert [policy.rule(name).action for name in ("PROJECT", "EMP", "X1", "KIT", "US_SSN")] == ["replace"] * 3 + [
        "allow"
    ] * 2


def test_what_is_declared_is_built_as_written() -> None:
    policy = parse(
        HEAD + "deny: {PROJECT: [Nightjar, Blue Heron]}\nrecognizers:\n"
        "  EMP: {regex: 'e\\d', context: [staff], score: 0.6, ignore_case: true}\n"
        "  AU_ABN: {presidio: presidio_analyzer.predefined_recognizers.AuAbnRecognizer, arguments: {name: abn}}\n"
        "  DE: {spacy: de_core_news_md, version: 3.8.0, labels: {PER: PERSON}}\n"
        f"  RAMPART: {{onnx: /m/r, sha256: {'0' * 64}, labels: {{GIVEN_NAME: PERSON, CITY: TOWN}}, window: 128}}\n"
        "tests: [{text: x, finds: [AU_ABN, PERSON]}, {text: y, finds: []}]\n"
    )
    specs = declared_recognizers(policy)
    assert specs == (
        CustomRule("EMP", "e\\d", ("staff",), 0.6, True),
        Foreign("presidio_analyzer.predefined_recognizers.AuAbnRecognizer", ("AU_ABN",), {"name": "abn"}, ("x",)),
        SpacyPipeline("de_core_news_md", {"PER": "PERSON"}, "3.8.0", examples=("x",)),
        OnnxModel("/m/r", "0" * 64, {"GIVEN_NAME": "PERSON", "CITY": "TOWN"}, window=128, examples=("x",)),
        DenyTerms("PROJECT", ("Nightjar", "Blue Heron")),
    )
    assert pickle.loads(pickle.dumps(specs)) == specs  # noqa: S301
    assert policy.declared == {"EMP", "AU_ABN", "PERSON", "TOWN", "PROJECT"}
    of_code = [spec for spec in specs if not isinstance(spec, SpacyPipeline | OnnxModel)]
    built = {entity for made in build_custom(of_code) for entity in made.supported_entities}
    assert built == {"EMP", "AU_ABN", "PROJECT"}


def test_an_entity_of_ones_own_can_be_listed() -> None:
    policy = parse(
        HEAD.replace("PERSON: replace", "EMP: {action: hash, min_score: 0.9}")
        + "recognizers: {EMP: {regex: E1, context: [staff]}}"
    )
    assert policy.rule("EMP") == EntityRule(action="hash", min_score=0.9)
    emp = policy.recognizers["EMP"]
    assert isinstance(emp, RegexRecognizer)
    assert (emp.score, emp.labelled, emp.ignore_case) == (0.85, 1.0, False)


def test_limits_go_by_name_then_by_the_longest_pattern() -> None:
    policy = parse(
        "version: 1\nentities: {}\nlimits:\n  models:\n    gpt-4: 1\n    gpt-4*: 2\n    gpt-4o*: 3\n"
        "    '*': 4\n    x[1]: 5\n    my-*: {served: 6, tokenizer: bytes}\n"
    )
    served = [
        policy.limit_for(name) for name in ("gpt-4", "gpt-4-turbo", "gpt-4o-mini", "", "x[1]", "x1", "my-claude-4")
    ]
    assert [limit and limit.served for limit in served] == [1, 2, 3, 4, 5, 4, 6]
    assert policy.limit_for("my-claude-4") == ModelLimit(6, "bytes", 1.0)


def test_without_a_limit_a_model_is_refused() -> None:
    for limits in ("{}", "{default: refuse}", "{models: {gpt-4o*: 9}}"):
        assert parse(f"version: 1\nentities: {{}}\nlimits: {limits}\n").limit_for("llama") is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o-mini-2024-07-18", ("o200k_base", 1.0)),
        ("gpt-4.1-nano", ("o200k_base", 1.0)),
        ("o4-mini", ("o200k_base", 1.0)),
        ("gpt-4-turbo", ("cl100k_base", 1.0)),
        ("gpt-3.5-turbo", ("cl100k_base", 1.0)),
        ("azure/GPT-4", ("cl100k_base", 1.0)),
        ("anthropic.claude-sonnet-4", ("o200k_base", 2.0)),
        ("glm-5.3", ("o200k_base", 1.4)),
        ("o10-secret", ("o200k_base", 2.0)),
        ("", ("o200k_base", 2.0)),
    ],
)
def test_families(model: str, expected: tuple[str, float]) -> None:
    assert family(model) == expected


@given(st.text("ab*?[]!-", max_size=8), st.text("ab[]!-", max_size=8))
def test_patterns_know_two_signs_only(pattern: str, name: str) -> None:
    rows = [True] + [False] * len(name)
    for sign in pattern:
        before, rows = rows, [False] * (len(name) + 1)
        for i in range(len(name) + 1):
            if sign == "*":
                rows[i] = before[i] or (i > 0 and rows[i - 1])
            elif i > 0:
                rows[i] = before[i - 1] and sign in ("?", name[i - 1])
    assert matches(pattern, name) == rows[-1]
    assert best(name, [pattern, "*"]) in (pattern, "*")


def test_restoring_in_tools() -> None:
    answers = parse(HEAD + 'answers: {restore_in_tools: {"*": false, "mail_*": true, mail_out: false}}\n').answers
    assert [answers.restores_in(tool) for tool in ("web", "mail_in", "mail_out")] == [False, True, False]
    assert parse(HEAD).answers.restores_in("web")
    assert parse(HEAD + "answers: {restore_in_tools: {web: false}}\n").answers.restores_in("mail")


def test_what_is_left_out() -> None:
    policy = parse(HEAD)
    assert (policy.mode, policy.languages, policy.detection.deadline_seconds) == ("enforce", ("en", "fr"), 120.0)
    assert policy.attachments.model_dump() == dict.fromkeys(("images", "files", "audio"), "refuse")
    assert (policy.answers.foreign_placeholder, policy.answers.usage_mismatch, policy.answers.unsolicited) == (
        "block",
        "block",
        "flag",
    )


def test_aliases_repeat_a_value() -> None:
    policy = parse(HEAD + "deny: {PROJECT: &terms [Nightjar, Heron], CODENAME: *terms}\n")
    assert policy.deny["PROJECT"] == policy.deny["CODENAME"] == ("Nightjar", "Heron")
    assert list(parse(HEAD + "allow: [&name PROJECT]\ndeny: {*name : [Nightjar]}\n").deny) == ["PROJECT"]
    assert parse(HEAD + "answers: {&what unsolicited: off}\nallow: [*what ]\n").allow == ("unsolicited",)


# --- A policy does not change -----------------------------------------------------------------------------------

FULL = HEAD + (
    "recognizers: {EMP: {regex: 'E\\d', context: [staff]}, KIT: {presidio: a.B, arguments: {a: [1, {b: [x]}]}},"
    " NET: {onnx: /m, sha256: " + "0" * 64 + ", labels: {PER: PERSON}}}\ndeny: {PROJECT: [Nightjar]}\n"
    "allow: [ACME SA]\ntests: [{text: Nightjar, finds: [PROJECT, KIT, PERSON]}]\n"
)


def test_a_policy_cannot_be_changed_anywhere() -> None:
    policy = parse(FULL)
    _assert_frozen(policy)
    hash(policy)


def _assert_frozen(value: Any) -> None:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(value, name, None)
            _assert_frozen(getattr(value, name))
    elif isinstance(value, FrozenMap):
        assert not hasattr(value, "__setitem__")
        assert repr(value).startswith("FrozenMap({")
        with pytest.raises(AttributeError):
            value._items = {}
        with pytest.raises(AttributeError):
            del value._items
        for item in value.values():
            _assert_frozen(item)
    elif isinstance(value, tuple):
        for item in value:
            _assert_frozen(item)
    else:
        assert isinstance(value, str | int | float | bool | None)


@pytest.mark.parametrize(
    "source", [FULL.encode(), *(path.read_bytes() for path in SHIPPED)], ids=["full", *(p.stem for p in SHIPPED)]
)
def test_a_policy_survives_pickling_and_copying(source: bytes) -> None:
    policy = parse(source)
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):  # noqa: S301 (our own bytes)
        assert again == policy
        assert (again.name, again.digest, hash(again)) == ("p", policy.digest, hash(policy))
        _assert_frozen(again)


def test_name_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "health.eu.yaml"
    path.write_text(HEAD)
    policy = load_policy(path, entities=ENTITIES)
    assert policy.name == "health.eu"
    assert re.fullmatch(r"[0-9a-f]{12}", policy.digest)


def test_the_digest_follows_what_the_policy_does() -> None:
    base = parse(HEAD).digest
    same = (
        "mode: enforce\n",
        "# a comment\n",
        "tests: [{text: x, finds: []}]\n",
        "detection: {deadline_seconds: 120}\n",
    )
    other = (
        "mode: monitor\n",
        "allow: [ACME]\n",
        "deny: {PROJECT: [Nightjar]}\n",
        "recognizers: {EMP: {regex: E1}}\n",
        "answers: {restore_in_tools: {a: false}}\n",
    )
    assert {parse(HEAD + more).digest for more in same} == {base}
    assert len({parse(HEAD + more).digest for more in other} | {base}) == len(other) + 1
    assert parse("\n".join(reversed(HEAD.splitlines()))).digest == base
    assert parse(HEAD.replace("1000", "1001")).digest != base


# --- The policy's own tests -------------------------------------------------------------------------------------


def _words(text: str) -> list[tuple[str, str]]:
    known = {"Mira": "PERSON", "4539": "CREDIT_CARD", "Toulouse": "LOCATION", "Mir": "PERSON"}
    return [(entity, word) for word, entity in known.items() if word in text.split()]


@pytest.mark.parametrize(
    ("trial", "failures"),
    [
        ("{text: hello Mira, finds: [PERSON], leaves: [hello]}", ()),
        ("{text: hello Mira, finds: []}", ("found as well: PERSON",)),
        ("{text: hello Zoe, finds: [PERSON]}", ("not found: PERSON",)),
        ("{text: hello Mira, leaves: [lo Mi]}", ("'leaves' number 1 was changed",)),
        ("{text: hello Mira, leaves: [hello]}", ()),
        ("{text: in Toulouse, finds: [], leaves: [Toulouse]}", ()),
        ("{text: card 4539, refuses: true}", ()),
        ("{text: card 4539, refuses: false}", ("refused: CREDIT_CARD",)),
        ("{text: hello Mira, refuses: true}", ("not refused: nothing found is blocked",)),
        ("{text: hello Mira, refuses: false}", ()),
    ],
)
def test_a_trial(trial: str, failures: tuple[str, ...]) -> None:
    (result,) = run_trials(parse(HEAD + f"tests: [{trial}]\n"), _words)
    assert (result.number, result.failures, result.passed) == (1, failures, not failures)

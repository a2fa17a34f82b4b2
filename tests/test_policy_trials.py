"""The tests that a policy carries, run by the real engine; what `--update` writes; what `diff` tells."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.commands.changes import compare
from proxy.commands.rehearsal import rehearsed
from proxy.commands.test import changes
from proxy.model import Finding
from proxy.policy import Outcome, Policy, PolicyError, judged, load_policy, numbered, parse_policy, rewritten
from recognizers import ENTITIES

POLICY = """\
# Kept as it is.
version: 1
limits: {default: refuse, models: {gpt-4o*: 4000}}   # small
entities: {PERSON: replace, IBAN_CODE: replace, CREDIT_CARD: block, EMAIL_ADDRESS: mask}
tests:
  # The first.
  - {text: "Please call Mira Tallow.", finds: [PERSON], sends: "Please call <PERSON_1>.", refuses: false}
  - text: 'My card is 4539 1488 0343 6467.'   # blocked
    finds: [CREDIT_CARD]
    refuses: blocked_entity
  - request:
      model: gpt-4o
      messages:
        - {role: user, content: "Mira Tallow, then IBAN FR76 3000 6000 0112 3456 7890 189, then Mira Tallow."}
    finds: [IBAN_CODE, PERSON]
    leaves: [", then IBAN "]
    sends:
      model: gpt-4o
      messages:
        - {role: user, content: "<PERSON_1>, then IBAN <IBAN_CODE_1>, then <PERSON_1>."}
    refuses: false
  - request: {model: gpt-4o, messages: [{role: user, content: "Card 4539 1488 0343 6467 of Mira Tallow"}]}
    finds: [CREDIT_CARD, PERSON]
    refuses: blocked_entity
  - request: {model: gpt-4o, messages: [{role: user, content: Hello}], max_tokens: 9000}
    refuses: context_length_exceeded
  - request: {model: other, messages: [{role: user, content: Hello}]}
    refuses: unsupported_by_policy
  - request: {model: gpt-4o, max_tokens: 9, messages: [{role: user, content: Thank Mira Tallow}]}
    endpoint: /v1/messages
    sends: {model: gpt-4o, max_tokens: 9, messages: [{role: user, content: Thank <PERSON_1>}]}
mode: enforce
"""
WRONG = (
    POLICY.replace('finds: [PERSON], sends: "Please call <PERSON_1>."', 'finds: [], sends: "Please call her."')
    .replace("refuses: blocked_entity\n  - request", "refuses: false\n  - request", 1)
    .replace("content: Thank <PERSON_1>", "content: Thank nobody")
)


def parse(text: str) -> Policy:
    return parse_policy(text.encode(), file="p.yaml", entities=ENTITIES)


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=280, check=False)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return rehearsed(parse(POLICY))


def test_texts_and_requests_do_what_they_say(outcomes: list[Outcome]) -> None:
    assert [result.failures for result in judged(parse(POLICY), outcomes)] == [()] * 7


def test_what_differs_is_told_without_a_word_of_the_text(outcomes: list[Outcome]) -> None:
    assert WRONG != POLICY
    results = judged(parse(WRONG), outcomes)
    assert [result.failures for result in results] == [
        ("found as well: PERSON", "what is sent differs from 'sends'"),
        ("refused: CREDIT_CARD",),
        (),
        (),
        (),
        (),
        ("what is sent differs from 'sends'",),
    ]


@pytest.mark.parametrize(
    ("refuses", "failure"),
    [
        ("true", "not refused"),
        ("blocked_entity", "not refused with blocked_entity"),
    ],
)
def test_a_refusal_that_does_not_come(outcomes: list[Outcome], refuses: str, failure: str) -> None:
    policy = parse(POLICY.replace("    refuses: false", f"    refuses: {refuses}"))
    assert judged(policy, outcomes)[2].failures == (failure,)


def test_a_piece_that_was_to_stay(outcomes: list[Outcome]) -> None:
    policy = parse(POLICY.replace('leaves: [", then IBAN "]', "leaves: [Mira]"))
    assert judged(policy, outcomes)[2].failures == ("'leaves' number 1 was changed",)


@pytest.mark.parametrize(
    ("trial", "told"),
    [
        ("{text: x, request: {model: a}, finds: []}", "has either a 'text' or a 'request'"),
        ("{finds: []}", "has either a 'text' or a 'request'"),
        ("{text: hello, endpoint: /v1/messages, finds: []}", "'endpoint' is for a 'request'"),
        ("{text: hello, sends: {model: a}}", "'sends' must be a text"),
        ("{request: {model: a}, sends: hello}", "'sends' must be a body"),
        ("{request: hello, finds: []}", "must be a mapping"),
        ("{request: {model: a}}", "this test checks nothing"),
        ("{text: hello, refuses: blocked_entitty}", "did you mean 'blocked_entity'"),
        ("{request: {model: a}, endpoint: /v1/chat, finds: []}", "did you mean '/v1/chat/completions'"),
    ],
)
def test_a_test_that_makes_no_sense_does_not_load(trial: str, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(f"version: 1\nlimits: {{}}\nentities: {{PERSON: replace}}\ntests: [{trial}]\n")
    assert told in str(caught.value)


def test_placeholders_are_numbered_as_they_appear() -> None:
    sent = {
        "b": "<PERSON_999999> PERSON_111111",
        "a": ["<PERSON_999999>", "<US_SSN_222222>", "<NO_333333>", "PERSON_12"],
    }
    assert numbered(sent, frozenset({"PERSON", "US_SSN"})) == {
        "b": "<PERSON_1> PERSON_2",
        "a": ["<PERSON_1>", "<US_SSN_1>", "<NO_333333>", "PERSON_12"],
    }


def test_an_update_changes_the_expectations_and_nothing_else(outcomes: list[Outcome]) -> None:
    wrong = parse(WRONG)
    again = rewritten(WRONG, changes(wrong, outcomes))
    assert [result.failures for result in judged(parse(again), outcomes)] == [()] * 7
    before, after = POLICY.split("tests:\n"), again.split("tests:\n")
    assert before[0] == after[0]
    assert again.endswith("mode: enforce\n")
    assert "  # The first.\n" in again
    assert "# blocked" in again
    assert "'My card is 4539 1488 0343 6467.'" in again
    assert changes(parse(POLICY), outcomes) == {}


def test_tests_on_one_line_with_others_are_not_rewritten() -> None:
    with pytest.raises(ValueError, match="section"):
        rewritten("{version: 1, tests: [{text: x, finds: []}]}\n", {0: {"finds": ["PERSON"]}})


def test_update_shows_asks_and_writes(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(WRONG, "utf-8")
    refused = run("test", "--update", str(path), given="n\n")
    assert (refused.returncode, path.read_text("utf-8")) == (1, WRONG)
    assert '+  - {text: "Please call Mira Tallow.", finds: [PERSON]' in refused.stdout
    assert "Write this" in refused.stdout
    done = run("test", "--update", "--yes", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 of 7 tests passed" in done.stdout
    assert path.read_text("utf-8") != WRONG
    assert [each.name for each in tmp_path.iterdir()] == ["p.yaml"]


# --- diff -------------------------------------------------------------------------------------------------------------


def found(start: int, end: int, entity: str = "PERSON", action: str = "replace") -> Finding:
    return Finding(start, end, entity, action, 0.9)


def test_differences_by_kind() -> None:
    old = [found(0, 4), found(10, 14), found(20, 24), found(30, 34), found(40, 44)]
    new = [found(0, 4), found(20, 24, action="mask"), found(28, 34), found(41, 44), found(50, 54, "US_SSN")]
    told = [(change.kind, change.start, change.end, change.weaker) for change in compare(old, new)]
    assert told == [
        ("gone", 10, 14, True),
        ("action", 20, 24, False),
        ("extent", 28, 34, False),
        ("extent", 40, 44, True),
        ("new", 50, 54, False),
    ]
    assert compare(old, old) == []


def test_what_the_new_policy_leaves_alone_is_told_as_that_whatever_else_is_found_there() -> None:
    old = [found(0, 4, "US_SSN"), found(10, 14, "US_SSN"), found(20, 24)]
    new = [found(10, 14, "PHONE_NUMBER")]
    told = [(change.kind, change.start, change.weaker) for change in compare(old, new, frozenset({"US_SSN"}))]
    assert told == [("alone", 0, True), ("alone", 10, False), ("gone", 20, True)]


TEXT = (
    "Mira Tallow wrote. He has lived in Toulouse since 2011.\n"
    "Her IBAN is FR76 3000 6000 0112 3456 7890 189, mail mira.tallow@example.org.\n"
)


def test_diff_shows_values_on_a_terminal_only(tmp_path: Path) -> None:
    head = "version: 1\nlimits: {default: 4000}\n"
    old, new, text = tmp_path / "old.yaml", tmp_path / "new.yaml", tmp_path / "a.txt"
    old.write_text(head + "entities: {PERSON: replace, IBAN_CODE: replace, EMAIL_ADDRESS: replace}\n")
    new.write_text(head + "entities: {PERSON: replace, LOCATION: replace, EMAIL_ADDRESS: mask}\n")
    text.write_text(TEXT)
    command = ["diff", str(old), str(new), "--corpus", str(text)]
    told = run(*command, "--format", "json", "--strict")
    assert told.returncode == 1, told.stderr
    counts = json.loads(told.stdout)
    assert counts["entities"]["IBAN_CODE"]["alone"] == 1
    labels = [load_policy(path, entities=ENTITIES) for path in (old, new)]
    assert [counts["old"], counts["new"]] == [f"{policy.name}@{policy.digest}" for policy in labels]
    assert counts["entities"]["LOCATION"]["new"] == 1
    assert counts["entities"]["EMAIL_ADDRESS"]["action"] == 1
    assert (counts["documents"], counts["protected_less"]) == (1, 1)
    several = run(*command, str(text), str(text), "--format", "json")  # as the shell writes out `--corpus *.txt`
    assert json.loads(several.stdout)["documents"] == 3
    shown = _on_a_terminal([sys.executable, "-m", "proxy", *command])
    for word in ("FR76 3000 6000 0112 3456 7890 189", "Toulouse", "left alone", "newly found"):
        assert word in shown
    piped = run(*command)
    assert piped.returncode == 0
    assert "shown on a terminal only" in piped.stdout
    for value in ("FR76", "Toulouse", "mira.tallow"):
        assert value not in piped.stdout + piped.stderr + told.stdout


def _on_a_terminal(command: list[str]) -> str:
    ours, theirs = pty.openpty()
    plain = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=plain) as process:
        os.close(theirs)
        pieces = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            pieces += piece
        assert process.wait(280) == 0
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", pieces.decode())

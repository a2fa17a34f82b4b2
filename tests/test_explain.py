"""Why something is found or not: what decided, what lost to it, and what never counted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from proxy.commands.evidence import explained
from proxy.model import Finding
from proxy.policy import parse_policy
from recognizers import ENTITIES
from recognizers.base import Span

POLICY = """\
version: 1
limits: {default: 4000}
entities: {PERSON: replace, IBAN_CODE: block, BANK_ACCOUNT: {action: replace, min_score: 0.6}, ORGANIZATION: replace}
deny: {PROJECT: [Nightjar]}
recognizers: {TICKET: {regex: 'T-\\d{4}', context: [ticket], score: 0.4}}
allow: [Jane Austen]
"""
RULES = parse_policy(POLICY.encode(), file="p.yaml", entities=ENTITIES)


def test_what_became_of_each_hit() -> None:
    iban = Span(0, 10, "IBAN_CODE", 0.95, "iban:iban", "check passed")
    hits = [
        iban,
        Span(0, 10, "BANK_ACCOUNT", 0.9, "bank:de", "pattern"),
        Span(2, 8, "PERSON", 0.85, "names:en", "model"),
        Span(0, 10, "IBAN_CODE", 0.8, "iban:other", "pattern"),
        Span(4, 9, "BANK_ACCOUNT", 0.3, "bank:fr", "pattern"),
        Span(20, 24, "PERSON", 0.85, "names:en", "model"),
        Span(30, 34, "BANK_ACCOUNT", 0.5, "bank:fr", "pattern"),
    ]
    finding = Finding(0, 10, "IBAN_CODE", "block", 0.95, "iban:iban", "check passed")
    known = Finding(40, 44, "PERSON", "replace", 0.55, "known", "known value")
    found = explained(hits, [finding, known], RULES)
    ((_, first), (_, second)) = found.findings
    assert [(hit.span.entity, hit.kind, hit.became) for hit in first] == [
        ("IBAN_CODE", "checksum", "decided"),
        ("BANK_ACCOUNT", "pattern", "lost to IBAN_CODE: checksum is stronger than pattern"),
        ("IBAN_CODE", "pattern", "agreed"),
        ("BANK_ACCOUNT", "pattern", "below the min_score of BANK_ACCOUNT, 0.6"),
        ("PERSON", "model", "lost to IBAN_CODE, which covers it"),
    ]
    assert [(hit.kind, hit.became) for hit in second] == [("known", "decided")]
    assert [(hit.span.start, hit.became) for hit in found.ignored] == [
        (20, "freed by the allow list"),
        (30, "below the min_score of BANK_ACCOUNT, 0.6"),
    ]


def test_the_command_tells_all_evidence_of_real_texts(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY)
    text = (
        "Dear Eleanor Whitcombe, IBAN: GB82 WEST 1234 5698 7654 32. Project Nightjar, ticket T-1234. Also T-9999.\n"
        "Please call Jane Austen about it.\n\nAlso bring T-9999."
    )
    command = [sys.executable, "-m", "proxy", "explain", "--policy", str(tmp_path / "p.yaml"), "--text", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    told = re.sub(r"\s+", " ", done.stdout)
    for part in (
        "IBAN_CODE block",
        "decided by checksum: iban",
        "check passed",
        "decided by list: deny:term 1.00: term of a list",
        "decided by structure: custom-TICKET:regex 0.75: label 'ticket'",
        "PERSON replace",
        "not acted on:",
        "below the min_score of TICKET, 0.5: TICKET by pattern: custom-TICKET:regex 0.40",
        "freed by the allow list: PERSON",
        f"not looked for, since the policy leaves them alone: {len(ENTITIES) - 4} of {len(ENTITIES)} entities",
    ):
        assert part in told
    as_json = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=240, check=False)
    row = json.loads(as_json.stdout)
    assert {(each["entity"], each["action"]) for each in row["findings"]} >= {("IBAN_CODE", "block")}
    assert {each["became"].split()[0] for each in row["ignored"]} == {"below", "freed"}
    for value in ("Whitcombe", "WEST", "Nightjar", "T-1234"):
        assert value not in as_json.stdout

"""The commands that look at files, as a person types them."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

TEXT = "Dear Eleanor Whitcombe,\nyour IBAN GB82 WEST 1234 5698 7654 32 was charged.\nEleanor Whitcombe agreed.\n"


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proxy", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=240, check=False)


def on_a_terminal(*arguments: str, given: str = "") -> str:
    """What a person sees who types a command into a terminal."""
    here, there = pty.openpty()
    command = [sys.executable, "-m", "proxy", *arguments]
    with os.fdopen(here, "r+b", buffering=0) as screen:
        with subprocess.Popen(command, stdin=there, stdout=there, stderr=there) as running:
            os.close(there)
            screen.write(given.encode())
            seen = b""
            try:
                while piece := screen.read(4096):
                    seen += piece
            except OSError:  # how a terminal ends on Linux
                pass
        assert running.returncode is not None
    return seen.decode().replace("\r\n", "\n")


def test_scan_replaces_and_streams_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(TEXT, "utf-8")
    done = run("scan", str(tmp_path / "letter.txt"), "-", given="Thanks, Eleanor Whitcombe\n")
    assert done.returncode == 0, done.stderr
    (person,) = set(re.findall(r"<PERSON_[0-9]{6}>", done.stdout))
    (iban,) = re.findall(r"<IBAN_CODE_[0-9]{6}>", done.stdout)
    assert done.stdout == (f"Dear {person},\nyour IBAN {iban} was charged.\n{person} agreed.\nThanks, {person}\n")
    assert "Whitcombe" not in done.stderr


def test_explain_writes_spans_for_scorers(tmp_path: Path) -> None:
    lines = tmp_path / "documents.jsonl"
    lines.write_text(
        json.dumps({"id": "a", "text": TEXT, "lang": "en"}) + "\n\n" + json.dumps({"id": "b", "text": "Hi"})
    )
    done = run("explain", "--jsonl", str(lines))
    assert done.returncode == 0, done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert [(span["type"], TEXT[span["start"] : span["end"]]) for span in first["spans"]] == [
        ("PERSON", "Eleanor Whitcombe"),
        ("IBAN_CODE", "GB82 WEST 1234 5698 7654 32"),
        ("PERSON", "Eleanor Whitcombe"),
    ]
    assert all(0 < span["score"] <= 1 for span in first["spans"])
    assert second == {"id": "b", "spans": []}


def test_explain_shows_recognizer_and_reason() -> None:
    done = run("explain", "-", given=TEXT)
    assert done.returncode == 0, done.stderr
    told = re.sub(r"\s+", " ", done.stdout)
    for word in ("IBAN_CODE", "replace", "iban", "check", "PERSON", "decided by checksum:", "decided by model:"):
        assert word in told


def test_explain_refuses_lines_that_are_no_documents(tmp_path: Path) -> None:
    lines = tmp_path / "documents.jsonl"
    lines.write_text('{"id": "a"}\n')
    done = run("explain", "--jsonl", str(lines))
    assert done.returncode == 2
    assert "line 1" in done.stderr


def test_count_and_check_say_what_they_see(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello world", "utf-8")
    assert run("count", str(tmp_path / "a.txt")).stdout.split("\t")[0] == "2"
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello world"}], "max_tokens": 10}
    (tmp_path / "b.json").write_text(json.dumps(body), "utf-8")
    assert int(run("count", str(tmp_path / "b.json")).stdout.split("\t")[0]) >= 19
    policy = tmp_path / "p.yaml"
    policy.write_text("extends: default\n", "utf-8")
    text = str(tmp_path / "a.txt")
    assert run("count", text).stdout == f"2\t{text}\n"
    assert on_a_terminal("count", text).splitlines() == ["tokens\tfile", f"2\t{text}"]
    told = on_a_terminal("count", text, "--policy", str(policy), "--model", "gpt-4o")
    assert told.splitlines()[0] == "tokens\tserved\tfile"
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nlimits: {default: 8000}\nentities: {PERSN: replace}\n")
    done = run("check", str(bad))
    assert done.returncode == 1
    assert "bad.yaml:3:12" in done.stdout
    assert "PERSON" in done.stdout


def test_probe_asks_a_person_and_tells_a_script_what_to_say(tmp_path: Path) -> None:
    arguments = ("probe", "--model", "m", "--upstream", "http://127.0.0.1:9/v1", "--advertised", "2000")
    arguments = (*arguments, "--report", str(tmp_path / "probe.json"))
    declined = on_a_terminal(*arguments, given="n\n")
    assert "Go on?" in declined
    assert "--yes" not in declined
    done = run(*arguments)
    assert (done.returncode, "--yes" in done.stderr) == (2, True)
    assert not (tmp_path / "probe.json").exists()

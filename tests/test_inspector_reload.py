"""The inspector and a policy that changes: it shows and compares with what is in force, and reaches no other file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2

from tests.e2e import wait_until
from tests.house import Door, housed, policy
from tests.provider import Provider


def post(door: Door, what: str, **asked: str) -> dict[str, Any]:
    answer = httpx2.post(f"{door.url}/inspector/api/{what}", json=asked, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def live(door: Door) -> dict[str, Any]:
    told: dict[str, Any] = httpx2.get(f"{door.url}/inspector/api/live", timeout=60, trust_env=False).json()
    return told


def test_after_a_reload_the_new_policy_is_shown_and_asked(tmp_path: Path) -> None:
    asked = {"endpoint": "text", "input": "Say nightjar to me", "model": "gpt-4o"}
    with Provider() as provider, housed(tmp_path, provider.url, None, policy("OLD"), inspector=True) as door:
        first = live(door)
        assert "<OLD_" in json.dumps(post(door, "inspect", **asked))
        fresh = policy("NEW")
        (tmp_path / "house.yaml").write_text(fresh)
        wait_until(lambda: live(door)["policy"]["digest"] != first["policy"]["digest"])
        assert live(door)["text"] == fresh
        assert f"house@{live(door)['policy']['digest']}" == door.about()["policy"]
        assert "<NEW_" in json.dumps(post(door, "inspect", **asked))
        same = post(door, "inspect", **asked, policy=fresh)
        other = post(door, "inspect", **asked, policy=policy("OLD"))
        assert (same["changes"], bool(other["changes"])) == ([], True)
        assert provider.received == []


def test_what_is_typed_extends_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(policy("SECRET_TERM"))
    with Provider() as provider, housed(tmp_path, provider.url, None, inspector=True) as door:
        for named in ("./secret.yaml", "secret.yaml", str(tmp_path / "secret.yaml"), "../secret.yml"):
            told = post(door, "lint", policy=f"extends: {named}\n")
            assert [fault["rule"] for fault in told["faults"]] == ["bad-extends"]
            assert "SECRET_TERM" not in json.dumps(told)
        told = post(door, "lint", policy="extends: default\nlanguages: [en]\n")
        assert told["faults"] == []

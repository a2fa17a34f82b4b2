"""Tenants: whose key it is, what holds for it, and that nothing of one reaches another or goes on that must not."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from typer.testing import CliRunner

from proxy.__main__ import command_line
from proxy.policy import PolicyError, tree
from proxy.settings import StartError
from proxy.tenants.keys import PREFIX, digest, new_key, owner
from proxy.tenants.load import inspect_tenants, load_tenants
from proxy.tenants.model import Key, Rates, Tenant, UpstreamKey
from recognizers import ENTITIES
from tests.e2e import wait_until
from tests.house import entry, housed, keys, policy
from tests.provider import Provider
from tests.test_policy_rules import SLIPS, _keys

K = keys("billing", "support", "research")
REFERENCE = (Path(__file__).parent.parent / "docs" / "tenants.md").read_text(encoding="utf-8")
UPSTREAM_KEY = "sk-the-key-of-the-house"


def roll(**more: str) -> str:
    """A tenants file with three tenants, each with more to say about itself."""
    lines = ["version: 1", "tenants:"]
    for name, key in K.items():
        lines += [f"  {name}:", f"    keys: [{entry(key)}]"]
        said = more.get(name, "")
        lines += [f"    {line}" for line in said.splitlines()]
        if "upstream_key" not in said:
            lines.append("    upstream_key: {env: HOUSE_KEY}")
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", UPSTREAM_KEY)


def load(folder: Path, text: str) -> Any:
    path = folder / "tenants.yaml"
    path.write_text(text)
    return load_tenants(path)


# --- Keys -----------------------------------------------------------------------------------------------------------


def test_a_new_key_is_shown_once_with_the_line_that_finds_it(tmp_path: Path) -> None:
    shown = [CliRunner().invoke(command_line(), ["key", "new", "--tenant", "billing"]).stdout for _ in range(2)]
    found = [re.search(rf"({PREFIX}[A-Za-z0-9_-]{{43}})$", text, re.MULTILINE) for text in shown]
    assert len({match[1] for match in found if match}) == 2
    key, line = found[0][1] if found[0] else "", shown[0].splitlines()[-1]
    text = f"version: 1\ntenants:\n  billing:\n    upstream_key: none\n    keys:\n{line}\n"
    assert key not in text
    found_key = owner(key, load(tmp_path, text).tenants)
    assert found_key is not None
    assert found_key[0] == "billing"


@pytest.mark.parametrize("name", ["Billing", "anonymous", "0123456789abcdef", "deadbeefdeadbeef", "a b", "", "-a"])
def test_a_name_that_could_be_taken_for_another_is_no_name(name: str) -> None:
    result = CliRunner().invoke(command_line(), ["key", "new", "--tenant", name])
    assert result.exit_code == 2
    assert PREFIX not in result.output
    assert "small letters, digits and -" in " ".join(result.output.replace("│", " ").split())


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 42), other=st.characters(codec="ascii"))
def test_no_other_key_is_taken_for_one(at: int, other: str) -> None:
    folder = Path(__file__).parent / "rules" / "key-twice"
    tenants = load_tenants(folder / "good.yaml").tenants
    for whole in ("0", "1"):
        assert owner(whole, tenants) is not None
        assert owner(whole + other, tenants) is None
    key = new_key()
    changed = key[: at + 4] + other + key[at + 5 :]
    made = tenants.model_copy(update={"tenants": {"one": _with(tenants, digest(key))}})
    assert owner(key, made) is not None
    assert (owner(changed, made) is None) == (changed != key)


def _with(tenants: Any, sha256: str) -> Any:
    one = tenants.tenants["billing"]
    return one.model_copy(update={"keys": (one.keys[0].model_copy(update={"sha256": sha256}),)})


def test_every_hash_is_compared_to_its_end_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tenants = load(tmp_path, roll()).tenants
    asked: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def spy(one: bytes, other: bytes) -> bool:
        asked.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", spy)
    for key in (*K.values(), "unknown", ""):
        asked.clear()
        owner(key, tenants)
        assert [other.decode() for _, other in asked] == [digest(kept) for kept in K.values()]
        assert {one.decode() for one, _ in asked} == {digest(key)}


# --- The file ---------------------------------------------------------------------------------------------------------

FULL = """\
version: 1
tenants:
  billing:
    keys:
      - sha256: {}
        limits:
          requests_per_minute: 60
      - sha256: {}
    policy: default
    stricter: [strict]
    limits:
      requests_per_minute: 600
      concurrent: 20
      tokens_per_minute: 100000
      tokens_per_day: 1000000
    upstream: https://api.example.com/v1
    upstream_key:
      env: BILLING_KEY
""".format(digest("a"), digest("b"))


def test_a_slip_in_any_key_of_a_tenants_file_is_an_error_where_it_stands(tmp_path: Path) -> None:
    root, _ = tree.parse(FULL, "p")
    lines = FULL.splitlines()
    tried = 0
    for at, (key, line, column) in enumerate(_keys(root)):
        if key == "billing":
            continue
        slip = SLIPS[at % len(SLIPS)](key)
        changed = list(lines)
        changed[line - 1] = lines[line - 1][: column - 1] + slip + lines[line - 1][column - 1 + len(key) :]
        with pytest.raises(PolicyError) as caught:
            load(tmp_path, "\n".join(changed))
        assert any((fault.line, fault.column) == (line, column) for fault in caught.value.faults), (key, slip)
        tried += 1
    assert tried >= 17


VALUES = ("", "~", "[]", "{}", "-1", "0", "1.5", "true", "sk-live-0f3a9c1177", "{env: 'a b'}", "[[1]]", "'x y'")


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_another_value_is_refused_or_means_something_and_a_key_is_never_repeated(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    scalars = [number for number, line in enumerate(FULL.splitlines()) if re.search(r": \S", line)]
    number, value = data.draw(st.sampled_from(scalars)), data.draw(st.sampled_from(VALUES))
    lines = FULL.splitlines()
    lines[number] = re.sub(r": .*", lambda _: f": {value}", lines[number])
    path = tmp_path_factory.mktemp("t") / "tenants.yaml"
    path.write_text("\n".join(lines))
    found, faults = inspect_tenants(path, ENTITIES)
    assert (found is None) == any(fault.rule not in ("tenant-unlimited", "tenant-plain-http") for fault in faults)
    assert "sk-live" not in "".join(fault.message + fault.mend for fault in faults if "sha256" in lines[number])
    if found is not None:
        assert value not in ("~", "[[1]]", "true")


def test_a_key_in_the_file_is_told_and_not_repeated(tmp_path: Path) -> None:
    for text in (
        FULL.replace(digest("a"), "cvg-0123456789"),
        FULL.replace("\n      env: BILLING_KEY", " sk-live-0123456789"),
        FULL.replace("BILLING_KEY", "sk-live-0123456789"),
    ):
        with pytest.raises(PolicyError) as caught:
            load(tmp_path, text)
        assert "key-in-clear" in {fault.rule for fault in caught.value.faults}
        assert "0123456789" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("- a\n", "empty"),
        ("version: 1\ntenants: {}\n", "wrong-value"),
        ("version: 1\ntenants: ~\n", "wrong-type"),
        ("version: 2\ntenants: {}\n", "wrong-value"),
        ("version: 1\n", "missing-key"),
        ("version: 1\ntenants: {a: {keys: [], upstream_key: none}}\n", "wrong-value"),
    ],
)
def test_a_file_without_tenants_does_not_load(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(tmp_path, text)
    assert told in {fault.rule for fault in caught.value.faults}


def test_a_key_for_the_upstream_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    text = roll(billing="upstream_key: {file: key}", support="upstream_key: {env: NO_SUCH_VARIABLE}")
    with pytest.raises(StartError) as caught, housed(tmp_path, "http://127.0.0.1:1/v1", text):
        pass
    assert [fault.split(": ")[1] for fault in caught.value.faults] == ["no key is there [no-upstream-key]"] * 2


def test_check_knows_a_tenants_file(tmp_path: Path) -> None:
    path = tmp_path / "tenants.yaml"
    path.write_text(FULL)
    told = CliRunner().invoke(command_line(), ["check", str(path)])
    assert (told.exit_code, told.stdout) == (0, f"{path}: 1 tenants, good\n")
    path.write_text(FULL.replace("strict]", "./none.yaml]").replace("env:", "evn:"))
    told = CliRunner().invoke(command_line(), ["check", str(path), "--format", "json"])
    assert told.exit_code == 1
    assert {fault["rule"] for fault in json.loads(told.stdout)} >= {"unknown-key"}


@pytest.mark.parametrize("section", [Tenant, Key, Rates, UpstreamKey])
def test_the_reference_says_what_the_model_says(section: type[BaseModel]) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$", REFERENCE, re.MULTILINE))
    for name, field in section.model_fields.items():
        if name != "limits":
            assert rows[name] == " ".join(str(field.description).split()), name
        assert f"{' '.join(str(field.description).split())} |" in REFERENCE


def test_the_example_of_the_reference_loads(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL)
    assert list(load(tmp_path, text).tenants.tenants) == ["billing", "support"]


# --- At the door ------------------------------------------------------------------------------------------------------


def test_a_key_that_nobody_has_is_refused_before_anything_else(tmp_path: Path) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, roll()) as door:
        for key in (K["billing"][:-1], K["billing"] + "x", UPSTREAM_KEY, digest(K["billing"]), "Bearer"):
            answer = door.ask(key)
            assert (answer.status_code, answer.headers["x-should-retry"]) == (401, "false")
            assert answer.json()["error"] == {
                "message": "Incorrect API key provided.",
                "type": "invalid_request_error",
                "param": None,
                "code": "invalid_api_key",
            }
        assert door.ask("", x_api_key=K["billing"], authorization=f"Bearer {K['billing']}").status_code == 401
        assert door.ask("", authorization=f"Basic {K['billing']}").status_code == 401
        answer = door.ask("", path="/v1/messages", x_api_key="none", anthropic_version="2023-06-01")
        assert answer.json()["error"]["type"] == "authentication_error"
        assert provider.received == []
        assert {line["reason"] for line in door.audit()} == {"invalid_api_key"}
        assert not any(line["tenant"] in K for line in door.audit())
        assert door.about()["ready"] is True
        assert K["billing"] not in door.written


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key"])
def test_the_callers_key_stays_and_the_houses_goes_on(tmp_path: Path, header: str) -> None:
    (tmp_path / "key").write_text("sk-from-a-file\n")
    text = roll(support="upstream_key: {file: key}", research="upstream_key: none")
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:
        for name, expected in (("billing", UPSTREAM_KEY), ("support", "sk-from-a-file"), ("research", None)):
            prefix = "Bearer " if header == "authorization" else ""
            answer = door.ask("", **{header.replace("-", "_"): prefix + K[name]})
            assert answer.status_code == 200
            sent = dict(provider.last.headers)
            assert sent.get(header) == (None if expected is None else prefix + expected)
            assert not {"authorization", "x-api-key", "api-key"} - {header} & sent.keys()
            assert not [text for text in provider.last.texts() for key in K.values() if key in text]
            assert door.audit()[-1]["tenant"] == name
        refused = door.ask(K["billing"], openai_organization="org-other")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported_by_policy")
        assert len(provider.received) == 3
        assert not [key for key in (*K.values(), UPSTREAM_KEY, "sk-from-a-file") if key in door.written]


def test_the_clients_own_key_passes_where_the_file_says_so_but_never_one_of_ours(tmp_path: Path) -> None:
    own = "sk-the-providers-own"
    text = roll(billing="upstream_key: client", support="upstream_key: client").replace(
        digest(K["support"]), digest(own)
    )
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:
        assert door.ask(own, openai_organization="org-mine").status_code == 200
        assert dict(provider.last.headers)["authorization"] == f"Bearer {own}"
        assert door.ask(K["billing"]).status_code == 200
        assert "authorization" not in dict(provider.last.headers)


def test_tenants_go_to_their_own_upstreams(tmp_path: Path) -> None:
    with Provider() as one, Provider() as two, housed(tmp_path, one.url, roll(billing=f"upstream: {two.url}")) as door:
        assert [door.ask(K[name]).status_code for name in ("billing", "support")] == [200, 200]
        assert (len(one.received), len(two.received)) == (1, 1)
        assert "upstream_in_use" in httpx2.get(f"{door.url}/metrics", trust_env=False).text


def test_tenants_of_different_policies_never_mix(tmp_path: Path) -> None:
    for name in ("billing", "support"):
        (tmp_path / f"{name}.yaml").write_text(policy(name.upper()))
    text = roll(billing="policy: ./billing.yaml", support="policy: ./support.yaml")
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:

        async def everybody() -> list[tuple[str, str, httpx2.Response]]:
            async with httpx2.AsyncClient(base_url=door.url, trust_env=False, timeout=120) as client:

                async def one(name: str, number: int) -> tuple[str, str, httpx2.Response]:
                    said = f"Say nightjar {name}.{number} to {name}{number}@example.com"
                    body = {
                        "model": "echo;wait=0.1;chunk=4",
                        "stream": number % 2 == 0,
                        "messages": [{"role": "user", "content": said}],
                    }
                    key = {"authorization": f"Bearer {K[name]}"}
                    return name, said, await client.post("/v1/chat/completions", json=body, headers=key)

                return await asyncio.gather(*(one(name, number) for number in range(12) for name in K))

        answers = asyncio.run(everybody())
        assert {answer.status_code for _, _, answer in answers} == {200}
        for name, said, answer in answers:
            own = name if name != "research" else "house"
            assert answer.headers["x-caviardage-policy"].startswith(f"{own}@")
            if answer.headers["content-type"].startswith("application/json"):
                assert answer.json()["choices"][0]["message"]["content"] == said
            (seen,) = [one.body.decode() for one in provider.received if f" {said.split()[2]} " in one.body.decode()]
            assert f"<{own.upper()}_" in seen
            assert not [
                other for other in ("BILLING", "SUPPORT", "HOUSE") if other != own.upper() and f"<{other}_" in seen
            ]
        assert provider.leaks("nightjar") == []


STRICT = policy("HOUSE", mode="enforce").replace("EMAIL_ADDRESS: replace", "EMAIL_ADDRESS: block")


def test_a_caller_may_ask_for_what_is_stricter_and_for_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "harder.yaml").write_text(STRICT)
    text = roll(billing="stricter: [./harder.yaml]")
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:
        usual = door.ask(K["billing"], "Write to a@example.com")
        own, label = "house", usual.headers["x-caviardage-policy"]
        for asked in (own, label):
            same = door.ask(K["billing"], "Write to a@example.com", x_caviardage_policy=asked)
            assert (same.status_code, same.headers["x-caviardage-policy"]) == (200, label)
        blocked = door.ask(K["billing"], "Write to a@example.com", x_caviardage_policy="harder")
        assert (blocked.status_code, blocked.json()["error"]["code"]) == (400, "blocked_entity")
        line = door.audit()[-1]
        assert (line["verdict"], line["reason"], line["bytes_out"]) == ("refuse", "blocked_entity", 0)
        assert (line["entities"], line["model"]) == ({"EMAIL_ADDRESS": 1}, "echo")
        assert blocked.headers["x-caviardage-entities"] == "EMAIL_ADDRESS=1"
        named = door.ask(K["billing"], "To a@example.com", model="b@example.com", x_caviardage_policy="harder")
        assert named.json()["error"]["code"] == "blocked_entity"
        line = door.audit()[-1]
        assert (line["entities"], line["model"]) == ({"EMAIL_ADDRESS": 2}, None)
        passed = door.ask(K["billing"], "Write to nobody", x_caviardage_policy="harder")
        assert passed.headers["x-caviardage-policy"].startswith("harder@")
        before = len(provider.received)
        for name, asked in (("support", "harder"), ("billing", "default"), ("billing", "harder@0"), ("billing", "")):
            refused = door.ask(K[name], x_caviardage_policy=asked)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported_by_policy")
            assert "no tenants file" not in refused.json()["error"]["message"]
        assert len(provider.received) == before
        assert not [one for one in provider.received if "x-caviardage-policy" in dict(one.headers)]


def test_without_tenants_nobody_can_ask_for_another_policy(tmp_path: Path) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, None) as door:
        assert door.ask("sk-any", x_caviardage_policy="house").status_code == 200
        refused = door.ask("sk-any", x_caviardage_policy="strict")
        assert refused.status_code == 400
        assert "tenants file lists it under `stricter`" in refused.json()["error"]["message"]
        assert dict(provider.last.headers)["authorization"] == "Bearer sk-any"
        assert all(re.fullmatch(r"[0-9a-f]{16}", line["tenant"]) for line in door.audit())


def test_a_policy_that_is_not_stricter_cannot_be_offered(tmp_path: Path) -> None:
    (tmp_path / "softer.yaml").write_text(policy("HOUSE", mode="monitor"))
    with (
        pytest.raises(StartError, match=r"not shown to be stricter than 'house': mode"),
        housed(tmp_path, "http://127.0.0.1:1/v1", roll(billing="stricter: [./softer.yaml]")),
    ):
        pass


# --- Reload -----------------------------------------------------------------------------------------------------------


def test_keys_come_and_go_while_the_service_runs(tmp_path: Path) -> None:
    path, fresh = tmp_path / "tenants.yaml", new_key()
    with Provider() as provider, housed(tmp_path, provider.url, roll()) as door:
        assert (door.ask(K["billing"]).status_code, door.ask(fresh).status_code) == (200, 401)
        path.write_text(roll().replace(digest(K["billing"]), digest(fresh)))
        wait_until(lambda: door.ask(fresh).status_code == 200)
        assert door.ask(K["billing"]).status_code == 401
        path.write_text(roll().replace("billing:", "Billing:"))
        wait_until(lambda: door.about()["reload"]["result"] == "refused")
        assert door.about()["reload"]["faults"] == [{"file": "tenants.yaml", "line": 3, "rule": "tenant-name"}]
        assert door.ask(fresh).status_code == 200
        (tmp_path / "support.yaml").write_text(policy("SUPPORT"))
        path.write_text(roll(support="policy: ./support.yaml"))
        wait_until(lambda: door.ask(K["billing"]).status_code == 200)
        assert door.ask(K["support"]).headers["x-caviardage-policy"].startswith("support@")


def test_a_change_below_a_policy_is_a_change_of_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    base = tmp_path / "deep" / "base.yaml"
    base.write_text(policy("OLD"))
    (tmp_path / "key").write_text("sk-one")
    text = roll(billing="upstream_key: {file: key}\npolicy: ./own.yaml")
    (tmp_path / "own.yaml").write_text("extends: ./deep/base.yaml\n")
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:
        assert door.ask(K["billing"]).status_code == 200
        assert b"<OLD_" in provider.last.body
        base.write_text(policy("NEW"))
        wait_until(lambda: door.ask(K["billing"]).status_code == 200 and b"<NEW_" in provider.last.body)
        assert dict(provider.last.headers)["authorization"] == "Bearer sk-one"
        (tmp_path / "key").write_text("sk-two")
        wait_until(
            lambda: (
                door.ask(K["billing"]).status_code == 200
                and dict(provider.last.headers)["authorization"] == "Bearer sk-two"
            )
        )
        first = next(line for line in door.audit() if line["verdict"] == "reload")
        assert (first["policy"].split("@")[0], first["before"].split("@")[0]) == ("own", "own")

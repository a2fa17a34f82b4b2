"""Several processes on one port: any of them answers right, one that dies is missed by nobody, all end in order."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from typer.testing import CliRunner

from proxy import __main__ as command_line
from proxy.plan import load_plan
from proxy.seat import faults
from proxy.settings import Settings, StartError, default_workers
from tests.e2e import SECRET, found_in, wait_until
from tests.keeper import Keeper
from tests.processes import Proxy, RoundRobin, children, running
from tests.provider import Provider
from tests.shelf import Server, serving_redis

MAIL, IBAN = "mira.tallow@example.com", "DE89370400440532013000"
POLICY = """
version: 1
languages: [en]
limits: {default: refuse, models: {"*": 20000}}
entities: {EMAIL_ADDRESS: replace, IBAN_CODE: replace}
"""
STATELESS = f"{POLICY}state: {{responses: refuse, conversations: refuse, thinking: keep}}\n"
SEVERAL = ("--processes", "2", "--workers", "1")


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fleet")
    for name, text in (("light", POLICY), ("stateless", STATELESS)):
        (folder / f"{name}.yaml").write_text(text)
    return {name: folder / f"{name}.yaml" for name in ("light", "stateless")}


@pytest.fixture(scope="module")
def redis() -> Iterator[Server]:
    with serving_redis() as server:
        yield server


def events(proxy: Proxy, name: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, proxy.err.splitlines()) if line["event"] == name]


def verified(*files: Path, secret: str = SECRET) -> tuple[int, str]:
    run = ["audit", "verify", *map(str, files)]
    result = CliRunner().invoke(command_line.command_line(), run, env={"CAVIARDAGE_SECRET": secret})
    return result.exit_code, result.output


def requests_counted(proxy: Proxy) -> float:
    text = proxy.get("/metrics").text
    found = re.findall(r'^caviardage_requests_total\{.*verdict="release"\} (\S+)', text, re.MULTILINE)
    return sum(map(float, found))


def servers_of(proxy: Proxy) -> list[int]:
    """The processes that accept requests: leaders of groups of their own."""
    return [pid for pid in children(proxy.pid) if os.getpgid(pid) == pid]


def test_a_conversation_goes_on_while_processes_die_and_nothing_is_lost_of_the_counts(
    policies: dict[str, Path], redis: Server, tmp_path: Path
) -> None:
    """At last the one above them is killed, and they end by themselves."""
    audit = tmp_path / "audit.jsonl"
    options = (*SEVERAL, "--store", redis.url, "--audit", str(audit), "--audit-max-bytes", "20000")
    with Keeper() as keeper, running(Proxy(keeper.url, policies["light"], options)) as proxy:
        wait_until(lambda: len(events(proxy, "process_ready")) == 2, 120)
        robin = RoundRobin([proxy])
        last = robin.ask(lambda client: client.responses.create(model="echo", input=f"Pay {IBAN} for {MAIL}."))
        for turn in range(2, 21):
            if turn == 10:
                before = servers_of(proxy)
                assert len(before) == 2
                os.kill(before[0], signal.SIGKILL)
            words, id = f"Turn {turn}: ask {MAIL} again.", last.id
            last = robin.ask(
                lambda client, words=words, id=id: client.responses.create(  # type: ignore[misc]
                    model="echo", input=words, previous_response_id=id
                )
            )
            assert last.output_text == words
        (ended,) = events(proxy, "process_ended")
        assert (ended["status"], ended["level"]) == (-signal.SIGKILL, "error")
        wait_until(lambda: len(events(proxy, "process_ready")) == 3, 120)
        assert len(servers_of(proxy)) == 2
        wait_until(lambda: "caviardage_processes 2.0" in proxy.get("/metrics").text)
        told = {requests_counted(proxy) for _ in range(12)}
        text = proxy.get("/metrics").text
        assert "caviardage_process_restarts_total 1.0" in text
        assert "caviardage_ready 1.0" in text
        started = servers_of(proxy)
        proxy.kill()
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in started), 60)
    files = [path for path in tmp_path.iterdir() if path.suffix != ".head"]
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert told == {sum(line.get("verdict") == "release" for line in lines)}
    assert len(files) > 1
    assert verified(*files)[0] == 0
    sent = [body["input"] for _, _, _, body in keeper.received]
    assert len({text.split("ask ")[1].split(" again")[0] for text in sent[1:]}) == 1
    assert found_in(keeper.seen() + proxy.out + proxy.err, (MAIL, IBAN)) == []


def chains(proxy: Proxy) -> Counter[str]:
    """Answers by the chain that they were written down in: each process has one."""
    lines = [json.loads(line) for line in proxy.out.splitlines()]
    return Counter(line["chain"] for line in lines if line.get("verdict") == "release")


def ask(proxy: Proxy, model: str = "gpt-4o", **more: Any) -> Any:
    with proxy.client() as client:
        return client.chat.completions.create(model=model, messages=[{"role": "user", "content": MAIL}], **more)


def test_processes_without_a_secret_of_the_operators_share_one_and_finish_what_they_are_at(
    policies: dict[str, Path], tmp_path: Path
) -> None:
    unset = {"CAVIARDAGE_SECRET": ""}
    proxy = Proxy("", policies["stateless"], SEVERAL, unset)
    with Provider() as provider:
        proxy.upstream = provider.url
        with running(proxy):
            wait_until(lambda: len(events(proxy, "process_ready")) == 2, 120)
            assert len(events(proxy, "secret_random")) == 1

            def both_answered() -> bool:
                assert ask(proxy).choices[0].message.content == MAIL
                return len(chains(proxy)) == 2

            wait_until(both_answered, 60)
            (placeholder,) = {received.json["messages"][0]["content"] for received in provider.received}
            assert re.fullmatch(r"<EMAIL_ADDRESS_\d{6}>", placeholder)
            got: list[Any] = []
            slow = [threading.Thread(target=lambda: got.append(ask(proxy, "echo;wait=2"))) for _ in range(6)]
            for thread in slow:
                thread.start()
            wait_until(lambda: provider.active == 6)
            proxy.send(signal.SIGTERM)
            assert proxy.wait() == -signal.SIGTERM
            for thread in slow:
                thread.join(30)
            assert [answer.choices[0].message.content for answer in got] == [MAIL] * 6
            with pytest.raises(httpx2.ConnectError):
                proxy.get("/healthz")
    path = tmp_path / "out"
    path.write_text(proxy.out)
    code, said = verified(path, secret="")
    assert (code, said.count("ends with number")) == (0, 2)
    assert len(events(proxy, "stopped")) == 2


def test_what_runs_over_the_drain_is_cut_off_and_a_terminals_interrupt_ends_all_in_order(
    policies: dict[str, Path],
) -> None:
    with Provider() as provider:
        proxy = Proxy(provider.url, policies["stateless"], (*SEVERAL, "--drain-timeout", "1"))
        with running(proxy):
            failed: list[Exception] = []

            def never_answered() -> None:
                try:
                    ask(proxy, "echo;wait=300")
                except openai.APIError as error:
                    failed.append(error)

            thread = threading.Thread(target=never_answered)
            thread.start()
            wait_until(lambda: provider.active == 1)
            proxy.send(signal.SIGINT)
            assert proxy.wait() == 0
            thread.join(30)
            assert len(failed) == 1
            assert '"reason":"drain_timeout"' in proxy.out


def test_a_service_that_cannot_start_says_so_once(policies: dict[str, Path]) -> None:
    proxy = Proxy("http://127.0.0.1:9/v1", policies["stateless"], (*SEVERAL, "--device", "cuda"))
    proxy.launch()
    assert proxy.wait() == 1
    assert proxy.err.count("caviardage cannot start:") == 1


@pytest.mark.parametrize(
    ("policy", "more", "fault"),
    [
        (STATELESS, {"tenants": "{concurrent: 2}"}, "limits of tenants"),
        (STATELESS, {"tenants": "{}"}, None),
        (POLICY, {}, "state: {responses: refuse, conversations: refuse, thinking: keep}"),
        (STATELESS.replace(", thinking: keep", ""), {}, "or say in the policy state: {thinking: keep}"),
        (STATELESS.replace("refuse, models", "refuse, budgets: {tokens_per_day: 9}, models"), {}, "budgets"),
        (POLICY, {"store": "redis://127.0.0.1:1/0", "secret": SECRET.encode()}, None),
        (STATELESS, {}, None),
    ],
)
def test_what_several_processes_cannot_share_is_refused(
    tmp_path: Path, policy: str, more: dict[str, Any], fault: str | None
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(policy)
    tenants = None
    if "tenants" in more:
        tenants = tmp_path / "tenants.yaml"
        keys = f"[{{sha256: {'0' * 64}}}]"
        tenants.write_text(
            f"version: 1\ntenants: {{a: {{keys: {keys}, upstream_key: none, limits: {more['tenants']}}}}}\n"
        )
    settings = Settings(
        upstream="https://api.example.com/v1", policy=path, processes=2, **(more | {"tenants": tenants})
    )
    told = list(faults(settings, load_plan(path, tenants)))
    assert len(told) == (fault is not None)
    assert fault is None or fault in told[0]


def test_numbers_of_processes_make_sense() -> None:
    with pytest.raises(StartError, match="processes: must be greater than 0"):
        Settings(upstream="https://api.example.com/v1", policy=Path("p"), processes=0)
    assert default_workers(64) == 1

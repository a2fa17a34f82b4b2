"""Policies that change while the service runs: the good ones come into force at once, the others never."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from proxy.watch import Watch, content
from tests import e2e
from tests.e2e import Service, serving, wait_until
from tests.provider import Provider

HEAD = "version: 1\nlanguages: [en]\nlimits: {default: 100000}\n"
TESTS = "tests: [{text: 'Write to mira@example.com now.', finds: [EMAIL_ADDRESS]}]\n"
BROKEN = (
    "version: 1\nlimits: {default: 100000}\nentities: {EMAIL_ADRESS: replace}\n",
    "entities: [\n",
    f"{HEAD}entities: {{EMAIL_ADDRESS: replace}}\ntests: [{{text: 'No one at all.', finds: [EMAIL_ADDRESS]}}]\n",
    "",
)
CODES = ("unknown_entity", "yaml", "failed_test", "empty")


def good(number: int) -> str:
    """A policy that can be told by what it replaces: by TERM_A, TERM_B and so on."""
    return f"{HEAD}entities: {{EMAIL_ADDRESS: replace}}\ndeny: {{TERM_{chr(65 + number)}: [nightjar]}}\n{TESTS}"


@dataclass
class Edited:
    """The running service and its policy's file."""

    service: Service
    path: Path

    def write(self, text: str) -> None:
        """As editors do: beside it, then in its place."""
        beside = self.path.with_suffix(".new")
        beside.write_text(text)
        beside.replace(self.path)

    def about(self) -> dict[str, Any]:
        told: dict[str, Any] = httpx2.get(f"{self.service.url}/readyz", timeout=30, trust_env=False).json()
        return told

    def reloads(self, result: str) -> float:
        return self.service.metric(f'caviardage_reloads_total{{result="{result}"}}')

    def until(self, result: str, number: float) -> None:
        wait_until(lambda: self.reloads(result) >= number, 120)

    def audit(self) -> list[dict[str, Any]]:
        lines = (json.loads(line) for line in self.service.out.text.splitlines() if line.startswith("{"))
        return [line for line in lines if line.get("verdict") == "reload"]


@contextmanager
def edited(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edited]:
    usual = e2e.command
    monkeypatch.setattr(e2e, "command", lambda *parts, **_: usual(*parts, policy=path))
    with Provider() as provider, serving(provider, "--workers", "1") as service:
        yield Edited(service, path)


ASKED = 50
RELOADS = 20


@dataclass
class Answered:
    """`policy` is what the answer says it was made under; `seen` the entity in what the provider saw."""

    status: int
    policy: str
    text: str


async def _ask(client: httpx2.AsyncClient, number: int, over: Callable[[], bool]) -> list[Answered]:
    found: list[Answered] = []
    turn = 0
    while not over() or turn < 2:
        turn += 1
        text = f"Say nightjar {number}.{turn} to mira{number}@example.com"
        stream = number % 2 == 0
        body = {
            "model": f"echo;chunk=9;slow={0.05 if stream else 0};wait={0 if stream else 0.4}",
            "stream": stream,
            "messages": [{"role": "user", "content": text}],
        }
        answer = await client.post(
            "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {number}"}, timeout=120
        )
        if stream and answer.status_code == 200:
            lines = answer.text.split("\n\n")
            assert lines[-2] == "data: [DONE]"
            chunks = [json.loads(line[6:]) for line in lines[:-2]]
            said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
        elif answer.status_code == 200:
            said = answer.json()["choices"][0]["message"]["content"]
        else:
            said = ""
        assert said == text, (answer.status_code, answer.text)
        found.append(Answered(answer.status_code, answer.headers["x-caviardage-policy"], f"{number}.{turn}"))
    return found


@pytest.mark.slow
def test_fifty_in_flight_through_twenty_reloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "house.yaml"
    path.write_text(good(0))
    with edited(path, monkeypatch) as run:
        digests, processes = {run.about()["policy"]: 0}, _processes(run.service.process.pid)
        done = [False]

        async def everybody() -> list[list[Answered]]:
            async with httpx2.AsyncClient(base_url=run.service.url, trust_env=False) as client:
                return await asyncio.gather(*(_ask(client, number, lambda: done[0]) for number in range(ASKED)))

        def edits() -> None:
            try:
                wait_until(lambda: run.service.provider.active >= 10)
                for number in range(1, RELOADS // 2 + 1):
                    run.write(BROKEN[number % len(BROKEN)])
                    run.until("refused", number)
                    assert run.about()["policy"] in digests
                    run.write(good(number))
                    run.until("good", number)
                    digests[run.about()["policy"]] = number
            finally:
                done[0] = True

        async def both() -> list[list[Answered]]:
            answers, _ = await asyncio.gather(everybody(), asyncio.to_thread(edits))
            return answers

        answers = [one for found in asyncio.run(both()) for one in found]
        assert len(digests) == RELOADS // 2 + 1
        assert {one.status for one in answers} == {200}
        assert len({one.policy for one in answers}) > RELOADS // 4
        seen = {
            match[2]: ord(match[1]) - 65
            for received in run.service.provider.received
            for match in [re.search(r"TERM_([A-Z])_\d{6}>? (\d+\.\d+) ", received.body.decode())]
            if match
        }
        assert len(seen) == len(answers)
        assert [one.text for one in answers if digests[one.policy] != seen[one.text]] == []
        assert run.service.provider.leaks("mira1@example.com", "nightjar") == []

        lines = run.audit()
        assert [line["reason"] for line in lines if line["reason"]] == [
            CODES[number % len(CODES)] for number in range(1, RELOADS // 2 + 1)
        ]
        assert all(line["policy"] in digests and line["before"] in digests for line in lines)
        assert [digests[line["policy"]] for line in lines if not line["reason"]] == list(range(1, RELOADS // 2 + 1))
        wait_until(lambda: _processes(run.service.process.pid) == processes)
    assert "nightjar" not in run.service.written


def _processes(root: int) -> int:
    """Processes below one: the server that workers are forked from, and the workers of every pool."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    below, found = [root], 0
    while below:
        children = parents.get(below.pop(), [])
        found += len(children)
        below += children
    return found


def test_what_is_told_about_a_reload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "house.yaml"
    path.write_text(good(0))
    with edited(path, monkeypatch) as run:
        first = run.about()
        assert first["reload"] is None
        run.write(good(1).replace("EMAIL_ADDRESS: replace", "EMAIL_ADDRESS: hyde"))
        run.until("refused", 1)
        told = run.about()
        assert told["ready"] is True
        assert told["policy"] == first["policy"]
        assert told["reload"]["result"] == "refused"
        assert told["reload"]["faults"] == [
            {"file": "house.yaml", "line": 4, "rule": "wrong-value"},
        ]
        assert "hyde" not in json.dumps(told)
        assert "hyde" not in run.service.written

        os.kill(run.service.process.pid, signal.SIGHUP)
        run.until("refused", 2)
        run.write(good(0).replace("replace", "mask"))
        run.until("good", 1)
        assert run.about()["reload"] == {"result": "good", "time": run.about()["policy_loaded"], "faults": []}
        (tmp_path / "tests.yaml").write_text("another program's")
        os.kill(run.service.process.pid, signal.SIGHUP)
        time.sleep(2)  # nothing happens, which no event tells of
        run.write(good(2))
        run.until("good", 2)
        assert run.service.written.count('"reloaded"') == 2
        assert run.about()["policy"] != first["policy"]
        assert run.service.metric("caviardage_policy_loaded_seconds") >= time.time() - 600
        events = [(line["status"], line["reason"], line["before"] == line["policy"]) for line in run.audit()]
        assert events == [(409, "wrong_value", True), (409, "wrong_value", True), (200, "", False), (200, "", False)]


# --- When a look is taken ---------------------------------------------------------------------------------------


@contextmanager
def watching(*files: Path, unsure: bool = False) -> Iterator[Callable[[int], None]]:
    """Watches in a loop of its own; the function waits until that many changes were seen, and there are no more."""
    seen: list[float] = []
    asked: list[None] = []

    def named() -> tuple[Path, ...]:
        asked.append(None)
        return files

    async def changed() -> None:
        seen.append(time.monotonic())

    async def run() -> None:
        task = asyncio.create_task(Watch(named, changed, lambda: unsure).run())
        await asyncio.to_thread(over.wait)
        task.cancel()
        await asyncio.wait({task})

    def until(number: int) -> None:
        wait_until(lambda: len(seen) >= number, 60)
        assert len(seen) == number

    over = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    wait_until(lambda: len(asked) >= 2)  # the first look is over then
    try:
        yield until
    finally:
        over.set()
        thread.join(30)
        assert not thread.is_alive()


def test_a_file_that_another_takes_the_place_of(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("a")
    with watching(path) as until:
        (tmp_path / "new").write_text("b")
        (tmp_path / "new").replace(path)
        until(1)
        path.write_text("c")
        until(2)
        path.unlink()
        until(3)
        path.write_text("d")
        until(4)


def test_a_folder_of_kubernetes_that_is_exchanged_by_a_link(tmp_path: Path) -> None:
    def mount(name: str, text: str) -> None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "policy.yaml").write_text(text)
        (tmp_path / "..data_tmp").symlink_to(name)
        (tmp_path / "..data_tmp").replace(tmp_path / "..data")

    mount("..2024_1", "a")
    path = tmp_path / "policy.yaml"
    path.symlink_to("..data/policy.yaml")
    with watching(path) as until:
        for number in range(2, 5):
            mount(f"..2024_{number}", f"text {number}")
            (tmp_path / f"..2024_{number - 1}" / "policy.yaml").unlink()
            (tmp_path / f"..2024_{number - 1}").rmdir()
            until(number - 1)


@pytest.mark.parametrize("unsure", [False, True])
def test_another_file_beside_counts_only_while_something_is_missing(tmp_path: Path, *, unsure: bool) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("a")
    with watching(path, unsure=unsure) as until:
        (tmp_path / "base.yaml").write_text("b")
        if unsure:
            until(1)
        time.sleep(2)
        path.write_text("c")
        until(1 + unsure)


def test_a_file_that_comes_to_count_is_compared_with_what_was_read(tmp_path: Path) -> None:
    path, base = tmp_path / "p.yaml", tmp_path / "base.yaml"
    path.write_text("a")
    base.write_text("a")

    async def looks() -> None:
        files = [path]
        wanted: list[None] = []

        async def changed() -> None:
            wanted.append(None)

        watch = Watch(lambda: files, changed)
        seen = await watch._compare(content(files))
        base.write_text("b")
        seen = await watch._compare(seen)
        assert not watch._wanted.is_set()
        files.append(base)
        await watch._compare(seen)
        assert watch._wanted.is_set()

    asyncio.run(looks())


def test_content_is_what_counts(tmp_path: Path) -> None:
    path, beside = tmp_path / "p.yaml", tmp_path / "base.yml"
    path.write_text("a")
    before = content([path])
    os.utime(path, (1, 1))
    (tmp_path / "audit.jsonl").write_text("a line")
    assert content([path]) == before
    beside.write_text("b")
    assert content([path]) != before
    beside.unlink()
    assert content([path]) == before
    path.unlink()
    assert content([path]) != before

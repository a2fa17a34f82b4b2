"""Snapshots: whatever goes wrong leaves the one in force, and workers end after their last request and not before."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import Unavailable
from proxy.live import Live, Outcome, Snapshot
from proxy.plan import Plan, load_plan
from proxy.policy import PolicyError
from recognizers.analyzer import Settings
from tests.house import Lent, policy
from tests.inprocess import world


class Counted(Lent):
    """A detector that tells how often it was started and stopped; `fails` says what goes wrong at its start."""

    def __init__(self, looks: Settings, fails: str = "") -> None:
        super().__init__(looks, workers=1, deadline=60)
        self.fails = fails
        self.started = self.stopped = 0

    async def start(self) -> None:
        self.started += 1
        if self.fails == "value":
            raise ValueError("a recognizer does not load")
        if self.fails == "memory":
            raise MemoryError
        if self.fails == "late":
            raise Unavailable("Detection did not finish in time.", code="detection_timeout")

    async def self_test(self, examples: Any) -> list[str]:
        return ["EMAIL_ADDRESS"] if self.fails == "blind" else await super().self_test(examples)

    async def stop(self) -> None:
        self.stopped += 1
        await super().stop()


class Bench:
    """A `Live` on a file, with all detectors that it ever made."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "p.yaml"
        self.made: list[Counted] = []
        self.fails = self.loads = ""
        self.outcomes: list[Outcome] = []
        self.faults: list[Exception] = []
        self.deaf = False
        self.write("A")
        self.live = Live(load_plan(self.path), self.load, self.make, lambda _: world().counters)
        self.live.report_to(self.told, self.faults.append)

    def write(self, term: str, **more: str) -> None:
        self.path.write_text(policy(f"TERM{term}", **more))

    def load(self) -> Plan:
        if self.loads:
            raise OSError(5, "the disk is gone")
        return load_plan(self.path)

    def make(self, looks: Settings) -> Counted:
        self.made.append(Counted(looks, self.fails))
        return self.made[-1]

    def told(self, outcome: Outcome) -> None:
        if self.deaf:
            raise Unavailable("The trail cannot be written.", code="audit_unavailable")
        self.outcomes.append(outcome)


def run(folder: Path, work: Callable[[Bench], Awaitable[None]]) -> Bench:
    world()
    bench = Bench(folder)

    async def whole() -> None:
        await bench.live.start()
        assert await bench.live.self_test() == []
        await work(bench)
        await bench.live.stop()

    asyncio.run(whole())
    return bench


SLIPS: dict[str, tuple[Callable[[Bench], None], str]] = {
    "not a policy": (lambda bench: bench.path.write_text("entities: [") and None, "yaml"),
    "not there": (lambda bench: bench.path.unlink(), "unreadable"),
    "its tests fail": (lambda bench: bench.write("B", tests="[{text: 'No one.', finds: [TERMB]}]"), "failed-test"),
    "a recognizer fails": (lambda bench: setattr(bench, "fails", "value"), "dead-rule"),
    "an entity is not found": (lambda bench: setattr(bench, "fails", "blind"), "self-test"),
    "the machine is slow": (lambda bench: setattr(bench, "fails", "late"), "detection-timeout"),
    "the machine is full": (lambda bench: setattr(bench, "fails", "memory"), "internal-fault"),
    "the disk is gone": (lambda bench: setattr(bench, "loads", "no"), "internal-fault"),
    "the trail is gone": (lambda bench: setattr(bench, "deaf", True), "audit-unavailable"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_whatever_goes_wrong_the_last_good_one_stays(tmp_path: Path, name: str) -> None:
    slip, rule = SLIPS[name]

    async def work(bench: Bench) -> None:
        before = bench.live.current
        bench.write("B")
        slip(bench)
        outcome = await bench.live.reload()
        assert (outcome.good, outcome.faults[0].rule) == (False, rule)
        assert bench.live.current is before
        assert bench.live.ready
        assert bench.live.last is outcome
        assert len(bench.faults) == (rule == "internal-fault")
        bench.fails, bench.loads, bench.deaf = "", "", False
        bench.write("C")
        assert (await bench.live.reload()).good
        assert bench.live.current.default.policy.deny.keys() == {"TERMC"}

    bench = run(tmp_path, work)
    assert all(detector.stopped for detector in bench.made if detector.started)


def test_the_line_of_a_test_that_fails_is_told(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        tests = "\n  - {text: 'Say nightjar.', finds: [TERMB]}\n  - {text: 'Say nightjar.', finds: []}"
        bench.write("B", tests=tests)
        (fault,) = (await bench.live.reload()).faults
        lines = bench.path.read_text().splitlines()
        assert lines[fault.line - 1].strip().endswith("finds: []}")
        assert fault.message == "test 2: found as well: TERMB"
        assert "nightjar" not in fault.message

    run(tmp_path, work)


def test_a_start_asks_for_the_same_as_a_reload(tmp_path: Path) -> None:
    world()
    bench = Bench(tmp_path)
    bench.write("B", tests="[{text: 'No one.', finds: [TERMB]}]")
    live = Live(load_plan(bench.path), bench.load, bench.make, lambda _: world().counters)

    async def start() -> None:
        await live.start()
        await live.self_test()

    with pytest.raises(PolicyError, match="test 1: not found: TERMB"):
        asyncio.run(start())


def test_policies_that_look_for_the_same_share_their_workers(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        first = bench.live.current.default
        bench.path.write_text(policy("TERMA").replace("EMAIL_ADDRESS: replace", "EMAIL_ADDRESS: mask"))
        assert (await bench.live.reload()).good
        second = bench.live.current.default
        assert first.policy.digest != second.policy.digest
        assert first.detector is second.detector
        assert (len(bench.made), bench.made[0].stopped) == (1, 0)
        last, told = bench.live.last, len(bench.outcomes)
        assert (await bench.live.reload()).good
        assert bench.live.last is last  # a look that changes nothing is told to nobody
        assert len(bench.outcomes) == told
        assert bench.live.current.default is second

    run(tmp_path, work)


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(st.sampled_from(["enter", "leave", "good", "broken", "same"]), max_size=14), data=st.data())
def test_workers_end_with_their_last_request(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], data: st.DataObject
) -> None:
    async def work(bench: Bench) -> None:
        inside: list[tuple[Snapshot, contextlib.ExitStack]] = []

        def used() -> Iterator[Counted]:
            snapshots = {bench.live.current, *(snapshot for snapshot, _ in inside)}
            return (detector for one in snapshots for detector in one.detectors if isinstance(detector, Counted))

        for number, step in enumerate(steps):
            if step == "enter":
                stack = contextlib.ExitStack()
                inside.append((stack.enter_context(bench.live.hold()), stack))
            elif step == "leave" and inside:
                inside.pop(data.draw(st.integers(0, len(inside) - 1)))[1].close()
            elif step == "good":
                bench.write("BCDEFGHIJKLMNOPQ"[number])
                assert (await bench.live.reload()).good
            elif step == "broken":
                bench.path.write_text("no: policy\n")
                assert not (await bench.live.reload()).good
            await asyncio.sleep(0)
            needed = set(map(id, used()))
            assert {id(one) for one in bench.made if one.stopped == 0} == needed
            assert all(one.stopped <= 1 for one in bench.made)
        for _, stack in inside:
            stack.close()

    run(tmp_path_factory.mktemp("live"), work)

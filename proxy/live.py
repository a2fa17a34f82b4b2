"""The policies in force, and how others take their place while requests go on.

What a request is answered under is one `Snapshot`, taken at the door and held until its answer has ended. A changed
file is loaded, started, tried and put to its own tests beside it; then one assignment puts the new snapshot in the
old one's place. Whatever goes wrong before that leaves everything as it was. Workers that nobody needs any more end
with the last request under their policy.

May import: analysis, detect, measure, plan, policy, rehearsal, errors, the standard library.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from proxy.analysis import examples, settings_for
from proxy.detect import Detector
from proxy.errors import Refusal
from proxy.measure import CorruptRanks, Counters, WrongTokenizer
from proxy.plan import Plan
from proxy.policy import Fault, Policy, PolicyError, judged, place_in
from proxy.policy.limits import TokenizerSource
from proxy.rehearsal import rehearse
from recognizers.analyzer import Settings
from recognizers.device import Choice

Make = Callable[[Settings], Detector]
Count = Callable[[tuple[TokenizerSource, ...]], Counters]


@dataclass(frozen=True, slots=True, eq=False)
class Working:
    """A policy with the workers and tokenizers that answer under it. `looks` is what its detector was made for."""

    policy: Policy
    file: Path
    looks: Settings
    detector: Detector
    counters: Counters

    @property
    def label(self) -> str:
        return f"{self.policy.name}@{self.policy.digest}"


@dataclass(slots=True, eq=False, weakref_slot=True)
class Snapshot:
    """All that requests are answered under. `inside` are the requests that hold it."""

    plan: Plan
    workings: Mapping[Path, Working]
    inside: int = 0

    @property
    def default(self) -> Working:
        return self.workings[self.plan.default]

    @property
    def detectors(self) -> tuple[Detector, ...]:
        """Each once."""
        return tuple({id(working.detector): working.detector for working in self.workings.values()}.values())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one look at the files: pairs of policies, before and now; or faults, and all is as it was."""

    changes: tuple[tuple[str, str], ...] = ()
    faults: tuple[Fault, ...] = ()
    time: float = field(default_factory=time.time)

    @property
    def good(self) -> bool:
        return not self.faults


class Live:
    """Holds the snapshot in force. `told` hears of every outcome, of a good one before it comes into force: what
    cannot be written down does not happen."""

    def __init__(self, plan: Plan, load: Callable[[], Plan], make: Make, count: Count) -> None:
        """Raises `PolicyError` for a tokenizer that is not there. Nothing is started yet."""
        self._load, self._make, self._count = load, make, count
        self._told: Callable[[Outcome], None] = lambda _: None
        self._on_fault: Callable[[Exception], None] = lambda _: None
        self._up = asyncio.Event()
        self._one = asyncio.Lock()
        self._stopping: set[asyncio.Task[None]] = set()
        self._retired: list[Snapshot] = []
        self.last: Outcome | None = None
        self.good_since = time.time()
        workings: dict[Path, Working] = {}
        for file, policy in plan.policies.items():
            workings[file] = self._working(file, policy, workings.values())
        self.current = Snapshot(plan, workings)

    def report_to(self, told: Callable[[Outcome], None], on_fault: Callable[[Exception], None]) -> None:
        """Who hears of outcomes, and of faults of our own. `told` raises a `Refusal` if it cannot write one down."""
        self._told, self._on_fault = told, on_fault

    @contextmanager
    def hold(self) -> Iterator[Snapshot]:
        """The snapshot in force, which stays whole until the end of the block."""
        snapshot = self.current
        snapshot.inside += 1
        try:
            yield snapshot
        finally:
            snapshot.inside -= 1
            self._sweep()

    @contextmanager
    def lend(self) -> Iterator[Working]:
        """The default policy in force, for whoever looks at it."""
        with self.hold() as snapshot:
            yield snapshot.default

    @property
    def files(self) -> frozenset[Path]:
        """The files that count now."""
        return self.current.plan.files

    @property
    def refused(self) -> bool:
        """Whether the files, as they were last read, are not what is in force."""
        return self.last is not None and not self.last.good

    @property
    def ready(self) -> bool:
        return all(detector.ready for detector in self.current.detectors)

    @property
    def chosen(self) -> Choice:
        return self.current.default.detector.chosen

    async def start(self) -> None:
        """Starts the workers of the first snapshot. Raises what a worker raises."""
        for detector in self.current.detectors:
            await detector.start()

    async def self_test(self, _: Iterable[tuple[str, str, str]] = ()) -> list[str]:
        """Entities that are not found in their own example. Raises `PolicyError` if a policy fails its own tests."""
        tested: set[int] = set()
        for working in self.current.workings.values():
            if id(working.detector) in tested:
                continue
            tested.add(id(working.detector))
            missed = await working.detector.self_test(examples(working.policy))
            if missed:
                return missed
        for working in self.current.workings.values():
            await _rehearse(working)
        self._up.set()
        return []

    async def stop(self) -> None:
        """Ends every worker."""
        everyone = (self.current, *self._retired)
        detectors = {id(detector): detector for snapshot in everyone for detector in snapshot.detectors}
        for detector in detectors.values():
            await detector.stop()
        if self._stopping:
            await asyncio.wait(self._stopping)

    async def reload(self) -> Outcome:
        """Looks at the files again, one look at a time. Of a look that changes nothing nobody is told."""
        await self._up.wait()
        async with self._one:
            fresh: Snapshot | None = None
            try:
                plan = await asyncio.to_thread(self._load)
                if plan == self.current.plan and not self.refused:
                    return Outcome()
                fresh = await self._prepared(plan)
                outcome = Outcome(_changes(self.current, fresh))
                self._told(outcome)
            except PolicyError as error:
                outcome = self._refused(error.faults)
            except Refusal as refusal:
                outcome = self._refused([_fault(self.current.plan.default, refusal.code.replace("_", "-"))])
            except Exception as error:  # whatever it is, requests go on as before
                self._on_fault(error)
                outcome = self._refused([_fault(self.current.plan.default, "internal-fault")])
            else:
                self._swap(fresh)
                self.good_since = outcome.time
                fresh = None
            if fresh is not None:
                self._retired.append(fresh)
            self._sweep()
            self.last = outcome
            return outcome

    def _refused(self, faults: Iterable[Fault]) -> Outcome:
        outcome = Outcome(faults=tuple(faults))
        try:
            self._told(outcome)
        except Refusal:
            return outcome
        return outcome

    def _swap(self, fresh: Snapshot) -> None:
        self._retired.append(self.current)
        self.current = fresh

    def _sweep(self) -> None:
        """Ends the workers of snapshots that no request holds any more."""
        over = [snapshot for snapshot in self._retired if not snapshot.inside]
        if not over:
            return
        self._retired = [snapshot for snapshot in self._retired if snapshot.inside]
        needed = {id(detector) for snapshot in (self.current, *self._retired) for detector in snapshot.detectors}
        gone = {id(detector): detector for snapshot in over for detector in snapshot.detectors}
        for detector in gone.values():
            if id(detector) not in needed:
                self._release(detector)

    def _release(self, detector: Detector) -> None:
        task = asyncio.ensure_future(detector.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def _prepared(self, plan: Plan) -> Snapshot:
        """Everything that the files ask for, started and tried. Raises `PolicyError`, `Refusal`."""
        workings: dict[Path, Working] = {}
        started = {id(detector) for detector in self.current.detectors}
        try:
            for file, policy in plan.policies.items():
                had = self.current.workings.get(file)
                if had is not None and had.policy == policy:
                    workings[file] = had
                    continue
                known = (*self.current.workings.values(), *workings.values())
                working = await asyncio.to_thread(self._working, file, policy, known)
                workings[file] = working
                if id(working.detector) not in started:
                    started.add(id(working.detector))
                    await _start(working)
                await _rehearse(working)
        except BaseException:
            self._retired.append(Snapshot(plan, workings))
            raise
        return Snapshot(plan, workings)

    def _working(self, file: Path, policy: Policy, known: Iterable[Working]) -> Working:
        """Shares detector and tokenizers with a policy that needs the same."""
        known, looks = tuple(known), settings_for(policy)
        detector = next((other.detector for other in known if other.looks == looks), None)
        counters = next((other.counters for other in known if other.policy.tokenizers == policy.tokenizers), None)
        try:
            return Working(
                policy, file, looks, detector or self._make(looks), counters or self._count(policy.tokenizers)
            )
        except (WrongTokenizer, CorruptRanks) as error:
            raise PolicyError([_fault(file, "unreadable", f"tokenizer: {error}")]) from None


async def _start(working: Working) -> None:
    try:
        await working.detector.start()
    except ValueError as error:
        raise PolicyError([_fault(working.file, "dead-rule", str(error))]) from None
    missed = await working.detector.self_test(examples(working.policy))
    if missed:
        raise PolicyError(
            [_fault(working.file, "self-test", f"{entity} was not found in its own example") for entity in missed]
        )


async def _rehearse(working: Working) -> None:
    """Raises `PolicyError` if the policy does not do what its own tests say."""
    results = judged(working.policy, await rehearse(working.policy, working.detector, working.counters))
    faults = [
        Fault(*place_in(working.file, ("tests", result.number - 1)), "failed-test", f"test {result.number}: {failure}")
        for result in results
        for failure in result.failures
    ]
    if faults:
        raise PolicyError(faults)


def _changes(old: Snapshot, new: Snapshot) -> tuple[tuple[str, str], ...]:
    """What was in force under each file and what is now, where that is another; of the default one in any case."""
    files = dict.fromkeys((*old.workings, *new.workings))
    before = {file: working.label for file, working in old.workings.items()}
    after = {file: working.label for file, working in new.workings.items()}
    pairs = [(before.get(file, ""), after.get(file, "")) for file in files]
    return tuple(pair for pair in pairs if pair[0] != pair[1]) or ((old.default.label, new.default.label),)


def _fault(file: Path, rule: str, message: str = "") -> Fault:
    return Fault(str(file), 1, 1, rule, message)

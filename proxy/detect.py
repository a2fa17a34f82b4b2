"""Runs the recognizers over a request's leaves, in worker processes that are killed at a deadline.

A missed deadline, a dead worker or a full queue refuses the request: an analyzer that did not finish has found
nothing out, which is not the same as having found nothing. Long leaves are cut into overlapping pieces, each
owning the spans that start in it, so one prompt of any length is worked on by all workers and small prompts get
their turn in between. Spans of a piece are cached under a keyed hash of (tenant, policy, text): positions only.

May import: model, errors, pieces, policy, recognizers, pebble, cachetools, the standard library.
"""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import re
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from cachetools import LRUCache
from pebble import ProcessExpired, ProcessPool

from proxy.errors import BlockedEntity, Unavailable
from proxy.model import Finding, Kind, Leaf
from proxy.pieces import batches, cut, reassemble
from proxy.policy.model import Policy
from recognizers import CHECKED, worker
from recognizers.analyzer import Item, Settings
from recognizers.base import Span, fold
from recognizers.device import Choice, Device, choose
from recognizers.holder import Holder
from recognizers.known import NAME as KNOWN
from recognizers.overlap import resolve

CACHED_SPANS = 200_000
HUGE, EVERY = 200_000, 5.0
"""Code points from which on progress is told, and after how many seconds each time."""


@dataclass(slots=True)
class Tally:
    """What detectors have counted since the process began: pieces of text known from before or not, workers lost."""

    hits: int = 0
    misses: int = 0
    restarts: int = 0


class Detector:
    """The pool of workers with everything loaded. One per process, shared by all requests, holds no request's data."""

    def __init__(
        self,
        settings: Settings,
        *,
        workers: int,
        deadline: float,
        waiting: int = 64,
        device: Device | Literal["apart"] = "cpu",
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        tally: Tally | None = None,
    ) -> None:
        """`device`: where models run; `apart` is the processor, in one process for all workers, as with `cuda`.

        `on_progress` is told code points done and in all, for prompts of more than `HUGE`, every few seconds.
        """
        self.settings = settings
        self.chosen = Choice("cpu", "asked")
        self._device = device
        self._holder: Holder | None = None
        self._on_progress = on_progress
        self.workers = workers
        self.ready = False
        self._deadline = deadline
        self._waiting = waiting
        self._tally = tally or Tally()
        self._inside = 0
        self._key = secrets.token_bytes(32)
        self._cache: LRUCache[bytes, tuple[Span, ...]] = LRUCache(CACHED_SPANS, getsizeof=lambda spans: 1 + len(spans))
        self._pool: ProcessPool | None = None
        self._reviving = asyncio.Lock()

    async def start(self) -> None:
        """Starts the workers and waits until each has loaded its models; raises what a worker raises."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, worker.check, self.settings)
        if self._device != "apart":
            self.chosen = await loop.run_in_executor(None, choose, self._device)
        if self._device == "apart" or self.chosen.device == "cuda":
            self._holder = Holder(self.settings.languages, self.settings.custom, cuda=self._device != "apart")
            self.settings = replace(self.settings, shared=self._holder.address)
            await loop.run_in_executor(None, self._holder.start)
        pool = self._new_pool()
        # The first process waits for the one that it is forked from to have loaded everything: not on the event loop.
        await loop.run_in_executor(None, pool.schedule, worker.warm)
        self._pool = pool
        deadline = time.monotonic() + 120
        await asyncio.gather(*(self._run(worker.warm, deadline) for _ in range(self.workers)))

    async def self_test(self, examples: Iterable[tuple[str, str, str]]) -> list[str]:
        """Entities of `(entity, text, value)` whose value is not covered by a span.

        Two entities may fit one value (a US passport number is a passport number): either covers it.
        """
        examples = list(examples)
        tested = await self._run(worker.analyse, time.monotonic() + 120, [Item(text) for _, text, _ in examples])
        missed = []
        for (entity, text, value), spans in zip(examples, tested, strict=True):
            start = text.index(value)
            if not any(span.start <= start and start + len(value) <= span.end for span in spans):
                missed.append(entity)
        self.ready = not missed
        return missed

    async def stop(self) -> None:
        self.ready = False
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            await asyncio.get_running_loop().run_in_executor(None, pool.join, 10)
        holder, self._holder = self._holder, None
        if holder is not None:
            await asyncio.get_running_loop().run_in_executor(None, holder.stop)

    async def detect(
        self,
        leaves: Sequence[Leaf],
        policy: Policy,
        tenant: str,
        progress: Callable[[int], None] = lambda _: None,
    ) -> list[list[Finding]]:
        """Findings of each leaf, sorted and disjoint. Raises `Unavailable` or `BlockedEntity`.

        `progress` is told how many more code points have been looked at.
        """
        with self._admitted(retry=True):
            deadline = time.monotonic() + min(self._deadline, policy.detection.deadline_seconds)
            progress = self._watched(progress, sum(len(leaf.text) for leaf in leaves))
            scope = f"{tenant}\0{policy.digest}\0".encode()
            spans = await self._first_look(leaves, scope, deadline, progress)
            wanted = Wanted(policy)
            spans = [wanted.of(leaf, found) for leaf, found in zip(leaves, spans, strict=True)]
            spans = await self._second_look(leaves, spans, deadline)
        findings = [_findings(leaf, wanted.of(leaf, found), policy) for leaf, found in zip(leaves, spans, strict=True)]
        blocked = Counter(f.entity for found in findings for f in found if f.action == "block")
        if blocked and policy.mode == "enforce":
            raise BlockedEntity(blocked, findings)
        return findings

    async def hits(self, text: str, policy: Policy) -> list[Span]:
        """Every hit in a text, before scores and overlaps are judged, of entities that the policy acts on: for whoever
        asks why something was found or not. Raises `Unavailable`."""
        deadline = time.monotonic() + min(self._deadline, policy.detection.deadline_seconds)
        (found,) = await self._run(worker.hits, deadline, [Item(text)])
        return [span for span in found if policy.rule(span.entity).action != "allow"]

    async def proven(self, texts: Sequence[str], policy: Policy) -> list[str]:
        """The values in texts of an answer whose check digit is right, of the entities that the policy acts on.

        Raises `Unavailable`. Not cached: an answer is read once. A full house is not told to try again: the provider
        has answered, and would be paid twice.
        """
        leaves = [Leaf("$", text) for text in texts]
        pieces = list(cut(leaves))
        tasks = batches(range(len(pieces)), lambda index: len(pieces[index].item.text))
        with self._admitted(retry=False):
            deadline = time.monotonic() + min(self._deadline, policy.detection.deadline_seconds)
            calls = [([pieces[i].item.text for i in task],) for task in tasks]
            results = await self._gather(worker.proven, calls, deadline)
        found = reassemble(leaves, pieces, [spans for result in results for spans in result])
        return [
            text[span.start : span.end]
            for text, spans in zip(texts, found, strict=True)
            for span in spans
            if span.entity in CHECKED
        ]

    @contextmanager
    def _admitted(self, *, retry: bool) -> Iterator[None]:
        """One of those inside, if there is room: raises `Unavailable` if as many wait as may."""
        if self._inside >= self._waiting:
            raise Unavailable("Too many requests are waiting for detection.", code="busy", retry=retry)
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    def _watched(self, progress: Callable[[int], None], total: int) -> Callable[[int], None]:
        """`progress`, and for a huge prompt a line for the operator now and then."""
        if total < HUGE:
            return progress
        done, told = 0, time.monotonic()

        def watch(more: int) -> None:
            nonlocal done, told
            done += more
            if time.monotonic() - told >= EVERY:
                told = time.monotonic()
                self._on_progress(done, total)
            progress(more)

        return watch

    async def _first_look(
        self, leaves: Sequence[Leaf], scope: bytes, deadline: float, progress: Callable[[int], None]
    ) -> list[list[Span]]:
        pieces = list(cut(leaves))
        found: list[tuple[Span, ...] | None] = [self._cache.get(self._digest(scope, piece.item)) for piece in pieces]
        missing = [index for index, spans in enumerate(found) if spans is None]
        self._tally.misses += len(missing)
        self._tally.hits += len(pieces) - len(missing)
        tasks = batches(missing, lambda index: len(pieces[index].item.text))
        sizes = [sum(pieces[i].own_end - pieces[i].own_start for i in task) for task in tasks]
        results = await self._gather(
            worker.analyse,
            [([pieces[i].item for i in task],) for task in tasks],
            deadline,
            lambda done: progress(sizes[done]),
        )
        for task, result in zip(tasks, results, strict=True):
            for index, spans in zip(task, result, strict=True):
                found[index] = self._cache[self._digest(scope, pieces[index].item)] = tuple(spans)
        return reassemble(leaves, pieces, [spans or () for spans in found])

    async def _second_look(self, leaves: Sequence[Leaf], spans: list[list[Span]], deadline: float) -> list[list[Span]]:
        """Once a value is known in a request, its other occurrences there are the same entity."""
        known = _known(leaves, spans)
        if not known:
            return spans
        tasks = batches(range(len(leaves)), lambda index: len(leaves[index].text))
        calls = [([leaves[i].text for i in task], known) for task in tasks]
        results = await self._gather(worker.propagate, calls, deadline)
        merged = list(spans)
        for task, result in zip(tasks, results, strict=True):
            for index, more in zip(task, result, strict=True):
                leaf = leaves[index]
                if leaf.kind in (Kind.FIXED, Kind.SIGNED, Kind.ID):
                    more = [span for span in more if fold(leaf.text[span.start : span.end]) in known]
                if more:
                    merged[index] = resolve([*spans[index], *more], leaf.text)
        return merged

    async def _gather(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        deadline: float,
        finished: Callable[[int], None] = lambda _: None,
    ) -> list[Any]:
        """All calls, at most one per worker at a time, so that other requests get their turn."""
        turn = asyncio.Semaphore(self.workers)

        async def one(index: int) -> Any:
            async with turn:
                result = await self._run(function, deadline, *calls[index])
            finished(index)
            return result

        tasks = [asyncio.ensure_future(one(index)) for index in range(len(calls))]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    async def _run(self, function: Callable[..., Any], deadline: float, *arguments: Any) -> Any:
        """One call in a worker. At the deadline the worker is killed; a client that leaves kills nothing."""
        if self._pool is None:
            raise Unavailable("Detection is not running.")
        if self._holder is not None and not self._holder.alive:
            await self._revive(self._holder)
        left = deadline - time.monotonic()
        if left <= 0:
            raise Unavailable("Detection did not finish in time.", code="detection_timeout")
        try:
            future = self._pool.schedule(function, args=list(arguments), timeout=left)
        except RuntimeError:
            self._renew(self._pool)
            raise Unavailable("Detection is starting again.", code="detection_failed", retry=True) from None
        try:
            async with asyncio.timeout(left + 1):
                return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            raise
        except TimeoutError:
            self._tally.restarts += 1
            future.cancel()  # type: ignore[no-untyped-call]
            raise Unavailable("Detection did not finish in time.", code="detection_timeout") from None
        except Exception as error:
            self._tally.restarts += isinstance(error, ProcessExpired)
            # The text of a worker's exception may quote what it was working on: only the type's name goes on.
            raise Unavailable(f"Detection failed ({type(error).__name__}).", code="detection_failed") from None

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self.workers,
            initializer=worker.start,
            initargs=(self.settings,),
            context=context(),
        )

    async def _revive(self, holder: Holder) -> None:
        """Starts the process that holds the models again, once for all requests that wait for it."""
        async with self._reviving:
            if not holder.alive:
                try:
                    await asyncio.get_running_loop().run_in_executor(None, holder.start)
                except ValueError:
                    raise Unavailable("Detection is starting again.", code="not_ready", retry=True) from None

    def _renew(self, broken: ProcessPool) -> None:
        """A pool whose workers died while they had nothing to do (out of memory, say) never works again by itself."""
        if self._pool is broken:
            self._tally.restarts += self.workers
            fresh = self._new_pool()
            fresh.schedule(worker.warm)
            self._pool = fresh
            broken.stop()  # type: ignore[no-untyped-call]
            asyncio.get_running_loop().run_in_executor(None, broken.join, 10)

    def _digest(self, scope: bytes, item: Item) -> bytes:
        text = f"{int(item.names)}{item.label}\0{item.text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(scope + text, key=self._key, digest_size=20).digest()


def context() -> Any:
    """Workers are forked from a server process that has loaded everything, so that a killed one is replaced at once.

    That server listens on a socket in the temporary directory; where there is none, each worker loads for itself.
    """
    # Inherited by the workers: with one worker a core, a worker's own threads only wait for one another's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["recognizers.preload"])
    return context


class Wanted:
    """Spans that the policy acts on. An allow-list entry frees a whole span, never one with a check digit."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._allow = frozenset(_plain(term) for term in policy.allow)

    def of(self, leaf: Leaf, spans: Iterable[Span]) -> list[Span]:
        return [span for span in spans if self._acts_on(span, leaf.text[span.start : span.end])]

    def _acts_on(self, span: Span, text: str) -> bool:
        rule = self._policy.rule(span.entity)
        sure = span.score >= rule.min_score or span.recognizer == KNOWN
        if rule.action == "allow" or not sure or not text.strip():
            return False
        proven = span.entity in CHECKED and "check passed" in span.why
        return proven or _plain(text) not in self._allow


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _known(leaves: Sequence[Leaf], spans: Sequence[Sequence[Span]]) -> Mapping[str, str]:
    """Folded value -> entity, first come first served, in document order."""
    known: dict[str, str] = {}
    for leaf, found in zip(leaves, spans, strict=True):
        for span in found:
            known.setdefault(fold(leaf.text[span.start : span.end]), span.entity)
    return known


def _findings(leaf: Leaf, spans: Iterable[Span], policy: Policy) -> list[Finding]:
    findings = [
        Finding(
            span.start,
            span.end,
            span.entity,
            policy.rule(span.entity).action,
            span.score,
            span.recognizer,
            span.why,
            span.also,
        )
        for span in spans
    ]
    if leaf.kind is Kind.NUMBER and findings:
        first = findings[0]
        return [
            Finding(0, len(leaf.text), first.entity, first.action, first.score, first.recognizer, first.why, first.also)
        ]
    if leaf.kind is Kind.ID:
        return [finding for finding in findings if _shows_in_id(finding, leaf)]
    return findings


def _shows_in_id(finding: Finding, leaf: Leaf) -> bool:
    """Whether a finding in an identifier is what it says: all of it but signs, or a form that no identifier has.

    Digits inside a longer one prove nothing, unless all that stands before them is the word that says what they are
    (`mrn-...`, `passport:...`). A model's name is chosen by people and short: there a check digit or an address counts
    wherever it stands, though not an option (`key=0f3a`) or a name that another text holds (`Claude`).
    """
    before, value, after = (leaf.text[a:b] for a, b in _parts(finding, leaf))
    if not any(map(str.isalnum, before + after)):
        return True
    told = finding.entity not in CHECKED or "label" in finding.why
    if told and _LABEL.match(before) and not after and value.isdigit():
        return True
    if leaf.path == _MODEL and finding.recognizer != KNOWN and finding.entity in _NOT_IN_MODELS:
        return True
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    if finding.entity == "PHONE_NUMBER":
        return value.startswith("+") or before.endswith("+")
    return finding.entity in _UNLIKE_IDS and finding.score >= _SURE


def _parts(finding: Finding, leaf: Leaf) -> tuple[tuple[int, int], ...]:
    return (0, finding.start), (finding.start, finding.end), (finding.end, len(leaf.text))


_MODEL = "$.model"
_LABEL = re.compile(r"[A-Za-z]+[^A-Za-z0-9]\Z")
_UNLIKE_IDS = frozenset({"EMAIL_ADDRESS", "IBAN_CODE", "SECRET"})
_NOT_IN_MODELS = CHECKED | _UNLIKE_IDS | {"PHONE_NUMBER"}
_SURE = 0.8
"""Keys in Base58 score less: what a provider sealed holds such a run of characters now and then."""

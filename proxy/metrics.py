"""Counters for Prometheus, in a registry of their own. May import: audit, prometheus_client, the standard library.

Fed with audit events, so nothing can be counted that may not be written down; labels come from closed
vocabularies, so a client cannot make the number of series grow.

Where several processes serve one port, each writes its numbers into files of one folder, and whichever is asked adds
up all of them. What a process is asked for only when it is scraped (`watch`, `tally`) it must then write down now and
then: `refresh`. The library looks for `FOLDER` in the environment when it is first imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from proxy.audit import AuditEvent

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600)
TOKENS = (100, 1_000, 4_000, 16_000, 64_000, 128_000, 256_000, 1_000_000)
RELOADS = ("good", "refused")
BYTES = (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 26)


class _Kept(Collector):
    """One counter without labels, whose value is asked for."""

    def __init__(self, name: str, text: str, read: Callable[[], float]) -> None:
        self._name, self._text, self._read = name, text, read

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(self._name, self._text, self._read())


class Metrics:
    """`observe` is an audit sink; `render` is the answer to a scrape. `folder` is where processes share numbers."""

    def __init__(self, folder: Path | None = None) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._folder = folder
        self._refreshing: list[Callable[[], None]] = []
        self._same: list[_Kept] = []
        self._requests = self._counter("requests", "Requests by outcome.", "endpoint", "verdict", "status", "reason")
        self._entities = self._counter("entities", "Findings the policy acted on.", "entity")
        self._alarms = self._counter("alarms", "Answers that looked wrong and were let pass.", "code")
        self._restored = self._counter("restored", "Placeholders restored in answers.")
        self._foreign = self._counter("foreign", "Placeholders in answers that the request never issued.")
        self._bytes = self._counter(
            "bytes", "Bytes of requests, from clients (in) and to the upstream (out).", "direction"
        )
        self._tokens = self._histogram("prompt_tokens", "Tokens of prompts as forwarded.", TOKENS)
        self._before = self._histogram("prompt_tokens_before", "Tokens of prompts as they came.", TOKENS)
        self._held = self._histogram("held_bytes", "Most bytes of a stream that waited to be verified.", BYTES)
        self._reloads = self._counter("reloads", "Looks at changed policy files, by result.", "result")
        for result in RELOADS:
            self._reloads.labels(result)
        self._stages = self._histogram("stage_seconds", "Time in each stage.", SECONDS, "stage")

    def observe(self, event: AuditEvent) -> None:
        """Counts a request that is over."""
        if event.verdict in ("forward", "reload"):
            return
        self._requests.labels(event.endpoint, event.verdict, str(event.status), event.reason).inc()
        for entity, count in event.entities.items():
            self._entities.labels(entity).inc(count)
        for code in event.alarms:
            self._alarms.labels(code).inc()
        self._restored.inc(event.restored)
        self._foreign.inc(event.foreign)
        self._bytes.labels("in").inc(event.bytes_in)
        self._bytes.labels("out").inc(event.bytes_out)
        if event.tokens_after is not None:
            self._tokens.observe(event.tokens_after)
        if event.tokens_before is not None:
            self._before.observe(event.tokens_before)
        if event.held:
            self._held.observe(event.held)
        for stage, ms in event.stage_ms.items():
            self._stages.labels(stage).observe(ms / 1000)

    def reloaded(self, good: bool) -> None:
        """Counts a look at changed policy files."""
        self._reloads.labels(RELOADS[not good]).inc()

    def watch(
        self, name: str, text: str, read: Callable[[], float], across: Literal["livemin", "livesum"] = "livemin"
    ) -> None:
        """A gauge that is read when it is scraped, such as `upstream_in_use`. `across`: what several make of theirs."""
        if self._folder is None:
            self._gauge(name, text).set_function(read)
            return
        made: list[Gauge] = []

        def refresh() -> None:
            if not made:  # not before there is a value: it begins with 0, and `livemin` would take that for one
                made.append(self._gauge(name, text, across))
            made[0].set(read())

        self._refreshing.append(refresh)

    def tally(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A counter that somebody else keeps, read when it is scraped, such as `worker_restarts`."""
        if self._folder is None:
            self.registry.register(_Kept(f"caviardage_{name}", text, read))
            return
        counter, told = self._counter(name, text), 0.0

        def refresh() -> None:
            nonlocal told
            now = read()
            counter.inc(now - told)
            told = now

        self._refreshing.append(refresh)

    def shared(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A counter that is the same in every process, such as `process_restarts`."""
        kept = _Kept(f"caviardage_{name}", text, read)
        self.registry.register(kept)
        self._same.append(kept)

    def refresh(self) -> None:
        """Writes down for the other processes what is otherwise read when it is scraped."""
        for refresh in self._refreshing:
            refresh()

    def render(self) -> bytes:
        if self._folder is None:
            return generate_latest(self.registry)
        self.refresh()
        everything = CollectorRegistry(auto_describe=True)
        MultiProcessCollector(everything, str(self._folder))  # type: ignore[no-untyped-call]
        for kept in self._same:
            everything.register(kept)
        return generate_latest(everything)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, namespace="caviardage", registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, text, labels, namespace="caviardage", registry=self.registry, buckets=buckets)

    def _gauge(self, name: str, text: str, across: Literal["livemin", "livesum"] = "livemin") -> Gauge:
        return Gauge(name, text, namespace="caviardage", registry=self.registry, multiprocess_mode=across)


def forget(process: int, folder: Path) -> None:
    """Takes the gauges of a process that has ended out of the folder; what it counted stays."""
    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]

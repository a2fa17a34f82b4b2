"""Counters for Prometheus, in a registry of their own. May import: audit, prometheus_client, the standard library.

Fed with audit events, so nothing can be counted that may not be written down; labels come from closed
vocabularies, so a client cannot make the number of series grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from proxy.audit import AuditEvent

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600)
TOKENS = (100, 1_000, 4_000, 16_000, 64_000, 128_000, 256_000, 1_000_000)
BYTES = (1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 26)


class _Kept(Collector):
    """One counter without labels, whose value is asked for."""

    def __init__(self, name: str, text: str, read: Callable[[], float]) -> None:
        self._name, self._text, self._read = name, text, read

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(self._name, self._text, self._read())


class Metrics:
    """`observe` is an audit sink; `render` is the answer to a scrape."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
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
        self._stages = self._histogram("stage_seconds", "Time in each stage.", SECONDS, "stage")

    def observe(self, event: AuditEvent) -> None:
        """Counts a request that is over."""
        if event.verdict == "forward":
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

    def watch(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A gauge that is read when it is scraped, such as `upstream_in_use`."""
        self._gauge(name, text, read)

    def tally(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A counter that somebody else keeps, read when it is scraped, such as `worker_restarts`."""
        self.registry.register(_Kept(f"caviardage_{name}", text, read))

    def render(self) -> bytes:
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, namespace="caviardage", registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, text, labels, namespace="caviardage", registry=self.registry, buckets=buckets)

    def _gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        Gauge(name, text, namespace="caviardage", registry=self.registry).set_function(read)

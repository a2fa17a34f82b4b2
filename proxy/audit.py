"""What is written down about a request: a closed schema of types, counts, sizes and hashes, one JSON line each.

May import: model, errors, the standard library.

There is no field for free text. Every string is held to a pattern when the event is built; what does not fit
becomes `unprintable`, so that a mistake elsewhere cannot turn the audit trail into a second copy of the prompts.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from proxy.errors import BlockedEntity, Unavailable
from proxy.model import Usage

UNPRINTABLE = "unprintable"
ENDPOINTS = (
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/responses/input_tokens",
    "/v1/responses/compact",
    "/v1/completions",
    "/v1/embeddings",
    "/v1/moderations",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/responses/{id}",
    "/v1/responses/{id}/cancel",
    "/v1/responses/{id}/input_items",
    "/v1/conversations",
    "/v1/conversations/{id}",
    "/v1/conversations/{id}/items",
    "/v1/conversations/{id}/items/{id}",
    "/v1/chat/completions/{id}",
    "/v1/chat/completions/{id}/messages",
    "/v1/files",
    "/v1/files/{id}",
    "/v1/files/{id}/content",
    "/v1/batches",
    "/v1/batches/{id}",
    "/v1/batches/{id}/cancel",
    "/v1/models",
    "/v1/models/{id}",
    "/openai/deployments/{id}/chat/completions",
    "/openai/deployments/{id}/completions",
    "/openai/deployments/{id}/embeddings",
    "/openai/responses",
    "/openai/responses/input_tokens",
    "/openai/responses/compact",
    "/openai/v1/chat/completions",
    "/openai/v1/completions",
    "/openai/v1/embeddings",
    "/openai/v1/responses",
    "/openai/v1/responses/input_tokens",
    "/openai/v1/responses/compact",
    "/openai/models",
    "/openai/v1/models",
    "/api/chat",
    "/api/generate",
    "/api/embed",
    "/api/embeddings",
    "/api/show",
    "/api/tags",
    "/api/ps",
    "/api/version",
    "/inspector",
    "unknown",
)
VERDICTS = ("forward", "release", "refuse", "block", "cancelled", "upstream_error", "inspect", "reload")

_PATHS = tuple(re.compile(re.escape(name).replace(r"\{id\}", "[^/]+")) for name in ENDPOINTS)

_Number = TypeVar("_Number", int, float)
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PATTERNS = {
    "request_id": re.compile(r"[A-Za-z0-9._-]{1,64}"),
    "policy": re.compile(r"[A-Za-z0-9._@:-]{0,160}"),
    "before": re.compile(r"[A-Za-z0-9._@:-]{0,160}"),
    "tenant": re.compile(r"[0-9a-f]{16}|[a-z][a-z0-9-]{0,30}"),
    "model": re.compile(r"[A-Za-z0-9._:/@;=+-]{1,128}"),
    "endpoint": re.compile("|".join(map(re.escape, ENDPOINTS))),
    "verdict": re.compile("|".join(VERDICTS)),
    "reason": re.compile(r"|[a-z][a-z0-9_]{0,63}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One request, from its arrival to the end of its answer, or (verdict `forward`) until it goes to the upstream.

    `time` is seconds since 1970 (written as UTC); `policy` is `name@digest`, `before` (verdict
    `reload` only) what was in force until then; `tenant` is a keyed hash of the
    credential, or the name that a tenants file gives;
    `reason` is the refusal's code, empty for a request that went through; `alarms` are codes of
    what was noticed but let pass; `stage_ms` maps a stage to the milliseconds it took; `marks`
    (not in the line) are stages with their begin and end, in nanoseconds since 1970. `held` is the most bytes of a
    stream that waited to be verified. `bytes_in` came from the
    client, `bytes_out` went to the upstream; `tokens_*`, `completion` (requested), `limit` and `usage_*` (as
    the upstream reports) are tokens; `tokens_bound` is true where bounds were enough and nothing was counted.
    """

    request_id: str
    verdict: str
    status: int
    time: float = field(default_factory=time.time)
    policy: str = ""
    before: str = ""
    tenant: str = "anonymous"
    model: str | None = None
    endpoint: str = "unknown"
    stream: bool = False
    reason: str = ""
    alarms: tuple[str, ...] = ()
    entities: Mapping[str, int] = field(default_factory=dict)
    bytes_in: int = 0
    bytes_out: int = 0
    tokens_before: int | None = None
    tokens_after: int | None = None
    tokens_bound: bool = False
    completion: int | None = None
    limit: int | None = None
    usage_prompt: int | None = None
    usage_completion: int | None = None
    restored: int = 0
    foreign: int = 0
    held: int = 0
    stage_ms: Mapping[str, float] = field(default_factory=dict)
    marks: tuple[tuple[str, int, int], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, pattern in _PATTERNS.items():
            value = getattr(self, name)
            if value is not None and not pattern.fullmatch(value):
                object.__setattr__(self, name, UNPRINTABLE)
        object.__setattr__(self, "entities", _closed(self.entities, _NAME))
        object.__setattr__(self, "stage_ms", _closed(self.stage_ms, _WORD))
        alarms = (code if _WORD.fullmatch(code) else UNPRINTABLE for code in self.alarms)
        object.__setattr__(self, "alarms", tuple(alarms))
        marks = tuple(mark for mark in self.marks if _WORD.fullmatch(mark[0]))
        object.__setattr__(self, "marks", marks)

    def line(self) -> str:
        """The event as one line of JSON in ASCII, without the line break."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "marks"}
        moment = datetime.fromtimestamp(self.time, UTC)
        values["time"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        values["stage_ms"] = {stage: round(ms, 2) for stage, ms in self.stage_ms.items()}
        return json.dumps(values, separators=(",", ":"))


class Named(Protocol):
    """What the trail says about a policy."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...


@dataclass(slots=True)
class Record:
    """What is known so far about one request in flight; becomes an `AuditEvent` when it is over."""

    request_id: str
    tenant: str
    path: str
    time: float = field(default_factory=time.time)
    model: str | None = None
    stream: bool = False
    alarms: list[str] = field(default_factory=list)
    entities: Counter[str] = field(default_factory=Counter)
    bytes_in: int = 0
    bytes_out: int = 0
    tokens_before: int | None = None
    tokens_after: int | None = None
    tokens_bound: bool = False
    completion: int | None = None
    limit: int | None = None
    usage_prompt: int | None = None
    usage_completion: int | None = None
    restored: int = 0
    foreign: int = 0
    held: int = 0
    stage_ms: dict[str, float] = field(default_factory=dict)
    marks: list[tuple[str, int, int]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time spent inside to the stage `name`, also when it ends in an error."""
        moment, began = time.time_ns(), time.perf_counter_ns()
        try:
            yield
        finally:
            took = time.perf_counter_ns() - began
            self.stage_ms[name] = self.stage_ms.get(name, 0.0) + took / 1e6
            self.marks.append((name, moment, moment + took))

    def request(self, *, model: Any, stream: bool, bytes_in: int) -> None:
        """What the body says; `model` may be anything that JSON can hold."""
        self.model = model if model is None or isinstance(model, str) else UNPRINTABLE
        self.stream, self.bytes_in = stream, bytes_in

    def found(self, counts: Mapping[str, int]) -> None:
        """Findings by entity."""
        self.entities.update(counts)

    @contextmanager
    def blocked(self) -> Iterator[None]:
        """Takes down what was found also where it ends the request."""
        try:
            yield
        except BlockedEntity as refusal:
            self.found(Counter(finding.entity for found in refusal.findings for finding in found))
            raise

    def usage(self, usage: Usage | None) -> None:
        """Tokens as the upstream reports them."""
        if usage is not None:
            self.usage_prompt, self.usage_completion = usage.prompt, usage.completion

    def alarm(self, code: str) -> None:
        """Something that the policy lets pass but wants noted; each code once."""
        if code not in self.alarms:
            self.alarms.append(code)

    def close(self, policy: Named, verdict: str, reason: str, status: int) -> AuditEvent:
        """The event. `reason` is a refusal's code or empty, `status` what the client got."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "path"}
        values["alarms"], values["marks"] = tuple(self.alarms), tuple(self.marks)
        return AuditEvent(
            **values,
            endpoint=endpoint_of(self.path),
            policy=f"{policy.name}@{policy.digest}",
            verdict=verdict,
            reason=reason,
            status=status,
        )


def endpoint_of(path: str) -> str:
    """The path without what a client can put into it: one of `ENDPOINTS`."""
    matches = (name for name, pattern in zip(ENDPOINTS, _PATHS, strict=True) if pattern.fullmatch(path))
    return next(matches, "unknown")


Sink: TypeAlias = Callable[[AuditEvent], None]
"""Somewhere an event goes. Raises `OSError` when it could not be written."""


Settled: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when what a sink has taken is written. Raises `OSError` when it could not be."""


class Audit:
    """The trail. While the last event could not be written, `check` refuses new requests."""

    def __init__(self, sinks: Iterable[Sink], settled: Iterable[Settled] = ()) -> None:
        self._sinks = tuple(sinks)
        self._settled = tuple(settled)
        self._broken = False

    def check(self) -> None:
        """Raises `Unavailable` while the trail cannot be written: what is not audited is not forwarded."""
        if self._broken:
            raise _unavailable()

    def write(self, event: AuditEvent) -> None:
        """Hands the event to every sink; raises `Unavailable` if one of them fails."""
        failed = [sink for sink in self._sinks if not self._try(sink, event)]
        self._broken = bool(failed)
        self.check()

    async def forward(self, event: AuditEvent) -> None:
        """Writes what is about to leave, and returns when every sink has it; raises `Unavailable` if one has not."""
        self.write(event)
        try:
            for settled in self._settled:
                await settled()
        except OSError:
            self._broken = True
            raise _unavailable() from None

    def _try(self, sink: Sink, event: AuditEvent) -> bool:
        try:
            sink(event)
        except OSError:
            return False
        return True


def _closed(counts: Mapping[str, _Number], pattern: re.Pattern[str]) -> dict[str, _Number]:
    return {(key if pattern.fullmatch(key) else UNPRINTABLE): value for key, value in counts.items()}


def _unavailable() -> Unavailable:
    return Unavailable("The audit trail cannot be written, so requests are not answered.", code="audit_unavailable")

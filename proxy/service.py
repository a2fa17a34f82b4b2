"""The service: the ASGI application and its lifespan, from loading to the last line of the audit trail.

Detection needs seconds to load its models. Meanwhile the service already answers `GET /healthz`, with 503, and
refuses everything else; a self-test of every entity that the policy acts on stands between loading and the first
request. Once started, `/healthz` says that the process lives, `/readyz` whether it can take requests now.

May import: ingress, door, inspector, audit, books, detect, extract, forward, store, metrics, logs, policy, errors.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from proxy.audit import Audit, AuditEvent
from proxy.books import Books
from proxy.door import Door, Handler
from proxy.errors import Refusal, Unavailable
from proxy.extract import Extractor
from proxy.forward import Upstream
from proxy.ingress import Ingress, Limits, Receive, Scope, Send
from proxy.inspector.desk import Desk
from proxy.logs import Log, describe, loop_handler
from proxy.metrics import CONTENT_TYPE, Metrics
from proxy.policy import PolicyError, report
from proxy.routes import Target
from proxy.settings import StartError
from proxy.store import Store
from proxy.trip import Outbound
from proxy.upstreams import Upstreams
from proxy.wire.dialects import USUAL, Dialects
from recognizers.device import Choice

STORE_SECONDS = 2.0
"""Time between two looks at the store, for `/readyz`."""
Failed = Callable[[list[str]], None]
Example = tuple[str, str, str]


class Detection(Protocol):
    """What the lifespan needs of the detector."""

    @property
    def ready(self) -> bool: ...

    @property
    def chosen(self) -> Choice: ...

    async def start(self) -> None: ...

    async def self_test(self, examples: Iterable[Example]) -> list[str]: ...

    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an application is made of. `about` is shown by `/readyz`, `examples` are what the self-test must find."""

    handler: Handler
    detector: Detection
    upstream: Upstream | Upstreams
    store: Store
    extractor: Extractor
    books: Books
    audit: Audit
    metrics: Metrics
    secret: bytes
    examples: tuple[Example, ...]
    about: dict[str, Any]
    inspector: Desk | None = None
    dialects: Dialects = USUAL
    door: Door | None = None
    told: Callable[[], dict[str, Any]] = dict
    """More to show by `/readyz`, asked each time."""
    follow: Callable[[], Awaitable[None]] | None = None
    """Runs as long as the service: looks after files that change."""
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()
    """What is to be closed at the end besides."""


class App:
    """The ASGI application. `failed` is told, in lines for the operator, why the service could not start.

    With `patient`, nothing is accepted before everything is loaded: of several processes, others are there for that.
    """

    def __init__(self, parts: Parts, limits: Limits, log: Log, failed: Failed, *, patient: bool = False) -> None:
        self._parts = parts
        self._patient = patient
        self._log = log
        self._failed = failed
        self._started = False
        self._stored = True
        self._ingress = Ingress(
            parts.handler,
            secret=parts.secret,
            limits=limits,
            own={Target.HEALTH: self._health, Target.READY: self._readiness, Target.METRICS: self._scrape},
            ready=lambda: self._started,
            refused=self._refused,
            log=log,
            dialects=parts.dialects,
            door=parts.door,
        )
        parts.metrics.watch("ready", "1 if requests can be taken.", lambda: float(self.ready))
        parts.metrics.watch(
            "upstream_in_use", "Exchanges with the upstream in flight.", lambda: parts.upstream.in_use, "livesum"
        )
        parts.metrics.watch("audit_up", "1 if the last audit line could be written.", lambda: float(self._audited()))
        parts.metrics.watch("store_up", "1 if the store can be reached.", lambda: float(self._stored))

    @property
    def ready(self) -> bool:
        """True if a request that comes now can be handled."""
        return self._started and self._stored and self._parts.detector.ready and self._audited()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._parts.inspector is not None and Desk.owns(scope):
            await self._parts.inspector(scope, receive, send)
        else:
            await self._ingress(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        asyncio.get_running_loop().set_exception_handler(loop_handler(self._log))
        await receive()
        starting = asyncio.create_task(self._start())
        watching = asyncio.create_task(self._watch_store())
        following = asyncio.create_task(self._follow())
        try:
            if self._patient:
                await asyncio.wait({starting})
            failed = self._patient and not self._started
            if not failed:
                await send({"type": "lifespan.startup.complete"})
                await receive()
        finally:
            self._started = False
            starting.cancel()
            watching.cancel()
            following.cancel()
            await asyncio.wait({starting, watching, following})
            await self._stop()
        await send({"type": "lifespan.startup.failed" if failed else "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        parts = self._parts
        try:
            await parts.detector.start()
            missed = await parts.detector.self_test(parts.examples)
            if missed:
                raise StartError([f"self-test: {entity} was not found in its own example" for entity in missed])
        except StartError as error:
            self._give_up(error.faults)
        except PolicyError as error:
            self._give_up(report(error.faults).splitlines())
        except Exception as error:
            # Nothing was received yet, so this text can only be about the installation.
            self._give_up([f"detection does not start: {error}"])
        else:
            self._started = True
            self._log.info("device", device=parts.detector.chosen.device, code=parts.detector.chosen.code)
            self._log.info("ready", policy=parts.about["policy"], workers=parts.about["workers"])

    async def _follow(self) -> None:
        while self._parts.follow is not None:
            try:
                await self._parts.follow()
            except Exception as error:
                self._log.error("fault", **describe(error))
            await asyncio.sleep(STORE_SECONDS)

    async def _watch_store(self) -> None:
        """Tells `/readyz` whether the store can be reached. Requests that need it find out for themselves."""
        while True:
            try:
                await self._parts.store.check()
                reached = True
            except Unavailable:
                reached = False
            if reached and not self._stored:
                self._log.warning("store_reached")
            elif self._stored and not reached:
                self._log.warning("store_lost")
            self._stored = reached
            if self._started:
                self._parts.metrics.refresh()
            await asyncio.sleep(STORE_SECONDS)

    def _give_up(self, faults: list[str]) -> None:
        self._log.error("start_failed")
        self._failed(faults)

    async def _stop(self) -> None:
        await self._parts.detector.stop()
        await self._parts.extractor.stop()
        await self._parts.upstream.aclose()
        await self._parts.store.aclose()
        for end in self._parts.closing:
            await end()
        await asyncio.get_running_loop().run_in_executor(None, self._parts.books.close)
        self._log.info("stopped")

    def _audited(self) -> bool:
        try:
            self._parts.audit.check()
        except Unavailable:
            return False
        return True

    def _refused(self, request_id: str, tenant: str, refusal: Refusal) -> None:
        event = AuditEvent(
            request_id=request_id, tenant=tenant, verdict="refuse", status=refusal.status, reason=refusal.code
        )
        try:
            self._parts.audit.write(event)
        except Unavailable:
            # The request is refused either way; `/readyz` and the next request tell.
            self._log.error("fault", code="audit_unavailable")

    def _health(self) -> Outbound:
        return _json(200, {"status": "ok"}) if self._started else _json(503, {"status": "starting"})

    def _readiness(self) -> Outbound:
        return _json(200 if self.ready else 503, {"ready": self.ready, **self._parts.about, **self._parts.told()})

    def _scrape(self) -> Outbound:
        return Outbound(200, [("content-type", CONTENT_TYPE)], self._parts.metrics.render())


def _json(status: int, body: dict[str, Any]) -> Outbound:
    return Outbound(status, [("content-type", "application/json")], json.dumps(body).encode("ascii"))

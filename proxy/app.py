"""The composition root: builds every part once, in the order of the request's path, and runs their lifespan.

May import: everything below `__main__`.

Detection needs seconds to load its models. Meanwhile the service already answers `GET /healthz`, with 503, and
refuses everything else; a self-test of every entity that the policy acts on stands between loading and the first
request. Once started, `/healthz` says that the process lives, `/readyz` whether it can take requests now.
"""

from __future__ import annotations

import asyncio
import functools
import json
import secrets
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from proxy import measure
from proxy.audit import Audit, AuditEvent
from proxy.books import Books, open_books
from proxy.budgets import Spending
from proxy.detect import Detector, Tally
from proxy.door import Door, Handler
from proxy.entrance import Entrance
from proxy.errors import Refusal, Unavailable
from proxy.extract import Extractor
from proxy.forward import Upstream, UpstreamSettings
from proxy.ingress import Ingress, Limits, Receive, Scope, Send
from proxy.inspector.desk import Desk
from proxy.live import Live, Make, Working
from proxy.logs import Log, describe, loop_handler
from proxy.metrics import CONTENT_TYPE, Metrics
from proxy.notes import Notes
from proxy.pipeline import Pipeline
from proxy.plan import Plan, load_plan
from proxy.policy import Policy, PolicyError, report
from proxy.policy.sections import MAX_SECONDS
from proxy.rates import Rates
from proxy.routes import Target
from proxy.seat import ALONE, Seat
from proxy.settings import Settings, StartError, is_plain_remote
from proxy.store import Store
from proxy.store.memory import MemoryShelf
from proxy.store.sealing import Sealer
from proxy.store.shared import RedisShelf
from proxy.tls import load_pair
from proxy.trip import Outbound
from proxy.upstreams import Upstreams
from proxy.watch import Watch
from proxy.windows import close, storage_at
from proxy.wire.dialects import USUAL, Dialects
from recognizers.analyzer import Settings as Looks
from recognizers.device import DEVICES, Choice, Device

TOKENIZERS = ("o200k_base", "cl100k_base", "bytes")
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


def build(settings: Settings, log: Log, failed: Failed, seat: Seat = ALONE) -> App:
    """Everything, wired. Raises `StartError` naming what is wrong with the policy or the settings."""
    plan = plan_of(settings)
    warn(settings, log)
    doubt(plan.policies[plan.default], log)
    secret = settings.secret or seat.secret or secret_of(settings, log)
    metrics, books, tally = Metrics(seat.folder), open_books(settings, log), Tally()
    audit = Audit([*books.sinks, metrics.observe], books.settled)
    upstreams = Upstreams(upstream_of(settings), functools.partial(upstream_of, settings))
    store, extractor = store_of(settings, secret), Extractor()

    def on_fault(error: Exception) -> None:
        log.error("fault", **describe(error))

    def detector(looks: Looks) -> Detector:
        return Detector(
            looks,
            workers=settings.workers,
            deadline=MAX_SECONDS,
            device=device_of(settings),
            on_progress=lambda done, total: log.info("progress", done=done, total=total),
            tally=tally,
        )

    dialects = Dialects(settings.dialects)
    metrics.tally("span_cache_hits", "Pieces of text that had been searched before.", lambda: tally.hits)
    metrics.tally("span_cache_misses", "Pieces of text that had to be searched.", lambda: tally.misses)
    metrics.tally("worker_restarts", "Detection workers that were killed or died.", lambda: tally.restarts)
    metrics.watch("processes", "Processes that serve the port.", lambda: seat.counts[0])
    metrics.shared("process_restarts", "Processes that ended and were started again.", lambda: seat.counts[1])
    live = live_of(plan, settings, detector)

    def pipe(working: Working, url: str | None, spending: Spending) -> Pipeline:
        return Pipeline(
            working.policy,
            working.detector,
            working.counters,
            upstreams.at(url),
            audit,
            secret,
            on_fault,
            store,
            dialects,
            extractor,
            spending,
        )

    numbers = storage_at(settings.store)
    door = Entrance(live, pipe, secret, Rates(numbers), Spending(numbers))
    notes = Notes(live, audit, metrics, log)
    parts = Parts(
        handler=door,
        detector=live,
        upstream=upstreams,
        store=store,
        extractor=extractor,
        books=books,
        audit=audit,
        metrics=metrics,
        secret=secret,
        dialects=dialects,
        examples=(),
        about={"policy": live.current.default.label, "workers": settings.workers, "dialects": list(settings.dialects)},
        door=door,
        told=notes.about,
        follow=Watch(lambda: live.files, live.reload).run,
        closing=(functools.partial(close, numbers),),
    )
    if settings.inspector:
        parts = replace(parts, inspector=Desk(live.lend, audit, log, settings.inspector_key))
    return App(parts, limits_of(settings), log, failed, patient=not seat.alone)


def plan_of(settings: Settings) -> Plan:
    """The policies. Raises `StartError` with every fault in them."""
    try:
        return load_plan(settings.policy, settings.tenants)
    except PolicyError as error:
        raise StartError(report(error.faults).splitlines()) from None


def live_of(plan: Plan, settings: Settings, make: Make) -> Live:
    """The policies at work. Raises `StartError` if a tokenizer's file is not the one that a policy states."""
    try:
        load = functools.partial(load_plan, settings.policy, settings.tenants)
        return Live(plan, load, make, functools.partial(measure.Counters, TOKENIZERS))
    except PolicyError as error:
        raise StartError([fault.message for fault in error.faults]) from None


def device_of(settings: Settings) -> Device:
    """Where models run, as `settings` has checked it."""
    return next(device for device in DEVICES if device == settings.device)


def limits_of(settings: Settings) -> Limits:
    """What ingress holds requests to."""
    return Limits(
        max_body_bytes=settings.max_body_bytes,
        max_decompressed_bytes=settings.max_decompressed_bytes,
        receive_timeout=settings.receive_timeout,
    )


def upstream_of(settings: Settings, url: str | None = None) -> Upstream:
    """The provider's client. Raises `StartError` if a certificate cannot be read."""
    cert = (settings.upstream_cert, settings.upstream_key) if settings.upstream_cert and settings.upstream_key else None
    if cert is not None:
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "upstream", *cert)
    try:
        return Upstream(
            url or settings.upstream,
            UpstreamSettings(
                connect_timeout=settings.connect_timeout,
                read_timeout=settings.read_timeout,
                write_timeout=settings.write_timeout,
                pool_timeout=settings.pool_timeout,
                max_connections=settings.max_connections,
                max_answer_bytes=settings.max_answer_bytes,
                ca_file=settings.upstream_ca,
                cert=cert,
            ),
        )
    except OSError:
        raise StartError([f"upstream CA: no certificates in PEM form in {settings.upstream_ca}"]) from None


def store_of(settings: Settings, secret: bytes) -> Store:
    """Where what outlives a request is kept. `secret` seals it where no other was set."""
    shelf = RedisShelf(settings.store) if settings.shared_store else MemoryShelf()
    return Store(shelf, Sealer(settings.store_secrets or (secret,)), settings.store_ttl)


def secret_of(settings: Settings, log: Log) -> bytes:
    """The secret that tenants' names and placeholders are derived from; random, and said so, if none is set."""
    if settings.secret:
        return settings.secret
    log.warning("secret_random")
    return secrets.token_bytes(32)


def warn(settings: Settings, log: Log) -> None:
    """Says aloud what works but should not be left so."""
    if is_plain_remote(settings.upstream):
        log.warning("upstream_plain_http")


def doubt(policy: Policy, log: Log) -> None:
    """Says aloud of which models the policy only repeats what the provider says."""
    for model in policy.unproven:
        log.warning("served_is_advertised", model=model)


def _json(status: int, body: dict[str, Any]) -> Outbound:
    return Outbound(status, [("content-type", "application/json")], json.dumps(body).encode("ascii"))

"""The composition root: builds every part once, in the order of the request's path.

May import: everything below `__main__`.
"""

from __future__ import annotations

import functools
import secrets
import ssl
from dataclasses import replace

from proxy import measure
from proxy.audit import Audit
from proxy.books import open_books
from proxy.budgets import Spending
from proxy.detect import Detector, Tally
from proxy.entrance import Entrance
from proxy.extract import Extractor
from proxy.forward import Upstream, UpstreamSettings
from proxy.ingress import Limits
from proxy.inspector.desk import Desk
from proxy.live import Live, Make, Working
from proxy.logs import Log, describe
from proxy.metrics import Metrics
from proxy.notes import Notes
from proxy.pipeline import Pipeline
from proxy.plan import Plan, load_plan
from proxy.policy import Policy, PolicyError, report
from proxy.policy.sections import MAX_SECONDS
from proxy.rates import Rates
from proxy.seat import ALONE, Seat
from proxy.service import App, Failed, Parts
from proxy.settings import Settings, StartError, is_plain_remote
from proxy.store import Store
from proxy.store.memory import MemoryShelf
from proxy.store.sealing import Sealer
from proxy.store.shared import RedisShelf
from proxy.tls import load_pair
from proxy.upstreams import Upstreams
from proxy.watch import Watch
from proxy.windows import close, storage_at
from proxy.wire.dialects import Dialects
from recognizers.analyzer import Settings as Looks
from recognizers.device import DEVICES, Device

TOKENIZERS = ("o200k_base", "cl100k_base", "bytes")


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
        follow=Watch(lambda: live.files, live.reload, lambda: live.refused).run,
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

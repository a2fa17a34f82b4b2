"""`caviardage serve`: the proxy itself, as one process or several.

May import: app, fleet, seat, template, tls, settings, logs, wire (which dialects there are), typer, uvicorn.
"""

from __future__ import annotations

import os
import signal
import socket
import ssl
import sys
import threading
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from proxy import app as application
from proxy import logs
from proxy.__main__ import end_at
from proxy.fleet import Fleet
from proxy.seat import Seat
from proxy.seat import faults as unservable
from proxy.service import App
from proxy.settings import MIB, Settings, StartError, default_workers
from proxy.template import borrow
from proxy.tls import from_clients
from proxy.wire.dialects import DEFAULT, NAMES

CANNOT_START = 2
FAILED_TO_START = 1


def _env(name: str) -> str:
    return f"CAVIARDAGE_{name}"


def serve(
    upstream: Annotated[
        str, typer.Option(envvar=_env("UPSTREAM"), help="Base URL of the provider, such as https://api.openai.com/v1.")
    ],
    policy: Annotated[Path, typer.Option(envvar=_env("POLICY"), help="The policy, a YAML file.")],
    tenants: Annotated[
        Path | None,
        typer.Option(
            envvar=_env("TENANTS"), help="Who has a key, and what holds for it: a YAML file. Without one: everybody."
        ),
    ] = None,
    dialect: Annotated[
        str,
        typer.Option(
            envvar=_env("DIALECT"), help=f"APIs that the provider speaks, separated by commas: {', '.join(NAMES)}."
        ),
    ] = ",".join(DEFAULT),
    host: Annotated[str, typer.Option(envvar=_env("HOST"), help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar=_env("PORT"), help="Port to listen on.")] = 8484,
    secret: Annotated[
        str,
        typer.Option(
            envvar=_env("SECRET"),
            show_envvar=True,
            help="Secret that placeholders and tenants' names are derived from, at least 16 bytes, the same for all "
            "replicas. Better set as a variable than as an option, which other users of the machine can read. "
            "Without one: random at start.",
        ),
    ] = "",
    workers: Annotated[
        int,
        typer.Option(
            envvar=_env("WORKERS"),
            help="Detection processes, of each process that serves.",
            show_default="one a core, at most 4, shared out",
        ),
    ] = 0,
    processes: Annotated[int, typer.Option(envvar=_env("PROCESSES"), help="Processes that serve the port.")] = 1,
    device: Annotated[
        str, typer.Option(envvar=_env("DEVICE"), help="Where models run: auto, cpu, or cuda (an NVIDIA device).")
    ] = "auto",
    max_body_bytes: Annotated[int, typer.Option(envvar=_env("MAX_BODY_BYTES"), help="Largest body as received.")] = (
        32 * MIB
    ),
    max_decompressed_bytes: Annotated[
        int, typer.Option(envvar=_env("MAX_DECOMPRESSED_BYTES"), help="Largest body once decompressed.")
    ] = 32 * MIB,
    max_answer_bytes: Annotated[
        int, typer.Option(envvar=_env("MAX_ANSWER_BYTES"), help="Largest answer that is not streamed.")
    ] = 64 * MIB,
    max_connections: Annotated[
        int, typer.Option(envvar=_env("MAX_CONNECTIONS"), help="Requests at the upstream at one time.")
    ] = 100,
    connect_timeout: Annotated[
        float, typer.Option(envvar=_env("CONNECT_TIMEOUT"), help="Seconds to connect to the upstream.")
    ] = 5.0,
    read_timeout: Annotated[
        float, typer.Option(envvar=_env("READ_TIMEOUT"), help="Seconds between two pieces of an answer.")
    ] = 600.0,
    write_timeout: Annotated[
        float, typer.Option(envvar=_env("WRITE_TIMEOUT"), help="Seconds to send a piece of a request.")
    ] = 60.0,
    pool_timeout: Annotated[
        float, typer.Option(envvar=_env("POOL_TIMEOUT"), help="Seconds to wait for one of `max-connections`.")
    ] = 10.0,
    receive_timeout: Annotated[
        float, typer.Option(envvar=_env("RECEIVE_TIMEOUT"), help="Seconds for a client to send its request.")
    ] = 120.0,
    drain_timeout: Annotated[
        float, typer.Option(envvar=_env("DRAIN_TIMEOUT"), help="Seconds that running requests get after SIGTERM.")
    ] = 30.0,
    upstream_ca: Annotated[
        Path | None, typer.Option(envvar=_env("UPSTREAM_CA"), help="Certificates (PEM) to trust for the upstream.")
    ] = None,
    upstream_cert: Annotated[
        Path | None, typer.Option(envvar=_env("UPSTREAM_CERT"), help="Certificate (PEM) to show to the upstream.")
    ] = None,
    upstream_key: Annotated[
        Path | None, typer.Option(envvar=_env("UPSTREAM_KEY"), help="Key (PEM) of that certificate.")
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(envvar=_env("TLS_CERT"), help="Speak TLS to clients, with this certificate and its chain (PEM)."),
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(envvar=_env("TLS_KEY"), help="Key (PEM) of that certificate.")] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            envvar=_env("TLS_CLIENT_CA"), help="Take only clients with a certificate from these authorities (PEM)."
        ),
    ] = None,
    store: Annotated[
        str,
        typer.Option(
            envvar=_env("STORE"),
            show_envvar=True,
            help="Where what outlives a request is kept, sealed: memory, or the URL of a Redis or Valkey server that "
            "all replicas share, such as redis://host:6379/0. If it holds a password, set it as a variable.",
        ),
    ] = "memory",
    store_secret: Annotated[
        str,
        typer.Option(
            envvar=_env("STORE_SECRET"),
            show_envvar=True,
            help="Secret that the store is sealed with, at least 16 bytes; several, separated by commas: the first "
            "seals, the others still open. Better set as a variable. Without one: the secret.",
        ),
    ] = "",
    store_ttl: Annotated[
        float, typer.Option(envvar=_env("STORE_TTL"), help="Seconds that a record in the store is kept.")
    ] = 86_400.0,
    inspector: Annotated[
        bool,
        typer.Option(
            envvar=_env("INSPECTOR"), help="Serve /inspector, a page to look at and try policies, to this machine."
        ),
    ] = False,
    inspector_key: Annotated[
        str,
        typer.Option(
            envvar=_env("INSPECTOR_KEY"),
            show_envvar=True,
            help="Key that the inspector then asks everybody for, from anywhere, at least 16 bytes. Better set as a "
            "variable.",
        ),
    ] = "",
    audit: Annotated[
        str,
        typer.Option(
            envvar=_env("AUDIT"),
            help="Where audit lines go: a file, - for standard output, otlp for the collector; several with commas.",
        ),
    ] = "-",
    audit_secret: Annotated[
        str,
        typer.Option(
            envvar=_env("AUDIT_SECRET"),
            show_envvar=True,
            help="Secret that audit lines are sealed with, at least 16 bytes; several, separated by commas: the first "
            "seals. Better set as a variable. Without one: the secret.",
        ),
    ] = "",
    audit_max_bytes: Annotated[
        int, typer.Option(envvar=_env("AUDIT_MAX_BYTES"), help="Put an audit file of this size aside; 0: never.")
    ] = 0,
    audit_max_seconds: Annotated[
        float, typer.Option(envvar=_env("AUDIT_MAX_SECONDS"), help="Put an audit file of this age aside; 0: never.")
    ] = 0.0,
    otlp: Annotated[
        str,
        typer.Option(
            envvar=_env("OTLP"),
            help="OpenTelemetry collector that spans go to (OTLP over HTTP), such as http://127.0.0.1:4318.",
        ),
    ] = "",
    log_level: Annotated[
        str, typer.Option(envvar=_env("LOG_LEVEL"), help="debug, info, warning or error; the log never holds text.")
    ] = "info",
) -> None:
    """Runs the proxy until SIGTERM or Ctrl-C."""
    try:
        settings = Settings(
            upstream=upstream,
            policy=policy,
            tenants=tenants,
            dialect=dialect,
            host=host,
            port=port,
            secret=secret.encode(),
            workers=workers or default_workers(processes),
            processes=processes,
            device=device,
            max_body_bytes=max_body_bytes,
            max_decompressed_bytes=max_decompressed_bytes,
            max_answer_bytes=max_answer_bytes,
            max_connections=max_connections,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            write_timeout=write_timeout,
            pool_timeout=pool_timeout,
            receive_timeout=receive_timeout,
            drain_timeout=drain_timeout,
            upstream_ca=upstream_ca,
            upstream_cert=upstream_cert,
            upstream_key=upstream_key,
            tls_cert=tls_cert,
            tls_key=tls_key,
            tls_client_ca=tls_client_ca,
            store=store,
            store_secret=store_secret.encode(),
            store_ttl=store_ttl,
            inspector=inspector,
            inspector_key=inspector_key.encode(),
            audit=audit,
            audit_secret=audit_secret.encode(),
            audit_max_bytes=audit_max_bytes,
            audit_max_seconds=audit_max_seconds,
            otlp=otlp.rstrip("/"),
            log_level=log_level,
        )
    except StartError as error:
        tell([*error.faults, *in_files(policy, tenants, several=processes > 1 and store == "memory")])
        raise typer.Exit(CANNOT_START) from None
    try:
        run(settings)
    except StartError as error:
        tell(error.faults)
        raise typer.Exit(CANNOT_START) from None


def in_files(policy: Path, tenants: Path | None, *, several: bool) -> list[str]:
    """What is wrong with the policy and the tenants file where options are wrong too, so that all is told at once;
    with `several` also why several processes cannot serve them without a store that they share."""
    stand_in = Settings(upstream="http://127.0.0.1", policy=policy, tenants=tenants)
    try:
        plan = application.plan_of(stand_in)
    except StartError as error:
        return error.faults
    return list(unservable(stand_in, plan)) if several else []


def run(settings: Settings) -> None:
    """Serves until a signal. Raises `StartError`, and `typer.Exit` if detection does not come up."""
    log = logs.service_log(settings.log_level)
    logs.silence(log)
    if settings.processes > 1:
        several(settings, log)
    else:
        alone(settings, log)


def alone(settings: Settings, log: logs.Log) -> None:
    """One process."""
    faults: list[str] = []

    def failed(found: list[str]) -> None:
        faults.extend(found)
        server.should_exit = True

    listener = listen(settings.host, settings.port)
    try:
        server = uvicorn.Server(config(application.build(settings, log, failed), settings, from_clients(settings, log)))
        log.info("starting", host=settings.host, port=listener.getsockname()[1])
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        # uvicorn raises the signal again once it has drained.
        return
    finally:
        listener.close()
    if faults:
        tell(faults)
        raise typer.Exit(FAILED_TO_START)


def several(settings: Settings, log: logs.Log) -> None:
    """Several processes, and this one above them."""
    faults = list(unservable(settings, application.plan_of(settings)))
    if faults:
        raise StartError(faults)
    if not settings.secret:
        log.warning("secret_random")
    listener = listen(settings.host, settings.port)
    fleet = Fleet(settings, listener, log, one_of_several)
    log.info("starting", host=settings.host, port=listener.getsockname()[1])
    try:
        status = fleet.run()
    finally:
        listener.close()
    if fleet.signal == signal.SIGTERM:
        signal.raise_signal(signal.SIGTERM)
    if status:
        raise typer.Exit(status)


def one_of_several(settings: Settings, listener: socket.socket, seat: Seat, told: Connection) -> None:
    """The life of one process of several: what a terminal sends to all goes to the one above only, which asks this one
    to end. If that is gone, this one ends too."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    log = logs.service_log(settings.log_level)
    logs.silence(log)
    if seat.template is not None:
        borrow(seat.template)
    faults: list[str] = []
    try:
        tls = from_clients(settings, log)
        server = _Telling(config(application.build(settings, log, faults.extend, seat), settings, tls))
        server.told = told
        server.run(sockets=[listener])
    except StartError as error:
        tell(error.faults)
        sys.exit(CANNOT_START)
    except SystemExit:
        tell(faults)
        sys.exit(FAILED_TO_START)
    except Exception as error:
        end_at(error)


class _Telling(uvicorn.Server):
    """Says when it accepts requests."""

    told: Connection

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.told.send(True)
        self.told.close()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def config(app: App, settings: Settings, tls: ssl.SSLContext | None = None) -> uvicorn.Config:
    """The server: HTTP/1.1 only, no logs of its own, no trust in what a client says about itself."""
    return uvicorn.Config(
        app,
        interface="asgi3",
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_context_factory=None if tls is None else lambda *_: tls,
        timeout_keep_alive=65,
        timeout_graceful_shutdown=max(1, round(settings.drain_timeout)),
    )


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, not listening yet. Raises `StartError` if the address cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        raise StartError([f"host: {host} is not an address of this machine"]) from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise StartError([f"{host}:{port} cannot be listened on ({error.strerror})"]) from None
    return listener


def tell(faults: list[str]) -> None:
    """Says on standard error why the service does not run."""
    typer.echo("caviardage cannot start:", err=True)
    for fault in faults:
        typer.echo(f"  {fault}", err=True)

"""TLS on both sides: who is let in, what is spoken, whom the proxy trusts, and a certificate that was renewed."""

from __future__ import annotations

import io
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trustme
import uvicorn
from cryptography.hazmat.primitives import serialization

from proxy import app as application
from proxy.commands import serve
from proxy.echo import Echo, Loopback
from proxy.logs import service_log
from proxy.settings import Settings, StartError
from proxy.tls import from_clients
from tests.e2e import SECRET, wait_until
from tests.replicas import detecting

POLICY = """
version: 1
languages: [en]
limits: {default: 20000}
entities: {EMAIL_ADDRESS: replace}
"""
MAIL = "mira.tallow@example.com"
BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"Write to {MAIL}."}]}


@dataclass
class World:
    """Authorities for the proxy's clients, for the proxy itself and for the provider, and files of certificates."""

    folder: Path
    policy: Path
    ours: trustme.CA
    clients: trustme.CA
    theirs: trustme.CA

    def pair(self, name: str, authority: trustme.CA, *names: str) -> tuple[Path, Path]:
        made = authority.issue_cert(*names)
        cert, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        cert.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
        key.write_bytes(made.private_key_pem.bytes())
        return cert, key

    def authority(self, name: str, authority: trustme.CA) -> Path:
        path = self.folder / f"{name}-ca.pem"
        path.write_bytes(authority.cert_pem.bytes())
        return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tls")
    policy = folder / "light.yaml"
    policy.write_text(POLICY)
    with detecting(policy):
        yield World(folder, policy, trustme.CA(), trustme.CA(), trustme.CA())


@dataclass
class Running:
    """A proxy on a port of this machine."""

    port: int
    log: io.StringIO

    def ask(self, context: ssl.SSLContext, scheme: str = "https") -> httpx2.Response:
        with httpx2.Client(verify=context, trust_env=False, timeout=60) as client:
            return client.post(f"{scheme}://127.0.0.1:{self.port}/v1/chat/completions", json=BODY)

    def serial(self, context: ssl.SSLContext) -> int:
        """Of the certificate that it shows."""
        with (
            socket.create_connection(("127.0.0.1", self.port), 30) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped,
        ):
            return int(wrapped.getpeercert()["serialNumber"], 16)  # type: ignore[index, arg-type]

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.log.getvalue().splitlines()]


def settings(world: World, upstream: str, **more: Any) -> Settings:
    audit = str(world.folder / "audit")
    return Settings(upstream=upstream, policy=world.policy, secret=SECRET.encode(), audit=audit, workers=1, **more)


@contextmanager
def running(made: Settings) -> Iterator[Running]:
    out = io.StringIO()
    log, faults = service_log("debug", out), list[str]()
    listener = serve.listen("127.0.0.1", 0)
    app = application.build(made, log, faults.extend)
    server = uvicorn.Server(serve.config(app, made, from_clients(made, log)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    port = listener.getsockname()[1]
    thread.start()
    try:
        wait_until(lambda: (app.ready and server.started) or faults)
        assert not faults
        yield Running(port, out)
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def provider(context: ssl.SSLContext) -> Iterator[tuple[Echo, str]]:
    echo = Echo()
    loopback = Loopback(echo.app)
    loopback._server.config.ssl_context_factory = lambda *_: context
    with loopback:
        yield echo, f"https://127.0.0.1:{loopback.port}/v1"


def trusting(authority: trustme.CA, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


@pytest.fixture(scope="module")
def strict(world: World) -> Iterator[tuple[Running, Echo]]:
    """TLS with certificates of both ends, on both sides of the proxy."""
    cert, key = world.pair("proxy", world.ours, "127.0.0.1")
    shown = world.pair("shown", world.theirs, "proxy.example")
    asking = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    asking.verify_mode = ssl.CERT_REQUIRED
    world.theirs.configure_trust(asking)
    world.theirs.issue_cert("127.0.0.1").configure_cert(asking)
    with provider(asking) as (echo, url):
        made = settings(
            world,
            url,
            tls_cert=cert,
            tls_key=key,
            tls_client_ca=world.authority("clients", world.clients),
            upstream_ca=world.authority("theirs", world.theirs),
            upstream_cert=shown[0],
            upstream_key=shown[1],
        )
        with running(made) as proxy:
            yield proxy, echo


def test_both_ends_show_certificates_on_both_sides(world: World, strict: tuple[Running, Echo]) -> None:
    proxy, echo = strict
    answer = proxy.ask(trusting(world.ours, world.pair("client", world.clients, "client.example")))
    assert answer.json()["choices"][0]["message"]["content"] == BODY["messages"][0]["content"]  # type: ignore[index]
    assert MAIL not in str(echo.received)


@pytest.mark.parametrize("shown", [None, "theirs"])
def test_clients_without_a_certificate_of_the_right_authority_get_nothing(
    world: World, strict: tuple[Running, Echo], shown: str | None
) -> None:
    proxy, echo = strict
    before = len(echo.received)
    pair = world.pair("stranger", world.theirs, "client.example") if shown else None
    with pytest.raises(httpx2.TransportError):
        proxy.ask(trusting(world.ours, pair))
    assert len(echo.received) == before


def test_plain_http_is_not_answered_on_a_port_with_tls(world: World, strict: tuple[Running, Echo]) -> None:
    with pytest.raises(httpx2.TransportError):
        strict[0].ask(trusting(world.ours), "http")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1:DeprecationWarning")
@pytest.mark.parametrize("weak", ["version", "cipher"])
def test_old_versions_and_ciphers_are_not_spoken(world: World, strict: tuple[Running, Echo], weak: str) -> None:
    context = trusting(world.ours, world.pair("client", world.clients, "client.example"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert strict[0].serial(context)
    if weak == "version":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    else:
        context.set_ciphers("ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        strict[0].serial(context)


def test_an_upstream_that_is_not_known_or_does_not_know_the_proxy_gets_nothing(world: World) -> None:
    asking = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    asking.verify_mode = ssl.CERT_REQUIRED
    world.theirs.configure_trust(asking)
    world.theirs.issue_cert("127.0.0.1").configure_cert(asking)
    stranger = world.pair("stranger", world.ours, "proxy.example")
    known = {"upstream_ca": world.authority("theirs", world.theirs)}
    for more in ({}, known, {**known, "upstream_cert": stranger[0], "upstream_key": stranger[1]}):
        with provider(asking) as (echo, url), running(settings(world, url, **more)) as proxy:
            refused = proxy.ask(ssl.create_default_context(), "http")
            assert (refused.status_code, refused.json()["error"]["code"]) == (502, "upstream_unreachable")
            assert echo.received == []


def test_a_renewed_certificate_is_shown_and_a_broken_one_is_not(world: World) -> None:
    cert, key = world.pair("renewed", world.ours, "127.0.0.1")
    made = settings(world, "http://127.0.0.1:9/v1", tls_cert=cert, tls_key=key)
    with running(made) as proxy:
        first = proxy.serial(trusting(world.ours))
        assert proxy.serial(trusting(world.ours)) == first
        world.pair("renewed", world.ours, "127.0.0.1")
        second = proxy.serial(trusting(world.ours))
        assert second != first
        cert.write_text("not a certificate")
        assert proxy.serial(trusting(world.ours)) == second
        key.unlink()
        assert proxy.serial(trusting(world.ours)) == second
        world.pair("renewed", world.ours, "127.0.0.1")
        assert proxy.serial(trusting(world.ours)) not in (first, second)
    changes = [event for event in proxy.events() if event.startswith("certificate")]
    assert changes == ["certificate_renewed", "certificate_unusable", "certificate_unusable", "certificate_renewed"]


def test_files_that_do_not_fit_stop_the_start(world: World) -> None:
    cert, key = world.pair("one", world.ours, "127.0.0.1")
    _, other = world.pair("two", world.ours, "127.0.0.1")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    locked = world.folder / "locked.key"
    locked.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"a password"),
        )
    )
    url, log = "https://127.0.0.1:9/v1", service_log("debug", io.StringIO())
    for wrong in (other, locked, cert):
        with pytest.raises(StartError, match=r"tls: .* are not a certificate and its key"):
            from_clients(settings(world, url, tls_cert=cert, tls_key=wrong), log)
        with pytest.raises(StartError, match=r"upstream: .* are not a certificate and its key"):
            application.upstream_of(settings(world, url, upstream_cert=cert, upstream_key=wrong))
    with pytest.raises(StartError, match="tls client CA: no certificates"):
        from_clients(settings(world, url, tls_cert=cert, tls_key=key, tls_client_ca=key), log)
    assert from_clients(settings(world, url), log) is None
    for more, fault in (
        ({"tls_cert": cert}, "--tls-cert, --tls-key: one needs the other"),
        ({"upstream_key": key}, "--upstream-cert, --upstream-key: one needs the other"),
        ({"tls_client_ca": cert}, "--tls-client-ca: needs --tls-cert"),
        ({"tls_cert": Path("/no/cert"), "tls_key": key}, "--tls-cert: no file at /no/cert"),
        ({"tls_client_ca": Path("/no/ca"), "tls_cert": cert, "tls_key": key}, "--tls-client-ca: no file at /no/ca"),
    ):
        with pytest.raises(StartError, match=fault):
            settings(world, url, **more)

"""TLS from clients: the certificate that they see, and the authority that theirs must be from. Strict, without options.

TLS 1.2 with forward secrecy and authenticated encryption, or 1.3. A certificate that was renewed on disk is taken up by
the next connection; one that cannot be used leaves the old one in place.

May import: settings, logs, the standard library.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from proxy.logs import Log
from proxy.settings import Settings, StartError

CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2; all that TLS 1.3 has are such."""


def from_clients(settings: Settings, log: Log) -> ssl.SSLContext | None:
    """What connections are taken with; None without TLS. Raises `StartError` if a file is not what it should be."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    context = _context()
    load_pair(context, "tls", settings.tls_cert, settings.tls_key)
    if settings.tls_client_ca is not None:
        try:
            context.load_verify_locations(settings.tls_client_ca)
        except OSError:
            raise StartError([f"tls client CA: no certificates in PEM form in {settings.tls_client_ca}"]) from None
        context.verify_mode = ssl.CERT_REQUIRED
    context.sni_callback = _Renewal(settings.tls_cert, settings.tls_key, log)
    return context


def load_pair(context: ssl.SSLContext, name: str, cert: Path, key: Path) -> None:
    """Raises `StartError` if these are not a certificate and its key; asks nobody for a password."""
    try:
        context.load_cert_chain(cert, key, password="")
    except (OSError, ValueError):
        fault = f"{name}: {cert} and {key} are not a certificate and its key, in PEM form and without a password"
        raise StartError([fault]) from None


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Renewal:
    """Asked at every handshake, whether or not the client names a server."""

    def __init__(self, cert: Path, key: Path, log: Log) -> None:
        self._files = cert, key
        self._log = log
        self._stamp = self._now()
        self._context: ssl.SSLContext | None = None

    def __call__(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        stamp = self._now()
        if stamp != self._stamp:
            self._stamp = stamp
            self._renew()
        if self._context is not None:
            connection.context = self._context

    def _renew(self) -> None:
        context = _context()
        try:
            load_pair(context, "tls", *self._files)
        except StartError:
            self._log.error("certificate_unusable")
        else:
            self._context = context
            self._log.info("certificate_renewed")

    def _now(self) -> tuple[int, ...]:
        try:
            found = [path.stat() for path in self._files]
        except OSError:
            return ()
        return tuple(number for one in found for number in (one.st_mtime_ns, one.st_ino, one.st_size))

"""What an operator can set, checked once at start. May import: wire (which dialects there are), the standard library.

Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from proxy.wire.dialects import DEFAULT, NAMES

MIB = 1 << 20


class StartError(Exception):
    """The service cannot start. `faults` are lines for the operator; they hold settings, never traffic."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def default_workers(processes: int = 1) -> int:
    """Detection processes when nothing is said: one a core, at most four, shared out among the processes that serve."""
    return max(1, min(4, os.cpu_count() or 1) // max(1, processes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One service. Raises `StartError` naming every fault when built from values that cannot work."""

    upstream: str
    policy: Path
    tenants: Path | None = None
    dialect: str = ",".join(DEFAULT)
    host: str = "127.0.0.1"
    port: int = 8484
    secret: bytes = field(default=b"", repr=False)
    workers: int = field(default_factory=default_workers)
    processes: int = 1
    max_body_bytes: int = 32 * MIB
    max_decompressed_bytes: int = 32 * MIB
    max_answer_bytes: int = 64 * MIB
    max_connections: int = 100
    connect_timeout: float = 5.0
    read_timeout: float = 600.0
    write_timeout: float = 60.0
    pool_timeout: float = 10.0
    receive_timeout: float = 120.0
    drain_timeout: float = 30.0
    upstream_ca: Path | None = None
    upstream_cert: Path | None = None
    upstream_key: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    store: str = field(default="memory", repr=False)
    store_secret: bytes = field(default=b"", repr=False)
    store_ttl: float = 86_400.0
    device: str = "auto"
    inspector: bool = False
    inspector_key: bytes = field(default=b"", repr=False)
    audit: str = "-"
    audit_secret: bytes = field(default=b"", repr=False)
    audit_max_bytes: int = 0
    audit_max_seconds: float = 0.0
    otlp: str = ""
    log_level: str = "info"

    def __post_init__(self) -> None:
        faults = [*(f"--{fault}" for fault in upstream_faults(self.upstream)), *self._number_faults()]
        if self.secret and len(self.secret) < 16:
            faults.append("--secret: at least 16 bytes are needed, for example the output of `openssl rand -hex 32`")
        if self.inspector_key and len(self.inspector_key) < 16:
            faults.append("--inspector-key: at least 16 bytes are needed, such as the output of `openssl rand -hex 32`")
        faults += self._store_faults()
        if self.device not in DEVICES:
            faults.append(f"--device: one of {', '.join(DEVICES)}")
        if not self.dialects or not set(self.dialects) <= set(NAMES):
            faults.append(f"--dialect: one or more of {', '.join(NAMES)}, separated by commas")
        faults += self._audit_faults()
        if self.log_level not in LOG_LEVELS:
            faults.append(f"--log-level: one of {', '.join(LOG_LEVELS)}")
        faults += self._file_faults()
        if faults:
            raise StartError(faults)

    @property
    def shared_store(self) -> bool:
        """Whether what outlives a request is kept outside this process."""
        return self.store != "memory"

    @property
    def store_secrets(self) -> tuple[bytes, ...]:
        """The secrets that records are sealed with: the first seals, all open. Empty: none was set."""
        return split_secrets(self.store_secret) or ((self.secret,) if self.secret else ())

    @property
    def audits(self) -> tuple[str, ...]:
        """Where audit lines go, each once."""
        return tuple(dict.fromkeys(part.strip() for part in self.audit.split(",") if part.strip()))

    @property
    def audit_secrets(self) -> tuple[bytes, ...]:
        """The secrets that the trail is sealed with: the first seals, all are known. Empty: none was set."""
        return split_secrets(self.audit_secret) or ((self.secret,) if self.secret else ())

    def _audit_faults(self) -> Iterator[str]:
        if not self.audits:
            yield "--audit: name a file, - or otlp"
        if "otlp" in self.audits and not self.otlp:
            yield "--audit: otlp needs a collector (CAVIARDAGE_OTLP)"
        if self.otlp:
            yield from (fault.replace("upstream", "--otlp", 1) for fault in upstream_faults(self.otlp))
        if any(len(secret) < 16 for secret in split_secrets(self.audit_secret)):
            yield "--audit-secret: each needs at least 16 bytes, for example the output of `openssl rand -hex 32`"
        if self.audit_max_bytes < 0 or self.audit_max_seconds < 0:
            yield "--audit-max-bytes, --audit-max-seconds: must not be negative (0: never)"

    def _file_faults(self) -> Iterator[str]:
        for name in ("upstream_ca", "upstream_cert", "upstream_key", "tls_cert", "tls_key", "tls_client_ca"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                yield f"{_option(name)}: no file at {path}"
        for side in ("upstream", "tls"):
            if (getattr(self, f"{side}_cert") is None) != (getattr(self, f"{side}_key") is None):
                yield f"--{side}-cert, --{side}-key: one needs the other"
        if self.tls_client_ca is not None and self.tls_cert is None:
            yield "--tls-client-ca: needs --tls-cert and --tls-key"

    def _store_faults(self) -> Iterator[str]:
        if any(len(secret) < 16 for secret in self.store_secrets if secret != self.secret):
            yield "--store-secret: each needs at least 16 bytes, for example the output of `openssl rand -hex 32`"
        if not self.shared_store:
            return
        fault = store_fault(self.store)
        if fault:
            yield f"--store: {fault}"
        if not self.secret:
            yield "--store: a shared store needs a secret (CAVIARDAGE_SECRET), the same for all replicas"

    @property
    def dialects(self) -> tuple[str, ...]:
        """The APIs that the upstream speaks, by name."""
        return tuple(dict.fromkeys(name.strip() for name in self.dialect.split(",") if name.strip()))

    def _number_faults(self) -> Iterator[str]:
        for name in POSITIVE:
            if getattr(self, name) <= 0:
                yield f"{_option(name)}: must be greater than 0"
        if not 0 <= self.port <= 65535:
            yield "--port: must be between 0 and 65535 (0 takes a free one)"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def split_secrets(listed: bytes) -> tuple[bytes, ...]:
    """Secrets that are separated by commas."""
    return tuple(part.strip() for part in listed.split(b",") if part.strip())


DEVICES = ("auto", "cpu", "cuda")
LOG_LEVELS = ("debug", "info", "warning", "error")
POSITIVE = (
    "workers",
    "processes",
    "max_body_bytes",
    "max_decompressed_bytes",
    "max_answer_bytes",
    "max_connections",
    "connect_timeout",
    "read_timeout",
    "write_timeout",
    "pool_timeout",
    "receive_timeout",
    "drain_timeout",
    "store_ttl",
)


def upstream_faults(url: str) -> Iterator[str]:
    """What is wrong with a base URL. The URL itself is not repeated: people put keys into URLs."""
    try:
        parts = urlsplit(url)
        host, port, user = parts.hostname, parts.port, parts.username or parts.password
    except ValueError:
        yield "upstream: not a URL"
        return
    if parts.scheme not in ("http", "https") or not host or port == 0:
        yield "upstream: must be a URL like https://api.example.com/v1"
    if user is not None:
        yield "upstream: must not hold credentials; clients send their own key"
    if parts.query or parts.fragment or "?" in url or "#" in url:
        yield "upstream: must not hold a query or a fragment"
    if not url.isascii() or any(char <= " " or char == "\x7f" for char in url):
        yield "upstream: must be printable ASCII without spaces"


STORE_SCHEMES = ("redis", "rediss", "valkey", "valkeys", "unix")


def store_fault(url: str) -> str | None:
    """What is wrong with a store's URL, without repeating it, for it may hold a password; None if nothing is."""
    try:
        parts = urlsplit(url)
        host = parts.port != 0 and parts.hostname
    except ValueError:
        return "not a URL"
    if parts.scheme not in STORE_SCHEMES or not (host or (parts.scheme == "unix" and parts.path)):
        return f"must be memory, or a URL like redis://host:6379/0 ({', '.join(STORE_SCHEMES)})"
    return None


def is_plain_remote(url: str) -> bool:
    """True for `http://` to another machine, where placeholders and keys travel unencrypted."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None or parts.hostname == "localhost":
        return False
    try:
        return not ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        return True

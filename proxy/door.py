"""Who may come in, under what name, and who answers: what ingress asks before it reads a body.

May import: headers, trip, the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from proxy.headers import CREDENTIALS
from proxy.trip import Inbound, Outbound

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Handler(Protocol):
    """The pipeline, seen from here. Refusals come back as answers; it raises only when it is cancelled."""

    async def handle(self, inbound: Inbound) -> Outbound: ...


@dataclass(frozen=True, slots=True)
class Admitted:
    """A caller with whoever answers it. `headers` are the caller's, its credentials as they may go on."""

    tenant: str
    handler: Handler
    headers: Headers = field(repr=False)


class Door(Protocol):
    """Stands before the pipeline."""

    def known_as(self, headers: Headers) -> str:
        """The tenant's name for the trail, whether or not it may come in."""
        ...

    def admit(self, headers: Headers) -> AbstractAsyncContextManager[Admitted]:
        """Inside the block the request has its place. Raises a `Refusal`."""
        ...


class OpenDoor:
    """Lets everybody in, each under a keyed hash of its credentials."""

    def __init__(self, handler: Handler, secret: bytes) -> None:
        self._handler = handler
        self._secret = secret

    def known_as(self, headers: Headers) -> str:
        return tenant_of(headers, self._secret)

    @asynccontextmanager
    async def admit(self, headers: Headers) -> AsyncIterator[Admitted]:
        yield Admitted(self.known_as(headers), self._handler, headers)


def tenant_of(headers: Iterable[tuple[str, str]], secret: bytes) -> str:
    """Who is asking: a keyed hash of the credentials, 16 hexadecimal digits, or `anonymous` without any."""
    credentials = [f"{name}:{value}" for name, value in headers if name in CREDENTIALS]
    if not credentials:
        return "anonymous"
    return hmac.new(secret, "\n".join(credentials).encode("latin-1"), hashlib.sha256).hexdigest()[:16]

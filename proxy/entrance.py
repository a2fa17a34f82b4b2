"""The door of the service: who may come in, under which policy in force, and with which key it goes on.

Without tenants everybody comes in under the default policy, as the tenant that a keyed hash of the credentials names.
With tenants nobody does whose key is not known.

May import: door, live, tenants, rates, budgets, headers, trip, errors, the standard library.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from proxy.budgets import Share, Spending
from proxy.door import Admitted, Handler, Headers, tenant_of
from proxy.errors import UnknownKey, UnsupportedByPolicy
from proxy.headers import CREDENTIALS
from proxy.live import Live, Snapshot, Working
from proxy.rates import Allowance, Rates
from proxy.tenants.keys import PREFIX, owner
from proxy.tenants.model import Key, Tenant
from proxy.trip import Inbound, Outbound

Pipe = Callable[[Working, str | None, Spending], Handler]
"""A pipeline under a policy, to an upstream (None: that of the service), spending from these budgets."""
ASKED = "x-caviardage-policy"
_BEARER = "bearer "
_OF_THE_KEY = ("openai-organization", "openai-project")
"""Headers that say whose account is meant: not the client's to say where the key is not the client's."""


@dataclass(frozen=True, slots=True)
class _Caller:
    """A known key: in which header it came, and whose it is."""

    header: str
    given: str = field(repr=False)
    name: str
    tenant: Tenant
    key: Key

    @property
    def shares(self) -> tuple[tuple[str, Tenant | Key], ...]:
        """Whose limits hold, each under a name that no other has."""
        return (f"tenant:{self.name}", self.tenant), (f"key:{self.key.sha256}", self.key)


class Entrance:
    """One per service. What is counted here outlives every policy and tenants file."""

    def __init__(self, live: Live, pipe: Pipe, secret: bytes, rates: Rates, spending: Spending) -> None:
        self._live, self._pipe, self._secret = live, pipe, secret
        self._rates, self._spending = rates, spending
        self._made: WeakKeyDictionary[Snapshot, dict[tuple[str, ...], Handler]] = WeakKeyDictionary()

    def known_as(self, headers: Headers) -> str:
        try:
            caller = _recognised(self._live.current, headers)
        except UnknownKey:
            caller = None
        return tenant_of(headers, self._secret) if caller is None else caller.name

    @asynccontextmanager
    async def admit(self, headers: Headers) -> AsyncIterator[Admitted]:
        with self._live.hold() as snapshot:
            caller = _recognised(snapshot, headers)
            working = _working(snapshot, caller, headers)
            if caller is None:
                yield Admitted(tenant_of(headers, self._secret), self._handler(snapshot, working), headers)
                return
            outgoing = _outgoing(headers, caller, snapshot.plan.keys.get(caller.name))
            allowed = [
                Allowance(who, owns.limits.requests_per_minute, owns.limits.concurrent) for who, owns in caller.shares
            ]
            async with self._rates.place(allowed):
                yield Admitted(caller.name, self._handler(snapshot, working, caller), outgoing)

    async def handle(self, inbound: Inbound) -> Outbound:
        """A request that came in by no door."""
        with self._live.hold() as snapshot:
            return await self._handler(snapshot, snapshot.default).handle(inbound)

    def _handler(self, snapshot: Snapshot, working: Working, caller: _Caller | None = None) -> Handler:
        """Made at a key's first request under a policy, and forgotten with the snapshot."""
        made = self._made.setdefault(snapshot, {})
        who = (str(working.file),) if caller is None else (str(working.file), caller.name, caller.key.sha256)
        if who not in made:
            if caller is None:
                made[who] = self._pipe(working, None, self._spending)
            else:
                share = Share(self._spending, [(name, owns.limits) for name, owns in caller.shares])
                made[who] = self._pipe(working, caller.tenant.upstream, share)
        return made[who]


def _recognised(snapshot: Snapshot, headers: Headers) -> _Caller | None:
    """Whose key a request brings; None where there are no tenants. Raises `UnknownKey`."""
    roll = snapshot.plan.roll
    if roll is None:
        return None
    credentials = [(name, value.strip(" \t")) for name, value in headers if name in CREDENTIALS]
    if len(credentials) != 1:
        raise UnknownKey
    header, value = credentials[0]
    if header == "authorization":
        if not value.lower().startswith(_BEARER):
            raise UnknownKey
        value = value[len(_BEARER) :].strip(" ")
    found = owner(value, roll.tenants)
    if found is None:
        raise UnknownKey
    name, key = found
    return _Caller(header, value, name, roll.tenants.tenants[name], key)


def _working(snapshot: Snapshot, caller: _Caller | None, headers: Headers) -> Working:
    """The policy of the caller, or a stricter one that it asks for. Raises `UnsupportedByPolicy`."""
    files = _files(snapshot, caller)
    asked = [value.strip(" \t") for name, value in headers if name == ASKED]
    if not asked:
        return snapshot.workings[files[0]]
    known = (snapshot.workings[file] for file in files)
    found = next((working for working in known if asked in ([working.policy.name], [working.label])), None)
    if found is None and snapshot.plan.roll is None:
        raise UnsupportedByPolicy(
            f"The header {ASKED} can only ask for another policy where a tenants file lists it under `stricter`; "
            "this service has no tenants file."
        )
    if found is None:
        raise UnsupportedByPolicy(f"The header {ASKED} can only ask for a policy that is stricter and allowed here.")
    return found


def _files(snapshot: Snapshot, caller: _Caller | None) -> list[Path]:
    """Its own policy's file, then those of the stricter ones that it may ask for."""
    roll = snapshot.plan.roll
    if caller is None or roll is None:
        return [snapshot.plan.default]
    own = snapshot.plan.default if caller.tenant.policy is None else roll.path(caller.tenant.policy)
    return [own, *map(roll.path, caller.tenant.stricter)]


def _outgoing(headers: Headers, caller: _Caller, upstream_key: str | None) -> Headers:
    """The caller's headers with the key that goes on. A key of ours never does. Raises `UnsupportedByPolicy`."""
    if caller.tenant.upstream_key == "client" and not caller.given.startswith(PREFIX):
        return headers
    for name, _ in headers:
        if name in _OF_THE_KEY:
            raise UnsupportedByPolicy(f"The header {name} belongs to the key, which is not the client's here.")
    rest = tuple((name, value) for name, value in headers if name not in CREDENTIALS)
    if upstream_key is None:
        return rest
    return *rest, (caller.header, f"Bearer {upstream_key}" if caller.header == "authorization" else upstream_key)

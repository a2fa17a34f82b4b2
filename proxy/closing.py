"""The last thing that happens to a request: its audit line, its refusal, our headers on its answer.

May import: audit, forward, trip, headers, wire, errors, model.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy import audit
from proxy.errors import Refusal, Unavailable
from proxy.forward import UpstreamAnswer, client_headers
from proxy.trip import Outbound, Trip
from proxy.wire.base import serialise
from proxy.wire.dialects import Dialects


class Closing:
    """Ends requests. Holds no request's data."""

    def __init__(self, log: audit.Audit, dialects: Dialects, on_fault: Callable[[Exception], None]) -> None:
        self._log = log
        self._dialects = dialects
        self._on_fault = on_fault

    def check(self) -> None:
        """Raises where what happens could not be written down: then nothing happens."""
        self._log.check()

    async def going_out(self, trip: Trip) -> None:
        """What is forwarded is written down first; what cannot be written down is not forwarded."""
        await self._log.forward(trip.record.close(trip.policy, "forward", "", 0))

    def close(self, trip: Trip, verdict: str, reason: str, status: int) -> None:
        """Writes the audit line, once, and forgets the values."""
        if trip.closed:  # a held stream that is given up says so before whoever waits for it can
            return
        if trip.restoration is not None:
            trip.record.restored = trip.restoration.tally.restored
            trip.record.foreign = trip.restoration.tally.foreign
        trip.record.usage(trip.seen.usage)
        if trip.vault is not None:
            trip.vault.wipe()
        self._log.write(trip.record.close(trip.policy, verdict, reason, status))
        trip.closed = True

    def refuse(self, trip: Trip, refusal: Refusal) -> Outbound:
        """Ends a request with a refusal."""
        try:
            self.close(trip, "refuse", refusal.code, refusal.status)
        except Refusal as unlogged:
            refusal = unlogged
        return self.refusal(trip, refusal)

    def refusal(self, trip: Trip, refusal: Refusal) -> Outbound:
        """A refusal in the form of the API that was asked."""
        headers = [("content-type", "application/json"), *refusal.headers().items(), *_own_headers(trip)]
        error = self._dialects.error_for(trip.inbound.path, trip.inbound.headers)
        return Outbound(refusal.status, headers, serialise(error(refusal)))

    def fault(self, error: Exception) -> Unavailable:
        """A fault of our own: its type and place go to the log, its text (which may quote a prompt) nowhere."""
        self._on_fault(error)
        return Unavailable(f"Internal fault ({type(error).__name__}).", code="internal_fault")


def answer_headers(trip: Trip, answer: UpstreamAnswer) -> list[tuple[str, str]]:
    """The upstream's headers that a client may have, and ours."""
    return [*client_headers(answer.headers), *_own_headers(trip)]


def _own_headers(trip: Trip) -> list[tuple[str, str]]:
    record = trip.record
    entities = ",".join(f"{entity}={count}" for entity, count in sorted(record.entities.items()))
    own = [
        ("x-caviardage-request-id", trip.inbound.request_id),
        ("x-caviardage-policy", f"{trip.policy.name}@{trip.policy.digest}"),
        ("x-caviardage-entities", entities),
    ]
    if record.tokens_before is not None:
        own.append(("x-caviardage-prompt-tokens", str(record.tokens_before)))
    if record.alarms:
        own.append(("x-caviardage-alarms", ",".join(record.alarms)))
    return own

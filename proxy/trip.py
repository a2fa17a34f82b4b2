"""What the pipeline hands from step to step: a request as it came, its answer as it goes, and its own state.

May import: audit, verify, restore, keeping, vault, tokens, policy, model, errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from proxy import audit, verify
from proxy.errors import BadAnswer, Refusal
from proxy.keeping import Keeping
from proxy.model import Seen
from proxy.policy.model import Policy
from proxy.restore import Restoration
from proxy.tokens.counter import Counter
from proxy.vault import Vault

_MOST_HELD = 64 << 20
"""Bytes of a stream that are kept while it waits to be verified."""


class StreamBroken(Exception):
    """The answer stopped short: the client's connection must end in the middle, not cleanly."""


class Unsent(Exception):
    """A streamed answer was found bad before any of it had left: the client can still get a status of its own."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__()
        self.refusal = refusal


@dataclass(slots=True)
class Leaving:
    """Why a request is given up, said by whoever gives it up before it is cancelled."""

    reason: str = "client_disconnected"


@dataclass(frozen=True, slots=True)
class Inbound:
    """A request as ingress hands it over: decoded body, lower-cased header names."""

    request_id: str
    tenant: str
    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    leaving: Leaving = field(default_factory=Leaving)


@dataclass(slots=True)
class Outbound:
    """What goes back to the client; closing a streamed body closes the upstream connection."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | AsyncIterator[bytes] = field(repr=False)


@dataclass(slots=True)
class Trip:
    """One request's own state: lives in `handle`, is passed by argument, shared with nobody."""

    inbound: Inbound
    policy: Policy
    record: audit.Record
    keeping: Keeping
    """What the request has to do with what the provider keeps."""
    counter: Counter | None = None
    """How its tokens are counted, once its model is known."""
    seen: Seen = field(default_factory=Seen)
    vault: Vault | None = None
    restoration: Restoration | None = None
    sent: verify.Sent = field(default_factory=verify.Sent)
    """What the answer is held against, as last measured."""
    texts: tuple[str, ...] = field(default=(), repr=False)
    """The request's texts, to tell whether a value in the answer was among them."""
    closed: bool = False
    """Whether its last audit line is written."""

    @property
    def holds(self) -> bool:
        """Whether a stream waits until its usage was checked, or until it is complete."""
        answers = self.policy.answers
        long = answers.hold_above != "never" and self.sent.bound > answers.hold_above
        return (long and self.sent.reports) or (answers.unsolicited == "block" and self.policy.mode == "enforce")

    def may_go_on(self, held: list[bytes]) -> bool:
        """Whether a stream that waits may leave: the count is in (and passed), and nothing else asks for the end."""
        if sum(map(len, held)) > _MOST_HELD:
            raise BadAnswer("The answer is too long to be held until it can be verified.", code="answer_too_long")
        return self.policy.answers.unsolicited != "block" and verify.is_counted(self.seen.usage)

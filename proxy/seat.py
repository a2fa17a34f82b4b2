"""A process's place among several that serve one port, and what cannot be served by several.

May import: template, policy, settings, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proxy.policy import Policy
from proxy.settings import Settings
from proxy.template import Lent


@dataclass(frozen=True, slots=True)
class Seat:
    """`folder` is where all write their metrics, `secret` the one that was drawn for all, `counts` how many run and
    how often one was started again, renewed by the process above, `template` what workers are forked from. Alone: none
    of it."""

    folder: Path | None = None
    secret: bytes = field(default=b"", repr=False)
    counts: Sequence[int] = (1, 0)
    template: Lent | None = None

    @property
    def alone(self) -> bool:
        return self.folder is None


ALONE = Seat()


def faults(settings: Settings, policy: Policy) -> Iterator[str]:
    """Why several processes cannot serve this policy with these settings, in lines for the operator."""
    if not settings.shared_store and (kept := _kept(policy)):
        yield (
            "processes: what the provider keeps has to be known to all of them. Name a store that they share "
            f"(CAVIARDAGE_STORE=redis://...), or say in the policy {kept}"
        )
    budgets = policy.limits.budgets
    if (budgets.tokens_per_minute, budgets.tokens_per_day) != (None, None):
        yield "processes: budgets are counted by each process, so several would let through as many times as much"


def _kept(policy: Policy) -> str:
    """What the policy has to say for nothing to be kept from one request to the next; empty if it does."""
    state = policy.state
    wanted = {name: "refuse" for name in ("responses", "conversations", "batches") if getattr(state, name) != "refuse"}
    wanted |= {"thinking": "keep"} if state.thinking != "keep" else {}
    return f"state: {{{', '.join(f'{name}: {value}' for name, value in wanted.items())}}}" if wanted else ""

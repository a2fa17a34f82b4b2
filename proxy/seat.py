"""A process's place among several that serve one port, and what cannot be served by several.

May import: template, plan, policy, settings, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proxy.plan import Plan
from proxy.policy import Policy
from proxy.policy.sections import Budgets
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


def faults(settings: Settings, plan: Plan) -> Iterator[str]:
    """Why several processes cannot serve these policies with these settings, in lines for the operator."""
    if settings.shared_store:
        return
    kept = next(filter(None, map(_kept, plan.policies.values())), "")
    if kept:
        yield (
            "processes: what the provider keeps has to be known to all of them. Name a store that they share "
            f"(CAVIARDAGE_STORE=redis://...), or say in the policy {kept}"
        )
    if any(policy.limits.budgets != Budgets() for policy in plan.policies.values()):
        yield f"processes: budgets are {_ALONE}"
    if plan.roll is not None and plan.roll.limited:
        yield f"processes: limits of tenants are {_ALONE}"


_ALONE = (
    "counted by each process, so several would let through as many times as much. Name a store that they share "
    "(CAVIARDAGE_STORE=redis://...)"
)


def _kept(policy: Policy) -> str:
    """What the policy has to say for nothing to be kept from one request to the next; empty if it does."""
    state = policy.state
    wanted = {name: "refuse" for name in ("responses", "conversations", "batches") if getattr(state, name) != "refuse"}
    wanted |= {"thinking": "keep"} if state.thinking != "keep" else {}
    return f"state: {{{', '.join(f'{name}: {value}' for name, value in wanted.items())}}}" if wanted else ""

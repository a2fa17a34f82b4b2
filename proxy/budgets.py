"""How many tokens a tenant has asked for lately, against what the policy lets it have.

May import: errors, policy.sections, windows, the standard library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from limits.aio.storage import Storage

from proxy.errors import TokenBudgetExceeded
from proxy.policy.sections import Budgets
from proxy.windows import Window, Windows

NAMESPACE: Final = "tokens"


class Spending:
    """One per process, and it should outlive a policy: a new one must not begin the day again."""

    def __init__(self, storage: Storage | None = None, clock: Callable[[], float] = time.time) -> None:
        self._windows = Windows(NAMESPACE, storage, clock)

    async def spend(self, tenant: str, tokens: int, budgets: Budgets, *, later: bool = False) -> None:
        """Takes the tokens of one request: its prompt, and the completion that it asks for. Not given back.

        A request that a budget refuses takes from none. What the provider works on `later` is taken from those of a
        day only. Raises `TokenBudgetExceeded`, `Unavailable`.
        """
        await self.take([(tenant, budgets)], tokens, later=later)

    async def take(self, budgets: Sequence[tuple[str, Budgets]], tokens: int, *, later: bool = False) -> None:
        """The same from the budgets of several, each with a name that no other has."""
        wanted = [window for who, budget in budgets for window in _windows(who, budget) if tokens]
        wanted = [window for window in wanted if window.span == "day" or not later]
        for window in wanted:
            if tokens > window.amount:
                raise TokenBudgetExceeded(window.amount, window.span, tokens, None)
        full = await self._windows.take(wanted, cost=tokens)
        if full is not None:
            window, wait = full
            raise TokenBudgetExceeded(window.amount, window.span, tokens, wait)


class Share(Spending):
    """Spends from budgets of the caller's own as well: those of its tenant and of its key."""

    def __init__(self, whole: Spending, own: Sequence[tuple[str, Budgets]]) -> None:
        self._whole, self._own = whole, tuple(own)

    async def spend(self, tenant: str, tokens: int, budgets: Budgets, *, later: bool = False) -> None:
        await self._whole.take([(tenant, budgets), *self._own], tokens, later=later)


def _windows(who: str, budgets: Budgets) -> Iterator[Window]:
    if budgets.tokens_per_day is not None:
        yield Window(who, budgets.tokens_per_day, "day")
    if budgets.tokens_per_minute is not None:
        yield Window(who, budgets.tokens_per_minute, "minute")

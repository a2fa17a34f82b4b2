"""How many tokens a tenant has asked for lately, against what the policy lets it have.

Counted by `limits`, in windows that slide, in memory or wherever its storage keeps numbers (a server that replicas
share). What is kept is a number under a keyed hash of the tenant's credentials.

May import: errors, policy.sections, limits, the standard library.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from proxy.errors import TokenBudgetExceeded, Unavailable
from proxy.policy.sections import Budgets

NAMESPACE: Final = "tokens"


class Spending:
    """One per process, and it should outlive a policy: a new one must not begin the day again."""

    def __init__(self, storage: Storage | None = None, clock: Callable[[], float] = time.time) -> None:
        self._rates = SlidingWindowCounterRateLimiter(storage or MemoryStorage())
        self._clock = clock

    async def spend(self, tenant: str, tokens: int, budgets: Budgets) -> None:
        """Takes the tokens of one request: its prompt, and the completion that it asks for. Not given back.

        A request that a budget refuses takes from none. Raises `TokenBudgetExceeded`, `Unavailable`.
        """
        wanted = [(words, item) for words, item in _items(budgets) if tokens]
        for words, item in wanted:
            if tokens > item.amount:
                raise TokenBudgetExceeded(item.amount, words, tokens, None)
        for attempt in (self._rates.test, self._rates.hit):  # first whether all have room, then take
            for words, item in wanted:
                if not await self._tried(attempt(item, tenant, cost=tokens)):
                    raise TokenBudgetExceeded(item.amount, words, tokens, await self._wait(item, tenant))

    async def _wait(self, item: RateLimitItem, tenant: str) -> int:
        """Seconds until there is room again, at most one window."""
        try:
            resets = (await self._rates.get_window_stats(item, tenant)).reset_time
        except Exception:
            raise _uncounted() from None
        return max(1, min(item.get_expiry(), math.ceil(resets - self._clock())))

    async def _tried(self, attempt: Awaitable[bool]) -> bool:
        try:
            return await attempt
        except Exception:
            # The storage's error may name hosts, and its URL may hold a password.
            raise _uncounted() from None


def _items(budgets: Budgets) -> list[tuple[str, RateLimitItem]]:
    found: list[tuple[str, RateLimitItem]] = []
    if budgets.tokens_per_day is not None:
        found.append(("day", RateLimitItemPerDay(budgets.tokens_per_day, namespace=NAMESPACE)))
    if budgets.tokens_per_minute is not None:
        found.append(("minute", RateLimitItemPerMinute(budgets.tokens_per_minute, namespace=NAMESPACE)))
    return found


def _uncounted() -> Unavailable:
    return Unavailable("Tokens cannot be held against the budget.", code="budget_unavailable", retry=True)

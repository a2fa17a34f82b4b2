"""Windows that slide, in which callers may take so much: the only place where `limits` counts.

In memory, or on the Redis or Valkey server that replicas share. What is kept is a number under a name.
May import: errors, limits, the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from proxy.errors import Unavailable

T = TypeVar("T")
SECONDS: Final = 3.0
"""Longest time for a connection to the server that keeps numbers, and for its answer."""
_SCHEMES = {
    "redis": "redis",
    "rediss": "rediss",
    "valkey": "redis",
    "valkeys": "rediss",
    "unix": "redis+unix",
}


@dataclass(frozen=True, slots=True)
class Window:
    """What one caller may take in a minute or a day; `who` is a name that no other caller has."""

    who: str
    amount: int
    span: Literal["minute", "day"]

    def item(self, namespace: str) -> RateLimitItem:
        kind = RateLimitItemPerDay if self.span == "day" else RateLimitItemPerMinute
        return kind(self.amount, namespace=namespace)


class Windows:
    """Counts things of one kind, which `namespace` names."""

    def __init__(self, namespace: str, storage: Storage | None, clock: Callable[[], float]) -> None:
        self._namespace = namespace
        self._counting = SlidingWindowCounterRateLimiter(storage or MemoryStorage())
        self._clock = clock

    async def take(self, windows: Sequence[Window], cost: int = 1) -> tuple[Window, int] | None:
        """Takes from all, or from none: then the first without room, and the seconds until it has some.

        Raises `Unavailable` where it cannot be counted.
        """
        items = [(window, window.item(self._namespace)) for window in windows]
        for attempt in (self._counting.test, self._counting.hit):  # first whether all have room, then take
            for window, item in items:
                if not await _tried(attempt(item, window.who, cost=cost)):
                    return window, await self._wait(item, window.who)
        return None

    async def _wait(self, item: RateLimitItem, who: str) -> int:
        """Seconds until there is room again, at most one window."""
        resets = (await _tried(self._counting.get_window_stats(item, who))).reset_time
        return max(1, min(item.get_expiry(), math.ceil(resets - self._clock())))


def storage_at(url: str) -> Storage:
    """Numbers on the Redis or Valkey server of a store's URL, for replicas that share them; in memory for `memory`."""
    if url == "memory":
        return MemoryStorage()
    scheme, _, rest = url.partition("://")
    options: dict[str, Any] = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
    return RedisStorage(f"async+{_SCHEMES[scheme]}://{rest}", implementation="redispy", **options)


async def close(storage: Storage) -> None:
    """Ends the connections to a server."""
    if isinstance(storage, RedisStorage):
        bridge: Any = storage.bridge
        await bridge.storage.aclose()


async def _tried(attempt: Awaitable[T]) -> T:
    try:
        return await attempt
    except Exception:
        # The storage's error may name hosts, and its URL may hold a password.
        raise Unavailable("This cannot be held against the limits.", code="budget_unavailable", retry=True) from None

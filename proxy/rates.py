"""How many requests a tenant, or one of its keys, may make in a minute and have running at one time.

Requests in a minute are counted in a window that slides, in memory or on the server that replicas share. Those that
are running are counted here, in each process: a number on a server would stay where it was when the process that
raised it dies. May import: errors, windows, the standard library.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from limits.aio.storage import Storage

from proxy.errors import RateExceeded, TooManyAtOnce
from proxy.windows import Window, Windows

NAMESPACE: Final = "requests"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one caller may do; `who` is a name that no other has."""

    who: str
    per_minute: int | None
    concurrent: int | None


class Rates:
    """One per process, and it outlives policies and tenants files."""

    def __init__(self, storage: Storage | None = None, clock: Callable[[], float] = time.time) -> None:
        self._windows = Windows(NAMESPACE, storage, clock)
        self._inside: Counter[str] = Counter()

    @asynccontextmanager
    async def place(self, allowances: Sequence[Allowance]) -> AsyncIterator[None]:
        """Inside the block the request counts as running. What one allowance refuses takes nothing from the others.

        Raises `TooManyAtOnce`, `RateExceeded`, `Unavailable`.
        """
        for one in allowances:
            if one.concurrent is not None and self._inside[one.who] >= one.concurrent:
                raise TooManyAtOnce(one.concurrent)
        self._inside.update(one.who for one in allowances)
        try:
            await self._hit(allowances)
            yield
        finally:
            self._inside.subtract(one.who for one in allowances)
            for one in allowances:
                if not self._inside[one.who]:
                    del self._inside[one.who]

    async def _hit(self, allowances: Sequence[Allowance]) -> None:
        windows = [Window(one.who, one.per_minute, "minute") for one in allowances if one.per_minute is not None]
        full = await self._windows.take(windows)
        if full is not None:
            window, wait = full
            raise RateExceeded(window.amount, wait)

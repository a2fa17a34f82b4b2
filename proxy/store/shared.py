"""Records in Redis or Valkey, for replicas that share them. May import: proxy.store, errors, redis.

Every record is a list of sealed fragments under a keyed hash, with a time to live. Errors of the client are never
passed on: their text may name hosts, and an URL may hold a password.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from proxy.errors import Unavailable
from proxy.store import FRAGMENTS, Fragment

PREFIX = b"caviardage:"
SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss", "unix": "unix"}
"""What may stand before `://`, and what the client calls it."""
SECONDS = 3.0
"""Longest time for a connection, and for an answer."""


class RedisShelf:
    """Names and blobs on a server. Connects at the first use, and again when the connection was lost."""

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        scheme, _, rest = url.partition("://")
        self._redis = Redis.from_url(
            f"{SCHEMES[scheme]}://{rest}",
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 1),
            retry_on_error=[ConnectionError],
        )

    async def read(self, names: Sequence[bytes]) -> list[list[bytes]]:
        with _refusing():
            batch = self._redis.pipeline(transaction=False)
            for name in names:
                batch.lrange(PREFIX + name, 0, -1)
            return [list(fragments) for fragments in await batch.execute()]

    async def write(self, fragments: Sequence[Fragment]) -> None:
        with _refusing():
            batch = self._redis.pipeline(transaction=True)
            for fragment in fragments:
                key = PREFIX + fragment.name
                if not fragment.more:
                    batch.delete(key)
                batch.rpush(key, fragment.blob)
                batch.ltrim(key, -FRAGMENTS, -1)
                batch.pexpire(key, max(1, int(fragment.seconds * 1000)))
            await batch.execute()

    async def delete(self, names: Sequence[bytes]) -> None:
        with _refusing():
            await self._redis.delete(*(PREFIX + name for name in names))

    async def ping(self) -> None:
        with _refusing():
            await self._redis.ping()

    async def aclose(self) -> None:
        await self._redis.aclose()


@contextmanager
def _refusing() -> Iterator[None]:
    """Makes every error of the client a refusal without its text."""
    try:
        yield
    except (RedisError, OSError):
        raise Unavailable("The store of conversations cannot be reached.", code="store_unavailable") from None

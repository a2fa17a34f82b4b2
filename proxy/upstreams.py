"""The clients of all upstreams, one for each base URL. May import: forward, the standard library."""

from __future__ import annotations

from collections.abc import Callable

from proxy.forward import Upstream


class Upstreams:
    """`usual` is that of the service; others are made when a tenant first needs them, and stay until the end."""

    def __init__(self, usual: Upstream, make: Callable[[str], Upstream]) -> None:
        self._usual, self._make = usual, make
        self._others: dict[str, Upstream] = {}

    def at(self, url: str | None) -> Upstream:
        """The client of a base URL; the usual one for None."""
        if url is None:
            return self._usual
        if url not in self._others:
            self._others[url] = self._make(url)
        return self._others[url]

    @property
    def in_use(self) -> int:
        """Exchanges in flight."""
        return sum(upstream.in_use for upstream in (self._usual, *self._others.values()))

    async def aclose(self) -> None:
        """Closes every connection."""
        for upstream in (self._usual, *self._others.values()):
            await upstream.aclose()

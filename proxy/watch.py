"""Tells when files have another content, and when the operator asks for a look (SIGHUP).

Folders are watched, not files: editors put a new file in the place of the old one, and Kubernetes turns a link beside
them to another folder. Whether anything changed is told by the content alone, so it does not matter what an event
says, and where none comes (network folders) a look every few seconds finds out.

May import: watchfiles, the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path

from watchfiles import awatch

SECONDS = 5.0
"""Longest time until a change is seen that no event tells of."""
SUFFIXES = frozenset({".yaml", ".yml"})
MOST_BYTES = 2_000_000


class Watch:
    """`files` are those that count now; `changed` is awaited after each change, one at a time, the latest last.

    While `unsure`, every YAML file beside them counts: one may be what was missing when they were last read.
    """

    def __init__(
        self,
        files: Callable[[], Iterable[Path]],
        changed: Callable[[], Awaitable[object]],
        unsure: Callable[[], bool] = lambda: False,
    ) -> None:
        self._files = files
        self._changed = changed
        self._unsure = unsure
        self._wanted = asyncio.Event()

    async def run(self) -> None:
        """Until it is cancelled."""
        seen = await asyncio.to_thread(content, tuple(self._files()))
        looking = asyncio.create_task(self._look(seen))
        try:
            with _hangup(self._wanted.set):
                while True:
                    await self._wanted.wait()
                    self._wanted.clear()
                    await self._changed()
        finally:
            looking.cancel()
            await asyncio.wait({looking})

    async def _look(self, seen: Mapping[Path, bytes]) -> None:
        while True:
            folders = _folders(self._files())
            try:
                async for _ in awatch(
                    *folders,
                    watch_filter=None,
                    recursive=False,
                    debounce=500,
                    step=50,
                    rust_timeout=round(SECONDS * 1000),
                    yield_on_timeout=True,
                ):
                    seen = await self._compare(seen)
                    if _folders(self._files()) != folders:
                        break
            except (OSError, RuntimeError):
                # No folder, or no more watches to be had: then by the clock alone.
                await asyncio.sleep(SECONDS)
                seen = await self._compare(seen)

    async def _compare(self, seen: Mapping[Path, bytes]) -> Mapping[Path, bytes]:
        """What the next look is compared with. Another file's change is kept in mind: it may come to count."""
        files = frozenset(self._files())
        now = await asyncio.to_thread(content, files)
        changed = {path for path in {*now, *seen} if now.get(path) != seen.get(path)}
        if not changed or not (self._unsure() or changed & files):
            return seen
        self._wanted.set()
        return now


def content(files: Iterable[Path]) -> dict[Path, bytes]:
    """A digest of each of these files, and of every YAML file beside them."""
    paths = set(files)
    for folder in _folders(paths):
        with contextlib.suppress(OSError):
            paths.update(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    return {path: _digest(path) for path in paths}


def _digest(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return hashlib.sha256(stream.read(MOST_BYTES)).digest()
    except OSError:
        return b""


def _folders(files: Iterable[Path]) -> tuple[Path, ...]:
    """As they are named and where links lead, since either may be exchanged."""
    return tuple(sorted({folder for path in files for folder in (path.parent, path.resolve().parent)}))


@contextlib.contextmanager
def _hangup(react: Callable[[], None]) -> Iterator[None]:
    """Reacts to SIGHUP, where this loop may: in a program's main thread, on systems that have it."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGHUP, react)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)

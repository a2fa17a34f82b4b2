"""Has documents read in worker processes that are killed when they take too long or too much memory.

Files of strangers are what parsers fall over: a worker that hangs, dies or runs out of memory refuses its one request.
What a worker raises may quote the file, so none of it goes on. May import: documents, wire, errors, model, pebble,
the standard library.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
from pathlib import Path

from pebble import ProcessPool

from proxy.documents import PLAIN, UnreadableDocument, kind_of, read
from proxy.errors import Unavailable, UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.enclosed import enclosed, with_texts

SECONDS = 20.0
"""Time for one document; a thousand pages of text need about that."""
MEMORY = 1 << 30
"""Bytes that a worker may allocate beyond what it had when it started."""
_AT_ONCE = 2
_WAITING = 16
_PAGE = 4096


class Extractor:
    """The pool of workers, started when the first document comes. Holds no request's data."""

    def __init__(self, *, workers: int = _AT_ONCE, seconds: float = SECONDS) -> None:
        self._workers = workers
        self._seconds = seconds
        self._inside = 0
        self._pool: ProcessPool | None = None

    async def text(self, data: bytes) -> str:
        """The text of a document. Raises `UnreadableDocument`, or `Unavailable` where that is nobody's fault."""
        kind = kind_of(data)
        if kind == PLAIN:
            return await asyncio.get_running_loop().run_in_executor(None, read, kind, data)
        if self._inside >= _WAITING:
            raise Unavailable("Too many documents are waiting to be read.", code="busy", retry=True)
        self._inside += 1
        try:
            return await self._in_worker(kind, data)
        finally:
            self._inside -= 1

    async def in_place(self, body: dict[str, JSON]) -> dict[str, JSON]:
        """A request's body with the text of each enclosed file in its place.

        Raises `UnsupportedByPolicy` for a file that cannot be read whole.
        """
        texts: dict[str, str] = {}
        for file in enclosed(body):
            try:
                texts[file.path] = await self.text(file.data)
            except UnreadableDocument as fault:
                raise UnsupportedByPolicy(
                    f"{file.path} is a file whose text cannot be read: {fault.reason}.", param=file.path
                ) from None
        replaced = with_texts(body, texts)
        assert isinstance(replaced, dict)  # noqa: S101  (an object stays one)
        return replaced

    async def _in_worker(self, kind: str, data: bytes) -> str:
        if self._pool is None:
            self._pool = self._new_pool()
        try:
            future = self._pool.schedule(_read, args=[kind, data], timeout=self._seconds)
        except RuntimeError:
            self._pool = None
            raise Unavailable("Documents cannot be read at the moment.", code="busy", retry=True) from None
        try:
            async with asyncio.timeout(self._seconds * _WAITING):
                said, text = await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            future.cancel()  # type: ignore[no-untyped-call]
            raise
        except TimeoutError:
            future.cancel()  # type: ignore[no-untyped-call]
            raise UnreadableDocument("it takes too long") from None
        except Exception:
            raise UnreadableDocument("it is damaged, or too large") from None
        if not said:
            raise UnreadableDocument(text)
        return text

    async def stop(self) -> None:
        """Ends the workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            await asyncio.get_running_loop().run_in_executor(None, pool.join, 10)

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self._workers,
            max_tasks=200,
            initializer=_start,
            context=multiprocessing.get_context("forkserver"),
        )


def _start() -> None:
    """In a worker: bounds its memory."""
    here = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
    resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY, here + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(kind: str, data: bytes) -> tuple[bool, str]:
    """In a worker: the text, or why there is none. An exception would have to be pickled, with all that it says."""
    try:
        return True, read(kind, data)
    except UnreadableDocument as fault:
        return False, fault.reason
    except Exception:
        return False, "it is damaged"

"""Sealed audit lines for what may block or be slow (standard output, a collector): a queue, and a thread to empty it.

May import: audit, trail.seal, the standard library.

The event loop never waits in a write. A line counts as kept when the other side has taken it: `settled` waits for
that before a request is forwarded. What cannot be written stays in the queue and is tried again; while there is such
a line, or the queue is full, no event is taken.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeAlias

from proxy.audit import AuditEvent
from proxy.trail.seal import Link, Seal

LIMIT = 10_000
"""Lines that may wait."""
BATCH = 256
SETTLE_SECONDS = 5.0
RETRY_SECONDS = 1.0

Write: TypeAlias = Callable[[Sequence[str]], int]
"""Takes lines; says how many, at least one. Raises `OSError` if it took none."""


class Stream:
    """Writes lines to a file descriptor, one after the other."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._torn = False

    def __call__(self, lines: Sequence[str]) -> int:
        for done, line in enumerate(lines):
            rest = f"\n{line}\n".encode("ascii") if self._torn else f"{line}\n".encode("ascii")
            try:
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
                    self._torn = bool(rest)
            except OSError:
                if done:
                    return done
                raise
        return len(lines)


class QueuedSink:
    """An audit sink with a chain of its own, from its start to `close`."""

    def __init__(
        self,
        write: Write,
        seal: Seal,
        *,
        limit: int = LIMIT,
        anchor_lines: int = 1000,
        anchor_seconds: float = 60.0,
        anchored: Callable[[Link], None] = lambda _: None,
    ) -> None:
        self._write = write
        self._seal = seal
        self._limit = limit
        self._every = anchor_lines, anchor_seconds
        self._anchored = anchored
        self._link = Link.origin()
        self._last = (-1, time.time())
        self._lines: deque[str] = deque()
        self._waiting: list[tuple[int, Future[None]]] = []
        self._kept = -1
        self._broken = self._closed = False
        self._changed = threading.Condition()
        with self._changed:
            self._mark("start")
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def __call__(self, event: AuditEvent) -> None:
        with self._changed:
            if self._closed or self._broken or len(self._lines) >= self._limit:
                raise OSError("the audit queue takes nothing")
            line, self._link = self._seal.seal(event.line(), self._link)
            self._lines.append(line)
            lines, seconds = self._every
            number, then = self._last
            if self._link.seq - number >= lines or time.time() - then >= seconds:
                self._mark("anchor")
                self._last = self._link.seq, time.time()
                self._anchored(self._link)
            self._changed.notify_all()

    async def settled(self) -> None:
        """Returns when all that was taken so far is kept; raises `OSError` after `SETTLE_SECONDS`."""
        with self._changed:
            if self._broken:
                raise OSError("the audit line could not be written")
            if self._kept >= self._link.seq:
                return
            future: Future[None] = Future()
            self._waiting.append((self._link.seq, future))
        try:
            await asyncio.wait_for(asyncio.wrap_future(future), SETTLE_SECONDS)
        except TimeoutError:
            raise OSError("the audit line is not written yet") from None

    def close(self) -> None:
        """Seals the end of the chain and waits a little for the last lines to be written."""
        with self._changed:
            if not self._closed:
                self._mark("end", final=True)
                self._closed = True
            self._changed.notify_all()
        self._thread.join(SETTLE_SECONDS)

    def _mark(self, kind: str, **more: bool) -> None:
        line, self._link = self._seal.mark(kind, self._link, time.time(), **more)
        self._lines.append(line)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._closed)
                batch = [self._lines[at] for at in range(min(BATCH, len(self._lines)))]
                if not batch:
                    return
            try:
                done = self._write(batch)
            except OSError:
                done = 0
            with self._changed:
                self._broken = not done
                for _ in range(done):
                    self._lines.popleft()
                self._kept += done
                self._answer(failed=not done)
                if not done:
                    if self._closed:
                        return
                    self._changed.wait(RETRY_SECONDS)

    def _answer(self, *, failed: bool) -> None:
        """Tells those who wait for what is now kept; after a failure, all."""
        ready = [future for seq, future in self._waiting if failed or seq <= self._kept]
        self._waiting = [(seq, future) for seq, future in self._waiting if future not in ready]
        for future in ready:
            if not future.set_running_or_notify_cancel():
                continue
            if failed:
                future.set_exception(OSError("the audit line could not be written"))
            else:
                future.set_result(None)

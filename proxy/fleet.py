"""Several processes that serve one port, and the one above them: starts them, sees them end, starts them again.

All accept from one socket, so a connection is taken by whichever is free, and one that waits outlives the process that
ended. A process accepts only once it has loaded its models and passed its self-test. The first starts alone: if it
cannot, the service cannot, and says so once.

May import: seat, template, settings, logs, metrics (the folder), the standard library.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from proxy.logs import Log
from proxy.metrics import FOLDER, forget
from proxy.seat import Seat
from proxy.settings import Settings
from proxy.template import lend

CLOSING = 10.0
"""Seconds beyond the drain that a process may take to end; then it is killed."""
STEADY = 60.0
"""A process that has lived so long is started again at once; one that has not waits longer each time."""
LONGEST_PAUSE = 30.0

Target: TypeAlias = Callable[[Settings, socket.socket, Seat, Connection], None]
"""What a process runs. Sends something once it takes requests."""


@dataclass(slots=True)
class Child:
    """`told` is where it says that it takes requests; None once it has, or has ended."""

    number: int
    process: Any
    told: Connection | None
    began: float


@dataclass(slots=True)
class Absent:
    """A place to be filled again at `due`."""

    number: int
    due: float


class Fleet:
    """`run` returns the exit status when all have ended: 0, or that of the first process if it could not start."""

    def __init__(self, settings: Settings, listener: socket.socket, log: Log, target: Target) -> None:
        self._settings = settings
        self._listener = listener
        self._log = log
        self._target = target
        self._context = multiprocessing.get_context("spawn")
        self._children: list[Child] = []
        self._absent: list[Absent] = []
        self._pauses = [0.0] * settings.processes
        self._counts: Any = multiprocessing.RawArray("L", 2)
        self._serving = False
        self._status: int | None = None
        self._signals: list[int] = []
        self._hung_up = False

    def run(self) -> int:
        """Serves until a signal, which is left in `signal`, or until the first process cannot start."""
        folder = Path(tempfile.mkdtemp(prefix="caviardage-metrics-"))
        secret = b"" if self._settings.secret else secrets.token_bytes(32)
        self._seat = Seat(folder, secret, self._counts)
        try:
            with self._heard() as heard, _variable(FOLDER, str(folder)):
                self._start(0)
                while self._status is None:
                    self._look(heard)
                self._end(heard)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return self._status

    @property
    def signal(self) -> int | None:
        """What it was ended by."""
        return self._signals[0] if self._signals else None

    def _look(self, heard: int) -> None:
        """Waits for the next thing to happen, and sees to it."""
        due = min((absent.due for absent in self._absent), default=None)
        self._wait(heard, None if due is None else max(0.0, due - time.monotonic()))
        if self.signal is not None:
            self._status = 0
            return
        for child in self._ended():
            self._replace(child)
        for absent in [one for one in self._absent if one.due <= time.monotonic()]:
            self._absent.remove(absent)
            self._start(absent.number)

    def _wait(self, heard: int, seconds: float | None) -> None:
        told = {child.told: child for child in self._children if child.told is not None}
        for ready in wait([heard, *told, *(child.process.sentinel for child in self._children)], seconds):
            if ready == heard:
                os.read(heard, 512)
            elif ready in told:
                self._listen(told[ready])
        if self._hung_up:
            self._hung_up = False
            self._send(signal.SIGHUP)

    def _listen(self, child: Child) -> None:
        """A process takes requests, or its end of the pipe is gone with it."""
        assert child.told is not None  # noqa: S101 - only such are listened to
        try:
            child.told.recv()
        except (EOFError, OSError):
            pass
        else:
            self._log.info("process_ready", process=child.number + 1)
            if not self._serving:
                self._serving = True
                for number in range(1, self._settings.processes):
                    self._start(number)
        child.told.close()
        child.told = None

    def _start(self, number: int) -> None:
        told, theirs = self._context.Pipe(duplex=False)
        arguments = (self._settings, self._listener, replace(self._seat, template=lend()), theirs)
        process = self._context.Process(target=self._target, args=arguments)
        process.start()
        theirs.close()
        self._children.append(Child(number, process, told, time.monotonic()))
        self._counts[0] = len(self._children)

    def _ended(self) -> list[Child]:
        gone = [child for child in self._children if not child.process.is_alive()]
        self._children = [child for child in self._children if child not in gone]
        self._counts[0] = len(self._children)
        for child in gone:
            forget(child.process.pid, self._seat.folder or Path())
            if child.told is not None:
                child.told.close()
        return gone

    def _replace(self, child: Child) -> None:
        if not self._serving:
            self._status = max(1, child.process.exitcode)
            return
        lived, before = time.monotonic() - child.began, self._pauses[child.number]
        pause = 0.0 if lived > STEADY else min(LONGEST_PAUSE, max(1.0, 2 * before))
        self._pauses[child.number] = pause
        self._counts[1] += 1
        self._log.error("process_ended", process=child.number + 1, status=child.process.exitcode, seconds=pause)
        self._absent.append(Absent(child.number, time.monotonic() + pause))

    def _end(self, heard: int) -> None:
        """Lets all finish what they are at, for as long as they may; a second signal ends that."""
        asked = len(self._signals)
        self._listener.close()
        self._send(signal.SIGTERM)
        until = time.monotonic() + self._settings.drain_timeout + CLOSING
        while self._children and time.monotonic() < until and len(self._signals) <= asked:
            self._wait(heard, until - time.monotonic())
            self._ended()
        self._send(signal.SIGKILL)
        for child in self._children:
            child.process.join()
        self._ended()

    def _send(self, number: int) -> None:
        for child in self._children:
            if child.process.is_alive():
                os.kill(child.process.pid, number)

    @contextmanager
    def _heard(self) -> Iterator[int]:
        """Signals are noted, and wake whoever reads this descriptor."""
        heard, told = os.pipe()

        def note(number: int, _: FrameType | None) -> None:
            if number == signal.SIGHUP:
                self._hung_up = True
            else:
                self._signals.append(number)
            os.write(told, b".")

        before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        try:
            yield heard
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(heard)
            os.close(told)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Processes that are started meanwhile find this in their environment."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]

"""A file of sealed audit lines that goes on over restarts, rotation and several processes.

May import: audit, trail.seal, the standard library.

Beside `audit.jsonl` lies `audit.jsonl.head`, which says where the chain ends and how long the file is. It is locked
for every line, so any number of processes write one chain; it is written after the line, so a process that dies in
between leaves one line more than the head tells, which the next one takes in. A tail that is shorter than the head
tells was cut off by somebody: the chain then goes on after the lines that are gone, and shows for ever that they are.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from proxy.audit import AuditEvent
from proxy.trail.seal import HEAD_BYTES, Head, Link, Seal

_MODE = 0o600
_TAIL = 1 << 16
"""Bytes at a file's end in which its last line is looked for where there is no head; a line has about 1,500."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """When a file is put aside (bytes, seconds; 0: never) and when an anchor is written (lines, seconds)."""

    max_bytes: int = 0
    max_seconds: float = 0.0
    anchor_lines: int = 1000
    anchor_seconds: float = 60.0


class FileSink:
    """An audit sink. Raises `OSError` if a line could not be written; of that line nothing is then in the file.

    `anchored` is told the place of every anchor, to be kept where whoever can write the file cannot.
    """

    def __init__(
        self,
        path: Path,
        seal: Seal,
        turns: Turns = Turns(),
        anchored: Callable[[Link], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._seal = seal
        self._turns = turns
        self._anchored = anchored
        self._clock = clock
        self._fd = self._open()
        try:
            self._head = os.open(f"{path}.head", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
            with self._locked(opening=True) as head:
                self._mark(head, "start")
        except OSError:
            self.close()
            raise

    def __call__(self, event: AuditEvent) -> None:
        with self._locked() as head:
            now, turns = self._clock(), self._turns
            full = 0 < turns.max_bytes <= head.size
            if full or 0 < turns.max_seconds <= now - head.began:
                head = self._rotate(head)
            head = self._append(head, *self._seal.seal(event.line(), head.link))
            if head.link.seq - head.anchored >= turns.anchor_lines or now - head.at >= turns.anchor_seconds:
                head = self._mark(replace(head, anchored=head.link.seq + 1, at=now), "anchor")
                self._anchored(head.link)

    def close(self) -> None:
        """Closes the files; the chain stays open for the next process."""
        for name in ("_fd", "_head"):
            if hasattr(self, name):
                os.close(getattr(self, name))
                delattr(self, name)

    def _open(self) -> int:
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError("not a regular file")
        return fd

    @contextmanager
    def _locked(self, *, opening: bool = False) -> Iterator[Head]:
        """The head, while no other process can write; its length is the file's."""
        fcntl.flock(self._head, fcntl.LOCK_EX)
        try:
            self._follow()
            head = self._seal.read_head(os.pread(self._head, HEAD_BYTES, 0))
            size = os.fstat(self._fd).st_size
            if head is None or head.size != size:
                head = self._reconciled(head, size)
                head = head if opening else self._mark(head, "start", reopened=True)
            yield head
        finally:
            fcntl.flock(self._head, fcntl.LOCK_UN)

    def _follow(self) -> None:
        """Another process may have put the file aside, or somebody moved it away."""
        try:
            same = os.path.samestat(os.stat(self._path), os.fstat(self._fd))
        except FileNotFoundError:
            same = False
        if not same:
            fd = self._open()
            os.close(self._fd)
            self._fd = fd

    def _reconciled(self, head: Head | None, size: int) -> Head:
        """A head that fits the file again, after a crash or after somebody else was at it."""
        now = self._clock()
        if head is None:
            link = self._last(size) or Link.origin()
            head = Head(link, size, now, link.seq, now)
        elif size > head.size:
            head = self._taken_in(head, size)
        if size and os.pread(self._fd, 1, os.fstat(self._fd).st_size - 1) != b"\n":
            os.write(self._fd, b"\n")
        return replace(head, size=os.fstat(self._fd).st_size, began=head.began if head.size <= size else now)

    def _taken_in(self, head: Head, size: int) -> Head:
        """Lines that the head does not know of yet. The beginning of one that was never finished is taken away."""
        rest = os.pread(self._fd, size - head.size, head.size)
        for raw in rest.splitlines(keepends=True):
            sealed = self._seal.read(raw.decode("utf-8", "replace").removesuffix("\n"))
            if sealed is None or not raw.endswith(b"\n") or not sealed.follows(head.link):
                break
            head = replace(head, link=sealed.link, size=head.size + len(raw))
        if b"\n" not in rest[head.size - size :] and head.size < size:
            os.ftruncate(self._fd, head.size)
        return head

    def _last(self, size: int) -> Link | None:
        """The place of the last line that is genuine, if the file ends with one."""
        tail = os.pread(self._fd, _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace").splitlines()
        sealed = self._seal.read(tail[-1]) if tail else None
        return sealed.link if sealed is not None and sealed.true else None

    def _rotate(self, head: Head) -> Head:
        """Puts the file aside under its last number, and begins a new one in the same chain."""
        head = self._mark(head, "end")
        os.fsync(self._fd)
        os.rename(self._path, f"{self._path}.{head.link.seq:012}")
        self._follow()
        return self._mark(replace(head, size=0, began=self._clock()), "start")

    def _mark(self, head: Head, kind: str, **more: bool) -> Head:
        return self._append(head, *self._seal.mark(kind, head.link, self._clock(), **more))

    def _append(self, head: Head, line: str, link: Link) -> Head:
        raw = f"{line}\n".encode("ascii")
        written = os.write(self._fd, raw)
        if written < len(raw):
            os.ftruncate(self._fd, head.size)
            raise OSError("the disk is full")
        head = replace(head, link=link, size=head.size + len(raw))
        os.pwrite(self._head, self._seal.head(head), 0)
        return head

"""Opens the sinks that the settings name: files, standard output, a collector; and the tracer. May import: the parts.

Every sink that is named has to take every line, or requests are refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from proxy.audit import Settled, Sink
from proxy.logs import Log
from proxy.settings import Settings, StartError
from proxy.traces import Collector, Tracer
from proxy.trail.file import FileSink, Turns
from proxy.trail.queued import QueuedSink, Stream
from proxy.trail.seal import Link, Seal

STDOUT = 1


@dataclass(slots=True)
class Books:
    """Open sinks. `sinks` take events, `settled` wait until they are kept, `close` ends it all."""

    sinks: list[Sink] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    _closing: list[Callable[[], None]] = field(default_factory=list)

    def queued(self, sink: QueuedSink) -> None:
        """A sink that writes in a thread."""
        self.sinks.append(sink)
        self.settled.append(sink.settled)
        self._closing.append(sink.close)

    def direct(self, sink: FileSink | Tracer) -> None:
        """A sink that is done when it returns."""
        self.sinks.append(sink)
        self._closing.append(sink.close)

    def close(self) -> None:
        """Closes every sink; standard output stays open."""
        while self._closing:
            self._closing.pop()()


def open_books(settings: Settings, log: Log) -> Books:
    """All sinks. Raises `StartError` if one cannot be written."""
    seal = Seal(settings.audit_secrets)
    books = Books()

    def anchored(link: Link) -> None:
        log.info("audit_anchor", chain=link.chain, seq=link.seq, hash=link.hash)

    for target in settings.audits:
        try:
            if target == "-":
                books.queued(QueuedSink(Stream(STDOUT), seal, anchored=anchored))
            elif Path(target).exists() and not Path(target).is_file():
                books.queued(QueuedSink(Stream(os.open(target, os.O_WRONLY)), seal, anchored=anchored))
            elif target == "otlp":
                books.queued(QueuedSink(Collector(settings.otlp), seal, anchored=anchored))
            else:
                turns = Turns(max_bytes=settings.audit_max_bytes, max_seconds=settings.audit_max_seconds)
                books.direct(FileSink(Path(target), seal, turns, anchored))
        except OSError as error:
            books.close()
            raise StartError([f"audit: {target} cannot be written ({error.strerror or error})"]) from None
    if settings.otlp:
        books.direct(Tracer(settings.otlp))
    return books

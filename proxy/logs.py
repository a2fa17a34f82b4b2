"""The service's own log, and silence for everybody else's. May import: structlog, the standard library.

Libraries write what they work on into their logs: analysers the text that they failed on, HTTP clients headers,
asyncio the values inside its tasks. So no text of theirs is ever written. A record factory empties every record
of the standard `logging` when it is made, whoever handles it later; of warnings and errors one line remains:
logger, level, exception type and the place in the code. The same goes for exceptions that nobody caught, and for
`warnings`. Our own log is not part of `logging` at all, and knows a closed list of events and fields.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import threading
import warnings
from collections.abc import Callable, MutableMapping
from types import TracebackType
from typing import Any, Final, TextIO

import structlog

Log = structlog.typing.FilteringBoundLogger

EVENTS: Final = frozenset(
    (
        "starting",
        "ready",
        "start_failed",
        "stopping",
        "stopped",
        "secret_random",
        "upstream_plain_http",
        "served_is_advertised",
        "store_lost",
        "store_reached",
        "device",
        "progress",
        "audit_anchor",
        "reloaded",
        "reload_refused",
        "certificate_renewed",
        "certificate_unusable",
        "process_ready",
        "process_ended",
        "refused",
        "stream_broken",
        "fault",
        "library",
        "warning",
    )
)
FIELDS: Final = {
    "request_id": re.compile(r"[A-Za-z0-9._-]{1,64}"),
    "code": re.compile(r"[a-z0-9_]{1,64}"),
    "exception": re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,100}"),
    "place": re.compile(r"[A-Za-z0-9_.<>]{1,160}:\d{1,7}"),
    "logger": re.compile(r"[A-Za-z0-9_.-]{1,80}"),
    "severity": re.compile(r"[A-Z0-9 ]{1,16}"),
    "policy": re.compile(r"[A-Za-z0-9._@:-]{1,160}"),
    "model": re.compile(r"[A-Za-z0-9._:/@*?+-]{1,128}"),
    "host": re.compile(r"[A-Za-z0-9.:_-]{1,255}"),
    "device": re.compile(r"cpu|cuda"),
    "chain": re.compile(r"[0-9a-f]{16}"),
    "hash": re.compile(r"[0-9a-f]{64}"),
    "version": re.compile(r"[A-Za-z0-9.+-]{1,32}"),
}
"""Fields that hold text, each with its form."""
NUMBERS: Final = frozenset(("status", "port", "workers", "seconds", "done", "total", "seq", "process", "line"))
_OTHER_LOGGERS = (
    "presidio-analyzer",
    "presidio-anonymizer",
    "decision_process",
    "py.warnings",
    "uvicorn.error",
    "root",
)
WITHHELD: Final = "message withheld"


def service_log(level: str = "info", stream: TextIO | None = None) -> Log:
    """The log of the service: JSON lines on standard error (or `stream`) for events in `EVENTS`."""
    return structlog.wrap_logger(  # type: ignore[no-any-return]
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _close,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )


def describe(error: BaseException | None) -> dict[str, str]:
    """An exception without its text: type, and module and line where it was raised."""
    if error is None:
        return {}
    found = {"exception": type(error).__name__}
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None:
        found["place"] = f"{trace.tb_frame.f_globals.get('__name__', 'unknown')}:{trace.tb_lineno}"
    return found


def silence(log: Log) -> Callable[[], None]:
    """Withholds the text of every library's log, warning and uncaught exception; what remains goes to `log`.

    Call it again after libraries were loaded: some bring handlers of their own. Returns a function that puts
    everything back as it was.
    """
    undo = [_silence_loggers(log), _silence_hooks(log)]

    def restore() -> None:
        for step in undo:
            step()

    return restore


def loop_handler(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for an event loop; its context may hold tasks with their values."""

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        log.error("fault", **describe(context.get("exception")))

    return handle


def _close(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    kept: dict[str, Any] = {"time": event["timestamp"], "level": event["level"]}
    kept["event"] = event["event"] if event["event"] in EVENTS else "unlisted"
    for name, value in event.items():
        pattern = FIELDS.get(name)
        if pattern is not None:
            kept[name] = value if isinstance(value, str) and pattern.fullmatch(value) else "unprintable"
        elif name in NUMBERS and isinstance(value, int | float):
            kept[name] = value
    return kept


class _Remains(logging.Handler):
    """Writes the one line that remains of a library's record."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning(
            "library", logger=_known(record.name), severity=record.levelname, **getattr(record, "remains", {})
        )


def _known(name: str) -> str:
    """A logger's name if it is a module's or one we know: names can be made from values, too."""
    return name if name in _OTHER_LOGGERS or name in sys.modules else "other"


def _empty_record(
    name: str,
    level: int,
    path: str,
    line: int,
    message: object,
    arguments: object,
    error: Any,
    function: str | None = None,
    stack: str | None = None,
    **_: Any,
) -> logging.LogRecord:
    record = logging.LogRecord(name, level, path, line, WITHHELD, None, None, function, None)
    if isinstance(error, tuple) and isinstance(error[1], BaseException):
        record.remains = describe(error[1])
    return record


def _silence_loggers(log: Log) -> Callable[[], None]:
    root = logging.getLogger()
    factory = logging.getLogRecordFactory()
    loggers = [root, *(item for item in root.manager.loggerDict.values() if isinstance(item, logging.Logger))]
    before = [(item, item.handlers[:], item.propagate, item.level, item.disabled) for item in loggers]
    for item in loggers:
        item.handlers[:] = []
        item.propagate = True
        item.setLevel(logging.NOTSET)
    root.setLevel(logging.WARNING)
    root.addHandler(_Remains(log))
    logging.setLogRecordFactory(_empty_record)

    def restore() -> None:
        logging.setLogRecordFactory(factory)
        for item, handlers, propagate, level, disabled in before:
            item.handlers[:] = handlers
            item.propagate, item.disabled = propagate, disabled
            item.setLevel(level)

    return restore


def _silence_hooks(log: Log) -> Callable[[], None]:
    before = sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning

    def uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            log.error("fault", **describe(error))

    def warned(
        message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        log.warning("warning", exception=category.__name__, place=f"{_stem(filename)}:{lineno}")

    def restore() -> None:
        sys.excepthook, sys.unraisablehook, threading.excepthook, warnings.showwarning = before

    sys.excepthook = uncaught
    sys.unraisablehook = lambda found: log.error("fault", **describe(found.exc_value))
    threading.excepthook = lambda found: log.error("fault", **describe(found.exc_value))
    warnings.showwarning = warned
    return restore


def _stem(filename: str) -> str:
    return re.split(r"[/\\]", filename)[-1].removesuffix(".py")

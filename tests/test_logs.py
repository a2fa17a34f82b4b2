"""Whatever a library says, and whatever goes wrong: no text of it reaches the log."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from proxy.logs import EVENTS, describe, loop_handler, service_log, silence

CANARY = "Mira Tallow DE83709999990123456789"
LIBRARIES = (
    "presidio-analyzer",
    "presidio-anonymizer",
    "decision_process",
    "spacy",
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2.http11",
    "uvicorn",
    "uvicorn.access",
    "uvicorn.error",
    "uvicorn.asgi",
    "asyncio",
    "py.warnings",
    "tiktoken",
    "pebble",
    "stdnum",
    "concurrent.futures",
    "multiprocessing",
    "urllib3",
    "openai",
)


class Quiet:
    """Silence for one test, with what was written."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.log = service_log("debug", self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


@pytest.fixture
def quiet(capfd: pytest.CaptureFixture[str]) -> Iterator[Quiet]:
    found = Quiet()
    restore = silence(found.log)
    try:
        yield found
    finally:
        restore()
    written = capfd.readouterr()
    assert "Mira" not in found.out.getvalue() + written.out + written.err


def flood(logger: logging.Logger) -> None:
    for level in range(0, 60, 5):
        logger.log(level, CANARY)
        logger.log(level, "%s %r", CANARY, {"text": CANARY})
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception("failed on %s", CANARY, stack_info=True, extra={"text": CANARY})


def test_no_logger_at_any_level_says_what_it_is_about(quiet: Quiet) -> None:
    for name in (*LIBRARIES, CANARY, "", *list(logging.root.manager.loggerDict)):
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        flood(logger)
    levels = {line["level"] for line in quiet.lines}
    assert levels == {"warning"}
    assert {line["event"] for line in quiet.lines} == {"library"}
    assert {"presidio-analyzer", "asyncio", "other"} <= {line["logger"] for line in quiet.lines}


def test_what_remains_of_an_error_is_who_what_and_where(quiet: Quiet) -> None:
    flood(logging.getLogger("asyncio"))
    last = quiet.lines[-1]
    assert (last["logger"], last["severity"], last["exception"]) == ("asyncio", "ERROR", "ValueError")
    assert last["place"].startswith(f"{__name__}:")


def test_handlers_that_libraries_bring_have_nothing_to_print(quiet: Quiet) -> None:
    logger = logging.getLogger("decision_process")
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    logger.addHandler(handler)
    flood(logger)
    logger.removeHandler(handler)
    assert "withheld" in out.getvalue()
    assert "Mira" not in out.getvalue()


def test_handlers_that_were_there_before_are_taken_off_and_put_back() -> None:
    logger, out = logging.getLogger("caviardage-test"), io.StringIO()
    handler = logging.StreamHandler(out)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    restore = silence(service_log("debug", io.StringIO()))
    logger.error(CANARY)
    restore()
    logger.info("back")
    logger.removeHandler(handler)
    assert out.getvalue() == "back\n"


def test_warnings_are_named_but_not_quoted(quiet: Quiet) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(CANARY, UserWarning, stacklevel=1)
    assert (quiet.lines[-1]["event"], quiet.lines[-1]["exception"]) == ("warning", "UserWarning")


def test_uncaught_exceptions_are_named_but_not_quoted(quiet: Quiet) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert [(line["event"], line["exception"]) for line in quiet.lines] == [("fault", "ValueError")]


def fail() -> None:
    raise ValueError(CANARY)


def test_threads_and_finalisers_are_silent_too(quiet: Quiet) -> None:
    before = threading.excepthook, sys.unraisablehook
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

    class Sore:
        def __del__(self) -> None:
            raise KeyError(CANARY)

    Sore()
    gc.collect()
    assert before == (threading.excepthook, sys.unraisablehook)
    assert [line["exception"] for line in quiet.lines] == ["ValueError", "KeyError"]


def test_a_loops_exceptions_are_named_but_not_quoted(quiet: Quiet) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(loop_handler(quiet.log))
        loop.call_exception_handler({"message": CANARY, "exception": ValueError(CANARY), "task": CANARY})
        loop.call_exception_handler({"message": CANARY})
        loop.call_soon(fail)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(run())
    assert [line.get("exception") for line in quiet.lines] == ["ValueError", None, "ValueError"]


def test_our_own_log_is_closed(quiet: Quiet) -> None:
    quiet.log.error(CANARY, text=CANARY, exception=CANARY, status=400, policy="default@0123", code=7)
    quiet.log.info("ready", workers=True)
    first, second = quiet.lines
    assert {key: first[key] for key in first if key != "time"} == {
        "level": "error",
        "event": "unlisted",
        "exception": "unprintable",
        "status": 400,
        "policy": "default@0123",
        "code": "unprintable",
    }
    assert (second["event"], second["workers"]) == ("ready", True)
    assert "ready" in EVENTS


def test_the_level_is_a_floor() -> None:
    out = io.StringIO()
    log = service_log("warning", out)
    log.info("ready")
    log.warning("secret_random")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["secret_random"]


def test_an_exception_is_described_by_type_and_place() -> None:
    assert describe(None) == {}
    assert describe(ValueError(CANARY)) == {"exception": "ValueError"}
    try:
        fail()
    except ValueError as error:
        place = describe(error)["place"]
    assert place.startswith(f"{__name__}:")

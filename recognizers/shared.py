"""Models in one process that all detection workers ask: how a GPU is shared, and its batches filled.

The process holds every statistical model. Texts that workers send within `GATHER` seconds of one another, from
whatever requests, go through a model in one batch. Nothing is kept of them: what a call returns are positions. spaCy
remembers its device per thread, so only the thread that loaded the models runs them; one thread a worker listens.

May import: its neighbours in this package, spacy, the standard library.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import queue
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, NamedTuple

GATHER = 0.008
"""Seconds that the first text of a batch waits for others."""
MOST = 500_000
"""Code points in one batch."""

Find = Callable[[Sequence[str]], list[Any]]


class Address(NamedTuple):
    """Where the process listens, and the key that tells its own workers from others."""

    path: str
    key: bytes


class Call(NamedTuple):
    """What one worker wants to know."""

    model: str
    texts: Sequence[str]
    answer: Callable[[Any], None]


class Remote:
    """A model that runs elsewhere. One for each worker and model; connects at its first call."""

    def __init__(self, address: Address, model: str) -> None:
        self._address = address
        self._model = model
        self._connection: Any = None

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """What the model returns for each text. Raises ConnectionError, and RuntimeError if the model raised."""
        if self._connection is not None:
            with suppress(OSError, EOFError):
                return self._ask(texts)
            self._connection = None  # of a process that has ended; another may have taken its place
        try:
            self._connection = Client(self._address.path, authkey=self._address.key)
            return self._ask(texts)
        except (OSError, EOFError) as error:
            self._connection = None
            raise ConnectionError("the process that holds the models is gone") from error

    def _ask(self, texts: Sequence[str]) -> list[Any]:
        self._connection.send((self._model, list(texts)))
        good, result = self._connection.recv()
        if not good:
            raise RuntimeError(f"a model failed ({result})")
        found: list[Any] = result
        return found


def serve(load: Callable[[], Mapping[str, Find]], address: Address, told: Connection) -> None:
    """The life of the process. Tells None, or what is wrong (a ValueError's words), once it has loaded and listens."""
    _silence()
    try:
        models = load()
        with suppress(FileNotFoundError):
            os.unlink(address.path)  # of a process that was killed
        listener = Listener(address.path, family="AF_UNIX", authkey=address.key, backlog=64)
    except Exception as error:
        told.send(str(error) if isinstance(error, ValueError) else type(error).__name__)
        return
    calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(listener, calls), daemon=True).start()
    told.send(None)
    threading.Thread(target=_end_with, args=(told,), daemon=True).start()
    while True:
        _answer(_gathered(calls), models)


def _silence() -> None:
    """As in a worker: no library may print text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def _end_with(parent: Connection) -> None:
    """A parent that is gone, for whatever reason, takes this process with it."""
    with suppress(EOFError, OSError):
        parent.recv()
    os._exit(0)


def _listen(listener: Listener, calls: queue.SimpleQueue[Call]) -> None:
    while True:
        with suppress(Exception):  # a stranger without the key, or a worker that was killed while it knocked
            connection = listener.accept()
            threading.Thread(target=_receive, args=(connection, calls), daemon=True).start()


def _receive(connection: Connection, calls: queue.SimpleQueue[Call]) -> None:
    """One worker's calls, until it ends or is killed."""
    with suppress(EOFError, OSError), connection:
        while True:
            model, texts = connection.recv()
            done = threading.Event()

            def answer(result: Any, done: threading.Event = done) -> None:
                with suppress(OSError):
                    connection.send(result)
                done.set()

            calls.put(Call(model, texts, answer))
            done.wait()


def _gathered(calls: queue.SimpleQueue[Call]) -> list[Call]:
    """The next call, and what comes within `GATHER` seconds of it, up to `MOST` code points."""
    batch = [calls.get()]
    room, until = MOST - _size(batch[0]), time.monotonic() + GATHER
    while room > 0 and (left := until - time.monotonic()) > 0:
        try:
            batch.append(calls.get(timeout=left))
        except queue.Empty:
            break
        room -= _size(batch[-1])
    return batch


def _size(call: Call) -> int:
    return sum(map(len, call.texts))


def _answer(batch: Sequence[Call], models: Mapping[str, Find]) -> None:
    """Each model once, over the texts of all calls. If that fails, each call alone: no one pays for another's text."""
    for model in dict.fromkeys(call.model for call in batch):
        among = [call for call in batch if call.model == model]
        try:
            found = models[model]([text for call in among for text in call.texts])
        except Exception as error:
            for call in among:
                call.answer(_alone(call, models) if len(among) > 1 else (False, type(error).__name__))
            continue
        first = 0
        for call in among:
            call.answer((True, found[first : first + len(call.texts)]))
            first += len(call.texts)


def _alone(call: Call, models: Mapping[str, Find]) -> tuple[bool, Any]:
    try:
        return True, models[call.model](call.texts)
    except Exception as error:
        return False, type(error).__name__

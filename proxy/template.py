"""The process that detection workers are forked from, lent to several that serve: one holds the models for all.

`multiprocessing` starts such a process for every one that asks, and each would hold a gigabyte of models. The one above
starts it and lends it; if it has ended when a worker is needed, the borrower starts one of its own.

May import: detect, the standard library.
"""

from __future__ import annotations

import os
import select
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from proxy.detect import context


@dataclass(frozen=True, slots=True)
class Lent:
    """Where it listens, its process, and the end of the pipe that keeps it running."""

    address: str
    process: int
    alive: Connection


def lend() -> Lent | None:
    """Starts it, if it does not run, for processes that are then given this; None where workers are not forked."""
    if context().get_start_method() != "forkserver":
        return None
    forkserver.ensure_running()
    server: Any = forkserver._forkserver
    alive = Connection(os.dup(server._forkserver_alive_fd), readable=False)
    return Lent(server._forkserver_address, server._forkserver_pid, alive)


def borrow(lent: Lent) -> None:
    """From now on, workers of this process are forked from that one for as long as it runs."""
    server: Any = forkserver._forkserver
    try:
        ended = os.pidfd_open(lent.process)
    except OSError:
        return  # it is gone, or this system has no such thing: one of its own then
    launch = server.ensure_running

    def ensure_running() -> None:
        if select.select([ended], [], [], 0)[0]:
            server._forkserver_address = server._forkserver_alive_fd = None
            server.ensure_running = launch
            launch()
        else:
            resource_tracker.ensure_running()

    server._forkserver_address = lent.address
    server._forkserver_alive_fd = os.dup(lent.alive.fileno())
    server.ensure_running = ensure_running

"""Starts and ends the processes that are measured, each on a free loopback port, and reads what they use.

May import: proxy.echo, the standard library. Reads memory from /proc, so Linux only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from proxy.echo import free_port

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 180
SECRET = "benchmarks-only-0123456789abcdef"  # noqa: S105 - opens nothing
FINDS_THREADS_ITSELF = ("OPENBLAS_NUM_THREADS",)


@dataclass(frozen=True)
class Server:
    """A process that answers on `port`."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout: float = 60.0) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=timeout)


@contextmanager
def upstream(pace: float = 0.005) -> Iterator[Server]:
    """The echo that notes when it writes."""
    with _started(["benchmarks.upstream", "--pace", str(pace)], "/writes") as server:
        yield server


@contextmanager
def passthrough(provider: Server) -> Iterator[Server]:
    """The proxy that does nothing."""
    with _started(["benchmarks.passthrough", "--upstream", f"{provider.url}/v1"], "/healthz") as server:
        yield server


@contextmanager
def caviardage(provider: Server, policy: Path, *more: str) -> Iterator[Server]:
    """The product as an operator starts it, ready to take requests."""
    serve = ["proxy", "serve", "--upstream", f"{provider.url}/v1", "--policy", str(policy), *more]
    with _started(serve, "/readyz") as server:
        yield server


@contextmanager
def _started(module: list[str], ready: str) -> Iterator[Server]:
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name not in FINDS_THREADS_ITSELF}
    process = subprocess.Popen(
        [sys.executable, "-m", *module, "--port", str(port)],
        cwd=ROOT,
        env={**environment, "CAVIARDAGE_SECRET": SECRET},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = Server(port, process.pid)
        _wait(server, ready, process)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _wait(server: Server, path: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while not _answers(server, path):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{' '.join(map(str, process.args[1:4]))} did not start")  # type: ignore[index]
        time.sleep(0.1)


def _answers(server: Server, path: str) -> bool:
    connection = server.connect(5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def descendants(pid: int) -> Iterator[int]:
    """Processes that `pid` started, and those that these started, as far as they still run."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from descendants(child)


def peak_memory(pid: int) -> int:
    """Most bytes that a process ever held in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0

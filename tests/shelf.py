"""A real Redis server for tests, on a free loopback port, in a directory of its own."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from proxy.echo import free_port

HOW = "these tests need a Redis or Valkey server: apt-get install redis-server (`make redis` does so where it may)"


@dataclass
class Server:
    """`stop` and `start` are what an operator's restart is: what was not written to disk is lost."""

    port: int
    folder: Path
    program: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port)

    def start(self) -> None:
        folder, port = str(self.folder), str(self.port)
        run = [self.program, "--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--logfile", "log"]
        self.process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert time.monotonic() < end, "the server does not come up"
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def on_disk(self) -> bytes:
        """All that the server writes down when it saves."""
        with self.client as client:
            client.save()
        return b"".join(path.read_bytes() for path in self.folder.iterdir())

    def dump(self) -> bytes:
        """Every key and every value, as a client of the server reads them."""
        with self.client as client:
            keys = list(client.scan_iter(b"*"))
            return b"\n".join([*keys, *(blob for key in keys for blob in client.lrange(key, 0, -1))])


@contextlib.contextmanager
def serving_redis() -> Iterator[Server]:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.fail(HOW)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(free_port(), Path(folder), program)
        server.start()
        try:
            yield server
        finally:
            server.stop()

"""The service as a process that can be killed and started again on its port, and a plain round robin over several."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx2
import openai

from proxy.echo import free_port
from tests.e2e import ROOT, SECRET, START_SECONDS, answers, command, wait_until
from tests.provider import Recorder

T = TypeVar("T")


@dataclass
class Proxy:
    """One service: `start`, `stop` (SIGTERM), `kill` (SIGKILL), and what all its lives have written."""

    upstream: str
    policy: Path
    options: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    scheme: str = "http"
    recorders: list[tuple[Recorder, Recorder]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def out(self) -> str:
        return "".join(out.text for out, _ in self.recorders)

    @property
    def err(self) -> str:
        return "".join(err.text for _, err in self.recorders)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def launch(self) -> None:
        """Starts it and does not wait."""
        self.process = subprocess.Popen(
            command(self.upstream, self.port, *self.options, policy=self.policy),
            cwd=ROOT,
            env={**os.environ, "CAVIARDAGE_SECRET": SECRET, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.recorders.append((Recorder(self.process.stdout), Recorder(self.process.stderr)))

    def start(self) -> None:
        self.launch()
        wait_until(lambda: answers(f"{self.url}/healthz") or self.ended(), START_SECONDS)
        assert not self.ended(), self.err

    def ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit status, once it has ended and everything it wrote was read."""
        assert self.process is not None
        status = self.process.wait(60)
        for recorder in self.recorders[-1]:
            recorder.join(20)
        return status

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.wait()

    def stop(self) -> int:
        if not self.ended():
            self.send(signal.SIGTERM)
        return self.wait()

    def client(self, key: str = "sk-one") -> openai.OpenAI:
        """A client that keeps no connection: every request may meet another process."""
        http = openai.DefaultHttpxClient(headers={"connection": "close"}, trust_env=False)
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, timeout=60, max_retries=0, http_client=http)

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(f"{self.url}{path}", timeout=30, trust_env=False)


@contextlib.contextmanager
def running(proxy: Proxy) -> Iterator[Proxy]:
    proxy.start()
    try:
        yield proxy
    finally:
        if not proxy.ended():
            proxy.send(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                proxy.wait()
        if not proxy.ended():
            proxy.kill()


def children(pid: int) -> list[int]:
    """Processes that this one has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


@dataclass
class RoundRobin:
    """Each request goes to the next; on a connection that fails, to the one after it, as plain balancers do."""

    proxies: Sequence[Proxy]
    failed: int = 0
    _turn: int = 0

    def ask(self, request: Callable[[openai.OpenAI], T]) -> T:
        for _ in range(2 * len(self.proxies)):
            proxy = self.proxies[self._turn % len(self.proxies)]
            self._turn += 1
            try:
                with proxy.client() as client:
                    return request(client)
            except openai.APIConnectionError:
                self.failed += 1
            except openai.APIStatusError as error:
                if error.response.headers.get("x-should-retry") != "true":
                    raise
                self.failed += 1
        raise AssertionError("nobody answers")

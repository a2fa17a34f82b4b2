"""The real service as its own process in front of a recording provider: started once, used by every client test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from proxy.echo import free_port
from tests.provider import Provider, Recorder

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 180
SECRET = "0123456789abcdef0123456789abcdef"

NAME = "Zoë Müller"
EMAIL = "zoe.mueller@example.com"
IBAN = "DE89370400440532013000"
PHONE = "+49 30 901820"
CARD = "4000 0052 6018 1590"
NHS = "943 476 5919"
NIR = "2 85 07 75 116 042 97"
VALUES = (NAME, EMAIL, IBAN, PHONE, CARD, NHS, NIR)
TEXT = (
    f'Dear "{NAME}" <{EMAIL}>,\n\tplease pay to IBAN {IBAN} \\ or call {PHONE}. \U0001f600 e\u0301 '
    f'{{"k": "{NAME}"}} \u2028 Card {CARD}, NHS number {NHS}. Mon numéro de sécurité sociale est {NIR}. For {NAME}'
)
"""Every value, next to all that breaks naive splicing: quotes, backslashes, line breaks, combining and astral signs."""


@dataclass
class Service:
    """A running proxy: its base URL, its provider, and what it wrote (log and audit trail)."""

    url: str
    provider: Provider
    process: subprocess.Popen[bytes]
    out: Recorder
    err: Recorder

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def written(self) -> str:
        return self.out.text + self.err.text

    def metric(self, name: str) -> float:
        lines = httpx2.get(f"{self.url}/metrics", timeout=30, trust_env=False).text.splitlines()
        return float(next(line.split()[-1] for line in lines if line.startswith(f"{name} ")))

    def audit(self, request_id: str) -> list[dict[str, Any]]:
        """The lines about one request."""
        lines = (json.loads(line) for line in self.out.text.splitlines() if line.startswith("{"))
        return [line for line in lines if line.get("request_id") == request_id]

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def command(upstream: str, port: int, *more: str, policy: Path | None = None) -> list[str]:
    """How an operator starts the service."""
    chosen = policy or ROOT / "policies" / "default.yaml"
    run = [sys.executable, "-m", "proxy", "serve", "--upstream", upstream, "--policy", str(chosen)]
    return [*run, "--port", str(port), *more]


@contextmanager
def serving(provider: Provider, *more: str, **environment: str) -> Iterator[Service]:
    """The service in front of `provider`, ready to take requests, until the end of the block."""
    port = free_port()
    process = subprocess.Popen(
        command(provider.url, port, *more),
        cwd=ROOT,
        env={**os.environ, "CAVIARDAGE_SECRET": SECRET, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    service = Service(f"http://127.0.0.1:{port}", provider, process, Recorder(process.stdout), Recorder(process.stderr))
    try:
        wait_until(lambda: answers(f"{service.url}/healthz") or process.poll() is not None, START_SECONDS)
        assert process.poll() is None, service.err.text
        yield service
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        service.out.join(10)
        service.err.join(10)


def answers(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=5, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


def wait_until(condition: Any, seconds: float = 30, step: float = 0.05) -> None:
    """Returns as soon as `condition()` is true; fails after `seconds`, which only a hang can reach."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass in time"
        time.sleep(step)


@pytest.fixture(scope="session")
def running() -> Iterator[Service]:
    with Provider() as provider, serving(provider) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Iterator[Service]:
    """The running service; at the end of every test that used it, its log and audit trail are searched for values."""
    wait_until(lambda: running.provider.active == 0)
    running.provider.reset()
    before = len(running.written)
    yield running
    assert found_in(running.written[before:], VALUES) == []


def found_in(text: str, values: Sequence[str]) -> list[str]:
    return [value for value in values if value in text or value.encode("unicode_escape").decode() in text]

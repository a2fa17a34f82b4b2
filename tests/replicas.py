"""Replicas of the service on loopback ports of this process: everything real but the processes that detect.

Each has its own event loop, thread, parts and log; what they share is what real replicas share, a provider and a store.
Loading the models once instead of once a replica is all that is saved.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from anthropic import Anthropic
from openai import OpenAI

from proxy import app as application
from proxy import logs
from proxy.analysis import settings_for
from proxy.echo import Loopback
from proxy.policy import load_policy
from proxy.settings import Settings
from recognizers import ENTITIES, worker
from recognizers.analyzer import Analyzer
from tests.e2e import SECRET, answers, wait_until
from tests.inprocess import Here


class Loaded(Here):
    """A detector that needs no start."""

    async def start(self) -> None:
        """What it needs is loaded by `detecting`."""

    async def stop(self) -> None:
        self.ready = False


@contextmanager
def detecting(policy: Path) -> Iterator[None]:
    """Detects in this process, with what `policy` asks for, until the end of the block."""
    before = list(worker._analyzer)
    analyzer = Analyzer(settings_for(load_policy(policy, entities=ENTITIES)))
    analyzer.load()
    worker._analyzer[:] = [analyzer]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "Detector", Loaded)
        try:
            yield
        finally:
            worker._analyzer[:] = before


@dataclass
class Replica:
    """One of them: `with Replica(...)`."""

    upstream: str
    policy: Path
    folder: Path
    store: str = "memory"
    store_ttl: float = 3600.0
    faults: list[str] = field(default_factory=list)
    _clients: list[OpenAI | Anthropic] = field(default_factory=list)

    def __enter__(self) -> Replica:
        self._log = io.StringIO()
        self._audit = self.folder / f"audit-{id(self)}"
        settings = Settings(
            upstream=self.upstream,
            policy=self.policy,
            secret=SECRET.encode(),
            store=self.store,
            store_ttl=self.store_ttl,
            audit=str(self._audit),
        )
        app = application.build(settings, logs.service_log("debug", self._log), self.faults.extend)
        self._loopback = Loopback(app)
        self._loopback.__enter__()
        wait_until(lambda: self.faults or answers(f"{self.url}/readyz"))
        assert not self.faults
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self._loopback.__exit__()

    @property
    def url(self) -> str:
        return self._loopback.url

    @property
    def ready(self) -> int:
        return httpx2.get(f"{self.url}/readyz", timeout=30, trust_env=False).status_code

    @property
    def written(self) -> str:
        """Its log and its audit trail."""
        return self._log.getvalue() + self._audit.read_text()

    def client(self, key: str = "sk-one") -> OpenAI:
        made = OpenAI(base_url=f"{self.url}/v1", api_key=key, timeout=60, max_retries=0)
        self._clients.append(made)
        return made

    def anthropic(self, key: str = "ak-one") -> Anthropic:
        made = Anthropic(base_url=self.url, api_key=key, timeout=60, max_retries=0)
        self._clients.append(made)
        return made

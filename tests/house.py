"""The service with tenants on a loopback port of this process: everything real but the processes that detect.

Each policy has its own detector, as in the service; an analyzer for it is put together from what is loaded once.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from proxy import app as application
from proxy import logs
from proxy.echo import Loopback
from proxy.settings import Settings
from proxy.tenants.keys import digest, new_key
from recognizers import worker
from tests.e2e import SECRET, answers, wait_until
from tests.inprocess import world
from tests.replicas import Loaded

HEAD = "version: 1\nlanguages: [en]\nlimits: {default: 100000}\n"


class Lent(Loaded):
    """A detector that looks under its own settings, with what the world has loaded."""

    async def _run(self, function: Callable[..., Any], deadline: float, *arguments: Any) -> Any:
        if function.__name__ not in ("analyse", "propagate"):
            return function(*arguments)
        return worker.under(self.settings, function.__name__, *arguments)  # type: ignore[arg-type]


def policy(term: str, **more: str) -> str:
    """A policy that calls one word by this name, and finds nothing else but addresses."""
    rest = "".join(f"{key}: {value}\n" for key, value in more.items())
    return f"{HEAD}entities: {{EMAIL_ADDRESS: replace}}\ndeny: {{{term}: [nightjar]}}\n{rest}"


@dataclass
class Door:
    """A running service. `keys` are the tenants' keys by name."""

    url: str
    folder: Path
    log: io.StringIO
    keys: dict[str, str] = field(default_factory=dict)

    def ask(
        self, key: str, text: str = "Hello nightjar", model: str = "echo", path: str = "", **headers: str
    ) -> httpx2.Response:
        """One chat, with a key in the `authorization` header unless `headers` say otherwise."""
        body = {"model": model, "max_tokens": 10, "messages": [{"role": "user", "content": text}]}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = sent if {"x-api-key", "api-key"} & sent.keys() else {"authorization": f"Bearer {key}", **sent}
        with httpx2.Client(base_url=self.url, trust_env=False, timeout=60) as client:
            return client.post(path or "/v1/chat/completions", json=body, headers=sent)

    def audit(self) -> list[dict[str, Any]]:
        """The lines about requests and reloads."""
        lines = map(json.loads, (self.folder / "audit.jsonl").read_text().splitlines())
        return [line for line in lines if "verdict" in line]

    @property
    def written(self) -> str:
        return self.log.getvalue() + (self.folder / "audit.jsonl").read_text()

    def about(self) -> dict[str, Any]:
        told: dict[str, Any] = httpx2.get(f"{self.url}/readyz", timeout=30, trust_env=False).json()
        return told


def keys(*names: str) -> dict[str, str]:
    return {name: new_key() for name in names}


def entry(key: str, more: str = "") -> str:
    return f"{{sha256: {digest(key)}{more}}}"


@contextmanager
def housed(folder: Path, upstream: str, tenants: str | None, house: str = "", **more: Any) -> Iterator[Door]:
    """The service, with this tenants file and this policy of its own, until the end of the block."""
    world()
    own = folder / "house.yaml"
    own.write_text(house or policy("HOUSE"))
    if tenants is not None:
        (folder / "tenants.yaml").write_text(tenants)
    settings = Settings(
        upstream=upstream,
        policy=own,
        tenants=None if tenants is None else folder / "tenants.yaml",
        secret=SECRET.encode(),
        audit=str(folder / "audit.jsonl"),
        **more,
    )
    faults: list[str] = []
    log = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "Detector", Lent)
        app = application.build(settings, logs.service_log("debug", log), faults.extend)
        with Loopback(app) as loopback:
            wait_until(lambda: faults or answers(f"{loopback.url}/readyz"))
            assert not faults
            yield Door(loopback.url, folder, log)

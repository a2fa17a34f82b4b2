"""The official Node clients and Vercel's AI SDK through the real service: `tests/clients/*.mjs`, run by this Node.

The scripts assert that the client gets its own words back; here it is asserted that the provider never read them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import EMAIL, NAME, TEXT, VALUES, Service, wait_until

CLIENTS = Path(__file__).resolve().parent / "clients"
BIN = Path(sys.executable).parent
SCRIPTS = sorted(path.name for path in CLIENTS.glob("*.mjs") if path.name not in {"common.mjs", "aimock.mjs"})


def test_the_node_client_is_installed() -> None:
    assert (BIN / "node").exists(), "no node beside this Python: install requirements/dev.txt, or run `make setup`"
    for package, wanted in json.loads((CLIENTS / "package.json").read_text())["dependencies"].items():
        found = CLIENTS / "node_modules" / package / "package.json"
        assert found.is_file(), f"{package} is not installed: run `make setup`, or `npm ci` in tests/clients"
        assert json.loads(found.read_text())["version"] == wanted, f"`npm ci` in tests/clients renews {package}"
    assert [
        *("ai.mjs", "anthropic.mjs", "chat.mjs", "parse.mjs", "responses.mjs", "stream.mjs", "tools.mjs")
    ] == SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_node_client(service: Service, script: str) -> None:
    test_the_node_client_is_installed()
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "BASE_URL": service.base_url,
        "PLANTED": json.dumps({"TEXT": TEXT, "NAME": NAME, "EMAIL": EMAIL}),
    }
    done = subprocess.run(
        ["node", script], cwd=CLIENTS, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert service.provider.received
    assert service.provider.leaks(*VALUES) == []
    wait_until(lambda: service.provider.active == 0)
    wait_until(lambda: service.metric("caviardage_upstream_in_use") == 0)

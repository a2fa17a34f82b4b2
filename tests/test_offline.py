"""The service needs no network but its upstream: with everything else cut, it starts, detects and answers.

The cut is a network namespace with nothing but loopback, where the machine permits one, and in any case a guard in
every Python process, detection workers included, that notes and fails each attempt to go further.
"""

from __future__ import annotations

import ast
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import OpenAI

from tests.e2e import ROOT, TEXT, VALUES, serving
from tests.provider import Provider

GUARD = Path(__file__).resolve().parent / "guard"
ELSEWHERE = "192.0.2.1"  # TEST-NET-1: nobody's
SIOCSIFFLAGS, UP = 0x8914, 0x1
OWNERS = {
    "httpx2": {"proxy/forward.py"},
    "socket": {"proxy/echo.py", "proxy/commands/serve.py", "proxy/fleet.py"},
    "urllib.request": {"proxy/demo.py"},
    "requests": {"proxy/traces.py"},
}
"""Modules that can reach a network, and who may import them. `forward` knows the upstream, `traces` the collector that
the operator names; the others know loopback only, or listen."""
STRANGERS = ("httpx", "aiohttp", "http", "ftplib", "smtplib", "huggingface_hub", "tldextract")
FETCHING = {"get_encoding", "encoding_for_model", "from_pretrained", "hf_hub_download", "download", "TLDExtract"}
"""Calls of tiktoken, transformers, spaCy and tldextract that fetch what they do not find."""


def guarded(tmp_path: Path) -> dict[str, str]:
    paths = os.pathsep.join((str(GUARD), str(ROOT)))
    return {**os.environ, "PYTHONPATH": paths, "GUARD_LOG": str(tmp_path / "attempts")}


def attempts(tmp_path: Path) -> str:
    log = tmp_path / "attempts"
    return log.read_text() if log.exists() else ""


def namespace() -> list[str]:
    """The prefix of a command that cuts it off from every network, or nothing where that is not permitted."""
    unshare = [shutil.which("unshare") or "unshare", "--user", "--map-root-user", "--net"]
    try:
        permitted = subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        permitted = False
    return unshare if permitted else []


def test_the_service_works_without_a_network(tmp_path: Path) -> None:
    prefix = namespace()
    run = [*prefix, sys.executable, "-m", "tests.test_offline", *(["cut"] if prefix else [])]
    done = subprocess.run(
        run, cwd=ROOT, env=guarded(tmp_path), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "answered"
    assert attempts(tmp_path) == ""


@pytest.mark.parametrize(
    "attempt",
    [
        f"socket.create_connection(('{ELSEWHERE}', 80), 1)",
        "socket.getaddrinfo('provider.example', 443)",
        f"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('{ELSEWHERE}', 53))",
    ],
)
def test_the_guard_would_notice(tmp_path: Path, attempt: str) -> None:
    code = f"import multiprocessing, socket\ndef go(): {attempt}\ngo()"
    done = subprocess.run([sys.executable, "-c", code], env=guarded(tmp_path), capture_output=True, check=False)
    assert done.returncode == 1
    assert b"PermissionError" in done.stderr
    assert attempts(tmp_path).startswith("socket.")


def sources() -> Iterator[tuple[str, ast.AST]]:
    for package in ("proxy", "recognizers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def test_nobody_but_the_owners_can_reach_a_network() -> None:
    found = [(name, path) for path, tree in sources() for node in ast.walk(tree) for name in imported(node)]
    for module in (*OWNERS, *STRANGERS):
        users = {path for name, path in found if name == module or name.startswith(f"{module}.")}
        assert users == OWNERS.get(module, set()), module


def test_nothing_is_fetched_at_run_time() -> None:
    fetching = [
        (path, node.lineno)
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in FETCHING
    ]
    assert fetching == []


def raise_loopback() -> None:
    """A new network namespace has a loopback interface that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh", b"lo", UP))


def main(cut: bool) -> None:
    """The provider, the service and a client, all of them inside the cut."""
    if cut:
        raise_loopback()
        interfaces = [line.split(":")[0].strip() for line in Path("/proc/self/net/dev").read_text().splitlines()[2:]]
        assert interfaces == ["lo"], interfaces
    with Provider() as provider, serving(provider, "--workers", "1") as service:
        with OpenAI(base_url=service.base_url, api_key="x", max_retries=0, timeout=120) as client:
            answer = client.chat.completions.create(model="echo", messages=[{"role": "user", "content": TEXT}])
            chunks = client.chat.completions.create(
                model="gpt-4", messages=[{"role": "user", "content": TEXT}], stream=True
            )
            streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert answer.choices[0].message.content == TEXT == streamed
        assert provider.leaks(*VALUES) == []
    print("answered")


if __name__ == "__main__":
    main(sys.argv[1:] == ["cut"])

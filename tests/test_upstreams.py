"""Upstreams and suites that others wrote: aimock, llmock, chunk-invariance.

What such an upstream answers straight, it answers through the proxy: the same status, error, words and retry headers;
what breaks off there breaks off here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from chunk_invariance import assert_chunk_invariant

from proxy import echo
from proxy.audit import Audit
from proxy.echo import Loopback, free_port
from proxy.forward import Upstream, UpstreamSettings
from proxy.ingress import Ingress, Limits
from proxy.logs import service_log
from proxy.model import Context, Seen
from proxy.pipeline import Pipeline
from proxy.policy.sections import Attachments
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.chat import ChatStream
from proxy.wire.ollama_stream import OllamaStream
from tests.e2e import wait_until
from tests.inprocess import SECRET, world

CLIENTS = Path(__file__).resolve().parent / "clients"
BIN = Path(sys.executable).parent
HEADERS = {"authorization": "Bearer sk-test-0123456789", "x-api-key": "sk-test", "anthropic-version": "2023-06-01"}


@contextmanager
def front(url: str) -> Iterator[str]:
    """The ingress and the pipeline before an upstream, over HTTP; images pass. The base URL without `/v1`."""
    here = world()
    policy = here.policy.model_copy(update={"attachments": Attachments(images="pass")})
    upstream = Upstream(f"{url}/v1", UpstreamSettings(read_timeout=30))
    pipeline = Pipeline(policy, here.detector, here.counters, upstream, Audit([]), SECRET)
    ingress = Ingress(
        pipeline,
        secret=SECRET,
        limits=Limits(),
        own={},
        ready=lambda: True,
        refused=lambda request_id, tenant, refusal: None,
        log=service_log("error"),
    )

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await ingress(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await upstream.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    with Loopback(app) as loopback:
        yield loopback.url


@pytest.fixture(scope="module")
def aimock() -> Iterator[tuple[str, str]]:
    """The URLs of aimock, and of the proxy in front of it."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    with subprocess.Popen(
        ["node", "aimock.mjs"],
        cwd=CLIENTS,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as node:
        assert node.stdout is not None
        assert node.stdin is not None
        url = next((line.strip() for line in node.stdout if line.startswith("http")), "")
        assert url, "aimock does not start: run `make setup`"
        try:
            with front(url) as proxied:
                yield url, proxied
        finally:
            node.stdin.close()
            node.wait(30)


@contextmanager
def llmock(**settings: str) -> Iterator[str]:
    """The URL of llmock, which fails as it is told in its environment."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "llmock.main:app", "--port", str(port), "--log-level", "critical"]
    with subprocess.Popen(command, env={**os.environ, **settings}) as process:
        url = f"http://127.0.0.1:{port}"

        def serves() -> bool:
            try:
                return httpx2.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200
            except httpx2.TransportError:
                return False

        try:
            wait_until(serves, 120)
            yield url
        finally:
            process.terminate()
            process.wait(30)


Answered = tuple[int | None, str | None, list[Any], bool]


def ask(url: str, path: str, text: str, *, stream: bool = False) -> Answered:
    """Status, `retry-after`, what was said (bodies or events, without what changes from call to call), and its end."""
    body: Any = {"model": "gpt-4o", "max_tokens": 50, "stream": stream}
    body |= {"input": text} if path == "/v1/responses" else {"messages": [{"role": "user", "content": text}]}
    body.pop("max_tokens" if path == "/v1/responses" else "", None)
    status: int | None = None
    retry: str | None = None
    raw, broke = b"", False
    try:
        with (
            httpx2.Client(trust_env=False, timeout=60) as client,
            client.stream("POST", f"{url}{path}", json=body, headers=HEADERS) as response,
        ):
            status, retry = response.status_code, response.headers.get("retry-after")
            for chunk in response.iter_bytes():
                raw += chunk
    except httpx2.TransportError:
        broke = True
    return status, retry, list(_said(raw)), broke


def _said(raw: bytes) -> Iterator[Any]:
    for line in raw.decode().replace("\r\n", "\n").split("\n"):
        line = line.removeprefix("data: ")
        if not line or line.startswith((":", "event:")):
            continue
        try:
            yield _steady(json.loads(line))
        except ValueError:
            yield line


def _steady(node: Any) -> Any:
    """Without ids and times, which differ from call to call, and without the count that the proxy asks for."""
    if isinstance(node, dict):
        dropped = {
            "id",
            "item_id",
            "created",
            "created_at",
            "completed_at",
            "usage",
            "system_fingerprint",
            "request_id",
            "call_id",
        }
        return {key: _steady(value) for key, value in node.items() if key not in dropped}
    return [_steady(value) for value in node] if isinstance(node, list) else node


PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", ["hello", "call it", "drop it", "slow down", "refuse it", "nothing that is known"])
def test_aimock_says_the_same_through_the_proxy(aimock: tuple[str, str], path: str, stream: bool, text: str) -> None:
    straight, through = (ask(url, path, text, stream=stream) for url in aimock)
    assert through == straight
    assert straight[0] is not None
    assert straight[2]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("text", "stream"), [("garble it", False), ("hang up", False), ("hang up", True), ("stop short", True)]
)
def test_what_is_broken_at_aimock_is_never_made_whole(
    aimock: tuple[str, str], path: str, text: str, stream: bool
) -> None:
    """An answer that cannot be read, or none, is an error of the proxy's; a stream that stops short is cut."""
    straight, through = (ask(url, path, text, stream=stream) for url in aimock)
    assert straight[3] or straight[0] == 200
    status, _, said, broke = through
    assert broke or (status is not None and status >= 500)
    assert "wrote this, piece by piece." not in json.dumps(said)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_errors_of_llmock_are_handed_on(status: int) -> None:
    with llmock(**{f"LLMOCK_ERROR_RATE_{status}": "1"}) as url, front(url) as proxied:
        for path in PATHS[:2]:
            straight, through = (ask(one, path, "hello") for one in (url, proxied))
            assert through == straight
            assert straight[0] == status


EMAIL = "zoe.mueller@example.com"


def restoration() -> tuple[Restoration, str]:
    vault = Vault(b"k" * 32)
    placeholder = vault.issue("EMAIL_ADDRESS", EMAIL).placeholder
    return Restoration(vault), f"Dear <b>{placeholder}</b>, {placeholder[:7]} {placeholder}"


@pytest.mark.parametrize("context", list(Context))
def test_a_growing_text_is_the_same_for_every_split(context: Context) -> None:
    restoring, text = restoration()

    def grown(pieces: Iterable[str]) -> Iterator[str]:
        growing = restoring.growing(context)
        for piece in pieces:
            yield growing.feed(piece)
        yield growing.finish()

    assert EMAIL.split("@")[0] in restoring.whole(text, context)[0]
    assert assert_chunk_invariant(grown, lambda whole: restoring.whole(whole, context)[0], text, splits=3) > 1000


def _chat(text: str) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": {"content": text[at : at + 4]}}]} for at in range(0, len(text), 4)]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return b"".join(map(echo.event, [*chunks, end, None]))


def _ollama(text: str) -> bytes:
    lines = [{"message": {"content": text[at : at + 4]}, "done": False} for at in range(0, len(text), 4)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, {"done": True}])


@pytest.mark.parametrize(("stream", "written"), [(ChatStream, _chat), (OllamaStream, _ollama)])
def test_a_stream_is_the_same_for_every_cut(stream: Any, written: Any) -> None:
    restoring, text = restoration()

    def restored(pieces: Iterable[bytes]) -> Iterator[bytes]:
        made = stream(restoring, Seen())
        for piece in pieces:
            yield made.feed(piece)
        yield made.finish()

    whole = b"".join(restored([written(text)]))
    assert b"@example.com" in whole.replace(b'"', b"") or EMAIL.encode() in whole
    assert assert_chunk_invariant(restored, lambda data: b"".join(restored([data])), written(text)) > 500

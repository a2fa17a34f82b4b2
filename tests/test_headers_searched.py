"""A value in a header or in the path of a model reaches nobody, however well it fits the form of what stands there."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import uuid
from typing import Any

import httpx2
import pytest

from proxy.audit import Audit
from proxy.forward import Upstream, UpstreamSettings
from proxy.headers import CHECKED, CREDENTIALS, OPTIONAL, header_leaves, upstream_headers
from proxy.pipeline import Inbound, Outbound, Pipeline
from proxy.wire.encoded import shown
from tests.inprocess import HEADERS, SECRET, Pieces, world

IBAN = "DE89370400440532013000"
CARD = "4000005260181590"
ENCODED = base64.b64encode(b"zoe.mueller@example.com.").decode()
BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}).encode()
ANSWER = b'{"object":"list","data":[]}'


class Keeping(httpx2.AsyncBaseTransport):
    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(200, headers={"content-type": "application/json"}, stream=Pieces([ANSWER]))


def ask(method: str, path: str, body: bytes, *headers: tuple[str, str]) -> tuple[Outbound, list[httpx2.Request]]:
    async def run() -> tuple[Outbound, list[httpx2.Request]]:
        here, kept = world(), Keeping()
        upstream = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=kept)
        pipeline = Pipeline(here.policy, here.detector, here.counters, upstream, Audit([]), SECRET)
        answer = await pipeline.handle(Inbound("r1", "t", method, path, "", (*HEADERS, *headers), body))
        return answer, kept.requests

    return asyncio.run(run())


@pytest.mark.parametrize("name", sorted(set(CHECKED) - set(CREDENTIALS)))
@pytest.mark.parametrize(
    ("method", "path", "body"), [("POST", "/v1/chat/completions", BODY), ("GET", "/v1/models", b"")]
)
@pytest.mark.parametrize("value", [IBAN, ENCODED])
def test_a_header_that_matters_refuses(name: str, method: str, path: str, body: bytes, value: str) -> None:
    answer, requests = ask(method, path, body, (name, value))
    assert answer.status == 400
    assert isinstance(answer.body, bytes)
    error = json.loads(answer.body)["error"]
    assert (error["code"], error["param"]) == ("unsupported_by_policy", f"header {name}")
    assert value.encode() not in answer.body
    assert requests == []


@pytest.mark.parametrize("name", ["user-agent", "x-request-id", "x-stainless-helper-method", "x-stainless-os"])
@pytest.mark.parametrize("value", [IBAN, ENCODED])
def test_a_header_that_may_be_missing_is_left_out(name: str, value: str) -> None:
    answer, (request,) = ask("POST", "/v1/chat/completions", BODY, (name, value), ("openai-beta", "assistants=v2"))
    assert answer.status == 200
    assert value not in str(request.headers)
    assert request.headers["openai-beta"] == "assistants=v2"


@pytest.mark.parametrize("value", [IBAN, CARD, f"gpt:{IBAN}", ENCODED])
def test_a_value_as_the_name_of_a_model_goes_nowhere(value: str) -> None:
    answer, requests = ask("GET", f"/v1/models/{value}", b"")
    assert answer.status == 400
    assert requests == []
    answer, requests = ask("GET", "/v1/models/ft:gpt-4o-mini-2024-07-18:acme::AbC123", b"")
    assert (answer.status, len(requests)) == (200, 1)


def test_what_clients_really_send_passes() -> None:
    """Random ones among them: nothing may be found by chance in a key."""
    usual: dict[str, Any] = {
        "user-agent": ["OpenAI/Python 3.57.0", "Anthropic/JS 1.14.0", "python-httpx/0.28.1"],
        "anthropic-version": ["2023-06-01", "2026-10-21"],
        "anthropic-beta": ["prompt-caching-2024-07-31,interleaved-thinking-2025-05-14"],
        "openai-organization": [f"org-{secrets.token_hex(12)}"],
        "x-stainless-runtime-version": ["3.11.7", "v22.1.0"],
        "idempotency-key": [f"stainless-node-retry-{uuid.uuid4()}" for _ in range(100)],
        "x-client-request-id": [*(str(uuid.uuid4()) for _ in range(200)), *(secrets.token_hex(16) for _ in range(200))],
    }
    leaves = [
        part
        for name, values in usual.items()
        for value in values
        for leaf in header_leaves([(name, value)]).values()
        for part in shown(leaf)
    ]
    here = world()
    found = asyncio.run(here.detector.detect(leaves, here.policy, "t"))
    assert [leaf.text for leaf, findings in zip(leaves, found, strict=True) if findings] == []


def test_credentials_are_the_clients_own_and_not_searched() -> None:
    keys = [(name, IBAN) for name in CREDENTIALS]
    passed = upstream_headers([*keys, ("user-agent", "Agent/1"), ("accept", "*/*"), ("x-other", IBAN)])
    assert set(header_leaves(passed)) == {"user-agent"}
    assert "user-agent" in OPTIONAL

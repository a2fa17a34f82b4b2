"""What an upstream's error may say: it is verified like an answer, but for the tokens that it did not use."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from proxy.audit import Audit
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.trip import Inbound, Outbound
from tests.inprocess import HEADERS, SECRET, Pieces, world

FOREIGN = "about <IBAN_CODE_123123>"


class Failing(httpx2.AsyncBaseTransport):
    """Answers with an error of this status and body."""

    def __init__(self, status: int, body: bytes, kind: str) -> None:
        self._answer = status, body, kind

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        status, body, kind = self._answer
        headers = {"content-type": kind, "retry-after": "7"}
        return httpx2.Response(status, headers=headers, stream=Pieces([body]))


def ask(status: int, body: bytes, text: str = "hello", kind: str = "application/json") -> Outbound:
    async def run() -> Outbound:
        here = world()
        upstream = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=Failing(status, body, kind))
        pipeline = Pipeline(here.policy, here.detector, here.counters, upstream, Audit([]), SECRET)
        request = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}).encode()
        return await pipeline.handle(Inbound("r1", "t", "POST", "/v1/chat/completions", "", HEADERS, request))

    return asyncio.run(run())


@pytest.mark.parametrize("status", [400, 429, 500])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (json.dumps({"error": {"message": FOREIGN}}).encode(), "application/json"),
        (json.dumps({"error": {"<IBAN_CODE_123123>": None}}).encode(), "application/json"),
        (json.dumps({"<IBAN_CODE_123123>": None}).encode(), "application/json"),
        (FOREIGN.encode(), "text/plain"),
        (f"data: {FOREIGN}\n\n".encode(), "text/event-stream"),
    ],
)
def test_an_error_that_holds_a_strange_placeholder_is_blocked(status: int, body: bytes, kind: str) -> None:
    got = ask(status, body, kind=kind)
    assert isinstance(got.body, bytes)
    assert (got.status, json.loads(got.body)["error"]["code"]) == (502, "foreign_placeholder")


def test_an_error_is_handed_on_whatever_tokens_it_counts() -> None:
    body = json.dumps({"error": {"message": "too busy"}, "usage": {"prompt_tokens": 1}}, separators=(",", ":")).encode()
    got = ask(429, body, "the sky is blue " * 1_000)
    assert (got.status, got.body) == (429, body)
    assert ("retry-after", "7") in got.headers
    used = ask(200, body, "the sky is blue " * 1_000)
    assert isinstance(used.body, bytes)
    assert (used.status, json.loads(used.body)["error"]["code"]) == (502, "usage_mismatch")

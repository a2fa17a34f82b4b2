"""Bodies from the SDKs' own types, bent by chance, through the whole pipeline: an answer comes out, or a refusal.

`test_fuzz` does the same with the readers alone, faster and for every endpoint.
"""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.audit import Audit
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.trip import Inbound
from tests.bodies import nodes
from tests.inprocess import HEADERS, SECRET, Pieces, world
from tests.leaks import leaked, sentence
from tests.surface import asked
from tests.surface.places import minimal
from tests.surface.sdks import SURFACES, Surface
from tests.test_fuzz import KINDS, _put, bent

ASKED = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/v1/completions")
CHOSEN = [surface for surface in SURFACES if surface.path in ASKED]
MAIL = sentence("eleanor.whitcombe@example.org")


class Answering(httpx2.AsyncBaseTransport):
    """Says the smallest answer that the SDK's type allows; keeps what it was sent."""

    def __init__(self, surface: Surface) -> None:
        self.sent: list[bytes] = []
        self._answer = json.dumps(minimal(surface.answer)).encode()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(await request.aread())
        return httpx2.Response(200, headers={"content-type": "application/json"}, stream=Pieces([self._answer]))


async def answered(surface: Surface, raw: bytes) -> tuple[int, bytes, list[bytes]]:
    here, transport, faults = world(), Answering(surface), list[Exception]()
    upstream = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=transport)
    pipeline = Pipeline(here.policy, here.detector, here.counters, upstream, Audit([]), SECRET, faults.append)
    answer = await pipeline.handle(Inbound("r1", "t", "POST", surface.path, "", HEADERS, raw))
    parts = [answer.body] if isinstance(answer.body, bytes) else [part async for part in answer.body]
    assert faults == []
    return answer.status, b"".join(parts), transport.sent


@pytest.mark.parametrize("surface", CHOSEN, ids=lambda surface: surface.path)
@settings(max_examples=30)
@given(st.data())
def test_an_answer_or_a_refusal_and_nothing_else(surface: Surface, data: st.DataObject) -> None:
    kinds = KINDS[surface.path]
    place = kinds[data.draw(st.integers(0, len(kinds) - 1))]
    value = data.draw(st.just(MAIL) | (st.text(max_size=8) if place.what == "key" else bent))
    body: Any = copy.deepcopy(asked._complete(surface, place.make(value)))
    ways = [way for way in nodes(body) if way]
    if data.draw(st.booleans()) and ways:
        _put(body, data.draw(st.sampled_from(ways)), data.draw(bent | st.just(MAIL)))
    status, said, sent = asyncio.run(answered(surface, json.dumps(body).encode()))
    assert [leaked(one) for one in sent] == [[] for _ in sent]
    if status != 200:
        error = json.loads(said)["error"]
        assert isinstance(error["message"], str)
        assert leaked(said) == []
        assert 400 <= status < 600


def test_every_endpoint_is_among_them() -> None:
    assert sorted(surface.path for surface in CHOSEN) == sorted(ASKED)

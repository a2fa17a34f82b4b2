"""The dialects of engines through the whole pipeline: what the engine reads, and what the client gets back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from proxy.audit import Audit, AuditEvent
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Inbound, Pipeline
from proxy.wire.dialects import Dialects
from tests.e2e import EMAIL, IBAN, NAME, VALUES
from tests.inprocess import HEADERS, SECRET, Pieces, world
from tests.provider import spellings, strings

TEXT = f"Dear {NAME} <{EMAIL}>, please pay to IBAN {IBAN}."


class Engine(httpx2.AsyncBaseTransport):
    """Says the last text once more, as Ollama does or as the OpenAI API has it; in pieces of seven bytes."""

    def __init__(self) -> None:
        self.url = ""
        self.seen = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        self.url, self.seen = str(request.url), "\n".join(strings(body))
        kind, whole = (_ollama if request.url.path.startswith("/api/") else _openai)(body)
        pieces = [whole[at : at + 7] for at in range(0, len(whole), 7)]
        return httpx2.Response(200, headers={"content-type": kind}, stream=Pieces(pieces))


def _ollama(body: dict[str, Any]) -> tuple[str, bytes]:
    text = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)] if body.get("stream", True) else [text]
    said = [{"message": {"content": piece}} if "messages" in body else {"response": piece} for piece in pieces]
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 50, "eval_count": 9}
    if body.get("stream", True):
        lines = [*({"done": False, **piece} for piece in said), end]
        return "application/x-ndjson", b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return "application/json; charset=utf-8", json.dumps({**said[0], **end}).encode()


def _openai(body: dict[str, Any]) -> tuple[str, bytes]:
    text = body["messages"][-1]["content"]
    deltas = [{"reasoning_content": text[at : at + 5]} for at in range(0, len(text), 5)]
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in [*deltas, {"content": text}]]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events = [b"data: " + json.dumps({**chunk, "usage": {"prompt_tokens": 50}}).encode() + b"\n\n" for chunk in chunks]
    return "text/event-stream", b"".join(events) + b"data: [DONE]\n\n"


@dataclass
class Got:
    status: int
    kind: str
    body: bytes
    engine: Engine
    audited: list[AuditEvent]


def ask(dialect: str, path: str, body: dict[str, Any]) -> Got:
    async def run() -> Got:
        here, engine, audited = world(), Engine(), list[AuditEvent]()
        upstream = Upstream("http://engine:1/v1", UpstreamSettings(), transport=engine)
        dialects = Dialects((dialect,))
        audit = Audit([audited.append])
        pipeline = Pipeline(here.policy, here.detector, here.counters, upstream, audit, SECRET, dialects=dialects)
        answer = await pipeline.handle(Inbound("r1", "t", "POST", path, "", HEADERS, json.dumps(body).encode()))
        parts = [answer.body] if isinstance(answer.body, bytes) else [part async for part in answer.body]
        return Got(answer.status, dict(answer.headers)["content-type"], b"".join(parts), engine, audited)

    return asyncio.run(run())


def unread(seen: str) -> bool:
    return not any(spelling in seen for value in VALUES for spelling in spellings(value))


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
def test_ollama_streams_unless_it_is_told_not_to(path: str) -> None:
    prompt = {"messages": [{"role": "user", "content": TEXT}]} if path == "/api/chat" else {"prompt": TEXT}
    field = "message" if path == "/api/chat" else "response"
    streamed = ask("ollama", path, {"model": "llama3.2", **prompt})
    assert (streamed.status, streamed.kind) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in streamed.body.splitlines()]
    assert lines[-1]["done"] is True
    said = [line[field]["content"] if field == "message" else line[field] for line in lines[:-1]]
    assert "".join(said) == TEXT
    assert len(said) > 10
    whole = ask("ollama", path, {"model": "llama3.2", "stream": False, **prompt})
    told = json.loads(whole.body)[field]
    assert (told["content"] if field == "message" else told) == TEXT
    for got in (streamed, whole):
        assert unread(got.engine.seen)
        assert got.engine.url == f"http://engine:1{path}"
        event = got.audited[-1]
        assert (event.verdict, event.endpoint, event.usage_prompt) == ("release", path, 50)


def test_ollamas_refusals_have_its_form_and_its_limits_hold() -> None:
    refused = ask("ollama", "/api/chat", {"model": "m", "messages": [{"role": "user", "images": ["iVBO"]}]})
    assert refused.status == 400
    error = json.loads(refused.body)
    assert isinstance(error["error"], str)
    assert error["code"] == "unsupported_by_policy"
    assert refused.engine.url == ""
    options = {"num_predict": 10_000_000}
    long = ask(
        "ollama", "/api/chat", {"model": "m", "messages": [{"role": "user", "content": "x"}], "options": options}
    )
    assert json.loads(long.body)["code"] == "context_length_exceeded"
    assert long.engine.url == ""


@pytest.mark.parametrize("dialect", ["vllm", "sglang"])
def test_reasoning_of_engines_comes_back(dialect: str) -> None:
    body = {"model": "qwen", "messages": [{"role": "user", "content": TEXT}], "stream": True, "guided_choice": [NAME]}
    got = ask(dialect, "/v1/chat/completions", body)
    assert got.status == 200
    deltas = [json.loads(event[6:])["choices"][0]["delta"] for event in got.body.split(b"\n\n")[:-2]]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == TEXT
    assert "".join(delta.get("content", "") for delta in deltas) == TEXT
    assert unread(got.engine.seen)


@pytest.mark.parametrize(
    ("dialect", "path"),
    [("openai", "/api/chat"), ("vllm", "/openai/v1/chat/completions"), ("ollama", "/openai/deployments/d/embeddings")],
)
def test_another_dialects_paths_go_nowhere(dialect: str, path: str) -> None:
    got = ask(dialect, path, {"model": "m", "messages": []})
    assert got.status == 400
    assert got.engine.url == ""

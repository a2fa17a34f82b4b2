"""A suite that others wrote, llm-comply, run twice: straight against a provider, and through the proxy.

Whatever passes straight passes through, and the proxy adds no complaint to any test. The provider is the recording one,
with every field in its answers that the APIs' specifications require, so that straight nothing fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llm_comply
import pytest
from llm_comply import result, runner
from llm_comply.config import ComplianceConfig
from llm_comply.schema import SpecLoader
from llm_comply.tests import get_tests

from tests.provider import Provider
from tests.test_upstreams import front

SPECS = Path(llm_comply.__file__).parent / "specs"
SUITES = {"openai-chat": "openai_chat", "open-responses": "openresponses", "anthropic": "anthropic"}
MODELS = {"openai-chat": "gpt-5", "open-responses": "gpt-5", "anthropic": "claude-sonnet-4-5"}

_RESPONSE: dict[str, Any] = {
    **dict.fromkeys(("completed_at", "incomplete_details", "previous_response_id", "max_output_tokens")),
    **dict.fromkeys(("max_tool_calls", "safety_identifier", "prompt_cache_key", "instructions")),
    "truncation": "disabled",
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "reasoning": {"effort": "low", "summary": "auto"},
    "store": False,
    "background": False,
    "service_tier": "default",
    "metadata": {},
}
_TOKENS: dict[str, Any] = {
    "cache_creation": None,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "inference_geo": None,
    "output_tokens_details": None,
    "server_tool_use": None,
    "service_tier": "standard",
}


class Complete(Provider):
    """The recording provider, as strict and as complete as the specifications say."""

    async def _answer(self, path: str, body: dict[str, Any], knobs: dict[str, str], send: Any) -> None:
        if "model" not in body:
            error = {"message": "you must provide a model", "type": "invalid_request_error", "param": "model"}
            await send(
                {"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"application/json")]}
            )
            await send({"type": "http.response.body", "body": json.dumps({"error": {**error, "code": None}}).encode()})
            return

        async def completed(message: dict[str, Any]) -> None:
            if message.get("body"):
                message = {**message, "body": b"".join(map(_line, message["body"].splitlines(keepends=True)))}
            if message.get("body") and path.endswith("/compact"):
                message = {**message, "body": json.dumps(_compaction(json.loads(message["body"]))).encode()}
            await send(message)

        await super()._answer(path, body, knobs, completed)


def _line(line: bytes) -> bytes:
    """A line of an answer, whole or of a stream, with what is missing in it."""
    start, brace, _ = line.partition(b"{")
    if not brace:
        return line
    end = b"\n" if line.endswith(b"\n") else b""
    return start + json.dumps(_filled(json.loads(line[len(start) :]))).encode() + end


def _filled(node: Any) -> Any:
    if isinstance(node, list):
        return [_filled(value) for value in node]
    if not isinstance(node, dict):
        return node
    known = {key: _filled(value) for key, value in node.items()}
    return {**known, **{key: value for key, value in _missing(node).items() if known.get(key) is None}}


def _missing(node: dict[str, Any]) -> dict[str, Any]:
    """What an object of its kind must have too."""
    if node.get("object") == "response":
        return _RESPONSE
    if "message" in node and "finish_reason" in node:
        return {"logprobs": None}
    if node.get("role") == "assistant" and "type" not in node:
        return {"refusal": None, "annotations": []}
    kinds: dict[Any, dict[str, Any]] = {
        "text": {"citations": None},
        "tool_use": {"caller": {"type": "direct"}},
        "message": {"stop_details": None, "container": None} if "usage" in node else {},
        "function": {"strict": None, "description": None, "parameters": None} if "name" in node else {},
    }
    if "output_tokens" in node and "total_tokens" not in node:
        return _TOKENS
    return kinds.get(node.get("type"), {})


def _compaction(response: dict[str, Any]) -> dict[str, Any]:
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAAB"}
    return {**response, "object": "response.compaction", "output": [*response["output"], item]}


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    with Complete() as provider:
        url = provider.url.removesuffix("/v1")
        with front(url) as proxied:
            yield url, proxied


def run(url: str, suite: str) -> dict[str, result.TestResult]:
    config = ComplianceConfig(
        base_url=f"{url}/v1",
        api_key="sk-test-0123456789",
        model=MODELS[suite],
        extra_headers={"anthropic-version": "2023-06-01"} if suite == "anthropic" else None,
    )
    schemas = SpecLoader(str(SPECS / f"{SUITES[suite]}.json"))
    return {one.id: one for one in runner.TestRunner(config, get_tests(suite), schemas).run_all().results}


@pytest.mark.filterwarnings("ignore:jsonschema.RefResolver is deprecated:DeprecationWarning")
@pytest.mark.parametrize("suite", SUITES)
def test_no_test_is_lost_on_the_way_through(urls: tuple[str, str], suite: str) -> None:
    straight, through = (run(url, suite) for url in urls)
    failed = {name: one.errors for name, one in straight.items() if one.status != result.TestStatus.PASSED}
    assert failed == {}
    for name, one in through.items():
        assert (one.status, one.errors, one.warnings) == (straight[name].status, [], straight[name].warnings), name

"""Ollama's own API: what is read, what is refused, and lines of a stream that come back restored however cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadAnswer, BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf, Seen, Usage
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire import ollama
from proxy.wire.endpoints import Aids, Endpoint
from proxy.wire.ollama_stream import OllamaStream
from proxy.wire.seals import NoSeals
from tests.bodies import as_is
from tests.wire import CARD, KEY, MAIL, NAME, leaves_of, pieces, redacted, run, values_in

AIDS = Aids(None, NoSeals())
TEXT = f'Dear "{NAME}" <{MAIL}>, bye'
SCHEMA = {"type": "object", "properties": {"who": {"type": "string", "enum": [NAME]}}, "required": ["who"]}
CALL = {"function": {"name": "save", "arguments": {"who": NAME, "card": CARD, "deep": [{MAIL: "x"}]}}}
CHAT: dict[str, Any] = {
    "model": "llama3.2:3b",
    "messages": [
        {"role": "system", "content": f"You help {NAME}."},
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": "", "thinking": f"hm, {MAIL}", "tool_calls": [CALL]},
        {"role": "tool", "content": f'{{"for": "{MAIL}"}}', "tool_name": "save"},
    ],
    "tools": [{"type": "function", "function": {"name": "save", "description": NAME, "parameters": SCHEMA}}],
    "format": SCHEMA,
    "options": {"num_ctx": 4096, "stop": [NAME], "num_predict": 77},
    "keep_alive": "5m",
    "think": True,
}


def served(path: str) -> Endpoint:
    found = ollama.endpoint(path)
    assert found is not None
    return found


def sent(path: str, body: Any, allowed: frozenset[str] = frozenset()) -> tuple[dict[str, Any], Restoration]:
    return redacted(served(path).rewrite_request, body, allowed=allowed, aids=AIDS)


def leaves(path: str, body: Any) -> list[Leaf]:
    return leaves_of(served(path).rewrite_request, body, allowed=frozenset(), aids=AIDS)


def test_a_chat_is_read_in_full() -> None:
    body, _ = sent("/api/chat", CHAT)
    assert values_in(body) == []
    assert body.keys() == CHAT.keys()
    assert body["format"]["required"] == ["who"]
    fixed = {leaf.text for leaf in leaves("/api/chat", CHAT) if leaf.kind is Kind.FIXED}
    assert {"save", "who"} <= fixed


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/api/generate",
            {"model": "m", "prompt": TEXT, "suffix": NAME, "system": MAIL, "template": f"{NAME}: {{{{ .Prompt }}}}"},
        ),
        ("/api/embed", {"model": "m", "input": [TEXT, NAME]}),
        ("/api/embed", {"model": "m", "input": TEXT, "truncate": True}),
        ("/api/embeddings", {"model": "m", "prompt": TEXT}),
    ],
)
def test_prompts_are_read(path: str, body: Any) -> None:
    assert values_in(sent(path, body)[0]) == []


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/api/chat", {"model": "m", "messages": [{"role": "user", "images": ["iVBOR"]}]}, "$.messages[0].images"),
        ("/api/generate", {"model": "m", "prompt": "x", "images": ["iVBOR"]}, "$.images"),
        ("/api/generate", {"model": "m", "prompt": "x", "context": [1, 2, 3]}, "$.context"),
        ("/api/embed", {"model": "m", "input": [[1, 2]]}, "$.input[0]"),
        ("/api/chat", {"model": "m", "messages": [], "tools": [{"type": "mcp"}]}, "$.tools[0]"),
    ],
)
def test_what_is_not_inspected_is_refused(path: str, body: Any, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        served(path).rewrite_request(body, as_is, frozenset(), AIDS)
    assert caught.value.param == param


@pytest.mark.parametrize("key", ["Content", "ROLE", "Images", "Tool_Calls"])
def test_a_field_in_another_case_is_refused(key: str) -> None:
    """Go reads it as the field itself."""
    with pytest.raises(BadRequest):
        served("/api/chat").rewrite_request({"messages": [{"role": "user", key: "x"}]}, as_is, frozenset(), AIDS)


def test_images_pass_where_the_policy_says_so_and_are_only_images() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": TEXT, "images": ["iVBORw0KGgo="]}]}
    assert sent("/api/chat", body, frozenset({"images"}))[0]["messages"][0]["images"] == ["iVBORw0KGgo="]
    body["messages"][0]["images"] = [TEXT]  # type: ignore[index]
    with pytest.raises(UnsupportedByPolicy):
        sent("/api/chat", body, frozenset({"images"}))


@pytest.mark.parametrize("path", ["/api/pull", "/api/create", "/api/push", "/api/copy", "/api/delete", "/api/blobs/x"])
def test_models_are_not_managed_here(path: str) -> None:
    assert ollama.endpoint(path) is None


def test_the_requested_completion_is_num_predict() -> None:
    measured = served("/api/chat").counted
    assert measured(CHAT)["max_tokens"] == 77
    for silent in ({}, {"options": {}}, {"options": {"num_predict": -1}}, {"options": None}):
        assert "max_tokens" not in measured(silent)  # type: ignore[arg-type]


def answer(restoration: Restoration, body: JSON) -> tuple[Any, Seen]:
    seen = Seen()
    return served("/api/chat").restore_answer(body, restoration, seen, AIDS), seen


def test_a_whole_answer_comes_back() -> None:
    body, restoration = sent("/api/chat", CHAT)
    told = body["messages"]
    whole = {
        "model": "llama3.2:3b",
        "message": {"role": "assistant", "content": told[1]["content"], "tool_calls": told[2]["tool_calls"]},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 31,
        "eval_count": 7,
    }
    restored, seen = answer(restoration, whole)
    assert restored["message"]["content"] == TEXT
    assert restored["message"]["tool_calls"] == [CALL]
    assert (seen.usage, seen.finish_reasons) == (Usage(31, 7), ["stop"])


def lines(text: str, thought: str, size: int, field: str) -> bytes:
    def line(**more: Any) -> dict[str, Any]:
        return {"model": "m", "created_at": "t", **more, "done": False}

    def piece(name: str, value: str) -> dict[str, Any]:
        if field == "response":
            return line(**{"response": value} if name == "content" else {"response": "", "thinking": value})
        return line(message={"role": "assistant", "content": "", name: value})

    out = [piece("thinking", part) for part in pieces(thought, size)]
    out += [piece("content", part) for part in pieces(text, size)]
    out.append({"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3})
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in out)


@given(st.integers(1, 30), st.lists(st.integers(0, 5000), max_size=12), st.sampled_from(["message", "response"]))
def test_a_stream_comes_back_however_it_is_cut(size: int, cuts: list[int], field: str) -> None:
    body, restoration = sent("/api/chat", CHAT)
    text, thought = body["messages"][1]["content"], body["messages"][2]["thinking"]
    seen = Seen()
    data = lines(text, thought, size, field)
    entries = [json.loads(entry) for entry in run(OllamaStream(restoration, seen), data, cuts).splitlines()]
    assert len(entries) == data.count(b"\n")
    parts = entries if field == "response" else [entry.get("message", {}) for entry in entries]
    assert "".join(part.get("thinking", "") for part in parts) == f"hm, {MAIL}"
    assert "".join(part.get("response", part.get("content", "")) for part in parts) == TEXT
    assert (seen.done, seen.usage) == (True, Usage(9, 3))


@pytest.mark.parametrize("line", [b"{", b"[1]", b'"x"', b'{"x": 1}', b"data: {}"])
def test_a_line_that_is_not_understood_stops_the_stream(line: bytes) -> None:
    with pytest.raises(BadAnswer):
        OllamaStream(Restoration(Vault(KEY)), Seen()).feed(line + b"\n")


def test_an_end_without_done_is_none_and_an_error_is_told() -> None:
    _, restoration = sent("/api/chat", CHAT)
    seen = Seen()
    stream = OllamaStream(restoration, seen)
    stream.feed(b'{"response": "Hi", "done": false}\n')
    assert stream.finish() == b""
    assert not seen.done
    told = OllamaStream(restoration, seen).feed(b'{"error": "out of memory"}\n')
    assert json.loads(told) == {"error": "out of memory"}
    assert seen.upstream_error
    broken = json.loads(stream.broken(BadAnswer("no", code="usage_mismatch")))
    assert broken == {"error": "no", "code": "usage_mismatch", "param": None}

"""Anthropic's Messages API of the recording provider: answers with the last text, steered like chat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def is_asked(path: str) -> bool:
    return "/messages" in path


def pieces(path: str, body: dict[str, Any], knobs: dict[str, str]) -> Iterator[bytes]:
    """The bytes of the answer, an event each if it is a stream."""
    usage = {"input_tokens": 5_000, "output_tokens": 8}
    if path.endswith("/count_tokens"):
        return iter([json.dumps({"input_tokens": 5_000}).encode()])
    block, reason = _block(body)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
    ended = {"stop_reason": reason, "stop_sequence": None}
    if not body.get("stream"):
        return iter([json.dumps({**message, "content": [block], **ended}).encode()])
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {**block, **_empty(block)}},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in _deltas(block, knobs)),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 8}},
        {"type": "message_stop"},
    ]
    return (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def last_text(body: dict[str, Any]) -> str:
    said = body["messages"][-1]["content"]
    return said if isinstance(said, str) else "".join(map(_text, said))


def _text(block: dict[str, Any]) -> str:
    inner = block.get("content", block.get("text", ""))
    return inner if isinstance(inner, str) else "".join(map(_text, inner))


def _block(body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    said = body["messages"][-1]["content"]
    returned = isinstance(said, list) and any(block.get("type") == "tool_result" for block in said)
    if body.get("tools") and not returned:
        given = {"text": last_text(body), "count": 1}
        return {"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": given}, "tool_use"
    block: dict[str, Any] = {"type": "text", "text": last_text(body)}
    cited = list(_cited(body))
    return (block | {"citations": cited} if cited else block), "end_turn"


def _cited(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The second line of every document with citations of the last message."""
    said = body["messages"][-1]["content"]
    found = [block for block in said if isinstance(block, dict) and block.get("type") == "document"]
    for at, document in enumerate(found):
        if (document.get("citations") or {}).get("enabled"):
            data = document["source"]["data"]
            start = data.index("\n") + 1
            end = data.index("\n", start)
            cited = {"cited_text": data[start:end], "document_index": at, "document_title": None, "file_id": None}
            yield {"type": "char_location", **cited, "start_char_index": start, "end_char_index": end}


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "tool_use":
        return {"input": {}}
    return {"text": "", "citations": []} if "citations" in block else {"text": ""}


def _deltas(block: dict[str, Any], knobs: dict[str, str]) -> Iterator[dict[str, Any]]:
    size = int(knobs.get("chunk", 5))
    is_call = block["type"] == "tool_use"
    text = json.dumps(block["input"], ensure_ascii="ascii" in knobs) if is_call else block["text"]
    for citation in block.get("citations", []):
        yield {"type": "citations_delta", "citation": citation}
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        if is_call:
            yield {"type": "input_json_delta", "partial_json": piece}
        else:
            yield {"type": "text_delta", "text": piece}

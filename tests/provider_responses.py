"""The Responses API of the recording provider: answers with the last text that it was sent, steered like chat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

USAGE = {
    "input_tokens": 5_000,
    "output_tokens": 8,
    "total_tokens": 5_008,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def pieces(body: dict[str, Any], knobs: dict[str, str]) -> Iterator[bytes]:
    """The bytes of the answer, an event each if it is a stream."""
    item = _item(body)
    if body.get("stream"):
        return (
            f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n".encode()
            for at, event in enumerate(_events(body, item, int(knobs.get("chunk", 5))))
        )
    return iter([json.dumps(_response(body, [item], "completed")).encode()])


def last_text(body: dict[str, Any]) -> str:
    """The text of the last thing that was said to the model, or returned by a tool."""
    if isinstance(body["input"], str):
        return body["input"]
    last = body["input"][-1]
    said = last.get("output", last.get("content"))
    return said if isinstance(said, str) else "".join(part.get("text", "") for part in said)


def _item(body: dict[str, Any]) -> dict[str, Any]:
    text, tools = last_text(body), body.get("tools") or []
    called = isinstance(body["input"], list) and body["input"][-1].get("type") == "function_call_output"
    if tools and not called:
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"}
        return {**call, "name": tools[0]["name"], "arguments": json.dumps({"text": text})}
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def _response(body: dict[str, Any], output: list[Any], status: str) -> dict[str, Any]:
    echoed = {key: body.get(key) for key in ("model", "instructions", "metadata", "user")}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        **echoed,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "temperature": 1.0,
        "top_p": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}},
        "usage": USAGE if status == "completed" else None,
    }


def _events(body: dict[str, Any], item: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    where = {"item_id": item["id"], "output_index": 0}
    for word in ("created", "in_progress"):
        yield {"type": f"response.{word}", "response": _response(body, [], "in_progress")}
    message = item["type"] == "message"
    empty: dict[str, Any] = {"content": []} if message else {"arguments": ""}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, **empty}}
    if message:
        where["content_index"] = 0
        (part,) = item["content"]
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        yield from _grown("response.output_text", "text", part["text"], {**where, "logprobs": []}, size)
        yield {"type": "response.content_part.done", **where, "part": part}
    else:
        yield from _grown("response.function_call_arguments", "arguments", item["arguments"], where, size)
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": _response(body, [item], "completed")}


def _grown(name: str, field: str, text: str, where: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    for at in range(0, len(text), size):
        yield {"type": f"{name}.delta", **where, "delta": text[at : at + size]}
    yield {"type": f"{name}.done", **where, field: text}

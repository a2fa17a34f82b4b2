"""What the recording provider says to a probe: the marked string of the request, in the endpoint's own answer.

`model` names the mark: `gpt-4o;probe=Q7Q`. Endpoints whose answers hold no text answer with an error that quotes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

SIZE = 7


def marked(node: Any, mark: str) -> str:
    """The first string or key of a tree that holds the mark; empty if none does."""
    if isinstance(node, str):
        return node if mark in node else ""
    inner = [*node, *node.values()] if isinstance(node, dict) else node if isinstance(node, list) else []
    return next((found for value in inner if (found := marked(value, mark))), "")


def answer(path: str, body: dict[str, Any], mark: str) -> tuple[int, Iterator[bytes]]:
    """Status and body. A stream is made where one is asked for."""
    text = marked({key: value for key, value in body.items() if key != "model"}, mark)
    said = _SAID.get(path.removeprefix("/v1/"))
    if said is None:
        error = {"message": text, "type": "invalid_request_error", "param": None, "code": "quoted"}
        return 400, iter([json.dumps({"type": "error", "error": error}).encode()])
    whole, events = said
    if body.get("stream") is True:
        pieces = [text[at : at + SIZE] for at in range(0, len(text), SIZE)]
        return 200, (_written(event) for event in events(pieces))
    return 200, iter([json.dumps(whole(text)).encode()])


def _written(event: Any) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    head = f"event: {event['type']}\n" if "type" in event else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


def _chat(text: str) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _chat_events(pieces: list[str]) -> Iterator[Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for piece in pieces:
        yield {**head, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield "[DONE]"


def _completion(text: str) -> Any:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": "stop"}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}


def _completion_events(pieces: list[str]) -> Iterator[Any]:
    for piece in pieces:
        whole = _completion(piece)
        yield {**whole, "choices": [{**whole["choices"][0], "finish_reason": None}]}
    yield _completion("")
    yield "[DONE]"


def _item(text: str) -> Any:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def _response(text: str) -> Any:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [_item(text)]}


def _response_events(pieces: list[str]) -> Iterator[Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    started = {**_response(""), "status": "in_progress", "output": []}
    events = [
        {"type": "response.created", "response": started},
        {"type": "response.output_item.added", "output_index": 0, "item": _item("")},
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in pieces),
        {"type": "response.output_text.done", **place, "text": "".join(pieces), "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": _item("".join(pieces))},
        {"type": "response.completed", "response": _response("".join(pieces))},
    ]
    return iter({**event, "sequence_number": at} for at, event in enumerate(events))


def _message(text: str) -> Any:
    block = [{"type": "text", "text": text}] if text else []
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": block}
    return {**head, "stop_reason": "end_turn", "usage": {"input_tokens": 9_000, "output_tokens": 1}}


def _message_events(pieces: list[str]) -> Iterator[Any]:
    yield {"type": "message_start", "message": _message("")}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for piece in pieces:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
    yield {"type": "message_stop"}


_SAID: dict[str, Any] = {
    "chat/completions": (_chat, _chat_events),
    "completions": (_completion, _completion_events),
    "responses": (_response, _response_events),
    "messages": (_message, _message_events),
}


def text_of(path: str, raw: bytes) -> str:
    """The text that a client puts together from an answer to a probe."""
    if raw.startswith(b"{"):
        return _text_of_whole(json.loads(raw))
    events = [block.split(b"data: ", 1)[1] for block in raw.split(b"\n\n") if b"data: " in block]
    return "".join(_text_of_event(json.loads(event)) for event in events if event != b"[DONE]")


def _text_of_whole(body: Any) -> str:
    if body.get("error"):
        return str(body["error"]["message"])
    if "choices" in body:
        choice = body["choices"][0]
        return str(choice["text"] if "text" in choice else choice["message"]["content"])
    blocks = body["output"][0]["content"] if "output" in body else body["content"]
    return str(blocks[0]["text"]) if blocks else ""


def _text_of_event(event: Any) -> str:
    if "choices" in event:
        choice = event["choices"][0]
        return str(choice.get("text") or choice.get("delta", {}).get("content") or "")
    if event["type"] == "response.output_text.delta":
        return str(event["delta"])
    return str(event["delta"]["text"]) if event["type"] == "content_block_delta" else ""

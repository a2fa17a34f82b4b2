"""A provider that keeps what it is told: the stateful half of the Responses API, conversations, stored completions.

It answers with the last text it was sent; the model `recall` answers with everything that was said in the chain so
far, oldest first. It knows nothing of tenants: who may ask for what is the proxy's business. `received` is all that
it saw.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.echo import Loopback
from tests.provider import strings

PIECE = 3


class Keeper:
    """`with Keeper() as keeper:` runs it on a loopback port."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, str, Any]] = []
        self.kept: dict[str, dict[str, Any]] = {}
        self.reported = 5_000
        self._numbers = itertools.count(1)
        routes = [
            Route("/v1/responses", self._create, methods=["POST"]),
            Route("/v1/responses/input_tokens", self._count, methods=["POST"]),
            Route("/v1/responses/{id}", self._response, methods=["GET", "DELETE"]),
            Route("/v1/responses/{id}/cancel", self._response, methods=["POST"]),
            Route("/v1/responses/{id}/input_items", self._items, methods=["GET"]),
            Route("/v1/conversations", self._converse, methods=["POST"]),
            Route("/v1/conversations/{id}", self._conversation, methods=["GET", "POST", "DELETE"]),
            Route("/v1/conversations/{id}/items", self._items, methods=["GET", "POST"]),
            Route("/v1/conversations/{id}/items/{item}", self._item, methods=["GET", "DELETE"]),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/chat/completions/{id}", self._completion, methods=["GET", "POST", "DELETE"]),
            Route("/v1/chat/completions/{id}/messages", self._items, methods=["GET"]),
        ]
        routes.append(Route("/v1/messages", self._message, methods=["POST"]))
        self._loopback = Loopback(Starlette(routes=routes))

    @property
    def url(self) -> str:
        return f"{self._loopback.url}/v1"

    def __enter__(self) -> Self:
        self._loopback.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loopback.__exit__()

    def seen(self) -> str:
        """All that was received, decoded."""
        texts = (text for _, path, query, body in self.received for text in (path, query, *strings(body)))
        return "\n".join(texts)

    async def _body(self, request: Request) -> Any:
        raw = await request.body()
        body = json.loads(raw) if raw else None
        self.received.append((request.method, request.url.path, request.url.query, body))
        return body or {}

    def _new(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):08d}abcdef"

    async def _create(self, request: Request) -> Response:
        body = await self._body(request)
        if body["model"] == "fails":
            return JSONResponse({"error": {"message": "no", "type": "server_error", "code": None}}, 500)
        talk = body.get("conversation")
        talk = talk["id"] if isinstance(talk, dict) else talk
        before = self.kept[body.get("previous_response_id") or talk]["said"] if self._goes_on(body) else []
        items = [self._named(item) for item in _items(body.get("input"))]
        said = [*before, *(_text(item) for item in items)]
        id = self._new("resp")
        text = "\n".join(said) if body["model"] == "recall" else said[-1]
        answer = self._answer(body, id, text)
        self.kept[id] = {"said": [*said, text], "items": items, "answer": answer, "model": body["model"]}
        if talk:
            self.kept[talk]["said"] = [*said, text]
            self.kept[talk]["items"] += [*items, *answer["output"]]
        if body.get("stream"):
            return StreamingResponse(_stream(answer, body["model"]), media_type="text/event-stream")
        if body.get("background"):
            return JSONResponse({**answer, "status": "queued", "output": [], "usage": None})
        return JSONResponse(answer)

    def _named(self, item: dict[str, Any]) -> dict[str, Any]:
        """The item itself, where only its id is given."""
        if item.get("content") is not None or item.get("output") is not None:
            return item
        made = (one for kept in self.kept.values() for one in kept.get("answer", {}).get("output", []))
        return next(one for one in made if one["id"] == item["id"])

    def _goes_on(self, body: dict[str, Any]) -> bool:
        return body.get("previous_response_id") is not None or body.get("conversation") is not None

    def _answer(self, body: dict[str, Any], id: str, text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": self._new("msg"), "role": "assistant", "status": "completed"}
        return {
            "id": id,
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "error": None,
            "background": bool(body.get("background")),
            "model": body["model"],
            "instructions": body.get("instructions"),
            "previous_response_id": body.get("previous_response_id"),
            "output": [{**message, "content": [part]}],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "metadata": body.get("metadata"),
            "usage": {"input_tokens": self.reported, "output_tokens": 4, "total_tokens": self.reported + 4},
        }

    async def _count(self, request: Request) -> Response:
        await self._body(request)
        return JSONResponse({"object": "response.input_tokens", "input_tokens": 11})

    async def _response(self, request: Request) -> Response:
        await self._body(request)
        found = self.kept.get(request.path_params["id"])
        if found is None:
            return JSONResponse({"error": {"message": "gone", "type": "invalid_request_error"}}, 404)
        if request.method == "DELETE":
            del self.kept[request.path_params["id"]]
            return JSONResponse({"id": request.path_params["id"], "object": "response", "deleted": True})
        if request.query_params.get("stream") == "true":
            after = int(request.query_params.get("starting_after", -1))
            return StreamingResponse(_stream(found["answer"], "", after), media_type="text/event-stream")
        return JSONResponse(found["answer"])

    async def _items(self, request: Request) -> Response:
        body = await self._body(request)
        found = self.kept[request.path_params["id"]]
        if request.method == "POST":
            added = _items(body["items"])
            found["items"] += added
            found["said"] += [_text(item) for item in added]
            return JSONResponse({"object": "list", "data": added, "has_more": False})
        return JSONResponse({"object": "list", "data": found["items"], "has_more": False})

    async def _item(self, request: Request) -> Response:
        await self._body(request)
        return JSONResponse(self.kept[request.path_params["id"]]["items"][0])

    async def _converse(self, request: Request) -> Response:
        body = await self._body(request)
        items, id = _items(body.get("items") or []), self._new("conv")
        self.kept[id] = {"said": [_text(item) for item in items], "items": items, "metadata": body.get("metadata")}
        return self._talk(id)

    async def _conversation(self, request: Request) -> Response:
        body, id = await self._body(request), request.path_params["id"]
        if request.method == "DELETE":
            del self.kept[id]
            return JSONResponse({"id": id, "object": "conversation.deleted", "deleted": True})
        self.kept[id].update(body)
        return self._talk(id)

    def _talk(self, id: str) -> Response:
        metadata = self.kept[id].get("metadata")
        return JSONResponse({"id": id, "object": "conversation", "created_at": 1, "metadata": metadata})

    async def _message(self, request: Request) -> Response:
        """Thinks about the last text, signed, and says it."""
        body = await self._body(request)
        content = body["messages"][-1]["content"]
        said = content if isinstance(content, str) else _text(body["messages"][-1])
        thought = {"type": "thinking", "thinking": f"I think {said}", "signature": "c2ln"}
        message = {
            "id": self._new("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [thought, {"type": "text", "text": said}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 60, "output_tokens": 9},
        }
        if body.get("stream"):
            return StreamingResponse(_thoughts(message), media_type="text/event-stream")
        return JSONResponse(message)

    async def _chat(self, request: Request) -> Response:
        body, id = await self._body(request), self._new("chatcmpl")
        message = {"role": "assistant", "content": body["messages"][-1]["content"], "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": id, "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        self.kept[id] = {"answer": answer, "items": body["messages"]}
        return JSONResponse(answer)

    async def _completion(self, request: Request) -> Response:
        body, id = await self._body(request), request.path_params["id"]
        if request.method == "DELETE":
            del self.kept[id]
            return JSONResponse({"id": id, "object": "chat.completion.deleted", "deleted": True})
        self.kept[id]["answer"].update(body)
        return JSONResponse(self.kept[id]["answer"])


def _thoughts(message: dict[str, Any]) -> Iterator[str]:
    """The message as events, thinking and text in pieces."""
    yield _named({"type": "message_start", "message": {**message, "content": [], "stop_reason": None}})
    for at, block in enumerate(message["content"]):
        kind = "thinking" if block["type"] == "thinking" else "text"
        empty = {**block, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        yield _named({"type": "content_block_start", "index": at, "content_block": empty})
        deltas = [
            {"type": f"{kind}_delta", kind: block[kind][start : start + PIECE]}
            for start in range(0, len(block[kind]), PIECE)
        ]
        deltas += [{"type": "signature_delta", "signature": block["signature"]}] if kind == "thinking" else []
        for delta in deltas:
            yield _named({"type": "content_block_delta", "index": at, "delta": delta})
        yield _named({"type": "content_block_stop", "index": at})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _named({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}})
    yield _named({"type": "message_stop"})


def _named(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _items(said: Any) -> list[Any]:
    items = [{"type": "message", "role": "user", "content": said}] if isinstance(said, str) else said or []
    return [{"id": f"item_{at}", **item, "content": _parts(item.get("content"))} for at, item in enumerate(items)]


def _parts(content: Any) -> Any:
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _text(item: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in item["content"])


def _events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (item,) = answer["output"]
    (part,) = item["content"]
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
    yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    for at in range(0, len(part["text"]), PIECE):
        yield {"type": "response.output_text.delta", **where, "delta": part["text"][at : at + PIECE], "logprobs": []}
    yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": answer}


async def _stream(answer: dict[str, Any], model: str, after: int = -1) -> AsyncIterator[str]:
    for at, event in enumerate(_events(answer)):
        if model == "breaks" and at == 6:
            return
        if at > after:
            yield f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n"

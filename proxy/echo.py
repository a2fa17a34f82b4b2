"""A stand-in for a provider: answers with the user's own words. For the demo and for tests, on loopback only.

May import: starlette, uvicorn, the standard library. Nothing of the proxy, so that it cannot share a mistake with it.

Speaks OpenAI's chat completions: echoes the last user text, in small pieces when asked to stream, and calls the
first tool with that text when there are tools. Keeps what it received, to show what the provider saw.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

PIECE = 5
_PIECES = re.compile(r"[^\W\d]+|\d{1,3}|[^\w\s]")
CREATED = 1_700_000_000


class Loopback:
    """Runs an ASGI application on a free loopback port, in a thread, from `with` to the end of the block."""

    def __init__(self, app: ASGIApp) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            interface="asgi3",
            log_config=None,
            access_log=False,
            http="h11",
            ws="none",
            lifespan="auto",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


class Echo:
    """The provider. `received` holds the JSON bodies in their order of arrival; `app` is the ASGI application."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/models", self._models, methods=["GET"]),
            ]
        )

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self.received.append(body)
        if body.get("stream"):
            return StreamingResponse(map(event, stream(body)), media_type="text/event-stream")
        return JSONResponse(completion(body))

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "echo", "object": "model", "owned_by": "echo"}]})


def last_user_text(body: dict[str, Any]) -> str:
    """The text of the last message that is not the assistant's; parts are joined."""
    for message in reversed(body.get("messages", [])):
        if message.get("role") in ("user", "tool", "function"):
            content = message.get("content") or ""
            if isinstance(content, str):
                return content
            return "".join(part.get("text", "") for part in content)
    return ""


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """The whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": last_user_text(body), "refusal": None}
    call = _call(body)
    if call is not None:
        message.update(content=None, tool_calls=[call])
    choice = {"index": 0, "message": message, "finish_reason": "stop" if call is None else "tool_calls"}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": usage(body)}


def stream(body: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """The same answer as chunks, at the end None for `[DONE]`."""
    call = _call(body)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if call is None:
        deltas += [{"content": piece} for piece in _pieces(last_user_text(body))]
    else:
        arguments = call["function"]["arguments"]
        call["function"]["arguments"] = ""
        deltas.append({"tool_calls": [{"index": 0, **call}]})
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in _pieces(arguments)]
    for delta in deltas:
        yield _chunk(body, delta, None)
    yield _chunk(body, {}, "stop" if call is None else "tool_calls")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**_head(body, "chat.completion.chunk"), "choices": [], "usage": usage(body)}
    yield None


def event(chunk: dict[str, Any] | None) -> bytes:
    """One server-sent event."""
    data = "[DONE]" if chunk is None else json.dumps(chunk, ensure_ascii=False, separators=(",", ":"))
    return f"data: {data}\n\n".encode()


def usage(body: dict[str, Any]) -> dict[str, int]:
    """A guess at the tokens, good enough for a proxy that compares it with its own count."""
    written = json.dumps(body.get("messages", []), ensure_ascii=False)
    prompt = 3 + max(len(written.encode()) // 4, len(_PIECES.findall(written)))
    answer = 1 + len(last_user_text(body)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _call(body: dict[str, Any]) -> dict[str, Any] | None:
    functions = [tool["function"]["name"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
    if not functions or (body.get("messages") or [{}])[-1].get("role") == "tool":
        return None
    arguments = json.dumps({"text": last_user_text(body)}, ensure_ascii=False)
    return {"id": "call_1", "type": "function", "function": {"name": functions[0], "arguments": arguments}}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-echo", "object": kind, "created": CREATED, "model": body.get("model", "echo")}


def _chunk(body: dict[str, Any], delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_head(body, "chat.completion.chunk"), "choices": [choice]}


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def free_port() -> int:
    """A loopback port that was free a moment ago, for programs that want to be told a number."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])

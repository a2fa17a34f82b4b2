"""A serving engine, small and simulated, with the fault of the incident: it answers prompts that it could not hold.

The shape is that of real ones: a cache of fixed pages shared by all requests, a prefill that writes a prompt's tokens
into pages, a decode that reads them. Pages are not cleared when a request ends, because they will be overwritten;
that is harmless as long as decode reads only what prefill wrote.

The fault: a prompt that is longer than the cache is rejected by prefill; the error is swallowed, one stand-in token
takes the prompt's place, and decode goes on over all the pages that the prompt had been promised, reading what
earlier requests left in them. The answer has status 200, and `usage.prompt_tokens` says 1.

`PooledGateway` has the other fault of the same family: it keeps channels to its workers in a pool, and a request
that is cancelled leaves its answer in the channel, for the next one to find.

Speaks OpenAI's chat completions. May import: starlette, the standard library. Nothing of the proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

PAGE = 64
"""Tokens a page."""
ANSWER = 400
"""Most tokens of an answer."""
STAND_IN = "\n"
_ASKED = "Answer with the three words only."
_WORD = re.compile(r"The word of the \w+ is (\w+)\.")
_TOKEN = re.compile(r"\s?[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_|\s+")


def tokens_of(text: str) -> list[str]:
    """A stand-in for a tokenizer: pieces that give the text again when joined, about as many as real tokens."""
    return _TOKEN.findall(text)


class Rejected(Exception):
    """Prefill: the prompt does not fit the cache."""


@dataclass
class PagedCache:
    """`capacity` tokens in pages; a free page keeps what was written into it until it is written again."""

    capacity: int
    pages: list[list[str]] = field(init=False)
    free: deque[int] = field(init=False)

    def __post_init__(self) -> None:
        self.pages = [[] for _ in range(self.capacity // PAGE)]
        self.free = deque(range(len(self.pages)))

    def take(self, tokens: int) -> list[int]:
        """Pages for so many tokens, those first that have been free for longest; as many as there are."""
        needed = min(len(self.free), -(-tokens // PAGE))
        return [self.free.popleft() for _ in range(needed)]

    def give_back(self, pages: list[int]) -> None:
        self.free.extend(pages)

    def write(self, pages: list[int], tokens: list[str]) -> None:
        if len(tokens) > len(pages) * PAGE:
            raise Rejected
        for at, page in enumerate(pages):
            piece = tokens[at * PAGE : (at + 1) * PAGE]
            self.pages[page][: len(piece)] = piece

    def read(self, pages: list[int]) -> list[str]:
        return [token for page in pages for token in self.pages[page]]


class Engine:
    """One deployment. It says that it takes `advertised` tokens; its cache holds `served`."""

    def __init__(self, served: int, advertised: int) -> None:
        self.cache = PagedCache(served)
        self.advertised = advertised
        self.prompts: list[int] = []
        """Tokens of each prompt that arrived, as the engine counts before prefill."""
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._chat, methods=["POST"])])

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        prompt = prompt_of(body)
        tokens = tokens_of(prompt)
        self.prompts.append(len(tokens))
        if len(tokens) > self.advertised:
            return JSONResponse({"error": {"message": "too long", "type": "invalid_request_error"}}, 400)
        counted, answer = self._generate(tokens)
        usage = {"prompt_tokens": counted, "completion_tokens": len(answer)}
        text = "".join(answer)
        if body.get("stream"):
            return StreamingResponse(streamed(body, text, usage), media_type="text/event-stream")
        return JSONResponse(completion(body, text, usage))

    def _generate(self, tokens: list[str]) -> tuple[int, list[str]]:
        """What the engine counted, and the answer. Decode here repeats what it finds in the prompt's pages."""
        pages = self.cache.take(len(tokens))
        try:
            self.cache.write(pages, tokens)
            decoded = self.cache.read(pages)[: len(tokens)]
        except Rejected:
            tokens = [STAND_IN]
            self.cache.write(pages, tokens)
            decoded = self.cache.read(pages)
        finally:
            self.cache.give_back(pages)
        return len(tokens), found_words(decoded) or decoded[:ANSWER]


@dataclass
class Channel:
    """A worker's two queues; one of a pool."""

    requests: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    answers: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)


class PooledGateway:
    """A front that gives a channel back to its pool whatever has become of the request. `delay` in seconds."""

    def __init__(self, delay: float = 1.0) -> None:
        self.delay = delay
        self._pool: list[Channel] = []
        self._workers: set[asyncio.Task[None]] = set()
        self.cancelled = 0
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._chat, methods=["POST"])])

    def forget(self) -> None:
        """Every channel is new from now on."""
        self._pool.clear()

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        channel = self._pool.pop() if self._pool else self._opened()
        asked = asyncio.ensure_future(self._ask(channel, body))
        gone = asyncio.ensure_future(_disconnected(request))
        await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not asked.done():
            self.cancelled += 1
            asked.cancel()  # the fault: the channel goes back, and the answer is still to come in it
        self._pool.append(channel)
        with contextlib.suppress(asyncio.CancelledError):
            return JSONResponse(await asked)
        return Response(status_code=499)

    async def _ask(self, channel: Channel, body: dict[str, Any]) -> dict[str, Any]:
        await channel.requests.put(body)
        return await channel.answers.get()

    def _opened(self) -> Channel:
        channel = Channel()
        worker = asyncio.ensure_future(self._work(channel))
        self._workers.add(worker)
        return channel

    async def _work(self, channel: Channel) -> None:
        while True:
            body = await channel.requests.get()
            await asyncio.sleep(self.delay)
            tokens = tokens_of(prompt_of(body))
            usage = {"prompt_tokens": len(tokens), "completion_tokens": min(len(tokens), ANSWER)}
            await channel.answers.put(completion(body, "".join(tokens[:ANSWER]), usage))


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def found_words(decoded: list[str]) -> list[str]:
    """What a model answers that was asked for the words of a prompt (`caviardage probe`), from what it has read."""
    text = "".join(decoded)
    return tokens_of(" ".join(_WORD.findall(text))) if _ASKED in text else []


def prompt_of(body: dict[str, Any]) -> str:
    """All texts of a chat, one after the other."""
    return "\n".join(str(message.get("content") or "") for message in body["messages"])


def completion(body: dict[str, Any], text: str, usage: dict[str, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**head, "choices": [choice], "usage": usage}


async def streamed(body: dict[str, Any], text: str, usage: dict[str, int]) -> AsyncIterator[bytes]:
    """The text in small pieces; the usage at the end, to those who ask."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    for at in range(0, len(text), 24):
        yield _event({**head, "choices": [{"index": 0, "delta": {"content": text[at : at + 24]}}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _event(payload: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()

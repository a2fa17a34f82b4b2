"""What the proxy is compared with: the same server and the same HTTP client, and nothing in between.

    python -m benchmarks.passthrough --upstream URL --port N

Reads the whole body, sends its bytes on, hands the answer's bytes back as they come. The least that any proxy in
Python does with these libraries, so what Caviardage takes longer is the price of what it does.

May import: httpx2, starlette, uvicorn, the standard library.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

PASSED = ("authorization", "content-type", "accept")


class PassThrough:
    """One upstream, connections kept open."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream.rstrip("/")
        self._transport = httpx2.AsyncHTTPTransport(trust_env=False, http1=True, http2=False)
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/healthz", self._health, methods=["GET"]),
            ],
            lifespan=self._life,
        )

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        yield
        await self._transport.aclose()

    async def _chat(self, request: Request) -> Response:
        headers = {name: request.headers[name] for name in PASSED if name in request.headers}
        outgoing = httpx2.Request(
            "POST", f"{self._upstream}/chat/completions", headers=headers, content=await request.body()
        )
        answer = await self._transport.handle_async_request(outgoing)
        kind = answer.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            return StreamingResponse(_chunks(answer), status_code=answer.status_code, media_type=kind)
        body = await answer.aread()
        await answer.aclose()
        return Response(body, status_code=answer.status_code, media_type=kind)

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})


async def _chunks(answer: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_bytes():
            yield chunk
    finally:
        await answer.aclose()


def main() -> None:
    """Serves until it is ended."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.passthrough")
    options.add_argument("--upstream", required=True)
    options.add_argument("--port", type=int, required=True)
    chosen = options.parse_args()
    uvicorn.run(
        PassThrough(chosen.upstream).app,
        host="127.0.0.1",
        port=chosen.port,
        http="h11",
        loop="asyncio",
        ws="none",
        log_config=None,
        access_log=False,
    )


if __name__ == "__main__":
    main()

"""The provider that everything is measured against: `python -m benchmarks.upstream --port N`, on loopback.

Answers like the demo's echo. A stream is written one delta every `--pace` seconds, and when each was written is
noted: `GET /writes` returns those times of the last stream, in nanoseconds of the machine's monotonic clock, which
all its processes share. `GET /last` returns the last body as it came.

May import: proxy.echo, starlette, uvicorn, the standard library.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy import echo


class Upstream:
    """Keeps the last body and the last stream's times, nothing else."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._last = b""
        self._writes: list[int] = []
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/last", self._show, methods=["GET"]),
                Route("/writes", self._times, methods=["GET"]),
            ]
        )

    async def _chat(self, request: Request) -> Response:
        self._last = await request.body()
        body = json.loads(self._last)
        if body.get("stream"):
            return StreamingResponse(self._paced(body), media_type="text/event-stream")
        return JSONResponse(echo.completion(body))

    async def _paced(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        self._writes = writes = []
        for event in [echo.event(chunk) for chunk in echo.stream(body)]:
            await asyncio.sleep(self._pace)
            writes.append(time.monotonic_ns())
            yield event

    async def _show(self, _: Request) -> Response:
        return Response(self._last, media_type="application/json")

    async def _times(self, _: Request) -> Response:
        return JSONResponse(self._writes)


def main() -> None:
    """Serves until it is ended."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.upstream")
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--pace", type=float, default=0.005, help="seconds between two deltas of a stream")
    chosen = options.parse_args()
    uvicorn.run(
        Upstream(chosen.pace).app,
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

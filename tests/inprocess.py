"""The whole pipeline in this process, without sockets and worker processes, for property tests.

Everything is the real thing but the two transports: detection runs where it is asked for instead of in a worker, and
the upstream is a transport that keeps what it is sent and answers like the echo.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from proxy import echo, measure
from proxy.analysis import settings_for
from proxy.app import TOKENIZERS
from proxy.audit import Audit
from proxy.detect import Detector
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.policy import Policy, load_policy
from proxy.trip import Inbound
from recognizers import ENTITIES, worker
from recognizers.analyzer import Analyzer
from tests.e2e import ROOT
from tests.provider import strings

SECRET = b"0123456789abcdef"
HEADERS = (("content-type", "application/json"), ("authorization", "Bearer x"))


class Here(Detector):
    """A detector whose tasks run here and now."""

    async def _run(self, function: Callable[..., Any], deadline: float, *arguments: Any) -> Any:
        return function(*arguments)


class Pieces(httpx2.AsyncByteStream):
    """A body that arrives in these pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        """Nothing is open."""


class Recorder(httpx2.AsyncBaseTransport):
    """Keeps the body of the request; answers with the echo, cut at `cuts` (byte offsets, any order).

    `kind` is a content type instead of the true one, empty for none; `streams` whether it streams, asked or not.
    """

    def __init__(
        self,
        cuts: Sequence[int] = (),
        piece: int = echo.PIECE,
        kind: str | None = None,
        streams: bool | None = None,
    ) -> None:
        self._kind = kind
        self._streams = streams
        self.sent: bytes | None = None
        self._cuts = cuts
        self._piece = piece

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent = await request.aread()
        body = json.loads(self.sent)
        stream = bool(body.get("stream")) if self._streams is None else self._streams
        kind = ("text/event-stream" if stream else "application/json") if self._kind is None else self._kind
        whole = b"".join(map(echo.event, streamed(body, self._piece))) if stream else _whole(body)
        places = [0, *sorted(cut % (len(whole) + 1) for cut in self._cuts), len(whole)]
        pieces = [whole[start:end] for start, end in itertools.pairwise(places)]
        return httpx2.Response(200, headers={"content-type": kind} if kind else {}, stream=Pieces(pieces))


def _whole(body: dict[str, Any]) -> bytes:
    return json.dumps(echo.completion(body), ensure_ascii=False).encode()


def streamed(body: dict[str, Any], piece: int) -> Iterator[dict[str, Any] | None]:
    """The echo's stream, its texts cut into pieces of another size."""
    for chunk in echo.stream(body):
        delta: dict[str, Any] = chunk["choices"][0]["delta"] if chunk and chunk["choices"] else {}
        holder = delta["tool_calls"][0]["function"] if "tool_calls" in delta else delta
        name = "arguments" if "tool_calls" in delta else "content"
        text = holder.get(name) or ""
        yield from (
            [chunk] if not text else [_with(chunk, name, text[at : at + piece]) for at in range(0, len(text), piece)]
        )


def _with(chunk: Any, name: str, text: str) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(chunk))
    delta = copy["choices"][0]["delta"]
    (delta["tool_calls"][0]["function"] if name == "arguments" else delta)[name] = text
    return copy


@dataclass(frozen=True)
class Result:
    """`sent` is None if nothing was forwarded; `entities` is what the proxy says it found."""

    status: int
    sent: bytes | None
    answer: bytes
    entities: str

    @property
    def code(self) -> str:
        return str(json.loads(self.answer)["error"]["code"])

    def seen(self) -> str:
        """All that the upstream could read, decoded and as written."""
        return "\n".join((self.sent.decode(), *strings(json.loads(self.sent)))) if self.sent else ""

    def text(self) -> str:
        """The text, or the tool call's arguments, that the client puts together from the answer."""
        if self.answer.startswith(b"data: "):
            assert self.answer.endswith(b"data: [DONE]\n\n")
            events = [json.loads(event[6:]) for event in self.answer.split(b"\n\n")[:-2]]
            return "".join(_said(event["choices"][0]["delta"]) for event in events if event["choices"])
        return _said(json.loads(self.answer)["choices"][0]["message"])


def _said(message: dict[str, Any]) -> str:
    if message.get("tool_calls"):
        return str(message["tool_calls"][0]["function"]["arguments"])
    return message.get("content") or ""


class World:
    """The parts that outlive a request, loaded once."""

    def __init__(self) -> None:
        self.policy: Policy = load_policy(ROOT / "policies" / "default.yaml", entities=ENTITIES)
        analyzer = Analyzer(settings_for(self.policy))
        analyzer.load()
        worker._analyzer[:] = [analyzer]
        self.detector = Here(analyzer.settings, workers=1, deadline=600)
        self.counters = measure.Counters(TOKENIZERS)

    def send(self, body: bytes, cuts: Sequence[int] = (), piece: int = echo.PIECE, **how: Any) -> Result:
        return asyncio.run(self._send(body, Recorder(cuts, piece, **how)))

    async def _send(self, body: bytes, recorder: Recorder) -> Result:
        upstream = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=recorder)
        pipeline = Pipeline(self.policy, self.detector, self.counters, upstream, Audit([]), SECRET)
        inbound = Inbound("r1", "0123456789abcdef", "POST", "/v1/chat/completions", "", HEADERS, body)
        answer = await pipeline.handle(inbound)
        parts = [answer.body] if isinstance(answer.body, bytes) else [part async for part in answer.body]
        assert upstream.in_use == 0
        return Result(answer.status, recorder.sent, b"".join(parts), dict(answer.headers)["x-caviardage-entities"])


@functools.cache
def world() -> World:
    return World()

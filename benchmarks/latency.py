"""How much longer a request and a streamed delta take through the proxy than through a proxy that does nothing.

Both stand in front of the same echo, are asked in turn by the same client, and run as processes of their own. All
times are wall-clock times at the client. May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from benchmarks import servers, texts
from benchmarks.report import Options, Table, quantile

SIZE = 1000
POLICY = servers.ROOT / "policies" / "default.yaml"
PROXY, BASE = "Caviardage", "pass-through"
PACE = 0.005
HEADERS = {"content-type": "application/json", "authorization": "Bearer benchmark"}


def run(options: Options) -> list[Table]:
    """Requests, stages, deltas."""
    rounds, streams = (10, 1) if options.quick else (200, 6)
    with ExitStack() as stack:
        audit = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "audit.jsonl"
        provider = stack.enter_context(servers.upstream(PACE))
        base = stack.enter_context(servers.passthrough(provider))
        proxy = stack.enter_context(servers.caviardage(provider, POLICY, "--audit", str(audit)))
        targets = {BASE: base.connect(), PROXY: proxy.connect()}
        for seed in range(5):
            for connection in targets.values():
                _ask(connection, texts.natural("en", SIZE, 10_000 + seed))
        requests, stages = _requests(targets, rounds, audit)
        return [requests, stages, _deltas(targets, provider, streams)]


def _requests(targets: Mapping[str, HTTPConnection], rounds: int, audit: Path) -> tuple[Table, Table]:
    prompts = {
        "new prompt, about 3 values": [texts.natural("en", SIZE, seed) for seed in range(rounds)],
        "new prompt, no values": [texts.plain("en", SIZE, seed) for seed in range(rounds)],
        "prompt seen before, about 3 values": [texts.natural("en", SIZE, 0)] * rounds,
        "prompt seen before, no values": [texts.plain("en", SIZE, 0)] * rounds,
    }
    rows, stage_rows = [], []
    for kind, made in prompts.items():
        seen = len(audit.read_text().splitlines())
        times = _interleaved(targets, made)
        rows.append((kind, *_cells(times[BASE]), *_cells(times[PROXY]), *_added(times)))
        stage_rows.append((kind, *_stages(audit, seen)))
    heads = ("1 KB of English", *(f"{name}, {share}" for name in (BASE, PROXY) for share in ("p50", "p95")))
    note = (
        "Milliseconds from the first byte of the request to the last byte of the answer, "
        f"{rounds} requests each, one at a time, in turn. Added is the difference of the medians and of the p95."
    )
    requests = Table("A whole request", (*heads, "added, p50", "added, p95"), rows, note)
    stages = Table(
        "Where a request spends it",
        ("stage, median ms", *STAGES),
        stage_rows,
        "As the proxy's audit trail says. `forward` is the wait for the upstream's headers, which the pass-through "
        "proxy has too.",
    )
    return requests, stages


STAGES = ("parse", "measure", "walk", "detect", "substitute", "measure_again", "forward", "restore")


def _interleaved(targets: Mapping[str, HTTPConnection], prompts: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each request."""
    times: dict[str, list[float]] = defaultdict(list)
    for turn, prompt in enumerate(prompts):
        for name in _order(targets, turn):
            began = time.perf_counter()
            answer = _ask(targets[name], prompt)
            times[name].append((time.perf_counter() - began) * 1000)
            assert answer == prompt, f"{name} changed the text"
    return times


def _order(targets: Mapping[str, HTTPConnection], turn: int) -> list[str]:
    """Who goes first changes with every turn."""
    return list(targets) if turn % 2 else list(targets)[::-1]


def _cells(times: Sequence[float]) -> tuple[str, str]:
    return f"{quantile(times, 0.5):.1f}", f"{quantile(times, 0.95):.1f}"


def _added(times: Mapping[str, Sequence[float]]) -> tuple[str, str]:
    p50, p95 = (quantile(times[PROXY], share) - quantile(times[BASE], share) for share in (0.5, 0.95))
    return f"**{p50:.1f}**", f"{p95:.1f}"


def _stages(audit: Path, seen: int) -> list[str]:
    """Medians of the stages of the requests behind the first `seen`."""
    lines = map(json.loads, audit.read_text().splitlines()[seen:])
    taken = [line["stage_ms"] for line in lines if line.get("verdict") == "release"]
    return [f"{quantile([stages.get(stage, 0.0) for stages in taken], 0.5):.2f}" for stage in STAGES]


def _ask(connection: HTTPConnection, prompt: str) -> str:
    body = json.loads(_send(connection, prompt, stream=False).read())
    return str(body["choices"][0]["message"]["content"])


def _send(connection: HTTPConnection, prompt: str, *, stream: bool) -> HTTPResponse:
    body: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": prompt}]}
    if stream:  # with its usage, which the proxy would ask for and hide: so both have the same events
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), HEADERS)
    response = connection.getresponse()
    assert response.status == 200, f"status {response.status}"
    return response


def _deltas(targets: Mapping[str, HTTPConnection], provider: servers.Server, streams: int) -> Table:
    makers = {"ordinary text": texts.plain, "full of placeholders": texts.crowded}
    rows = []
    for kind, make in makers.items():
        found = {name: _Delays() for name in targets}
        for seed in range(streams):
            for name in _order(targets, seed):
                found[name].add(*_stream(targets[name], provider, make("en", SIZE, 500 + seed)))
        base = found[BASE]
        for name, delays in found.items():
            added = quantile(delays.work, 0.5) - quantile(base.work, 0.5)
            rows.append(
                (
                    f"{kind}, {name}",
                    str(len(delays.work)),
                    *_fine(delays.work),
                    *_fine(delays.total),
                    f"{100 * delays.held / len(delays.work):.0f} %",
                    f"**{added:.2f}**" if name == PROXY else "",
                )
            )
    heads = ("1 KB streamed", "deltas", "work, p50", "work, p95", "whole, p50", "whole, p95", "held back", "added, p50")
    note = (
        f"Milliseconds from the upstream's writing a delta (5 characters, one every {PACE * 1000:.0f} ms) to the "
        "client's reading it. A delta that could be part of a placeholder waits for those that complete it: `whole` "
        "holds that wait, `work` counts from the writing of the delta that ended it. Added is the difference of the "
        "medians of `work`."
    )
    return Table("A streamed delta", heads, rows, note)


class _Delays:
    """Milliseconds of many deltas: since they were written, and since the last one was written that came with them."""

    def __init__(self) -> None:
        self.total: list[float] = []
        self.work: list[float] = []
        self.held = 0

    def add(self, writes: Sequence[int], reads: Sequence[tuple[int, int]]) -> None:
        """`reads` are (nanoseconds, events in all until then)."""
        first = 0
        for moment, upto in reads:
            self.total += [(moment - written) / 1e6 for written in writes[first:upto]]
            self.work += [(moment - writes[upto - 1]) / 1e6] * (upto - first)
            self.held += upto - first - 1
            first = upto
        assert first == len(writes), "an event was added or dropped"


def _fine(times: Sequence[float]) -> tuple[str, str]:
    return f"{quantile(times, 0.5):.2f}", f"{quantile(times, 0.95):.2f}"


def _stream(
    connection: HTTPConnection, provider: servers.Server, prompt: str
) -> tuple[list[int], list[tuple[int, int]]]:
    """When the upstream wrote each event of one answer, and when events were read."""
    response = _send(connection, prompt, stream=True)
    data, reads, complete = b"", [], 0
    while chunk := response.read1(1 << 16):
        moment = time.monotonic_ns()
        data += chunk
        if data.count(b"\n\n") > complete:
            complete = data.count(b"\n\n")
            reads.append((moment, complete))
    assert _text(data) == prompt, "the stream changed the text"
    return _writes(provider), reads


def _text(data: bytes) -> str:
    events: list[Any] = [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: {")]
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])


def _writes(provider: servers.Server) -> list[int]:
    connection = provider.connect()
    try:
        connection.request("GET", "/writes")
        times: list[int] = json.loads(connection.getresponse().read())
        return times
    finally:
        connection.close()

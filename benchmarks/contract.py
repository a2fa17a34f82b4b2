"""One very long prompt through the real proxy: a French contract of half a million words, there and back.

While it is worked on, `/healthz` is asked every 50 ms, since a service that does not answer meanwhile is taken for
dead. Fails if the answer is not the contract letter for letter, or a planted name can be read in what the upstream
received. May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import servers, texts
from benchmarks.report import Options, Table, quantile

WORDS = 500_000
MODEL = "benchmark-contract"
EVERY = 0.05
SECONDS = 600
POLICY = servers.ROOT / "policies" / "default.yaml"


def run(options: Options) -> list[Table]:
    """One request, one table."""
    made = texts.contract(WORDS // 50 if options.quick else WORDS)
    body = {"model": MODEL, "messages": [{"role": "user", "content": made.text}]}
    payload = json.dumps(body, ensure_ascii=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        audit = Path(folder) / "audit.jsonl"
        with (
            servers.upstream() as provider,
            servers.caviardage(provider, _policy(Path(folder)), "--audit", str(audit)) as proxy,
        ):
            idle = _memory(proxy)
            with _polling(proxy) as polls:
                began = time.perf_counter()
                headers, answer = _post(proxy, payload)
                seconds = time.perf_counter() - began
            peak = _memory(proxy)
            seen = _last(provider)
        event = json.loads(audit.read_text().splitlines()[-1])
    assert json.loads(answer)["choices"][0]["message"]["content"] == made.text, "the answer is not what was sent"
    leaked = sum(name in seen for name in made.names)
    assert not leaked, f"{leaked} of {len(made.names)} planted names reached the upstream"
    words = len(made.text.split())
    stages = ", ".join(f"{stage} {ms / 1000:.1f}" for stage, ms in event["stage_ms"].items())
    rows = [
        ("words", f"{words:,}"),
        ("bytes of the request", f"{len(payload):,}"),
        ("tokens measured (o200k_base)", f"{int(headers['x-caviardage-prompt-tokens']):,}"),
        ("values replaced", f"{sum(event['entities'].values()):,}"),
        ("different names planted, of them seen by the upstream", f"{len(made.names)}, {leaked}"),
        ("answer equal to what was sent", "yes"),
        ("seconds, whole request", f"**{seconds:.1f}**"),
        ("words a second", f"**{words / seconds:,.0f}**"),
        ("seconds by stage", stages),
        (f"`/healthz` meanwhile ({len(polls)} times), ms: p50, p99, longest", _waits(polls)),
        ("most memory, parent: idle, after", f"{_mib(idle[0])}, {_mib(peak[0])}"),
        ("most memory, each process of detection: idle, after", f"{_each(idle[1:])}; {_each(peak[1:])}"),
    ]
    note = (
        "From the first byte of the request to the last byte of the answer, the echo upstream's own work included "
        "(it is in `forward`). Memory is the most a process has ever had resident, "
        "pages that processes share included in each."
    )
    return [Table("A contract of half a million words", ("", "measured"), rows, note)]


def _policy(folder: Path) -> Path:
    """The default policy with a limit that the contract keeps to, and time for a slow machine."""
    text = POLICY.read_text(encoding="utf-8")
    assert "limits:\n  default: 128000\n" in text
    text = text.replace("limits:\n  default: 128000\n", "limits:\n  default: 4000000\n")
    path = folder / "benchmark.yaml"
    path.write_text(f"{text}\ndetection: {{deadline_seconds: {float(SECONDS)}}}\n", encoding="utf-8")
    return path


def _post(proxy: servers.Server, payload: bytes) -> tuple[dict[str, str], bytes]:
    connection = proxy.connect(SECONDS)
    try:
        connection.request("POST", "/v1/chat/completions", payload, {"content-type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, f"status {response.status}"
        return {name.lower(): value for name, value in response.getheaders()}, answer
    finally:
        connection.close()


def _last(provider: servers.Server) -> str:
    connection = provider.connect()
    try:
        connection.request("GET", "/last")
        body = json.loads(connection.getresponse().read())
        return str(body["messages"][0]["content"])
    finally:
        connection.close()


@contextmanager
def _polling(proxy: servers.Server) -> Iterator[list[float]]:
    """Milliseconds of each answer of `/healthz`, asked for every `EVERY` seconds until the end of the block."""
    waits: list[float] = []
    over = threading.Event()

    def poll() -> None:
        connection = proxy.connect()
        while not over.wait(EVERY):
            began = time.perf_counter()
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            response.read()
            assert response.status == 200
            waits.append((time.perf_counter() - began) * 1000)
        connection.close()

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join(60)


def _memory(proxy: servers.Server) -> list[int]:
    """Bytes of the parent, then of its detection workers and what these were forked from (the rest is small)."""
    workers = [servers.peak_memory(child) for child in servers.descendants(proxy.pid)]
    return [servers.peak_memory(proxy.pid), *sorted(size for size in workers if size > 100 << 20)]


def _waits(polls: list[float]) -> str:
    return f"{quantile(polls, 0.5):.1f}, {quantile(polls, 0.99):.1f}, **{max(polls):.1f}**"


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def _each(sizes: list[int]) -> str:
    return ", ".join(map(_mib, sizes))

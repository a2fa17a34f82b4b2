"""Five hundred values through one service, in requests that go well and in all that go wrong: none is written down.

Looked at is everything that the service writes: its log at the lowest level, both sinks of its audit trail, spans and
log records at a collector, metrics, health, what it leaves in its directory for temporary files, its refusals.
"""

from __future__ import annotations

import base64
import gzip
import json
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from tests.collector import Collector
from tests.e2e import Service, serving, wait_until
from tests.provider import Provider

NUMBER = 500
AT_ONCE = 5
OURS = "x-caviardage-request-id"
LETTERS, DIGITS = string.ascii_lowercase, string.digits


def _word(rng: Random, length: int = 9) -> str:
    return "".join(rng.choices(LETTERS, k=length))


def _digits(rng: Random, length: int) -> str:
    return "".join(rng.choices(DIGITS, k=length))


def _iban(rng: Random) -> str:
    account = _digits(rng, 18)
    return f"DE{mod_97_10.calc_check_digits(account + '1314'):>02}{account}"


def _card(rng: Random) -> str:
    number = "4" + _digits(rng, 14)
    return number + luhn.calc_check_digit(number)


KINDS: tuple[Callable[[Random], str], ...] = (
    lambda rng: f"{_word(rng).title()} {_word(rng).title()}",
    lambda rng: f"{_word(rng)}@{_word(rng)}.example",
    _iban,
    _card,
    lambda rng: f"ghp_{''.join(rng.choices(LETTERS + DIGITS, k=36))}",
    lambda rng: f"+4930{_digits(rng, 8)}",
    lambda rng: f"MRN-{_digits(rng, 10)}",
    lambda rng: f"{_digits(rng, 3)} {_word(rng).title()} Street",
    lambda rng: f"the {_word(rng)} plan of {_word(rng)}",  # nothing that is looked for: a prompt is a value too
    lambda rng: f"Zo\u00eb-{_word(rng).title()} M\u00fcller",
)


def canaries(seed: int = 5) -> list[str]:
    rng = Random(seed)
    return [KINDS[number % len(KINDS)](rng) for number in range(NUMBER)]


@dataclass(frozen=True)
class Ask:
    """One request."""

    path: str
    body: bytes = b""
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()


def chat(text: str, model: str = "echo", **more: Any) -> bytes:
    return json.dumps({"model": model, "messages": [{"role": "user", "content": text}], **more}).encode()


def _post(body: bytes, path: str = "/v1/chat/completions", **headers: str) -> Ask:
    return Ask(path, body, headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()))


SHAPES: dict[str, Callable[[str], Ask]] = {
    "chat": lambda text: _post(chat(text)),
    "chat, streamed": lambda text: _post(chat(text, stream=True)),
    "responses": lambda text: _post(json.dumps({"model": "echo", "input": text}).encode(), "/v1/responses"),
    "messages": lambda text: _post(chat(text, max_tokens=9), "/v1/messages"),
    "embeddings": lambda text: _post(json.dumps({"model": "echo", "input": [text]}).encode(), "/v1/embeddings"),
    "completions": lambda text: _post(json.dumps({"model": "echo", "prompt": text}).encode(), "/v1/completions"),
    "tool": lambda text: _post(
        chat("hello", tools=[{"type": "function", "function": {"name": "f", "description": text}}])
    ),
    "cut in the middle": lambda text: _post(chat(text)[:-7]),
    "two equal keys": lambda text: _post(f'{{"model":"echo","{text}":1,"{text}":2}}'.encode()),
    "lone surrogate": lambda text: _post(chat(text).replace(b'"echo"', b'"\\ud800"')),
    "no JSON": lambda text: _post(text.encode()),
    "another charset": lambda text: _post(chat(text).decode().encode("utf-16")),
    "deep": lambda text: _post(b'{"a":' * 300 + json.dumps(text).encode() + b"}" * 300),
    "unknown endpoint": lambda text: _post(chat(text), f"/v1/{quote(text)}"),
    "in a query": lambda text: _post(chat("hello"), f"/v1/chat/completions?q={quote(text)}"),
    "unknown part": lambda text: _post(chat([{"type": text, text: text}])),  # type: ignore[arg-type]
    "as the model": lambda text: _post(chat("hello", model=text)),
    "as a tool's name": lambda text: _post(
        chat("hello", tools=[{"type": "function", "function": {"name": text, "parameters": {}}}])
    ),
    "as an id": lambda text: _post(
        json.dumps({"model": "echo", "input": "x", "previous_response_id": text}).encode(), "/v1/responses"
    ),
    "in a header": lambda text: _post(chat("hello"), idempotency_key=text.encode("ascii", "ignore").decode()),
    "as the key": lambda text: _post(chat("hello"), authorization=f"Bearer {text.encode('ascii', 'ignore').decode()}"),
    "damaged gzip": lambda text: _post(gzip.compress(chat(text))[:-12], content_encoding="gzip"),
    "unknown encoding": lambda text: _post(chat(text), content_encoding=base64.b64encode(text.encode()).decode()[:20]),
    "another method": lambda text: Ask("/v1/chat/completions", chat(text), "PUT"),
    "an error upstream": lambda text: _post(chat(text, model="echo;status=500")),
    "no JSON upstream": lambda text: _post(chat(text, model="echo;broken=1", stream=True)),
    "cut upstream": lambda text: _post(chat(text, model="echo;die=2", stream=True)),
    "a stranger's placeholder": lambda text: _post(chat(text, model="echo;extra=PERSON.123456")),
    "picture": lambda text: _post(
        chat([{"type": "image_url", "image_url": {"url": f"https://example.org/{quote(text)}"}}])  # type: ignore[arg-type]
    ),
    "file": lambda text: _post(
        chat([{"type": "file", "file": {"filename": text, "file_data": text}}])  # type: ignore[arg-type]
    ),
}


def forms(value: str) -> Iterator[str]:
    """How a value might be written: as it is, escaped, encoded, without its spaces; and its rarest part alone."""
    yield from (value, json.dumps(value)[1:-1], quote(value), value.encode().hex(), value.replace(" ", ""))
    yield base64.b64encode(value.encode()).decode().rstrip("=")
    yield from (part for part in value.replace("@", " ").split() if len(part) >= 9)


def seen_in(text: str, values: list[str]) -> list[str]:
    folded = text.casefold()
    return [value for value in values if any(form.casefold() in folded for form in forms(value))]


@dataclass
class Watched:
    """A service whose every outlet is known."""

    service: Service
    collector: Collector
    folder: Path
    refusals: list[str]

    def written(self) -> Iterator[tuple[str, str]]:
        yield "log and audit on standard output", self.service.written
        yield "spans and log records", "\n".join(raw.decode("latin-1") for raw in self.collector.raw)
        for path in ("/metrics", "/healthz", "/readyz"):
            yield path, httpx2.get(f"{self.service.url}{path}", timeout=30, trust_env=False).text
        for file in (path for path in self.folder.rglob("*") if path.is_file()):
            yield str(file.relative_to(self.folder)), file.read_bytes().decode("latin-1")
        yield "refusals", "\n".join(self.refusals)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    collector, temporary = Collector(), tmp_path / "tmp"
    temporary.mkdir()
    more = ("--audit", f"{tmp_path}/audit.jsonl,otlp,-", "--otlp", collector.url, "--log-level", "debug")
    try:
        with Provider() as provider, serving(provider, *more, TMPDIR=str(temporary)) as service:
            yield Watched(service, collector, tmp_path, [])
    finally:
        collector.close()


def test_five_hundred_values_are_written_down_nowhere(watched: Watched) -> None:
    values = canaries()
    assert len(set(values)) == NUMBER
    names = list(SHAPES)
    statuses: dict[str, set[int]] = {name: set() for name in names}
    with httpx2.Client(base_url=watched.service.url, timeout=120, trust_env=False) as client:
        for number in range(0, NUMBER, AT_ONCE):
            name = names[number // AT_ONCE % len(names)]
            ask = SHAPES[name](" and ".join(values[number : number + AT_ONCE]))
            statuses[name].add(_send(client, ask, watched.refusals))
    # Not one of the ways in is shut for another reason than its own: most requests were read, and some forwarded.
    assert {200} <= statuses["chat"] | statuses["chat, streamed"]
    assert statuses["an error upstream"] == {500}
    assert all(min(statuses[name]) >= 400 for name in names[7:14])
    lines = [line for line in (watched.folder / "audit.jsonl").read_text().splitlines() if line]
    assert len(lines) >= NUMBER / AT_ONCE
    wait_until(lambda: len(watched.collector.lines) >= len(lines))
    for where, text in watched.written():
        assert seen_in(text, values) == [], where


def _send(client: httpx2.Client, ask: Ask, refusals: list[str]) -> int:
    """Sends it and keeps what the service itself said to it; an answer of the provider's is the client's own."""
    headers = {"content-type": "application/json", "authorization": "Bearer sk-canary", **dict(ask.headers)}
    try:
        answer = client.request(ask.method, ask.path, content=ask.body, headers=headers)
    except httpx2.RemoteProtocolError:  # a stream that broke upstream breaks here too
        return 200
    refusals += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.status_code >= 400 and "x-request-id" not in answer.headers:
        refusals.append(answer.text)
    return answer.status_code


def test_the_search_would_find_them() -> None:
    values = canaries()
    for value in values[: len(KINDS)]:
        for text in (value, value.upper(), json.dumps(value), quote(value), base64.b64encode(value.encode()).decode()):
            assert seen_in(f"x {text} y", values) == [value]

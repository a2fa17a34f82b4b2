"""Many tenants at once, many of them gone before their answer: nobody ever gets a word of anybody else.

10,000 requests through the real service, about 60 in flight, streamed and not, against a provider whose answers
come late and out of order; a fifth of the clients hang up at a random moment. Every answer that arrives must be the
sender's own text, and afterwards nothing may be left behind.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest

from tests.e2e import SECRET, Service, found_in, wait_until
from tests.provider import Received

REQUESTS = 10_000
IN_FLIGHT = 60
TENANTS = 40
CASES = 12
"""Texts of each tenant. They come again and again, so that what detection remembers is crossed, too."""
FIRST = ("Eleanor", "Camille", "Omar", "Ingrid", "Mateusz", "Sophie", "Rajesh", "Beatrice", "Thomas", "Nadia")
LAST = (
    "Whitcombe",
    "Delaunay",
    "Benhaddou",
    "Lindqvist",
    "Kowalski",
    "Marchetti",
    "Iyer",
    "Novak",
    "Barlow",
    "Fitzgerald",
)
NAMES = (*FIRST, *LAST, "@example.org")


@dataclass(frozen=True)
class Ask:
    """One request. `model` steers the provider and names the request, and comes back in its answer."""

    number: int
    tenant: int
    text: str
    stream: bool
    model: str
    cancel_after: float | None


def ask(number: int, chance: random.Random) -> Ask:
    tenant, case = chance.randrange(TENANTS), chance.randrange(CASES)
    name = f"{FIRST[(tenant + case) % len(FIRST)]} {LAST[(tenant * 3 + case // 3) % len(LAST)]}"
    text = f"Dear {name}, you wrote from case.{case}.of.{tenant}@example.org. Kind regards to {name}."
    stream = chance.random() < 0.5
    slow = chance.choice((0, 0, 0.002, 0.02)) if stream else 0
    model = (
        f"echo;tag={number};wait={chance.choice((0, 0, 0.01, 0.05, 0.3))};slow={slow};chunk={chance.choice((3, 9, 40))}"
    )
    leaves = chance.random() < 0.2
    return Ask(number, tenant, text, stream, model, chance.choice((0.0, 0.01, 0.05, 0.2, 0.6)) if leaves else None)


@dataclass
class Outcome:
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Client:
    """One keep-alive connection, HTTP/1.1 by hand: cheap, and it can hang up at any moment."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, ask: Ask) -> tuple[int, bytes]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = json.dumps(
            {"model": ask.model, "stream": ask.stream, "messages": [{"role": "user", "content": ask.text}]}
        ).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\n"
            f"authorization: Bearer tenant-{ask.tenant}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        await self._writer.drain()
        return await self._answer()

    async def _answer(self) -> tuple[int, bytes]:
        assert self._reader is not None
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        status = int(head.split()[1])
        if "content-length: " in head:
            return status, await self._reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
        parts = []
        while size := int(await self._reader.readline(), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readline()
        await self._reader.readline()
        return status, b"".join(parts)

    def hang_up(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._writer = None


def is_own(answer: bytes, ask: Ask) -> bool:
    """True if this is the whole answer to that request and nothing else."""
    if not ask.stream:
        whole = json.loads(answer)
        return bool(whole["model"] == ask.model and whole["choices"][0]["message"]["content"] == ask.text)
    events = answer.split(b"\n\n")
    chunks = [json.loads(event.removeprefix(b"data: ")) for event in events[:-2]]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    whole_stream = events[-2:] == [b"data: [DONE]", b""]
    return whole_stream and text == ask.text and {chunk["model"] for chunk in chunks} == {ask.model}


async def storm(port: int, asks: list[Ask]) -> Outcome:
    outcome, queue = Outcome(), iter(asks)

    async def one() -> None:
        client = Client(port)
        for item in queue:
            try:
                async with asyncio.timeout(item.cancel_after):
                    status, answer = await client.send(item)
                    while status == 503 and b'"code":"busy"' in answer:  # what hung up may still be in the queue
                        outcome.counts["busy"] += 1
                        await asyncio.sleep(0.1)
                        status, answer = await client.send(item)
            except TimeoutError:
                client.hang_up()
                outcome.counts["cancelled"] += 1
                continue
            outcome.counts[str(status)] += 1
            if status != 200 or not is_own(answer, item):
                outcome.wrong.append(f"request {item.number}: {status} {answer.decode()}")
        client.hang_up()

    await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))
    return outcome


def port_of(service: Service) -> int:
    return int(service.url.rsplit(":", 1)[1])


def test_nothing_crosses_between_ten_thousand_interleaved_requests(service: Service) -> None:
    provider, written = service.provider, len(service.written)
    chance = random.Random(SECRET)
    asks = [ask(number, chance) for number in range(REQUESTS)]
    asyncio.run(storm(port_of(service), [ask(number, chance) for number in range(3 * IN_FLIGHT)]))  # to warm up
    settle(service)
    before = service.descriptors()
    provider.reset()

    outcome = asyncio.run(storm(port_of(service), asks))

    assert outcome.wrong == []
    assert outcome.counts["200"] + outcome.counts["cancelled"] == REQUESTS, outcome.counts
    assert outcome.counts["200"] > REQUESTS * 0.75
    assert outcome.counts["cancelled"] > REQUESTS * 0.05
    assert provider.peak > IN_FLIGHT / 3
    assert provider.disconnects > REQUESTS / 100
    settle(service)
    assert service.descriptors() <= before + 5
    assert [leak for request in provider.received for leak in found_in(request.body.decode(), NAMES)] == []
    assert found_in(service.written[written:], NAMES) == []
    assert foreign_meanings(provider.received) == []
    assert asyncio.run(storm(port_of(service), asks[:5])).wrong == []


def foreign_meanings(received: list[Received]) -> list[str]:
    """Texts whose placeholders are not always the same, or tenants that share one for the same value."""
    seen: dict[str, set[str]] = {}
    for request in (request for request in received if request.complete):
        seen.setdefault(request.tenant, set()).add(request.json["messages"][0]["content"])
    everywhere = Counter(text for texts in seen.values() for text in texts)
    shared = [text for text, tenants in everywhere.items() if tenants > 1]
    return shared + [tenant for tenant, texts in seen.items() if len(texts) > CASES]


def test_a_placeholder_of_another_tenant_is_never_given_a_meaning(service: Service) -> None:
    first, second = (
        openai.OpenAI(base_url=service.base_url, api_key=f"tenant-{name}", max_retries=0) for name in ("one", "two")
    )
    text = "Please write to eleanor.whitcombe@example.org."
    assert say(first, "echo", text) == text
    issued = re.findall(r"<EMAIL_ADDRESS_(\d+)>", service.provider.last.body.decode())
    assert len(issued) == 1
    for more in ({}, {"stream": True}):
        with pytest.raises(openai.APIError) as refused:
            say(second, f"echo;extra=EMAIL_ADDRESS.{issued[0]}", "Please write to omar.benhaddou@example.org.", **more)
        assert refused.value.code == "foreign_placeholder"
        assert "whitcombe" not in str(refused.value)


def say(client: openai.OpenAI, model: str, text: str, **more: Any) -> str:
    answer: Any = client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}], **more)
    if "stream" not in more:
        return str(answer.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer)


def settle(service: Service) -> None:
    """Waits until the provider sees no exchange and no connection, and the service says the same."""
    wait_until(lambda: service.provider.active == 0)
    wait_until(lambda: service.metric("caviardage_upstream_in_use") == 0)
    service.provider.close_idle()
    wait_until(lambda: service.provider.connections == 0)

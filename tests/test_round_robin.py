"""Two services with one Redis behind a plain round robin: conversations of twenty turns survive the death of either."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.e2e import answers, found_in, wait_until
from tests.keeper import Keeper
from tests.processes import Proxy, RoundRobin, running
from tests.shelf import Server, serving_redis

POLICY = """
version: 1
languages: [en]
limits: {default: refuse, models: {"*": 20000}}
entities: {EMAIL_ADDRESS: replace, IBAN_CODE: replace}
deny: {PROJECT: [Operation Nightjar]}
"""
MAIL, IBAN, PROJECT = "mira.tallow@example.com", "DE89370400440532013000", "Operation Nightjar"
TURNS = 20
KILLED, AGAIN = 8, 14
"""Turns before which one is killed, and after which it is back at the latest."""


@pytest.fixture(scope="module")
def keeper() -> Iterator[Keeper]:
    with Keeper() as made:
        yield made


@pytest.fixture(scope="module")
def redis() -> Iterator[Server]:
    with serving_redis() as server:
        yield server


@pytest.fixture(scope="module")
def proxies(keeper: Keeper, redis: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Proxy]]:
    folder = tmp_path_factory.mktemp("robin")
    policy: Path = folder / "light.yaml"
    policy.write_text(POLICY)
    made = [
        Proxy(keeper.url, policy, ("--workers", "1", "--store", redis.url, "--audit", str(folder / f"audit-{name}")))
        for name in ("one", "other")
    ]
    with running(made[0]), running(made[1]):
        yield made


def words_of(turn: int) -> str:
    return f"Turn {turn}: ask {MAIL} about {PROJECT}, or turn{turn}@example.com; pay {IBAN}."


def goes_on(client: openai.OpenAI, kind: str, turn: int, stream: bool, thread: dict[str, Any]) -> Any:
    """One turn of a conversation: what was said in the answer, and the answer's id."""
    model = "recall" if turn in (5, KILLED, 15, TURNS) else "echo"
    more = {kind: thread[kind]} if kind in thread else {}
    asked: dict[str, Any] = {"model": model, "input": words_of(turn), **more}
    if not stream:
        answer = client.responses.create(**asked)
        return answer.output_text, answer.id
    with client.responses.stream(**asked) as events:
        said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        return said, events.get_final_response().id


@pytest.mark.parametrize(("kind", "victim"), [("previous_response_id", 0), ("conversation", 1)])
def test_twenty_turns_while_one_is_killed_and_started_again(
    keeper: Keeper, redis: Server, proxies: list[Proxy], kind: str, victim: int
) -> None:
    keeper.received.clear()
    robin, dying = RoundRobin(proxies), proxies[victim]
    thread: dict[str, Any] = {}
    if kind == "conversation":
        item: Any = {"type": "message", "role": "user", "content": words_of(0)}
        thread[kind] = robin.ask(lambda client: client.conversations.create(items=[item])).id
    said = [words_of(0)] if kind == "conversation" else []
    for turn in range(1, TURNS + 1):
        if turn == KILLED:
            dying.kill()
            dying.launch()
        if turn == AGAIN:
            wait_until(lambda: answers(f"{dying.url}/readyz"), 180)
        text, id = robin.ask(lambda client, turn=turn: goes_on(client, kind, turn, turn % 3 == 0, thread))  # type: ignore[misc]
        said.append(words_of(turn))
        assert text == ("\n".join(said) if turn in (5, KILLED, 15, TURNS) else words_of(turn))
        said.append(text)
        if kind == "previous_response_id":
            thread[kind] = id
    assert robin.failed > 0
    seen = keeper.seen()
    assert found_in(seen, (MAIL, IBAN, PROJECT)) == []
    assert "@example.com" not in seen
    sent = [text for text in seen.splitlines() if text.startswith("Turn ")]
    assert len({text.split("ask ")[1].split(" about")[0] for text in sent}) == 1
    assert [value for value in (MAIL, IBAN, PROJECT) if value.encode() in redis.dump()] == []
    assert found_in("".join(proxy.out + proxy.err for proxy in proxies), (MAIL, IBAN, PROJECT)) == []


def test_the_one_that_dies_while_it_answers_is_replaced_by_the_other(keeper: Keeper, proxies: list[Proxy]) -> None:
    """Killed at no particular moment of many answers: each comes whole from somebody, or is asked for again."""
    robin = RoundRobin(proxies)
    start = robin.ask(lambda client: client.responses.create(model="echo", input=words_of(0))).id
    wrong: list[str] = []

    def talk(first: int) -> None:
        own, id = RoundRobin(proxies, _turn=first), start
        for turn in range(10):
            words = f"{words_of(turn)} {first}"
            answer = own.ask(
                lambda client, words=words, id=id: client.responses.create(  # type: ignore[misc]
                    model="echo", input=words, previous_response_id=id
                )
            )
            id = answer.id
            wrong.extend([] if answer.output_text == words else [answer.output_text])

    threads = [threading.Thread(target=talk, args=(first,)) for first in range(6)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(keeper.received) > 10)
    proxies[0].kill()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []

"""The replay of `examples/incident`, each layer a test; whole and streamed; and the other family of the fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from examples.incident.engine import Engine, PagedCache, PooledGateway, Rejected, tokens_of
from examples.incident.replay import (
    ADVERTISED,
    CUSTOMERS,
    FILLER,
    LAYERS,
    POLICIES,
    SERVED,
    PooledReplay,
    Replay,
    as_expected,
    proxies,
)
from proxy.echo import Loopback


@pytest.fixture(scope="module")
def replays() -> Iterator[tuple[Replay, PooledReplay]]:
    engine, gateway = Engine(SERVED, ADVERTISED), PooledGateway()
    front = Front()
    with Loopback(front) as upstream:
        front.app = engine.app
        with proxies(f"{upstream.url}/v1", tuple(POLICIES)) as bases:
            direct = f"{upstream.url}/v1"
            yield Replay(engine, direct, bases), Switched(front, gateway, direct, bases)


class Front:
    """The proxies' upstream: the engine, or the gateway while its replay runs."""

    app: object = None

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        await self.app(scope, receive, send)  # type: ignore[operator]


class Switched(PooledReplay):
    """The other replay, behind the same proxies."""

    def __init__(self, front: Front, gateway: PooledGateway, direct: str, bases: dict[str, str]) -> None:
        super().__init__(gateway, direct, bases)
        self.front = front


@pytest.mark.parametrize("number", range(len(LAYERS)), ids=[layer.title for layer in LAYERS])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_each_layer(replays: tuple[Replay, PooledReplay], number: int, stream: bool) -> None:
    replay, _ = replays
    outcome = replay.attempt(LAYERS[number], stream=stream)
    if number == 1 and stream:  # held, so that nothing leaves; the placeholders come before the count
        assert (outcome.status, outcome.code, outcome.text) == (502, "foreign_placeholder", "")
    elif number == 2 and stream:  # what is not held has left by then, but no value of who is behind the proxy
        assert (outcome.code, outcome.raw) == ("foreign_placeholder", [])
    else:
        assert as_expected(number, outcome), outcome


def test_ordinary_prompts_are_answered_through_every_policy(replays: tuple[Replay, PooledReplay]) -> None:
    replay, _ = replays
    replay.traffic()
    assert len(replay.engine.prompts) >= 3


class TestPool:
    """A cancelled request leaves its answer in a channel."""

    @pytest.fixture
    def pooled(self, replays: tuple[Replay, PooledReplay]) -> Iterator[PooledReplay]:
        replay, switched = replays
        assert isinstance(switched, Switched)
        switched.front.app = switched.gateway.app
        yield switched
        switched.front.app = replay.engine.app
        switched.gateway.forget()

    def test_bare_customers_read_one_another(self, pooled: PooledReplay) -> None:
        outcome = pooled.attempt(None, None, "What is the capital of France?")
        assert outcome.status == 200
        assert "Benhaddou" in outcome.text

    def test_who_was_behind_the_proxy_leaves_placeholders(self, pooled: PooledReplay) -> None:
        outcome = pooled.attempt("right", None, "What is the capital of France?")
        assert outcome.raw == []
        assert outcome.placeholders

    def test_a_short_prompts_answer_is_stopped_by_its_placeholders(self, pooled: PooledReplay) -> None:
        outcome = pooled.attempt("right", "replica", "What is the capital of France?")
        assert (outcome.status, outcome.code) == (502, "foreign_placeholder")

    def test_a_long_prompts_answer_is_stopped_by_its_count(self, pooled: PooledReplay) -> None:
        outcome = pooled.attempt("right", "replica", FILLER * 150)
        assert (outcome.status, outcome.code) == (502, "usage_mismatch")

    def test_with_all_checks_off_it_holds_no_value(self, pooled: PooledReplay) -> None:
        outcome = pooled.attempt("right", "all off", "What is the capital of France?")
        assert (outcome.status, outcome.raw) == (200, [])
        assert outcome.placeholders


# --- the engine itself ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [FILLER, *CUSTOMERS.values(), "a<PERSON_123456>\n\u00e9 \U0001f600_x9"])
def test_its_tokens_are_its_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


def test_its_cache_forgets_nothing_and_takes_no_more_than_it_holds() -> None:
    cache = PagedCache(128)
    pages = cache.take(128)
    cache.write(pages, ["x"] * 128)
    cache.give_back(pages)
    again = cache.take(1_000)
    assert len(again) == 2
    with pytest.raises(Rejected):
        cache.write(again, ["y"] * 129)
    cache.write(again, ["y"])
    assert cache.read(again) == ["y"] + ["x"] * 127

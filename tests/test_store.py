"""The store: what is put comes back to who put it, for as long as it was meant to, and nobody else can read it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.errors import ExpiredState, Unavailable, UnknownState
from proxy.store import FRAGMENTS, Fragment, Place, Shelf, Store
from proxy.store.memory import MemoryShelf
from proxy.store.sealing import Sealer, Unreadable
from proxy.store.shared import PREFIX, RedisShelf
from tests.shelf import Server, serving_redis

OLD, NEW = b"an-older-secret-of-16", b"a-newer-secret-of-16!"
A, B = b"a" * 32, b"b" * 32
PLACE = Place(A, "response", "resp_1")
VALUE = b'["Mira Tallow", "FR7630006000011234567890189"]'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving_redis() as running:
        yield running


@pytest.fixture(params=["memory", "redis"])
def shelf(request: pytest.FixtureRequest) -> Callable[[], Shelf]:
    if request.param == "memory":
        return MemoryShelf
    server: Server = request.getfixturevalue("server")
    with server.client as client:
        client.flushall()
    return lambda: RedisShelf(server.url)


def run(make: Callable[[], Shelf], work: Callable[[Shelf], Coroutine[Any, Any, None]]) -> None:
    async def go() -> None:
        shelf = make()
        try:
            await work(shelf)
        finally:
            await shelf.aclose()

    asyncio.run(go())


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_record_comes_back_until_it_is_deleted(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        store = Store(shelf, Sealer([NEW]), 60)
        await store.check()
        await store.put(PLACE, b"first")
        await store.put(PLACE, VALUE)
        assert await store.get(PLACE) == [VALUE]
        await store.delete(PLACE)
        with pytest.raises(UnknownState):
            await store.get(PLACE)

    run(shelf, work)


@pytest.mark.parametrize("other", [Place(B, "response", "resp_1"), Place(A, "conversation", "resp_1")])
def test_what_belongs_to_another_is_not_there(shelf: Callable[[], Shelf], other: Place) -> None:
    async def work(shelf: Shelf) -> None:
        store = Store(shelf, Sealer([NEW]), 60)
        await store.put(PLACE, VALUE)
        with pytest.raises(UnknownState) as caught:
            await store.get(other)
        assert (caught.value.status, caught.value.code) == (404, "state_not_found")
        await store.delete(other)
        assert await store.get(PLACE) == [VALUE]

    run(shelf, work)


def test_what_is_over_says_so(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        store = Store(shelf, Sealer([NEW]), 0.2)
        await store.put(PLACE, VALUE)
        await asyncio.sleep(0.4)
        with pytest.raises(ExpiredState, match="has expired") as caught:
            await store.get(PLACE)
        assert (caught.value.status, caught.value.code) == (400, "state_expired")
        await asyncio.sleep(0.8)
        with pytest.raises(UnknownState):
            await store.get(PLACE)

    run(shelf, work)


def test_a_record_brought_back_from_a_backup_is_still_over(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        clock = Clock()
        store = Store(shelf, Sealer([NEW]), 60, clock)
        await store.put(PLACE, VALUE)
        clock.now += 61
        with pytest.raises(ExpiredState):
            await store.get(PLACE)
        assert await store.get_many([PLACE]) == [None]

    run(shelf, work)


def test_writers_at_one_time_do_not_overwrite_one_another(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        store = Store(shelf, Sealer([NEW]), 60)
        parts = [f"{at}".encode() for at in range(20)]
        await asyncio.gather(*(store.put(PLACE, part, more=True) for part in parts))
        assert sorted(await store.get(PLACE)) == sorted(parts)
        for at in range(FRAGMENTS):
            await store.put(PLACE, f"later {at}".encode(), more=True)
        assert len(await store.get(PLACE)) == FRAGMENTS

    run(shelf, work)


def test_many_at_once(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        store = Store(shelf, Sealer([NEW]), 60)
        places = [Place(A, "seal", f"{at}") for at in range(5)]
        await store.put_many([(place, place.id.encode()) for place in places[:3]])
        assert await store.get_many(places) == [b"0", b"1", b"2", None, None]
        assert await store.get_many([]) == []
        with pytest.raises(UnknownState):
            await store.get(places[4])

    run(shelf, work)


def test_a_record_sealed_with_an_older_secret_is_read_and_one_with_an_unknown_secret_is_not(
    shelf: Callable[[], Shelf],
) -> None:
    async def work(shelf: Shelf) -> None:
        await Store(shelf, Sealer([OLD]), 60).put(PLACE, b"old")
        both = Store(shelf, Sealer([NEW, OLD]), 60)
        assert await both.get(PLACE) == [b"old"]
        await both.put(PLACE, b"new")
        assert (await both.get(PLACE))[0] == b"new"
        assert await Store(shelf, Sealer([NEW]), 60).get(PLACE) == [b"new"]
        await both.delete(PLACE)
        for secrets in ([NEW], [OLD], [NEW, OLD]):
            with pytest.raises(UnknownState):
                await Store(shelf, Sealer(secrets), 60).get(PLACE)

    run(shelf, work)


def test_a_record_that_was_changed_or_moved_refuses(shelf: Callable[[], Shelf]) -> None:
    async def work(shelf: Shelf) -> None:
        sealer = Sealer([NEW])
        store = Store(shelf, sealer, 60)
        await store.put(PLACE, VALUE)
        (name,) = sealer.names(PLACE.parts())
        (blob,) = (await shelf.read([name]))[0]
        (elsewhere,) = sealer.names(Place(B, "response", "resp_1").parts())
        for at, forged in ((name, blob[:-1] + bytes([blob[-1] ^ 1])), (name, blob[:20]), (elsewhere, blob)):
            await shelf.write([Fragment(at, forged, 60)])
            with pytest.raises(Unavailable) as caught:
                await store.get(PLACE if at == name else Place(B, "response", "resp_1"))
            assert caught.value.code == "store_unreadable"

    run(shelf, work)


def test_nothing_can_be_read_on_the_server_or_on_its_disk(server: Server) -> None:
    async def work(shelf: Shelf) -> None:
        await Store(shelf, Sealer([NEW]), 60).put(PLACE, VALUE)

    run(lambda: RedisShelf(server.url), work)
    for seen in (server.dump(), server.on_disk()):
        assert PREFIX in seen
        for secret in (b"Mira", b"Tallow", b"FR7630", b"resp_1", b"response", A, NEW):
            assert secret not in seen


def test_a_server_that_is_away_is_a_refusal_that_names_nothing_and_one_that_is_back_is_used_again() -> None:
    with serving_redis() as server:

        async def work(shelf: Shelf) -> None:
            store = Store(shelf, Sealer([NEW]), 60)
            await store.put(PLACE, VALUE)
            server.stop()
            for attempt in (store.check(), store.get(PLACE), store.put(PLACE, VALUE), store.delete(PLACE)):
                with pytest.raises(Unavailable) as caught:
                    await attempt
                assert (caught.value.status, caught.value.code) == (503, "store_unavailable")
                assert str(server.port) not in caught.value.message
                assert caught.value.__cause__ is None
            server.start()
            await store.put(PLACE, VALUE)
            assert await store.get(PLACE) == [VALUE]

        run(lambda: RedisShelf(server.url), work)


def test_a_server_that_says_nothing_does_not_hold_a_request_for_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are made, and never taken

        async def go() -> None:
            shelf = RedisShelf(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", seconds=0.2)
            async with asyncio.timeout(5):
                with pytest.raises(Unavailable):
                    await shelf.read([b"x"])
            await shelf.aclose()

        asyncio.run(go())


def test_memory_forgets_what_was_not_used_for_longest() -> None:
    async def go() -> None:
        shelf = MemoryShelf(most_bytes=3_000)
        for at in range(20):
            await shelf.write([Fragment(f"{at}".encode(), b"x" * 500, 60)])
            assert (await shelf.read([b"0"]))[0] == [b"x" * 500]
            assert shelf.size <= 3_000
        assert (await shelf.read([b"1", b"19"])) == [[], [b"x" * 500]]
        assert len(shelf) == 4
        await shelf.aclose()
        assert (len(shelf), shelf.size) == (0, 0)

    asyncio.run(go())


PARTS = st.lists(st.binary(max_size=12), min_size=1, max_size=4).map(tuple)


@given(PARTS, st.binary(max_size=200), st.integers(0, 2**63))
def test_what_is_sealed_opens_in_its_place(place: tuple[bytes, ...], content: bytes, until: int) -> None:
    sealer = Sealer([NEW, OLD])
    assert sealer.unseal(place, sealer.seal(place, content, until)) == (content, until)
    assert Sealer([OLD, NEW]).unseal(place, sealer.seal(place, content, until)) == (content, until)
    with pytest.raises(Unreadable):
        Sealer([OLD]).unseal(place, sealer.seal(place, content, until))


@given(PARTS, PARTS, st.binary(max_size=60))
def test_no_other_place_opens_it_or_has_its_name(
    one: tuple[bytes, ...], other: tuple[bytes, ...], content: bytes
) -> None:
    sealer = Sealer([NEW])
    blob = sealer.seal(one, content, 1)
    assert (sealer.names(one) == sealer.names(other)) == (one == other)
    if one != other:
        with pytest.raises(Unreadable):
            sealer.unseal(other, blob)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=60), st.data())
def test_a_single_changed_bit_is_noticed(content: bytes, data: st.DataObject) -> None:
    sealer = Sealer([NEW])
    blob = bytearray(sealer.seal(PLACE.parts(), content, 12345))
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Unreadable):
        sealer.unseal(PLACE.parts(), bytes(blob))


@given(st.binary(min_size=8, max_size=60))
def test_the_same_content_never_looks_the_same_and_is_not_in_it(content: bytes) -> None:
    sealer = Sealer([NEW])
    one, other = (sealer.seal(PLACE.parts(), content, 1) for _ in range(2))
    assert one != other
    assert content not in one[28:]
    assert len(one) == len(content) + 28 + 16

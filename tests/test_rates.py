"""Requests of a tenant and of its keys, in a minute and at one time: refused at the door, in the provider's form."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits.aio.storage import MemoryStorage

from proxy.errors import RateExceeded, TooManyAtOnce, Unavailable
from proxy.rates import Allowance, Rates
from proxy.tenants.keys import digest
from proxy.windows import close, storage_at
from tests.e2e import wait_until
from tests.house import housed, keys
from tests.provider import Provider
from tests.shelf import serving_redis


def entered(rates: Rates, *allowances: Allowance, inside: Sequence[Allowance] = ()) -> str:
    """What becomes of a request, while others are inside."""

    async def run() -> str:
        if inside:
            async with rates.place(inside):
                return await attempt()
        return await attempt()

    async def attempt() -> str:
        try:
            async with rates.place(allowances):
                return "in"
        except (RateExceeded, TooManyAtOnce) as refusal:
            return refusal.code

    return asyncio.run(run())


TENANT, KEY, OTHER = Allowance("tenant:a", 3, None), Allowance("key:1", 2, None), Allowance("tenant:b", 3, None)


def test_a_window_of_one_is_not_that_of_another() -> None:
    rates = Rates()
    assert [entered(rates, TENANT) for _ in range(4)] == ["in", "in", "in", "rate_limit_exceeded"]
    assert entered(rates, OTHER) == "in"


def test_what_one_refuses_takes_nothing_from_the_other() -> None:
    rates = Rates()
    assert [entered(rates, TENANT, KEY) for _ in range(3)] == ["in", "in", "rate_limit_exceeded"]
    assert [entered(rates, TENANT) for _ in range(2)] == ["in", "rate_limit_exceeded"]


def test_those_that_run_are_counted_until_they_are_over() -> None:
    rates, one, two = Rates(), Allowance("tenant:a", None, 1), Allowance("tenant:b", None, 1)
    assert entered(rates, one, inside=[one]) == "concurrency_limit_exceeded"
    assert entered(rates, two, inside=[one]) == "in"
    assert entered(rates, one) == "in"
    assert not rates._inside


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["ends", "fails", "leaves"])), max_size=20))
def test_a_place_is_given_back_however_a_request_ends(requests: list[tuple[str, str]]) -> None:
    rates = Rates()

    async def one(who: str, how: str) -> None:
        async with rates.place([Allowance(who, 9, 3), Allowance(f"key:{who}", None, 2)]):
            await asyncio.sleep(0)
            if how == "fails":
                raise ValueError
            if how == "leaves":
                await asyncio.sleep(60)

    async def run() -> None:
        tasks = [asyncio.ensure_future(one(*request)) for request in requests]
        for _ in range(5):
            await asyncio.sleep(0)
        assert all(count <= 3 for count in rates._inside.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(run())
    assert not rates._inside


def test_a_count_that_cannot_be_kept_refuses_without_the_storages_words() -> None:
    class Broken(MemoryStorage):
        async def get_sliding_window(self, key: str, expiry: int | None = None) -> tuple[int, float, int, float]:
            raise ConnectionError("redis://user:secret@host")

    with pytest.raises(Unavailable) as refused:
        entered(Rates(Broken()), TENANT)
    assert (refused.value.code, refused.value.retry) == ("budget_unavailable", True)
    assert "secret" not in str(refused.value)


# --- In the service ---------------------------------------------------------------------------------------------------

K = keys("billing", "spare", "support")


def roll(limits: str = "{}", key_limits: str = "{}") -> str:
    return f"""\
version: 1
tenants:
  billing:
    keys:
      - {{sha256: {digest(K["billing"])}, limits: {key_limits}}}
      - sha256: {digest(K["spare"])}
    limits: {limits}
    upstream_key: none
  support:
    keys: [{{sha256: {digest(K["support"])}}}]
    upstream_key: none
"""


def test_a_tenant_over_its_rate_is_told_when_to_come_back(tmp_path: Path) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, roll("{requests_per_minute: 3}")) as door:
        statuses = [door.ask(K[name]).status_code for name in ("billing", "spare", "billing")]
        refused = door.ask(K["spare"])
        assert statuses == [200, 200, 200]
        assert (refused.status_code, refused.headers["x-should-retry"]) == (429, "true")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.json()["error"]["code"] == "rate_limit_exceeded"
        assert refused.json()["error"]["type"] == "requests"
        claude = door.ask("", path="/v1/messages", x_api_key=K["billing"], anthropic_version="2023-06-01")
        assert (claude.status_code, claude.json()["error"]["type"]) == (429, "rate_limit_error")
        assert door.ask(K["support"]).status_code == 200
        assert len(provider.received) == 4
        assert [line["reason"] for line in door.audit() if line["status"] == 429] == ["rate_limit_exceeded"] * 2


def test_a_key_over_its_rate_does_not_stop_its_tenant(tmp_path: Path) -> None:
    text = roll(key_limits="{requests_per_minute: 1, tokens_per_minute: 100000}")
    with Provider() as provider, housed(tmp_path, provider.url, text) as door:
        assert [door.ask(K[name]).status_code for name in ("billing", "billing", "spare")] == [200, 429, 200]


def test_as_many_at_one_time_as_a_tenant_may_have(tmp_path: Path) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, roll("{concurrent: 2}")) as door:
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(door.ask, K["billing"], "Wait", "echo;wait=3") for _ in range(2)]
            wait_until(lambda: provider.active == 2)
            refused = door.ask(K["spare"])
            assert (refused.status_code, refused.headers["x-should-retry"]) == (429, "true")
            assert refused.json()["error"]["code"] == "concurrency_limit_exceeded"
            assert door.ask(K["support"]).status_code == 200
            assert [one.result().status_code for one in running] == [200, 200]
        assert door.ask(K["billing"]).status_code == 200


@pytest.mark.parametrize(("limits", "key_limits"), [("{tokens_per_day: 120}", "{}"), ("{}", "{tokens_per_day: 120}")])
def test_tokens_of_a_tenant_and_of_a_key_are_budgets_of_their_own(tmp_path: Path, limits: str, key_limits: str) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, roll(limits, key_limits)) as door:
        statuses = [door.ask(K["billing"]).status_code for _ in range(6)]
        assert statuses[0] == 200
        assert statuses[-1] == 429
        refused = door.ask(K["billing"])
        assert refused.json()["error"]["code"] == "token_budget_exceeded"
        assert door.ask(K["support"]).status_code == 200
        assert (door.ask(K["spare"]).status_code == 200) == (limits == "{}")


def test_counts_stay_through_a_reload(tmp_path: Path) -> None:
    with Provider() as provider, housed(tmp_path, provider.url, roll("{requests_per_minute: 2}")) as door:
        assert [door.ask(K["billing"]).status_code for _ in range(2)] == [200, 200]
        (tmp_path / "tenants.yaml").write_text(roll("{requests_per_minute: 2, concurrent: 9}"))
        wait_until(lambda: (door.about()["reload"] or {}).get("result") == "good")
        assert door.ask(K["billing"]).status_code == 429


def test_replicas_that_share_a_server_count_together() -> None:
    with serving_redis() as server:

        async def run() -> list[str]:
            storages = [storage_at(server.url), storage_at(server.url)]
            found = []
            try:
                for turn in range(4):
                    try:
                        async with Rates(storages[turn % 2]).place([Allowance("tenant:a", 3, None)]):
                            found.append("in")
                    except RateExceeded as refusal:
                        found.append(refusal.code)
            finally:
                for storage in storages:
                    await close(storage)
            return found

        assert asyncio.run(run()) == ["in", "in", "in", "rate_limit_exceeded"]
        server.stop()
        with pytest.raises(Unavailable):
            asyncio.run(run())

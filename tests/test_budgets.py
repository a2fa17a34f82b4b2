"""Tokens of a tenant in a minute and a day: taken when a request is forwarded, refused in the provider's form."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from limits.aio.storage import MemoryStorage

from proxy.audit import Audit, AuditEvent
from proxy.budgets import Spending
from proxy.errors import TokenBudgetExceeded, Unavailable
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.policy.sections import Budgets
from proxy.trip import Inbound
from tests.inprocess import HEADERS, SECRET, world
from tests.test_taste import Scripted, request, whole

MINUTE = Budgets(tokens_per_minute=100)


def spent(*steps: tuple[str, int, Budgets]) -> list[int | str | None]:
    """What becomes of each step of one process: `ok`, or the seconds to wait."""

    async def run() -> list[int | str | None]:
        spending, found = Spending(), list[int | str | None]()
        for tenant, tokens, budgets in steps:
            try:
                await spending.spend(tenant, tokens, budgets)
                found.append("ok")
            except TokenBudgetExceeded as refusal:
                found.append(refusal.wait)
        return found

    return asyncio.run(run())


def test_a_tenant_gets_what_its_budget_has_and_no_other_tenant_pays() -> None:
    one, two, three, four = spent(("a", 60, MINUTE), ("a", 40, MINUTE), ("a", 1, MINUTE), ("b", 100, MINUTE))
    assert (one, two, four) == ("ok", "ok", "ok")
    assert isinstance(three, int)
    assert 1 <= three <= 60


def test_no_budget_is_no_limit() -> None:
    assert spent(*[("a", 10**9, Budgets())] * 3, ("a", 0, MINUTE)) == ["ok"] * 4


def test_what_one_budget_refuses_takes_nothing_from_the_other() -> None:
    both = Budgets(tokens_per_minute=100, tokens_per_day=150)
    first, refused, minute, day = spent(("a", 90, both), ("a", 60, both), ("a", 10, both), ("a", 50, both))
    assert (first, minute) == ("ok", "ok")
    assert isinstance(refused, int)
    assert isinstance(day, int)
    only_day = Budgets(tokens_per_day=150)
    assert spent(("a", 90, both), ("a", 60, both), ("a", 60, only_day), ("a", 1, only_day))[2] == "ok"


def test_a_request_that_alone_has_more_is_told_so() -> None:
    refusal = TokenBudgetExceeded(100, "minute", 101, None)
    assert spent(("a", 101, MINUTE), ("a", 100, MINUTE)) == [None, "ok"]
    assert refusal.headers() == {"x-should-retry": "false"}
    assert "limit 100, requested 101. This request alone has more." in refusal.message


@pytest.mark.parametrize(("wait", "retry"), [(1, "true"), (60, "true"), (61, "false"), (86_400, "false")])
def test_who_must_wait_for_long_is_not_told_to_try_again(wait: int, retry: str) -> None:
    refusal = TokenBudgetExceeded(100, "day", 9, wait)
    assert refusal.headers() == {"x-should-retry": retry, "retry-after": str(wait)}


def test_a_budget_that_cannot_be_counted_refuses_without_the_storages_words() -> None:
    class Broken(MemoryStorage):
        async def get_sliding_window(self, key: str, expiry: int | None = None) -> tuple[int, float, int, float]:
            raise ConnectionError("redis://user:secret@host")

    with pytest.raises(Unavailable) as refused:
        asyncio.run(Spending(Broken()).spend("a", 1, MINUTE))
    assert refused.value.code == "budget_unavailable"
    assert "secret" not in repr(refused.value)
    assert refused.value.__cause__ is None


# ---------------------------------------------------------------- through the pipeline


def answered(
    budgets: Budgets, *bodies: dict[str, Any], path: str = "/v1/chat/completions"
) -> tuple[list[Any], list[AuditEvent]]:
    async def run() -> tuple[list[Any], list[AuditEvent]]:
        here, events, answers = world(), list[AuditEvent](), list[Any]()
        limits = here.policy.limits.model_copy(update={"budgets": budgets})
        policy = here.policy.model_copy(update={"limits": limits})
        upstream = Upstream(
            "http://127.0.0.1:1/v1", UpstreamSettings(), transport=Scripted(whole("Hello", 9), "application/json")
        )
        pipeline = Pipeline(policy, here.detector, here.counters, upstream, Audit([events.append]), SECRET)
        for body in bodies:
            answers.append(
                await pipeline.handle(Inbound("r1", "t", "POST", path, "", HEADERS, json.dumps(body).encode()))
            )
        return answers, [event for event in events if event.verdict != "forward"]

    return asyncio.run(run())


def test_prompt_and_completion_are_taken_and_the_third_request_is_refused() -> None:
    body = request("hello there", max_tokens=400)
    answers, events = answered(Budgets(tokens_per_minute=1_000), body, body, body)
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert (events[2].reason, events[2].bytes_out, events[2].usage_prompt) == ("token_budget_exceeded", 0, None)
    assert json.loads(answers[2].body)["error"]["type"] == "tokens"
    assert dict(answers[2].headers)["x-should-retry"] == "true"
    assert 1 <= int(dict(answers[2].headers)["retry-after"]) <= 60


def test_what_is_refused_for_another_reason_costs_nothing() -> None:
    long = request("word " * 200_000)
    answers, _ = answered(Budgets(tokens_per_minute=1_000), long, request("hi", max_tokens=900))
    assert [answer.status for answer in answers] == [400, 200]


def test_counting_tokens_is_free() -> None:
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hello"}]}
    answers, _ = answered(Budgets(tokens_per_minute=60), *[body] * 9, path="/v1/messages/count_tokens")
    assert 429 not in [answer.status for answer in answers]
    answers, _ = answered(Budgets(tokens_per_minute=60), *[{**body, "max_tokens": 9}] * 9, path="/v1/messages")
    assert answers[-1].status == 429
    assert json.loads(answers[-1].body)["error"]["type"] == "rate_limit_error"

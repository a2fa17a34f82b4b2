from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI
from typer.testing import CliRunner

from examples.incident.engine import Engine
from proxy.__main__ import command_line
from proxy.echo import Loopback
from proxy.measure import load_counter
from proxy.probing.prompt import Question, question
from proxy.probing.report import finding, svg, to_json
from proxy.probing.run import ProbeFailed, Prober, load, save
from proxy.probing.search import Plan
from proxy.probing.verdict import GOOD, REFUSED, WRONG, Probe, answered

COUNTER = load_counter("o200k_base")
SERVED = 10_624  # of 64-token pages


@given(st.integers(1, 2_000), st.integers(2_000, 2_000_000), st.integers(0, 2_500_000), st.sampled_from([0.01, 0.05]))
def test_the_search_finds_any_limit_within_its_resolution_and_its_cost(
    low: int, high: int, limit: int, resolution: float
) -> None:
    plan = Plan(low, high, resolution)
    done: dict[int, bool] = {}
    while (length := plan.next(done)) is not None:
        assert low <= length <= high
        assert length not in done
        done[length] = length <= limit
    assert len(done) <= plan.most_requests()
    assert sum(done) <= plan.most_tokens()
    good, bad = plan.bounds(done)
    if limit >= high:
        assert (good, bad) == (high, None)
    elif limit < low:
        assert (good, bad) == (0, low)
    else:
        assert bad is not None
        assert good <= limit < bad
        assert bad - good <= max(1, bad * resolution)


@pytest.mark.parametrize("given", [(0, 10, 0.01), (11, 10, 0.01), (1, 10, 0.0), (1, 10, 0.9)])
def test_plans_that_cannot_be(given: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Plan(*given)


@pytest.mark.parametrize("tokens", [200, 1_000, 25_000])
def test_a_prompt_has_the_length_that_was_asked_for_and_its_words_in_their_places(tokens: int) -> None:
    asked = question(tokens, COUNTER)
    assert tokens - 20 <= asked.tokens == COUNTER.count(asked.text) <= tokens
    places = [asked.text.index(word) / len(asked.text) for word in asked.words]
    assert places == sorted(places)
    if tokens >= 1_000:
        assert places[0] < 0.05
        assert 0.45 < places[1] < 0.55
        assert places[2] > 0.95 - 100 / tokens
    assert question(tokens, COUNTER).words != asked.words
    with pytest.raises(ValueError, match="at least"):
        question(20, COUNTER)


ASKED = Question("", ("alpha", "beta", "gamma"), 1_000, 1_000)


@pytest.mark.parametrize(
    ("answer", "usage", "others", "verdict"),
    [
        ("Alpha, beta, gamma", 1_010, (), GOOD),
        ("alpha and gamma", 700, (), GOOD),
        ("alpha and gamma", None, (), WRONG),
        ("alpha beta gamma", None, (), GOOD),
        ("alpha beta gamma", 1, (), WRONG),
        ("I cannot find any words.", 1_010, (), WRONG),
        ("alpha beta gamma delta", 1_010, ("delta",), WRONG),
        ("alpha beta gamma <PERSON_123456>", 1_010, (), WRONG),
    ],
)
def test_verdicts(answer: str, usage: int | None, others: tuple[str, ...], verdict: str) -> None:
    made = answered(ASKED, answer, usage, others)
    assert made.verdict == verdict
    assert Probe.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.fixture
def engine() -> Engine:
    return Engine(SERVED, 16_384)


def test_it_finds_what_the_faulty_engine_serves(engine: Engine) -> None:
    with Loopback(engine.app) as upstream:
        client = OpenAI(base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
        plan = Plan(1_000, 16_000)
        prober = Prober(client, "glm-5.3", COUNTER, [])
        made = list(prober.run(plan))
    found = finding("glm-5.3", plan, made)
    assert found.provider is not None
    assert SERVED * 0.99 <= found.provider <= SERVED
    assert found.complete
    assert found.limited
    assert {probe.verdict for probe in made} == {GOOD, WRONG}
    assert any(probe.usage == 1 for probe in made if not probe.is_good)
    assert svg(found, made).count("<rect") == len(made) + 1


def test_an_honest_engine_is_told_from_a_faulty_one() -> None:
    with Loopback(Engine(SERVED * 4, 8_000).app) as upstream:
        client = OpenAI(base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
        made = list(Prober(client, "m", COUNTER, []).run(Plan(1_000, 16_000)))
    assert {probe.verdict for probe in made} == {GOOD, REFUSED}
    found = finding("m", Plan(1_000, 16_000), made)
    assert found.provider is not None
    assert 8_000 * 0.99 <= found.provider <= 8_000


def test_a_run_is_taken_up_where_it_stopped(engine: Engine, tmp_path: Path) -> None:
    plan, file = Plan(1_000, 16_000), tmp_path / "probe.json"
    with Loopback(engine.app) as upstream:
        client = OpenAI(base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
        first = Prober(client, "m", COUNTER, [])
        running = first.run(plan)
        for _ in range(3):
            next(running)
        save(file, to_json(finding("m", plan, first.probes), plan, first.probes))
        asked = len(engine.prompts)
        second = Prober(client, "m", COUNTER, load(file))
        rest = list(second.run(plan))
    assert asked == 3
    assert len(engine.prompts) == 3 + len(rest)
    assert not {probe.aim for probe in first.probes} & {probe.aim for probe in rest}
    assert finding("m", plan, second.probes).complete
    file.write_text("{}")
    with pytest.raises(ValueError, match="no report"):
        load(file)


def test_what_cannot_be_asked_is_no_finding() -> None:
    client = OpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0)
    with pytest.raises(ProbeFailed):
        Prober(client, "m", COUNTER, []).ask(300)


def test_the_command(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    with Loopback(engine.app) as upstream:
        arguments = ["probe", "--model", "glm-5.3", "--upstream", f"{upstream.url}/v1", "--advertised", "16000"]
        declined = run.invoke(command_line(), arguments, input="n\n")
        assert declined.exit_code == 2
        assert engine.prompts == []
        assert "--yes" in declined.output
        dear = run.invoke(command_line(), [*arguments, "--max-tokens", "1000"])
        assert dear.exit_code == 2
        done = run.invoke(command_line(), [*arguments, "--yes", "--svg", "probe.svg", "--resolution", "0.05"])
    assert done.exit_code == 0, done.output
    told = json.loads((tmp_path / "probe.json").read_text())
    assert SERVED * 0.95 <= told["provider_tokens"] <= SERVED
    assert f"glm-5.3: {told['provider_tokens']}" in done.output
    assert "is in probe.json" in done.output
    assert (tmp_path / "probe.svg").read_text().startswith("<svg")


def test_what_was_not_found_is_not_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Loopback(Engine(SERVED, 16_384).app) as upstream:
        arguments = ["probe", "--model", "m", "--upstream", f"{upstream.url}/v1", "--advertised", "2000", "--yes"]
        done = CliRunner().invoke(command_line(), arguments)
    assert done.exit_code == 0, done.output
    assert "Found no limit" in done.output
    assert "For the policy" not in done.output
    with Loopback(Engine(SERVED, 500).app) as upstream:
        arguments = ["probe", "--model", "m", "--upstream", f"{upstream.url}/v1", "--advertised", "2000", "--yes"]
        done = CliRunner().invoke(command_line(), [*arguments, "--report", "other.json"])
    assert "Found no length that is served" in done.output, done.output
    assert "For the policy" not in done.output

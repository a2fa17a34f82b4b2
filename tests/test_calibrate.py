from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxy.__main__ import command_line
from proxy.calibration import ENOUGH, calibrate

POLICY = (
    "version: 1\nlimits: {models: {glm-5.3: {served: 681280, tokenizer: o200k_base, factor: 1.4}, gpt-4o: 128000}}\n"
    "entities: {EMAIL_ADDRESS: replace}\n"
)
FACTORS = {"glm-5.3": 1.4}


def line(model: str, ours: int, theirs: int | None, verdict: str = "release", alarms: tuple[str, ...] = ()) -> str:
    return json.dumps(
        {"model": model, "tokens_after": ours, "usage_prompt": theirs, "verdict": verdict, "alarms": alarms}
    )


def factor_of(model: str) -> float:
    return FACTORS.get(model, 1.0)


def test_a_factor_that_is_too_high_comes_down_to_what_was_seen_and_a_margin() -> None:
    """Ours is 1,400 with the factor, so 1,000 without; the provider counted 1,100 at most."""
    lines = [line("glm-5.3", 1_400, 1_000 + at % 101) for at in range(202)]
    (row,) = calibrate(lines, factor_of)
    assert (row.requests, row.factor, row.under) == (202, 1.4, 0)
    assert (row.lowest, row.median, row.highest) == pytest.approx((1.0, 1.05, 1.1))
    assert row.proposed == pytest.approx(1.155)


def test_an_under_count_is_seen_and_never_proposed_away() -> None:
    (row,) = calibrate([line("gpt-4o", 1_000, 1_200)] * ENOUGH, factor_of)
    assert row.under == ENOUGH
    assert row.proposed == pytest.approx(1.26)
    (row,) = calibrate([line("gpt-4o", 1_000, 200)] * ENOUGH, factor_of)
    assert row.proposed == 1.0
    (row,) = calibrate([line("gpt-4o", 1_000, 900)] * (ENOUGH - 1), factor_of)
    assert row.proposed is None


@pytest.mark.parametrize(
    "skipped",
    [
        line("gpt-4o", 100, 90),
        line("gpt-4o", 1_000, None),
        line("gpt-4o", 1_000, 0),
        line("gpt-4o", 1_000, 900, verdict="block"),
        line("gpt-4o", 1_000, 900, alarms=("usage_excess",)),
        line("gpt-4o", 1_000, 900)[:-1] + ', "tokens_bound": true}',
        json.dumps({"model": None, "tokens_after": 1_000, "usage_prompt": 5, "verdict": "release"}),
        "no json",
        "[]",
    ],
)
def test_what_says_nothing_is_skipped(skipped: str) -> None:
    assert calibrate([skipped], factor_of) == []


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY)
    trail = tmp_path / "audit.jsonl"
    trail.write_text("\n".join([line("glm-5.3", 1_400, 1_000)] * 40) + "\n")
    run = CliRunner()
    arguments = ["calibrate", str(trail), "--policy", str(tmp_path / "p.yaml")]
    done = run.invoke(command_line(), arguments)
    assert done.exit_code == 0, done.output
    assert "1.05" in done.output
    trail.write_text(line("gpt-4o", 1_000, 1_001) + "\n")
    assert run.invoke(command_line(), arguments).exit_code == 1
    assert run.invoke(command_line(), [*arguments[:1], str(tmp_path / "no"), *arguments[2:]]).exit_code == 2

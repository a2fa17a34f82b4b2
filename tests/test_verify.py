from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.model import Seen, Usage
from proxy.verify import (
    USAGE_FLOOR,
    Sent,
    alarms,
    check_excess,
    check_foreign,
    check_mangled,
    check_missing,
    check_model,
    check_odd,
    check_unsolicited,
    check_usage,
    share_of,
)

LONG = Sent(texts=284_937, bound=285_500, share=share_of("o200k_base", 1.15), model="glm-5.3")
EXACT = replace(LONG, share=share_of("o200k_base", 1.0), exact=True, model="gpt-4o")


def test_one_token_for_a_long_prompt_cannot_be_right() -> None:
    alarm = check_usage(Usage(prompt=1, completion=300), LONG)
    assert alarm is not None
    assert (alarm.code, alarm.check) == ("usage_mismatch", "usage_mismatch")
    assert "284937" in alarm.message


@pytest.mark.parametrize("reported", [284_937, 200_000, 75_000, 400_000])
def test_tokenizers_may_differ(reported: int) -> None:
    assert check_usage(Usage(prompt=reported), LONG) is None


@pytest.mark.parametrize(("reported", "objects"), [(284_937, False), (150_000, False), (140_000, True), (75_000, True)])
def test_where_the_tokenizer_is_the_models_own_less_is_tolerated(reported: int, objects: bool) -> None:
    assert (check_usage(Usage(prompt=reported), EXACT) is not None) == objects


@pytest.mark.parametrize("reported", [250_000, 60_000, 4_000])
def test_bytes_are_no_tokens(reported: int) -> None:
    """English has about four bytes a token, and the longest token of public encodings 128."""
    assert check_usage(Usage(prompt=reported), replace(LONG, share=share_of("bytes", 1.0))) is None
    assert check_usage(Usage(prompt=1), replace(LONG, share=share_of("bytes", 1.0))) is not None


def test_short_prompts_and_missing_figures_are_not_compared() -> None:
    assert check_usage(Usage(prompt=1), replace(LONG, texts=USAGE_FLOOR - 1)) is None
    assert check_usage(Usage(prompt=1), replace(LONG, texts=USAGE_FLOOR)) is not None
    assert check_usage(None, LONG) is None
    assert check_usage(Usage(completion=5), LONG) is None


def test_a_count_that_is_missing_is_missed_for_long_prompts_only() -> None:
    assert check_missing(None, replace(LONG, texts=USAGE_FLOOR - 1)) is None
    assert check_missing(Usage(prompt=5), LONG) is None
    assert check_missing(None, replace(LONG, reports=False)) is None
    for usage in (None, Usage(completion=5)):
        alarm = check_missing(usage, LONG)
        assert alarm is not None
        assert alarm.code == "usage_missing"


@pytest.mark.parametrize(("reported", "objects"), [(285_500, False), (400_000, False), (900_000, True)])
def test_more_than_can_have_been_sent(reported: int, objects: bool) -> None:
    assert (check_excess(Usage(prompt=reported), EXACT) is not None) == objects
    assert check_excess(Usage(prompt=reported), LONG) is None


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("openai/gpt-4o", "gpt-4o-2024-08-06"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5@20250929"),
        ("gpt-4", "gpt-4-0613"),
        ("llama3.2:latest", "llama3.2"),
        ("Qwen/Qwen3-32B", "qwen3-32b"),
        ("", "gpt-4o"),
        ("gpt-4o", None),
    ],
)
def test_the_same_model_under_another_name(asked: str, answered: str | None) -> None:
    assert check_model(answered, replace(LONG, model=asked)) is None


@pytest.mark.parametrize(("asked", "answered"), [("gpt-4", "gpt-4o"), ("gpt-4o", "glm-5.3"), ("o1", "o3")])
def test_another_model(asked: str, answered: str) -> None:
    alarm = check_model(answered, replace(LONG, model=asked))
    assert alarm is not None
    assert alarm.code == "other_model"
    assert answered not in alarm.message


def test_counts_of_nothing_are_no_alarm() -> None:
    for check in (check_foreign, check_mangled, check_unsolicited):
        assert check(0) is None
        alarm = check(2)
        assert alarm is not None
        assert "2" in alarm.message
    assert check_odd(set()) is None
    odd = check_odd({"mixed_ids", "after_end"})
    assert odd is not None
    assert "after_end, mixed_ids" in odd.message


def test_all_of_them_together() -> None:
    seen = Seen(usage=Usage(prompt=1), model="other", odd={"mixed_ids"})
    codes = [alarm.code for alarm in alarms(seen, LONG, foreign=1, mangled=1, complete=True)]
    assert codes == ["usage_mismatch", "foreign_placeholder", "mangled_placeholder", "misplaced_answer", "other_model"]
    assert [alarm.code for alarm in alarms(Seen(), LONG, foreign=0, mangled=0, complete=True)] == ["usage_missing"]
    assert list(alarms(Seen(), LONG, foreign=0, mangled=0, complete=False)) == []
    refused = alarms(seen, LONG, foreign=1, mangled=0, complete=True, refused=True)
    assert [alarm.code for alarm in refused] == ["foreign_placeholder"]
    error = Seen(upstream_error=True)
    assert list(alarms(error, LONG, foreign=0, mangled=0, complete=True)) == []

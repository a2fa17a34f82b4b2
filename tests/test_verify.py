from __future__ import annotations

import pytest

from proxy.model import Usage
from proxy.verify import USAGE_FLOOR, check_foreign, check_usage


def test_one_token_for_a_long_prompt_cannot_be_right() -> None:
    alarm = check_usage(Usage(prompt=1, completion=300), 284_937)
    assert alarm is not None
    assert alarm.code == "usage_mismatch"
    assert "284937" in alarm.message


@pytest.mark.parametrize("reported", [284_937, 200_000, 75_000, 400_000])
def test_tokenizers_may_differ(reported: int) -> None:
    assert check_usage(Usage(prompt=reported), 284_937) is None


def test_short_prompts_and_missing_figures_are_not_compared() -> None:
    assert check_usage(Usage(prompt=1), USAGE_FLOOR - 1) is None
    assert check_usage(Usage(prompt=1), USAGE_FLOOR) is not None
    assert check_usage(None, 10**6) is None
    assert check_usage(Usage(completion=5), 10**6) is None


def test_placeholders_of_others_are_an_alarm() -> None:
    assert check_foreign(0) is None
    alarm = check_foreign(2)
    assert alarm is not None
    assert alarm.code == "foreign_placeholder"

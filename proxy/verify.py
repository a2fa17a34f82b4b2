"""Can this answer belong to this prompt? Pure checks on what passed by while the answer was read.

The incident that this guards against: a serving engine put one token in the place of a prompt that was too long
for its cache, and answered from other customers' pages, with status 200 and `usage.prompt_tokens` of 1.

May import: model, the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.model import Usage

USAGE_FLOOR = 1_000
"""Prompts below this many tokens are not compared: fixed overheads and tokenizer differences dominate there."""
USAGE_SHARE = 0.25
"""The provider's count may be this share of ours before it counts as a mismatch. Our count is an upper bound;
the widest measured ratio between two public tokenizers on the same European or CJK text is below 3."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something about an answer that cannot be right. `message` holds numbers, never text."""

    code: str
    message: str


def check_usage(usage: Usage | None, measured: int, already: int = 0) -> Alarm | None:
    """The provider's prompt tokens against the tokens that were sent. None if there is nothing to object to."""
    if usage is None or usage.prompt is None or measured < USAGE_FLOOR:
        return None
    reported = usage.prompt + already
    if reported >= measured * USAGE_SHARE:
        return None
    return Alarm(
        "usage_mismatch",
        f"The upstream reports {reported} prompt tokens for a prompt of about {measured}: "
        f"this cannot be an answer to the prompt that was sent.",
    )


def check_foreign(foreign: int) -> Alarm | None:
    """Placeholders in the answer that nobody in this conversation issued or wrote."""
    if not foreign:
        return None
    return Alarm(
        "foreign_placeholder",
        f"The answer holds {foreign} placeholder(s) that were not issued for this conversation.",
    )

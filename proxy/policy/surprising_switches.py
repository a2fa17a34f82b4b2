"""What surprises about switches: each lets something through, or stops more than it seems to.

May import: proxy.policy.{lint,model}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.policy.lint import Slip
from proxy.policy.model import Policy

_FEWEST_SECONDS = 5
_CHECKS = ("foreign_placeholder", "usage_mismatch", "unsolicited", "misplaced", "other_model")
_ELSEWHERE = re.compile(r"web|http|url|fetch|browse|search|curl|download|scrape|mail|post|slack|webhook", re.IGNORECASE)
"""What tools are called that send their arguments to somebody else."""


def of_switches(policy: Policy) -> Iterator[Slip]:
    """Warnings about `attachments`, `answers`, `state`, `detection` and `mode`."""
    if policy.mode == "monitor":
        message = "'monitor' changes nothing: every value is passed on"
        yield Slip(("mode",), "monitor-mode", message, "enforce it once the audit looks right")
    if policy.detection.deadline_seconds < _FEWEST_SECONDS:
        message = f"{policy.detection.deadline_seconds:g} seconds are too few for a long prompt, which is then refused"
        yield Slip(("detection", "deadline_seconds"), "deadline-small", message, "allow 30 or more")
    for kind, verdict in policy.attachments:
        if verdict == "pass":
            message = f"{kind} reach the provider unseen"
            yield Slip(("attachments", kind), "attachment-unseen", message, "refuse them unless nothing stands in them")
    yield from _answers(policy)
    if policy.state.prompts == "allow" and policy.state.unknown_tokens == "refuse":
        message = "prompt templates are allowed, but 'unknown_tokens' refuses what was never measured"
        yield Slip(("state", "prompts"), "prompts-unmeasured", message, "say how many tokens they count as")


def _answers(policy: Policy) -> Iterator[Slip]:
    answers = policy.answers
    if not any(getattr(answers, check) == "block" for check in _CHECKS):
        message = "no check blocks an answer that cannot belong to the request"
        yield Slip(("answers",), "checks-off", message, "let foreign_placeholder and usage_mismatch block", on_key=True)
    elif answers.foreign_placeholder != "block":
        message = "a placeholder of another conversation is handed to the client"
        yield Slip(("answers", "foreign_placeholder"), "foreign-passes", message, "block it")
    if answers.usage_missing == "block" and not answers.ask_usage:
        message = "streams without a token count are blocked, and 'ask_usage' is off"
        yield Slip(("answers", "usage_missing"), "usage-unasked", message, "ask for the count, or flag its absence")
    if answers.hold_above == "never" and answers.usage_mismatch == "block":
        message = "no stream is held, so a wrong count is seen when the answer has been read"
        yield Slip(("answers", "hold_above"), "hold-never", message, "hold the longest, for example above 200000")
    if answers.unsolicited == "block":
        message = "streams are held until they are complete"
        yield Slip(("answers", "unsolicited"), "stream-held", message, "flag it where clients need to see text grow")
    for tool, restored in answers.restore_in_tools.items():
        if restored and _ELSEWHERE.search(tool):
            message = f"'{tool}' looks like a tool that sends its arguments elsewhere, and gets the real values"
            yield Slip(("answers", "restore_in_tools", tool), "tool-gets-values", message, f"write '{tool}: false'")

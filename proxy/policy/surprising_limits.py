"""What surprises about limits: patterns for models that never decide, and numbers that nobody has measured.

May import: proxy.policy.{lint,limits,model}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.policy.lint import Slip
from proxy.policy.model import Policy

_FOREIGN = re.compile(r"[\[\](){}^$|+\\,]|\.\*|\s")
"""What other pattern languages know and no provider puts into a model's name."""


def of_limits(policy: Policy) -> Iterator[Slip]:
    """Warnings about `limits`."""
    limits = policy.limits
    if not limits.models and limits.default == "refuse":
        message = "no model has a limit, and there is none by default: every prompt is refused"
        yield Slip(("limits",), "no-model-allowed", message, "name the models that may be used", on_key=True)
    for pattern, entry in limits.models.items():
        path = ("limits", "models", pattern)
        sign = _FOREIGN.search(pattern)
        if sign is not None:
            message = f"'{sign.group()}' stands for itself here, and no model has it in its name"
            yield Slip(path, "model-syntax", message, "only * and ? are patterns; give each name its own line", True)
        rival = next((other for other in sorted(limits.models) if _always_decides(other, pattern)), None)
        if rival is not None:
            message = f"'{pattern}' never decides: '{rival}' matches the same models"
            yield Slip(path, "model-shadowed", message, "remove one of them", on_key=True)
        if entry.advertised is not None and entry.advertised == entry.served:
            message = "what is advertised is used as what is served"
            yield Slip((*path, "served"), "advertised-as-served", message, "measure it: caviardage probe")


def _always_decides(other: str, pattern: str) -> bool:
    """Whether `other` wins for every name that `pattern` matches: it is longer, or as long and first in order."""
    if other == pattern or not set("*?") & set(pattern) or not set("*?") & set(other):
        return False
    return (-len(other), other) < (-len(pattern), pattern) and includes(other, pattern)


def includes(wide: str, narrow: str) -> bool:
    """Whether every name that `narrow` matches is one that `wide` matches.

    `narrow` is read as a text in which `?` is a character of its own and `*` any number of such: a pattern that
    matches that text matches whatever may stand there.
    """
    rows = [True] + [False] * len(narrow)
    for sign in wide:
        before, rows = rows, [sign == "*" and rows[0]] + [False] * len(narrow)
        for at, char in enumerate(narrow, 1):
            if sign == "*":
                rows[at] = before[at] or rows[at - 1]
            elif char != "*":
                rows[at] = before[at - 1] and sign in ("?", char)
    return rows[-1]

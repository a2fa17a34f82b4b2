"""Was a prompt answered rightly? Pure. May import: prompt, the standard library."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from proxy.probing.prompt import Question

GOOD, REFUSED, WRONG = "good", "refused", "wrong"
_STRANGER = re.compile(r"<[A-Z][A-Z_]+_[0-9]{6}(?:[0-9]{3})?>")
_LEAST_USAGE = 0.5
_LEAST_FOUND = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """One prompt and what became of it. Tokens as aimed at, by our count and by the provider's; no text.

    `found` says which of the three words came back, `foreign` how much came that was not asked for: words of other
    prompts, placeholders.
    """

    aim: int
    tokens: int
    verdict: str
    status: int
    usage: int | None = None
    found: tuple[bool, bool, bool] = (False, False, False)
    foreign: int = 0

    @property
    def is_good(self) -> bool:
        return self.verdict == GOOD

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, node: dict[str, Any]) -> Probe:
        """The inverse. Raises `TypeError` or `KeyError` for anything else."""
        first, second, third = node["found"]
        return cls(**{**node, "found": (bool(first), bool(second), bool(third))})


def refused(asked: Question, status: int) -> Probe:
    """The provider said no: an honest limit."""
    return Probe(asked.aim, asked.tokens, REFUSED, status)


def answered(asked: Question, answer: str, usage: int | None, others: Collection[str]) -> Probe:
    """What an answer with status 200 is worth. `others` are the words of all other prompts so far.

    Right is: nothing foreign, and the provider counted at least half of our count and two words of three came back;
    where it tells no count, all three.
    """
    said = answer.casefold()
    found = tuple(word in said for word in asked.words)
    foreign = sum(word in said for word in others) + len(_STRANGER.findall(answer))
    enough = len(found) if usage is None else _LEAST_FOUND
    counted = usage is None or usage >= asked.tokens * _LEAST_USAGE
    good = foreign == 0 and counted and sum(found) >= enough
    return Probe(asked.aim, asked.tokens, GOOD if good else WRONG, 200, usage, (found[0], found[1], found[2]), foreign)

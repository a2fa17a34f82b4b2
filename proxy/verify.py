"""Can this answer belong to this prompt? Pure checks on what passed by while the answer was read.

The incident that this guards against: a serving engine put one token in the place of a prompt that was too long
for its cache, and answered from other customers' pages, with status 200 and `usage.prompt_tokens` of 1.

May import: model, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from proxy.model import Seen, Usage

USAGE_FLOOR = 1_000
"""Prompts below this many tokens are not compared: fixed overheads and tokenizer differences dominate there."""
EXACT_SHARE = 0.5
"""The provider's count may be this share of ours where we count with the model's own tokenizer. A true count is more
than all texts together there; the rest is for what a provider may leave out, and for gateways that only guess."""
ESTIMATED_SHARE = 0.25
"""The same where another tokenizer stands for the model's: the widest measured ratio between two public tokenizers
on the same European or CJK text is below 3."""
BYTES_SHARE = 1 / 128
"""The same where bytes are counted: the longest token of the public encodings has 128."""
EXCESS_SHARE, EXCESS_FLOOR = 1.5, 2_000
"""Above our upper bound times the share and this many tokens more, the provider read more than was sent. Looked at
only where the tokenizer is the model's own."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something about an answer that cannot be right. `check` is the policy's word for the check that found it
    (a field of its section `answers`), `code` goes to the client and the audit; `message` holds numbers and codes,
    never text."""

    code: str
    message: str
    check: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """What is known of the request that an answer must belong to.

    `texts` is the tokens of the texts that were sent, without overheads or factor; `bound` the upper bound of the
    prompt; `share` how much of `texts` the provider must have counted; `exact` whether the tokenizer is the
    model's own; `reports` whether answers of this endpoint tell their usage.
    """

    texts: int = 0
    bound: int = 0
    share: float = ESTIMATED_SHARE
    exact: bool = False
    reports: bool = True
    model: str = field(default="", repr=False)


def share_of(tokenizer: str, factor: float) -> float:
    """How much of our count a provider's must reach, by how we count."""
    if tokenizer == "bytes":
        return BYTES_SHARE
    return EXACT_SHARE if factor == 1 else ESTIMATED_SHARE


def check_usage(usage: Usage | None, sent: Sent) -> Alarm | None:
    """The provider's prompt tokens against the tokens that were sent. None if there is nothing to object to."""
    if usage is None or usage.prompt is None or sent.texts < USAGE_FLOOR or usage.prompt >= sent.texts * sent.share:
        return None
    return Alarm(
        "usage_mismatch",
        f"The upstream reports {usage.prompt} prompt tokens for a prompt of about {sent.texts}: "
        f"this cannot be an answer to the prompt that was sent.",
        "usage_mismatch",
    )


def check_excess(usage: Usage | None, sent: Sent) -> Alarm | None:
    """Many more prompt tokens than the request can have had: something else was read with it, or instead of it."""
    if usage is None or usage.prompt is None or not sent.exact:
        return None
    most = int(sent.bound * EXCESS_SHARE) + EXCESS_FLOOR
    if usage.prompt <= most:
        return None
    return Alarm(
        "usage_excess",
        f"The upstream reports {usage.prompt} prompt tokens for a prompt of at most {sent.bound}.",
        "usage_excess",
    )


def check_missing(usage: Usage | None, sent: Sent) -> Alarm | None:
    """No count at all, at the end of an answer to a prompt that is long enough to be compared."""
    if not sent.reports or sent.texts < USAGE_FLOOR or (usage is not None and usage.prompt is not None):
        return None
    return Alarm(
        "usage_missing",
        f"The upstream does not say how many tokens it counted of a prompt of about {sent.texts}.",
        "usage_missing",
    )


def check_foreign(foreign: int) -> Alarm | None:
    """Placeholders in the answer that nobody in this conversation issued or wrote."""
    if not foreign:
        return None
    return Alarm(
        "foreign_placeholder",
        f"The answer holds {foreign} placeholder(s) that were not issued for this conversation.",
        "foreign_placeholder",
    )


def check_mangled(mangled: int) -> Alarm | None:
    """Placeholders one slip away from one of this conversation: badly copied, hence not restored."""
    if not mangled:
        return None
    return Alarm(
        "mangled_placeholder",
        f"The answer holds {mangled} placeholder(s) of this conversation with a wrong number; they are not restored.",
        "mangled_placeholder",
    )


def check_odd(odd: Collection[str]) -> Alarm | None:
    """Pieces that do not belong together; `odd` holds the codes of `wire.identity`."""
    if not odd:
        return None
    return Alarm(
        "misplaced_answer",
        f"The answer's pieces do not belong to one answer to this request: {', '.join(sorted(odd))}.",
        "misplaced",
    )


def check_model(answered: str | None, sent: Sent) -> Alarm | None:
    """Another model than the one asked for. Dated names, `-latest` and a provider's name in front are the same one."""
    if not answered or not sent.model or _related(_bare(answered), _bare(sent.model)):
        return None
    return Alarm("other_model", "The answer names another model than the one that was asked for.", "other_model")


UNREAD = Alarm("answer_unread", "The answer is too long to be searched for personal values.", "unsolicited")
"""Part of an answer was not looked at."""


def is_counted(usage: Usage | None) -> bool:
    """Whether the provider has said how many prompt tokens it counted."""
    return usage is not None and usage.prompt is not None


def check_unsolicited(count: int) -> Alarm | None:
    """Values with a right check digit that were in no text of the request."""
    if not count:
        return None
    return Alarm(
        "unsolicited_data",
        f"The answer holds {count} checksum-proven personal value(s) that were nowhere in the request.",
        "unsolicited",
    )


def alarms(
    seen: Seen, sent: Sent, *, foreign: int, mangled: int, complete: bool, refused: bool = False
) -> Iterator[Alarm]:
    """Everything that can be said of an answer as far as it was read; `complete` when no more comes.

    `refused`: its status says that it is an error. That answers no prompt: there, only placeholders count.
    """
    found = [] if refused else [check_usage(seen.usage, sent), check_excess(seen.usage, sent)]
    found += [check_foreign(foreign), check_mangled(mangled)]
    if not refused:
        found += [check_odd(seen.odd), check_model(seen.model, sent)]
        found.append(check_missing(seen.usage, sent) if complete and not seen.upstream_error else None)
    return (alarm for alarm in found if alarm is not None)


_VERSION = re.compile(r"[-@:](?:latest|\d{4}-?\d{2}-?\d{2}|\d{4}|\d{3})\Z")


def _bare(model: str) -> str:
    """A model's name without a provider's before it and a date behind it."""
    name = model.rsplit("/", 1)[-1].casefold()
    return _VERSION.sub("", name)


def _related(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long == short or (long.startswith(short) and not long[len(short)].isalnum())

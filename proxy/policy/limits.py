"""Which model has which limit, and how its tokens are counted: exact name, then the longest matching pattern.

May import: the standard library.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A tokenizer that comes from a file of the operator's, or from a file of an installed package."""

    name: str
    file: str
    package: str | None
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """What one model may be sent. `served` counts prompt and requested completion together, in tokens.

    A prompt's tokens are what `tokenizer` counts, times `factor`. `advertised` is what the provider says. `tokenizer`
    is a built-in name or the name of a `TokenizerSource`.
    """

    served: int
    tokenizer: str
    factor: float
    advertised: int | None = None


# Families by the last part of a model's name (`azure/gpt-4o` -> `gpt-4o`): pattern, tokenizer, factor.
# A factor over 1 is an estimate, above the true count over o200k_base's as measured for European languages, Chinese,
# Japanese, Korean, source code and logs. Text that is mostly digits (up to 3) or an Indic script (up to 4.2) can
# exceed it; where the limit must hold for those too, a policy says `tokenizer: bytes`.
_FAMILIES = (
    ("gpt-4o*", "o200k_base", 1.0),
    ("gpt-4.1*", "o200k_base", 1.0),
    ("gpt-4.5*", "o200k_base", 1.0),
    ("chatgpt-4o*", "o200k_base", 1.0),
    ("gpt-5*", "o200k_base", 1.0),
    ("gpt-oss*", "o200k_base", 1.0),
    ("o1", "o200k_base", 1.0),
    ("o1-*", "o200k_base", 1.0),
    ("o3", "o200k_base", 1.0),
    ("o3-*", "o200k_base", 1.0),
    ("o4", "o200k_base", 1.0),
    ("o4-*", "o200k_base", 1.0),
    ("gpt-4*", "cl100k_base", 1.0),
    ("gpt-3.5*", "cl100k_base", 1.0),
    ("text-embedding-*", "cl100k_base", 1.0),
    ("*claude*", "o200k_base", 2.0),
    ("glm-*", "o200k_base", 1.4),
    ("*llama-3*", "o200k_base", 1.2),
    ("deepseek*", "o200k_base", 1.2),
    ("kimi*", "o200k_base", 1.5),
    ("qwen*", "o200k_base", 1.6),
    ("*mistral*", "o200k_base", 1.6),
    ("gemini*", "o200k_base", 1.7),
    ("gemma*", "o200k_base", 1.7),
)
_UNKNOWN = ("o200k_base", 2.0)


def family(model: str) -> tuple[str, float]:
    """Tokenizer and factor for a model by its name; a careful guess for a name that says nothing."""
    short = model.rsplit("/", 1)[-1].lower()
    found = best(short, (pattern for pattern, _, _ in _FAMILIES))
    return next(((tokenizer, factor) for pattern, tokenizer, factor in _FAMILIES if pattern == found), _UNKNOWN)


def best(name: str, patterns: Iterable[str]) -> str | None:
    """The pattern that decides: equal to the name, else the longest that matches (`*` and `?`), else None."""
    known = sorted(patterns)
    if name in known:
        return name
    return max((pattern for pattern in known if matches(pattern, name)), key=len, default=None)


def matches(pattern: str, name: str) -> bool:
    """`*` stands for any text, `?` for one character, everything else for itself."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))

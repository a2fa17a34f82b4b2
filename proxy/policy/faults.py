"""What can be wrong with a policy file, how it is said, and the nearest right word.

May import: the standard library.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "unreadable": "The file cannot be read, or is larger than a policy may be.",
        "encoding": "The file is not UTF-8, or holds characters that YAML forbids.",
        "yaml": "The file is not YAML 1.2, or uses a part of YAML that a policy does without.",
        "empty": "The file holds nothing, or something other than a mapping.",
        "duplicate-key": "A key stands twice in one mapping.",
        "bad-extends": "A policy to build on that is not there, or that builds on this one.",
        "unknown-key": "A key that a policy does not have at this place.",
        "missing-key": "A key that a policy must have at this place.",
        "wrong-type": "A value of another type than the one expected.",
        "wrong-value": "A value outside those that are allowed.",
        "unknown-entity": "An entity that is neither built in nor declared under `recognizers` or `deny`.",
        "bad-name": "A name that cannot be an entity's, because a placeholder could not carry it.",
        "bad-regex": "A regular expression that RE2 does not accept, or that matches the empty string.",
        "bad-term": "A listed term that would match too much, or never.",
        "bad-limit": "A limit that no request could keep, or that contradicts itself.",
        "bad-region": "A region without a telephone numbering plan.",
        "no-example": "A recognizer or model from elsewhere without a test in which it finds something.",
        "dead-rule": "Something that could never have an effect.",
    }
)
"""Every rule that a fault may name, with what it stands for."""

TENANT_RULES: Mapping[str, str] = MappingProxyType(
    {
        "tenant-name": "A tenant's name that is no plain word.",
        "key-in-clear": "Something other than the hash or the place of a key, where only these may stand.",
        "key-twice": "The same key twice.",
        "tenant-upstream": "A tenant's upstream that is not the base URL of a provider.",
        "tenant-policy": "A tenant's policy that is not there.",
        "not-stricter": "A policy that may be asked for and is not stricter than the tenant's own.",
        "no-upstream-key": "A key for the upstream that is not where the file says.",
    }
)
"""The same for a tenants file, which shares the others that can be met there."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong with a policy file. `line` and `column` count from 1, columns in code points."""

    file: str
    line: int
    column: int
    rule: str
    message: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}" + (f"; {self.mend}" if self.mend else "")


class PolicyError(Exception):
    """A policy that does not load, with everything that is wrong with it, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(sorted(set(faults)))
        super().__init__(report(self.faults))

    def __reduce__(self) -> tuple[type[PolicyError], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


def report(faults: Sequence[Fault]) -> str:
    """One line a fault, as compilers and editors write them, with the rule at the end."""
    return "\n".join(f"{fault} [{fault.rule}]" for fault in faults)


def report_json(faults: Sequence[Fault]) -> str:
    """The same faults as a JSON array of objects with the fields of `Fault`."""
    return json.dumps([asdict(fault) for fault in faults], ensure_ascii=False, indent=2)


_SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "ANONYMIZE": "replace",
        "ANONYMISE": "replace",
        "PSEUDONYMIZE": "replace",
        "SUBSTITUTE": "replace",
        "REMOVE": "redact",
        "DELETE": "redact",
        "REFUSE": "block",
        "DENY": "block",
        "REJECT": "block",
        "IGNORE": "allow",
        "KEEP": "allow",
        "WARN": "flag",
        "LOG": "flag",
        "NONE": "off",
        "ALLOW": "pass",
        "BLOCK": "refuse",
        "AUDIT": "monitor",
        "SHADOW": "monitor",
        "NAME": "PERSON",
        "PER": "PERSON",
        "COMPANY": "ORGANIZATION",
        "GPE": "LOCATION",
        "CITY": "LOCATION",
        "BIRTHDAY": "DATE_OF_BIRTH",
        "BIRTHDATE": "DATE_OF_BIRTH",
        "PASSWORD": "SECRET",
        "API_KEY": "SECRET",
        "TOKEN": "SECRET",
        "PAN": "CREDIT_CARD",
        "MRN": "MEDICAL_RECORD",
        "UK": "GB",
        "EN": "GB",
    }
)
"""What people write for a word of ours that looks nothing like it."""


def nearest(word: str, choices: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The choice that `word` most likely stands for, or None.

    In this order: the same word in another case or with other separators, a known synonym, a word that is the
    first or last part of exactly one choice (`IBAN`, `NIR`), the closest spelling above `cutoff` (difflib's
    ratio: 0.6 lets two letters of six be wrong and keeps unrelated words apart).
    """
    pool = sorted(choices)
    bare = {_bare(choice): choice for choice in reversed(pool)}
    wanted = _bare(word)
    if wanted in bare:
        return bare[wanted]
    synonym = _SYNONYMS.get(wanted)
    if synonym in pool:
        return synonym
    if len(wanted) >= 3:
        parts = [c for key, c in bare.items() if key.startswith(wanted) or key.endswith("_" + wanted)]
        if len(parts) == 1:
            return parts[0]
    close = difflib.get_close_matches(wanted, bare, n=1, cutoff=cutoff)
    return bare[close[0]] if close else None


def _bare(word: str) -> str:
    return word.strip().upper().replace("-", "_").replace(" ", "_")


def ask(word: str | None) -> str:
    """The mend for a wrong word: a question with the nearest right one, or nothing."""
    return f"did you mean '{word}'?" if word else ""


def listed(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last

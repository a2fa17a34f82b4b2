"""What surprises about a policy's own lists and expressions.

May import: proxy.policy.{lint,model,sections}, recognizers.{base,facts}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from proxy.policy.lint import Slip
from proxy.policy.model import Policy
from proxy.policy.sections import RegexRecognizer
from recognizers.base import compile_re2, fold
from recognizers.facts import Facts

_PLAIN = re.compile(r"(?:\\[^A-Za-z0-9]|[^\\.^$*+?{}()\[\]|])+")
"""A regular expression that stands for one text only."""
_ANY_TEXT = ("hello", "the", "from", "please", "bonjour", "merci", "Tuesday", "12", "2024")


def of_lists(policy: Policy, facts: Facts) -> Iterator[Slip]:
    """Warnings about `allow`, `deny` and `recognizers`."""
    yield from _allowed(policy, facts)
    yield from _denied(policy, facts)
    yield from _twice(("allow",), policy.allow)
    for entity, terms in policy.deny.items():
        yield from _twice(("deny", entity), terms)
    yield from _swallowed(policy)
    yield from _covered(policy)
    yield from _wide(policy)


def _key(term: str) -> str:
    return " ".join(term.casefold().split())


def _allowed(policy: Policy, facts: Facts) -> Iterator[Slip]:
    for at, term in enumerate(policy.allow):
        entity = facts.proven(term)
        if entity is not None and policy.rule(entity).action != "allow":
            message = f"the check digit of this {entity} is right, so the allow list never frees it"
            yield Slip(("allow", at), "allow-never-frees", message, "remove it, or use a number with a wrong one")


def _denied(policy: Policy, facts: Facts) -> Iterator[Slip]:
    seen: dict[str, str] = {}
    for entity, terms in policy.deny.items():
        for at, term in enumerate(terms):
            path, first = ("deny", entity, at), seen.setdefault(_key(term), entity)
            if first != entity:
                message = f"this term is listed under {first} too"
                yield Slip(path, "deny-covered", message, "keep one of them")
            if fold(term) in facts.words:
                message = f"'{term}' is a plain word, and is met in any case"
                yield Slip(path, "deny-common-word", message, "use a regex under 'recognizers', where case matters")
            elif len(term) == 2:
                message = f"'{term}' is two characters, met in any case in many texts"
                yield Slip(path, "deny-short", message, "use a regex under 'recognizers', where case matters")


def _twice(path: tuple[str, ...], terms: Sequence[str]) -> Iterator[Slip]:
    seen: dict[str, int] = {}
    for at, term in enumerate(terms):
        first = seen.setdefault(_key(term), at)
        if first != at:
            message = f"this term is item {first + 1} of the list already, since case does not matter"
            yield Slip((*path, at), "term-twice", message, "remove one of them")


def _literal(made: RegexRecognizer) -> str | None:
    """The only text that an expression stands for, or None."""
    return re.sub(r"\\(.)", r"\1", made.regex) if _PLAIN.fullmatch(made.regex) else None


def _own(policy: Policy) -> list[tuple[str, RegexRecognizer]]:
    return [(name, made) for name, made in policy.recognizers.items() if isinstance(made, RegexRecognizer)]


def _swallowed(policy: Policy) -> Iterator[Slip]:
    allowed = {_key(term): at for at, term in enumerate(policy.allow)}
    for name, made in _own(policy):
        literal = _literal(made)
        at = None if literal is None else allowed.get(_key(literal))
        if at is not None:
            message = f"this term is all that the regex of '{name}' finds, so it never acts"
            yield Slip(("allow", at), "allow-swallows-entity", message, "remove the term or the recognizer")
    for index, trial in enumerate(policy.tests):
        at = allowed.get(_key(trial.text).strip(".,;:!?"))
        if at is None:
            at = _all_allowed(policy, trial.text, trial.finds or (), allowed)
        if trial.finds and at is not None:
            message = f"allow list item {at + 1} frees what this test expects to be found"
            yield Slip(("tests", index), "allow-swallows-test", message, "remove the term or change the test")


def _all_allowed(policy: Policy, text: str, finds: Sequence[str], allowed: dict[str, int]) -> int | None:
    """The allowed term that frees all that an expected recognizer of the policy's own finds in a text."""
    for name, made in _own(policy):
        if name not in finds or name in policy.deny:
            continue
        pattern = _compiled(made)
        found = [match.group(pattern.groupindex.get("v", 0)) or "" for match in pattern.finditer(text)]
        if found and all(_key(value) in allowed for value in found):
            return allowed[_key(found[0])]
    return None


def _compiled(made: RegexRecognizer) -> Any:
    return compile_re2(f"(?i){made.regex}" if made.ignore_case else made.regex)


def _covered(policy: Policy) -> Iterator[Slip]:
    """Only what is certain: the same expression twice, or one text that another expression matches whole."""
    own = _own(policy)
    for at, (name, made) in enumerate(own):
        literal = _literal(made)
        for before, (other, wider) in enumerate(own):
            same = made.regex == wider.regex and (wider.ignore_case or not made.ignore_case)
            twin = same and (made.ignore_case != wider.ignore_case or before < at)
            inside = literal is not None and _literal(wider) is None and _compiled(wider).fullmatch(literal)
            if name != other and (twin or inside):
                message = f"all that '{name}' finds, '{other}' finds too"
                path = ("recognizers", name, "regex")
                yield Slip(path, "pattern-covered", message, "remove one, or make the other narrower")
                break


def _wide(policy: Policy) -> Iterator[Slip]:
    for name, made in _own(policy):
        if made.score < policy.rule(name).min_score:
            continue
        pattern = _compiled(made)
        met = [word for word in _ANY_TEXT if pattern.fullmatch(word)]
        if len(met) >= 2:
            message = f"this matches plain text such as '{met[0]}' and '{met[1]}'"
            mend = "narrow it, or give it a 'context' and a score below 0.5"
            yield Slip(("recognizers", name, "regex"), "regex-too-wide", message, mend)

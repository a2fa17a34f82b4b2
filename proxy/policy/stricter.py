"""Whether one policy is stricter than another, key by key, so that a caller may ask for it.

Careful by design: it says yes only where every key alone shows that nothing more leaves and nothing more is let pass.
What cannot be compared (another tokenizer, `mask` instead of `replace`) is not stricter, and a key that nobody
thought of has to be equal. Pure. May import: proxy.policy.{model,sections}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from proxy.policy.model import Policy
from proxy.policy.sections import Answers, Budgets, Detection, EntityRule, ModelEntry, State

Judge = Callable[[Any, Any], bool]
MOST_NAMED = 3


def stricter(policy: Policy, than: Policy, entities: Iterable[str]) -> bool:
    """True if `policy` is at least as strict as `than` in every key. `entities` are the built-in ones."""
    return not looser(policy, than, entities)


def looser(policy: Policy, than: Policy, entities: Iterable[str]) -> tuple[str, ...]:
    """The keys in which `policy` is not shown to be at least as strict as `than`."""
    found = [name for name in _fields(policy, _JUDGES) if not _judge(_JUDGES, name, policy, than)]
    known = {*entities, *policy.declared, *than.declared}
    if not all(_rule(policy.rule(entity), than.rule(entity)) for entity in known):
        found.append("entities")
    return tuple(sorted(found))


def told(policy: Policy, than: Policy, entities: Iterable[str]) -> Iterator[str]:
    """The same keys for whoever wrote the policies: with the entities that it is about, of `deny` without a term."""
    for key in looser(policy, than, entities):
        about = []
        if key == "entities":
            about = [*_loose_rules(policy, than, sorted({*entities, *policy.declared, *than.declared}))]
        elif key == "deny":
            about = [*_loose_lists(policy, than)]
        more = [f"and {len(about) - MOST_NAMED} more"] if len(about) > MOST_NAMED else []
        yield f"{key} ({'; '.join([*about[:MOST_NAMED], *more])})" if about else key


def _loose_rules(policy: Policy, than: Policy, entities: Iterable[str]) -> Iterator[str]:
    for entity in entities:
        here, there = policy.rule(entity), than.rule(entity)
        if _rule(here, there):
            continue
        if _rule(here.model_copy(update={"min_score": there.min_score}), there):
            yield f"{entity}: min_score {here.min_score:g} here, {there.min_score:g} there"
        else:
            yield f"{entity}: {here.action} here, {there.action} there"


def _loose_lists(policy: Policy, than: Policy) -> Iterator[str]:
    for entity, terms in than.deny.items():
        lacking = len({*terms}.difference(policy.deny.get(entity, ())))
        if lacking:
            yield f"{entity}: {lacking} of {len(terms)} terms are not here"


def _fields(section: Any, judges: Mapping[str, Judge | None]) -> list[str]:
    """The keys to compare one by one: a judge of None leaves a key out."""
    return [name for name in type(section).model_fields if judges.get(name, _equal) is not None]


def _judge(judges: Mapping[str, Judge | None], name: str, one: Any, other: Any) -> bool:
    judge = judges.get(name) or _equal
    return judge(getattr(one, name), getattr(other, name))


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


def _section(judges: Mapping[str, Judge | None]) -> Judge:
    return lambda one, other: all(_judge(judges, name, one, other) for name in _fields(one, judges))


def _more(one: Iterable[Any], other: Iterable[Any]) -> bool:
    return set(one) >= set(other)


def _fewer(one: Iterable[Any], other: Iterable[Any]) -> bool:
    return set(one) <= set(other)


def _at_most(one: float | None, other: float | None) -> bool:
    return other is None or (one is not None and one <= other)


def _at_least(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and one >= other)


def _ranked(*words: str) -> Judge:
    """Words from the loosest to the strictest."""
    return lambda one, other: words.index(one) >= words.index(other)


def _rule(one: EntityRule, other: EntityRule) -> bool:
    """What one replaces, masks or hashes looks different to the provider, so none of these is stricter."""
    if other.action == "allow":
        return True
    surer = one.action == "block" or (one.action == "redact" and other.action != "block")
    return (one.action == other.action or surer) and one.min_score <= other.min_score


def _entries(one: Mapping[str, ModelEntry], other: Mapping[str, ModelEntry]) -> bool:
    """The same patterns, since with others another entry could decide."""
    return one.keys() == other.keys() and all(_ENTRY(one[name], other[name]) for name in other)


def _tokens(one: int | str, other: int | str) -> bool:
    return one == "refuse" or (isinstance(one, int) and isinstance(other, int) and one <= other)


def _unknown(one: int | str, other: int | str) -> bool:
    """What is stored counts as so many tokens: the more, the less room for the rest."""
    return one == "refuse" or (isinstance(one, int) and isinstance(other, int) and one >= other)


def _held(one: int | str, other: int | str) -> bool:
    return other == "never" or (isinstance(one, int) and isinstance(other, int) and one <= other)


def _tools(one: Mapping[str, bool], other: Mapping[str, bool]) -> bool:
    """Under the same patterns, and nothing is restored that was not."""
    return (not any(one.values()) and "*" in one) or (
        one.keys() == other.keys() and all(other[k] or not one[k] for k in one)
    )


def _recognizers(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == made for name, made in other.items())


def _denied(one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]) -> bool:
    return all(_more(one.get(entity, ()), terms) for entity, terms in other.items())


_KEPT = _ranked("allow", "refuse")
_REACTION = _ranked("off", "flag", "block")
_ENTRY = _section({"served": _at_most, "advertised": None, "factor": _at_least})
_ANSWERS: Mapping[str, Judge | None] = MappingProxyType(
    {
        **dict.fromkeys(Answers.model_fields, _REACTION),
        "ask_usage": lambda one, other: one or not other,
        "hold_above": _held,
        "restore_in_tools": _tools,
    }
)
_STATE: Mapping[str, Judge | None] = MappingProxyType(
    {
        **dict.fromkeys(State.model_fields, _KEPT),
        "unknown_tokens": _unknown,
        "thinking": _ranked("restore", "keep"),
    }
)
_LIMITS: Mapping[str, Judge | None] = MappingProxyType(
    {
        "default": _tokens,
        "models": _entries,
        "budgets": _section(dict.fromkeys(Budgets.model_fields, _at_most)),
    }
)
_JUDGES: Mapping[str, Judge | None] = MappingProxyType(
    {
        "languages": _more,
        "limits": _section(_LIMITS),
        "entities": None,
        "recognizers": _recognizers,
        "deny": _denied,
        "allow": _fewer,
        "phone_regions": _more,
        "attachments": _section(
            {
                "images": _ranked("pass", "refuse"),
                "files": _ranked("pass", "text", "refuse"),
                "audio": _ranked("pass", "refuse"),
            }
        ),
        "identities": _ranked("read", "hash", "refuse"),
        "answers": _section(_ANSWERS),
        "state": _section(_STATE),
        "detection": _section(dict.fromkeys(Detection.model_fields, _at_most)),
        "mode": _ranked("monitor", "enforce"),
        "tests": None,
        "extends": None,
    }
)
"""How each key of a policy is compared; None where it decides nothing by itself (`entities` is compared by rule)."""

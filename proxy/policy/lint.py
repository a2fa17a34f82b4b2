"""What only shows when a policy is seen as a whole: entities that nobody knows, rules that could never act.

Works on the raw data and not on the model, so that one slip elsewhere does not hide the rest.
May import: proxy.policy.{faults,sections}, recognizers.custom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proxy.policy.faults import ask, nearest
from proxy.policy.sections import DEFAULT_MIN_SCORE, DEFAULT_SCORE
from recognizers.custom import LABEL_BONUS


class Slip(NamedTuple):
    """Something wrong at a path of the data. `on_key` points at the key and not at its value."""

    path: tuple[str | int, ...]
    rule: str
    message: str
    mend: str = ""
    on_key: bool = False


def lint(data: Mapping[str, Any], builtin: frozenset[str]) -> Iterator[Slip]:
    """Every slip across sections. `builtin` are the names in the table of entities."""
    known = builtin | declared(data)
    yield from nothing(data)
    yield from _unknown(data, known)
    yield from _undecided(data, builtin)
    yield from _dead_recognizers(data)
    yield from _without_example(data)
    yield from _dead_terms(data)
    yield from _dead_tests(data, known)


def lint_alone(data: Mapping[str, Any], builtin: frozenset[str], *, declares: bool) -> Iterator[Slip]:
    """Slips of a file whose base is not to be had. Where that `declares` entities of its own, a name is only taken
    for a slip if it looks like a known one."""
    yield from nothing(data)
    for slip in _unknown(data, builtin | declared(data)):
        if not declares or slip.mend.startswith("did you mean"):
            yield slip


def declared(data: Mapping[str, Any]) -> frozenset[str]:
    """Entities that the policy itself brings in."""
    names = set(_mapping(data, "deny"))
    for name, made in _mapping(data, "recognizers").items():
        names.update(_found_by(name, made))
    return frozenset(names)


def _found_by(name: str, made: Any) -> tuple[str, ...]:
    listed = made.get("entities") if isinstance(made, Mapping) and "presidio" in made else None
    names = tuple(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else ()
    if isinstance(made, Mapping) and made.keys() & {"spacy", "onnx"}:
        names = tuple(dict.fromkeys(item for item in _mapping(made, "labels").values() if isinstance(item, str)))
    return names or (name,)


def _mapping(data: Any, key: str) -> Mapping[str, Any]:
    inner = data.get(key) if isinstance(data, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _list(data: Any, key: str) -> list[Any]:
    inner = data.get(key) if isinstance(data, Mapping) else None
    return inner if isinstance(inner, list) else []


def nothing(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Slip]:
    """A key without a value is a slip everywhere: no part of a file means something by being null."""
    if value is None:
        on_key = isinstance(path[-1], str)
        yield Slip(path, "wrong-type", f"'{path[-1]}' has no value", "write one, or remove the line", on_key)
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield from nothing(inner, (*path, step))


def _unknown(data: Mapping[str, Any], known: frozenset[str]) -> Iterator[Slip]:
    for name in _mapping(data, "entities"):
        if name not in known:
            yield _no_such(("entities", name), name, known, on_key=True)
    for index, trial in enumerate(_list(data, "tests")):
        for at, name in enumerate(_list(trial, "finds")):
            if isinstance(name, str) and name not in known:
                yield _no_such(("tests", index, "finds", at), name, known)


def _no_such(path: tuple[str | int, ...], name: str, known: frozenset[str], *, on_key: bool = False) -> Slip:
    right = nearest(name, known)
    mend = ask(right) or "an entity of your own is declared under 'recognizers' or 'deny'"
    return Slip(path, "unknown-entity", f"unknown entity '{name}'", mend, on_key)


def _action(data: Mapping[str, Any], entity: str) -> str | None:
    rule = _mapping(data, "entities").get(entity)
    action = rule.get("action") if isinstance(rule, Mapping) else rule
    return action if isinstance(action, str) else None


def _undecided(data: Mapping[str, Any], builtin: frozenset[str]) -> Iterator[Slip]:
    """Adding to a built-in entity that is left alone would either do nothing or switch all of it on."""
    entities = _mapping(data, "entities")
    for section, name, entity in _additions(data):
        if entity in builtin and entity not in entities:
            message = f"'{entity}' is built in, and 'entities' does not say what is done with it"
            yield Slip((section, name), "dead-rule", message, "list it there, or take a name of your own", on_key=True)
        elif _action(data, entity) == "allow":
            message = f"'entities' allows '{entity}', so this would do nothing"
            yield Slip((section, name), "dead-rule", message, "choose an action for it", on_key=True)


def _additions(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in _mapping(data, "deny"):
        yield "deny", name, name
    for name, made in _mapping(data, "recognizers").items():
        for entity in _found_by(name, made):
            yield "recognizers", name, entity


def _dead_recognizers(data: Mapping[str, Any]) -> Iterator[Slip]:
    """A regular expression whose best score is below what its entity asks for."""
    for name, made in _mapping(data, "recognizers").items():
        if not isinstance(made, Mapping) or "regex" not in made:
            continue
        rule = _mapping(data, "entities").get(name)
        least = rule.get("min_score", DEFAULT_MIN_SCORE) if isinstance(rule, Mapping) else DEFAULT_MIN_SCORE
        score = made.get("score", DEFAULT_SCORE)
        reach = min(1.0, score + LABEL_BONUS) if _is_number(score) and made.get("context") else score
        if _is_number(reach) and _is_number(least) and reach < least:
            message = f"the regex scores {reach:g} at best, below the min_score of {name}, {least}"
            yield Slip(("recognizers", name, "score"), "dead-rule", message, "raise the one or lower the other")


def _without_example(data: Mapping[str, Any]) -> Iterator[Slip]:
    """What was not written here must be seen to find something: each has a test, and finds what the test says."""
    tested = {name for trial in _list(data, "tests") for name in _list(trial, "finds") if isinstance(name, str)}
    for name, made in _mapping(data, "recognizers").items():
        brought = isinstance(made, Mapping) and made.keys() & {"presidio", "spacy", "onnx"}
        if brought and not tested.intersection(_found_by(name, made)):
            message = f"no test shows that '{name}' finds anything"
            mend = f"add one: {{text: '...', finds: [{_found_by(name, made)[0]}]}}"
            yield Slip(("recognizers", name), "no-example", message, mend, on_key=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dead_terms(data: Mapping[str, Any]) -> Iterator[Slip]:
    """A term that is both always and never an entity."""
    denied = {
        term.casefold(): entity
        for entity in _mapping(data, "deny")
        for term in _list(_mapping(data, "deny"), entity)
        if isinstance(term, str)
    }
    for index, term in enumerate(_list(data, "allow")):
        entity = denied.get(term.casefold()) if isinstance(term, str) else None
        if entity is not None:
            yield Slip(("allow", index), "dead-rule", f"this term is under 'deny' too, as {entity}", "keep one of them")


def _dead_tests(data: Mapping[str, Any], known: frozenset[str]) -> Iterator[Slip]:
    """A test that checks nothing, or that no engine could pass."""
    own = declared(data)
    for index, trial in enumerate(_list(data, "tests")):
        if not isinstance(trial, Mapping):
            continue
        if trial.keys() & {"text", "request"} and not trial.keys() & {"finds", "leaves", "refuses", "sends"}:
            mend = "say what it 'finds', 'sends', 'leaves' or 'refuses'"
            yield Slip(("tests", index), "dead-rule", "this test checks nothing", mend)
        for at, name in enumerate(_list(trial, "finds")):
            if not isinstance(name, str) or name not in known:
                continue
            if _action(data, name) == "allow" or not (name in own or name in _mapping(data, "entities")):
                yield Slip(("tests", index, "finds", at), "dead-rule", f"this policy leaves '{name}' alone")
        text = trial.get("text")
        for at, piece in enumerate(_list(trial, "leaves")):
            if isinstance(piece, str) and isinstance(text, str) and piece not in text:
                yield Slip(("tests", index, "leaves", at), "dead-rule", "this is not a part of the text")

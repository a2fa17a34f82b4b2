"""The model's validation errors in words for whoever wrote the file.

May import: pydantic, proxy.policy.{checks,faults,model}.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from proxy.policy import checks, model
from proxy.policy.faults import RULES, TENANT_RULES, ask, listed, nearest

Path = tuple[str | int, ...]


def explain(error: ErrorDetails, path: Path, root: type[BaseModel] = model.Policy) -> tuple[str, str, str]:
    """Rule, message and mend of one error at `path` of what `root` describes."""
    rule, message, mend = _explain(error, path, root)
    return rule, f"{_subject(path)} {message}" if message.startswith("must ") else message, mend


_FILES = {"Policy": ("in a policy", "the policy"), "Tenants": ("in a tenants file", "the file")}


def _subject(path: Path) -> str:
    *_, last = path or ("the policy",)
    return f"item {last + 1} of '{path[-2]}'" if isinstance(last, int) and len(path) > 1 else f"'{last}'"


def _explain(error: ErrorDetails, path: Path, root: type[BaseModel]) -> tuple[str, str, str]:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind in RULES or kind in TENANT_RULES:
        return kind, context["what"], context["mend"]
    if kind == "extra_forbidden":
        where = f"in '{'.'.join(map(str, path[:-1]))}'" if len(path) > 1 else _FILES[root.__name__][0]
        return "unknown-key", f"unknown key '{path[-1]}' {where}", ask(nearest(str(path[-1]), siblings(path, root)))
    if kind == "missing" and path[-1] == "served" and "advertised" in value:
        return "bad-limit", "'advertised' without 'served'", "say how many tokens are really served"
    if kind == "missing":
        where = f"'{'.'.join(map(str, path[:-1]))}'" if len(path) > 1 else _FILES[root.__name__][1]
        return "missing-key", f"{where} lacks the key '{path[-1]}'", ""
    if kind == "literal_error":
        return _choice(value, str(context["expected"]))
    return _limits(kind, context) or _type(kind, value)


def _choice(value: Any, expected: str) -> tuple[str, str, str]:
    words = re.findall(r"'([^']*)'", expected)
    mend = ask(nearest(value, words)) if isinstance(value, str) else ""
    return "wrong-value", f"{named(value)} is not one of {listed(words)}", mend


def _limits(kind: str, context: Mapping[str, Any]) -> tuple[str, str, str] | None:
    bounds = {
        "greater_than": ("gt", "must be more than"),
        "greater_than_equal": ("ge", "must be at least"),
        "less_than_equal": ("le", "must be at most"),
    }
    if kind in bounds:
        key, words = bounds[kind]
        bound = context[key]
        return "wrong-value", f"{words} {int(bound) if bound == int(bound) else bound}", ""
    return ("wrong-value", "must not be empty", "") if kind == "string_too_short" else None


_WANTED = (
    ("int", "a whole number"),
    ("float", "a number"),
    ("bool", "true or false"),
    ("string", "text"),
    ("tuple", "a list"),
    ("mapping", "a mapping of keys to values"),
    ("model", "a mapping of keys to values"),
    ("dict", "a mapping of keys to values"),
)


def _type(kind: str, value: Any) -> tuple[str, str, str]:
    wanted = next((words for start, words in _WANTED if kind.startswith(start)), "something else")
    return "wrong-type", f"must be {wanted}, not {named(value)}", _mend(wanted, value)


def _mend(wanted: str, value: Any) -> str:
    if wanted == "text" and not isinstance(value, list | Mapping):
        return f"put it in quotes: '{str(value).lower() if isinstance(value, bool) else value}'"
    if wanted == "a list" and isinstance(value, str | int | float):
        return f"put it in brackets: [{value}]"
    if wanted == "true or false" and isinstance(value, str):
        truth = {"on": "true", "yes": "true", "y": "true", "off": "false", "no": "false", "n": "false"}
        return ask(truth.get(value.lower()) or nearest(value, ("true", "false")))
    if wanted == "a whole number" and isinstance(value, str):
        return ask(checks.whole_number(value))
    return ""


def named(value: Any) -> str:
    """A value as a message shows it: short ones as they are, the others by what they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text '{value}'" if len(value) <= 40 else "this text"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list | tuple) else "a mapping" if isinstance(value, Mapping) else "nothing"


def siblings(path: Path, root: type[BaseModel] = model.Policy) -> tuple[str, ...]:
    """The keys that a section knows at the place of `path`'s last part."""
    inner: Any = root
    for step in path[:-1]:
        known = isinstance(inner, type) and issubclass(inner, BaseModel)
        field = inner.model_fields.get(str(step)) if known else None
        inner = _section(field.annotation) if field is not None else inner
    found = inner if isinstance(inner, tuple) else (inner,)
    return tuple(name for section in found for name in section.model_fields)


def _section(annotation: Any) -> Any:
    """The sections somewhere inside a type: one, or the alternatives that it names."""
    found = tuple(dict.fromkeys(_sections(annotation)))
    return found[0] if len(found) == 1 else found or model.Policy


def _sections(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [section for inner in get_args(annotation) for section in _sections(inner)]

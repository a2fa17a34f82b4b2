"""A policy file -> a `Policy`, or everything that is wrong with it.

`caviardage check`, the start of the service and a reload all load through here: what the linter accepts is
what runs. Whoever reloads keeps the last good policy when this raises.
May import: pydantic, proxy.policy, recognizers.{base,facts}.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from proxy.policy import tree
from proxy.policy.explain import explain
from proxy.policy.faults import Fault, PolicyError
from proxy.policy.lint import Slip, lint
from proxy.policy.model import Policy
from proxy.policy.surprises import surprises
from recognizers.base import Entity
from recognizers.facts import Facts

MAX_FAULTS = 500
"""Of each pass. Nobody reads on, and finding the nearest word takes time."""


def load_policy(path: str | Path, *, entities: Mapping[str, Entity]) -> Policy:
    """Reads one file. `entities` is the table of built-in entities. Raises `PolicyError` with every fault."""
    return parse_policy(_read(path), file=str(path), entities=entities)


def inspect_policy(
    path: str | Path, *, entities: Mapping[str, Entity], facts: Facts
) -> tuple[Policy | None, tuple[Fault, ...]]:
    """The policy, or None if it does not load, and what is to be said about it: errors, else warnings."""
    try:
        return inspected(_read(path), file=str(path), entities=entities, facts=facts)
    except PolicyError as error:
        return None, error.faults


def inspected(
    content: bytes, *, file: str, entities: Iterable[str], facts: Facts
) -> tuple[Policy | None, tuple[Fault, ...]]:
    """The same for content that was read already."""
    try:
        policy = parse_policy(content, file=file, entities=entities)
    except PolicyError as error:
        return None, error.faults
    root, _ = tree.parse(_decode(content, file), file)
    faults = (_fault(root, slip, file) for slip in islice(surprises(policy, facts), MAX_FAULTS))
    return policy, tuple(sorted(set(faults)))


def _read(path: str | Path) -> bytes:
    file = str(path)
    try:
        with Path(path).open("rb") as stream:
            return stream.read(tree.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise PolicyError([Fault(file, 1, 1, "unreadable", f"cannot be read: {reason}")]) from None


def parse_policy(content: bytes, *, file: str, entities: Iterable[str]) -> Policy:
    """The same for content that was read already; `file` is what faults call it, its stem the policy's name."""
    try:
        root, faults = tree.parse(_decode(content, file), file)
    except tree.Unreadable as error:
        raise PolicyError([error.fault]) from None
    data = root.data()
    if not isinstance(data, dict):
        what = "the file is empty" if data is None else "a policy is a mapping of keys to values"
        raise PolicyError([Fault(file, root.line, root.column, "empty", what, "begin with version: 1")])
    slips, policy = list(islice(lint(data, frozenset(entities)), MAX_FAULTS)), None
    try:
        policy = Policy.model_validate(data, context={"name": Path(file).stem})
    except ValidationError as error:
        slips += islice(_slips(data, error.errors(include_url=False)), MAX_FAULTS)
    faults += (_fault(root, slip, file) for slip in slips)
    if faults or policy is None:
        raise PolicyError(faults)
    return policy


def _decode(content: bytes, file: str) -> str:
    if len(content) > tree.MAX_BYTES:
        fault = Fault(file, 1, 1, "unreadable", f"larger than {tree.MAX_BYTES} bytes")
        raise PolicyError([fault])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise PolicyError([Fault(file, line, column, "encoding", "not UTF-8", "save the file as UTF-8")]) from None


def _slips(data: dict[str, Any], errors: Iterable[ErrorDetails]) -> Iterator[Slip]:
    """The model's errors, less those about a missing value, which `lint` has reported already."""
    for error in errors:
        on_key = error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",)
        path = tuple(step for step in error["loc"] if not str(step).startswith(("#", "[key]")))
        value = _at(data, path)
        if value is not None or error["type"] in ("missing", "extra_forbidden"):
            yield Slip(path, *explain(error, path), on_key=on_key)


def _at(data: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if not _has(data, step):
            return data
        data = data[step]
    return data


def _has(data: Any, step: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, Mapping) and step in data


def _fault(root: tree.Node, slip: Slip, file: str) -> Fault:
    line, column = tree.place(root, slip.path, key=slip.on_key)
    return Fault(file, line, column, slip.rule, slip.message, slip.mend)

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

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proxy.policy import extends, tree
from proxy.policy.explain import explain
from proxy.policy.faults import Fault, PolicyError
from proxy.policy.lint import Slip, lint, lint_alone
from proxy.policy.model import Policy
from proxy.policy.surprises import surprises
from recognizers.base import Entity
from recognizers.facts import Facts

MAX_FAULTS = 500
"""Of each pass. Nobody reads on, and finding the nearest word takes time."""


def load_policy(path: str | Path, *, entities: Mapping[str, Entity]) -> Policy:
    """Reads one file. `entities` is the table of built-in entities. Raises `PolicyError` with every fault."""
    return parse_policy(extends.read(path), file=str(path), entities=entities, paths=True)


def inspect_policy(
    path: str | Path, *, entities: Mapping[str, Entity], facts: Facts
) -> tuple[Policy | None, tuple[Fault, ...]]:
    """The policy, or None if it does not load, and what is to be said about it: errors, else warnings."""
    try:
        return inspected(extends.read(path), file=str(path), entities=entities, facts=facts, paths=True)
    except PolicyError as error:
        return None, error.faults


def inspected(
    content: bytes, *, file: str, entities: Iterable[str], facts: Facts, paths: bool = False
) -> tuple[Policy | None, tuple[Fault, ...]]:
    """The same for content that was read already."""
    try:
        policy = parse_policy(content, file=file, entities=entities, paths=paths)
    except PolicyError as error:
        return None, error.faults
    root = extends.whole(content, file, paths=paths).root
    faults = (fault_at(root, slip) for slip in islice(surprises(policy, facts, _usual(entities)), MAX_FAULTS))
    return policy, tuple(sorted(set(faults)))


def _usual(entities: Iterable[str]) -> tuple[str, ...]:
    """What the shipped default acts on."""
    shipped = parse_policy(extends.read(extends.SHIPPED / "default.yaml"), file="default.yaml", entities=entities)
    return tuple(name for name, rule in shipped.entities.items() if rule.action != "allow")


def parse_policy(content: bytes, *, file: str, entities: Iterable[str], paths: bool = False) -> Policy:
    """The same for content that was read already; `file` is what faults call it, its stem the policy's name.

    With `paths` it is the content of that file, and may extend others as they are seen from there.
    """
    builtin = frozenset(entities)
    try:
        whole = extends.whole(content, file, paths=paths)
    except PolicyError as error:
        raise PolicyError([*error.faults, *_own_faults(content, file, builtin)]) from None
    root, data = whole.root, whole.root.data()
    slips, policy = list(islice(lint(data, builtin), MAX_FAULTS)), None
    try:
        policy = Policy.model_validate(data, context={"name": Path(file).stem, "files": whole.files})
    except ValidationError as error:
        slips += islice(slips_of(data, error.errors(include_url=False)), MAX_FAULTS)
    faults = [*whole.faults, *(fault_at(root, slip) for slip in slips)]
    if faults or policy is None:
        raise PolicyError(faults)
    return policy


def _own_faults(content: bytes, file: str, builtin: frozenset[str]) -> list[Fault]:
    """What is wrong with a file whose base cannot be had, whatever stands there."""
    try:
        root, _ = extends.parsed(content, file)
    except PolicyError:
        return []
    data = root.data()
    if not isinstance(data, dict) or "extends" not in data:
        return []
    base = data.pop("extends")
    declares = isinstance(base, str) and extends.names_file(base)
    slips = list(islice(lint_alone(data, builtin, declares=declares), MAX_FAULTS))
    try:
        Policy.model_validate(data)
    except ValidationError as error:
        errors = (one for one in error.errors(include_url=False) if not _may_be_below(one))
        slips += islice(slips_of(data, errors), MAX_FAULTS)
    return [fault_at(root, slip) for slip in slips]


def _may_be_below(error: ErrorDetails) -> bool:
    return error["type"] == "missing" and error["loc"][:-1] in extends.MERGED


def slips_of(data: dict[str, Any], errors: Iterable[ErrorDetails], root: type[BaseModel] = Policy) -> Iterator[Slip]:
    """The model's errors, less those about a missing value, which `lint` has reported already."""
    for error in errors:
        on_key = error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",)
        path = tuple(step for step in error["loc"] if not str(step).startswith(("#", "[key]")))
        value = _at(data, path)
        if value is not None or error["type"] in ("missing", "extra_forbidden"):
            yield Slip(path, *explain(error, path, root), on_key=on_key)


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


def fault_at(root: tree.Node, slip: Slip) -> Fault:
    """A slip with the place of what it is about."""
    file, line, column = tree.place(root, slip.path, key=slip.on_key)
    return Fault(file, line, column, slip.rule, slip.message, slip.mend)


def place_in(file: str | Path, path: tuple[str | int, ...]) -> tuple[str, int, int]:
    """File, line and column of what stands at `path` in a policy that loads; the file's beginning if it is gone."""
    try:
        return tree.place(extends.whole(extends.read(file), str(file), paths=True).root, path)
    except PolicyError:
        return str(file), 1, 1

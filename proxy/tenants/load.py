"""A tenants file -> `Tenants`, or everything that is wrong with it; and what it takes from elsewhere.

May import: pydantic, proxy.policy, proxy.settings, proxy.tenants.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from proxy.policy import Fault, Policy, PolicyError, extends, load_policy, tree
from proxy.policy.lint import Slip, nothing
from proxy.policy.load import MAX_FAULTS, fault_at, slips_of
from proxy.policy.stricter import told
from proxy.settings import is_plain_remote
from proxy.tenants.model import Rates, Tenants, UpstreamKey
from recognizers.base import Entity

_CREDENTIAL = re.compile(r"[!-~]{1,4096}")


@dataclass(frozen=True, slots=True)
class Roll:
    """A tenants file that was read, with its tree, which knows where everything stands."""

    tenants: Tenants
    file: Path
    root: tree.Node = field(repr=False)

    @property
    def limited(self) -> bool:
        """Whether anything is counted."""
        tenants = self.tenants.tenants.values()
        limits = [*(one.limits for one in tenants), *(key.limits for one in tenants for key in one.keys)]
        return any(Rates() != limit for limit in limits)

    def path(self, named: str) -> Path:
        """Where a policy lies that the file names."""
        shipped = extends.SHIPPED / f"{named}.yaml"
        is_name = "/" not in named and not named.endswith((".yaml", ".yml"))
        return shipped if is_name else self.file.parent / named

    def policies(self) -> dict[tuple[str | int, ...], Path]:
        """The files of the policies that it names, by the place where it does."""
        found: dict[tuple[str | int, ...], Path] = {}
        for name, tenant in self.tenants.tenants.items():
            if tenant.policy is not None:
                found["tenants", name, "policy"] = self.path(tenant.policy)
            for index, named in enumerate(tenant.stricter):
                found["tenants", name, "stricter", index] = self.path(named)
        return found

    def fault(self, path: tuple[str | int, ...], rule: str, message: str, mend: str = "") -> Fault:
        """A fault at a place of the file."""
        return fault_at(self.root, Slip(path, rule, message, mend))


def load_tenants(path: Path) -> Roll:
    """Reads one file. Raises `PolicyError` with every fault in it; the policies that it names are not read yet."""
    root, faults = extends.parsed(extends.read(path), str(path))
    data = root.data()
    if not isinstance(data, dict):
        raise PolicyError([Fault(str(path), root.line, root.column, "empty", "no tenants stand here")])
    slips, tenants = list(islice(nothing(data), MAX_FAULTS)), None
    try:
        tenants = Tenants.model_validate(data)
    except ValidationError as error:
        slips += islice(slips_of(data, error.errors(include_url=False), Tenants), MAX_FAULTS)
    else:
        slips += _twice(tenants)
    faults += (fault_at(root, slip) for slip in slips)
    if faults or tenants is None:
        raise PolicyError(faults)
    return Roll(tenants, path, root)


def load_policies(roll: Roll, default: Policy | None, entities: Mapping[str, Entity]) -> dict[Path, Policy]:
    """Every policy that the file names, each shown to be stricter where it has to be. Raises `PolicyError`.

    `default` is that of tenants that name none; None if it is not known, and then nothing is said about them.
    """
    found: dict[Path, Policy] = {}
    faults: list[Fault] = []
    for place, path in roll.policies().items():
        if path in found:
            continue
        if not path.is_file():
            faults.append(roll.fault(place, "tenant-policy", "there is no such policy", "a path ends with .yaml"))
            continue
        try:
            found[path] = load_policy(path, entities=entities)
        except PolicyError as error:
            faults += error.faults
    if not faults:
        faults += _not_stricter(roll, default, found, entities)
    if faults:
        raise PolicyError(faults)
    return found


def is_tenants(path: Path) -> bool:
    """Whether a file speaks of tenants, and so is no policy."""
    try:
        root, _ = extends.parsed(extends.read(path), str(path))
    except PolicyError:
        return False
    return isinstance(root.value, dict) and "tenants" in root.value


def inspect_tenants(path: Path, entities: Mapping[str, Entity]) -> tuple[Roll | None, tuple[Fault, ...]]:
    """The file with its policies, or None if it does not load, and what is to be said about it."""
    try:
        roll = load_tenants(path)
        load_policies(roll, None, entities)
    except PolicyError as error:
        return None, error.faults
    return roll, surprising(roll)


def surprising(roll: Roll) -> tuple[Fault, ...]:
    """What loads and may surprise."""
    faults: list[Fault] = []
    for name, tenant in roll.tenants.tenants.items():
        if Rates() == tenant.limits and any(Rates() == key.limits for key in tenant.keys):
            message = f"nothing limits '{name}'"
            faults.append(roll.fault(("tenants", name), "tenant-unlimited", message, "give it limits"))
        if tenant.upstream is not None and is_plain_remote(tenant.upstream):
            message = "this is another machine, and not https"
            faults.append(roll.fault(("tenants", name, "upstream"), "tenant-plain-http", message))
    return tuple(sorted(faults))


def upstream_keys(roll: Roll) -> dict[str, str]:
    """The keys for the upstream, by tenant. Raises `PolicyError` where one is not there; says nothing about one."""
    found: dict[str, str] = {}
    faults: list[Fault] = []
    for name, tenant in roll.tenants.tenants.items():
        if not isinstance(tenant.upstream_key, UpstreamKey):
            continue
        key = _fetched(tenant.upstream_key, roll.file.parent)
        if _CREDENTIAL.fullmatch(key):
            found[name] = key
        else:
            faults.append(roll.fault(("tenants", name, "upstream_key"), "no-upstream-key", "no key is there"))
    if faults:
        raise PolicyError(faults)
    return found


def key_files(roll: Roll) -> Iterator[Path]:
    """The files that hold keys for the upstream."""
    for tenant in roll.tenants.tenants.values():
        if isinstance(tenant.upstream_key, UpstreamKey) and tenant.upstream_key.file is not None:
            yield roll.file.parent / tenant.upstream_key.file


def _fetched(place: UpstreamKey, folder: Path) -> str:
    if place.env is not None:
        return os.environ.get(place.env, "")
    try:
        return (folder / str(place.file)).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _twice(tenants: Tenants) -> Iterator[Slip]:
    first: dict[str, str] = {}
    for name, tenant in tenants.tenants.items():
        for index, key in enumerate(tenant.keys):
            if key.sha256 in first:
                path = ("tenants", name, "keys", index, "sha256")
                yield Slip(path, "key-twice", f"'{first[key.sha256]}' has this key already", "keep one of them")
            first.setdefault(key.sha256, name)


def _not_stricter(
    roll: Roll, default: Policy | None, policies: Mapping[Path, Policy], entities: Iterable[str]
) -> Iterator[Fault]:
    for name, tenant in roll.tenants.tenants.items():
        own = default if tenant.policy is None else policies[roll.path(tenant.policy)]
        for index, named in enumerate(tenant.stricter if own is not None else ()):
            assert own is not None  # noqa: S101  (for the type checker)
            loose = list(told(policies[roll.path(named)], own, entities))
            if loose:
                message = f"'{named}' is not shown to be stricter than '{own.name}': {', '.join(loose)}"
                yield roll.fault(("tenants", name, "stricter", index), "not-stricter", message)

"""What the files of a service say: its policy, its tenants, and whatever these name. May import: policy, tenants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proxy.policy import Policy, load_policy
from proxy.tenants.load import Roll, key_files, load_policies, load_tenants, upstream_keys
from recognizers import ENTITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the files say: policies by file (`default` is one of them), tenants, and their keys for the upstream."""

    default: Path
    policies: Mapping[Path, Policy]
    roll: Roll | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> frozenset[Path]:
        """Every file that was read."""
        read = {path for policy in self.policies.values() for path in policy.files} | set(self.policies)
        return frozenset(read if self.roll is None else {*read, self.roll.file, *key_files(self.roll)})


def load_plan(policy: Path, tenants: Path | None = None) -> Plan:
    """What the files say now. Raises `PolicyError` with every fault in them."""
    default = load_policy(policy, entities=ENTITIES)
    if tenants is None:
        return Plan(default=policy, policies={policy: default})
    roll = load_tenants(tenants)
    policies = {policy: default, **load_policies(roll, default, ENTITIES)}
    return Plan(default=policy, policies=policies, roll=roll, keys=upstream_keys(roll))

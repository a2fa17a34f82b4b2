"""What stands in a tenants file: frozen, closed, field for field as in the YAML.

No key stands in it: of a tenant's keys only hashes, of an upstream's key only where it is to be found.
May import: pydantic, proxy.policy, proxy.settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, Strict, model_validator

from proxy.policy import checks
from proxy.policy.sections import Budgets, Filled, Frozen, Section
from proxy.settings import upstream_faults

Number: TypeAlias = Annotated[int, Strict(), Field(gt=0, le=1_000_000_000)]
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_HASHED = re.compile(r"[0-9a-f]{16}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _version(value: Any) -> Any:
    if value != 1 or isinstance(value, bool | float):
        raise checks.wrong("wrong-value", "this program reads tenants of version 1", "write version: 1")
    return value


def tenant_name(name: str) -> str:
    """A plain word that cannot be taken for the hash that names a tenant without a name."""
    if not _NAME.fullmatch(name) or name == "anonymous" or _HASHED.fullmatch(name):
        raise checks.wrong(
            "tenant-name", f"'{name}' cannot name a tenant", "small letters, digits and -, at most 31, a letter first"
        )
    return name


def _hash(value: Any) -> Any:
    """Whoever pastes the key itself has to be told at once, and it is not repeated."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise checks.wrong("key-in-clear", "this is no SHA-256 of a key", "caviardage key new prints the line to paste")
    return checks.sha256(value)


def _upstream(url: str) -> str:
    fault = next(upstream_faults(url), None)
    if fault is not None:
        raise checks.wrong("tenant-upstream", fault)
    return url


def _somebody(tenants: Mapping[str, Any]) -> Mapping[str, Any]:
    if not tenants:
        raise checks.wrong("wrong-value", "must not be empty", "without tenants nobody could come in")
    return tenants


class Rates(Budgets):
    """How much may be asked for. Left out: as much as the policy's own budgets let it."""

    requests_per_minute: Number | None = None
    """In a window that slides."""
    concurrent: Number | None = None
    """At one time, until their answers have ended, in each process."""


class UpstreamKey(Section):
    """Where the key for the upstream is to be found when the service starts and at each reload."""

    env: str | None = None
    """The name of a variable of the environment."""
    file: str | None = None
    """The path of a file that holds nothing else, as it is seen from this one."""

    @model_validator(mode="after")
    def _one(self) -> UpstreamKey:
        if (self.env is None) == (self.file is None):
            raise checks.wrong("missing-key", "a key is either in a variable ('env') or in a 'file'")
        if self.env is not None and not _VARIABLE.fullmatch(self.env):
            raise checks.wrong("key-in-clear", "this is not the name of a variable", "write its name and not the key")
        return self


class Key(Section):
    """One of a tenant's keys."""

    sha256: Annotated[str, PlainValidator(_hash), Field(json_schema_extra={"pattern": "^[0-9a-f]{64}$"})]
    """The key's SHA-256, in hexadecimal."""
    limits: Rates = Rates()
    """How much may be asked for with this key."""


def _whose(value: Any) -> Any:
    if isinstance(value, str) and value not in ("client", "none"):
        raise checks.wrong("key-in-clear", "this must be client, none, {env: ...} or {file: ...}", "no key stands here")
    return value


class Tenant(Section):
    """One tenant."""

    keys: Filled[Key]
    """Its keys. Several while one takes another's place."""
    upstream_key: Annotated[Literal["client", "none"] | UpstreamKey, BeforeValidator(_whose)]
    """The key that its requests take to the upstream: `{env: NAME}` or `{file: PATH}`; `none`; or `client`, where
    its keys are the upstream's own and are passed on."""
    upstream: Annotated[str, AfterValidator(_upstream)] | None = None
    """The provider's base URL. Left out: that of the service."""
    policy: Annotated[str, Field(min_length=1)] | None = None
    """The name of a shipped policy, or the path of a file, as it is seen from this one. Left out: the service's."""
    stricter: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Policies that its requests may ask for by name (`x-caviardage-policy`). Each must be stricter than its own."""
    limits: Rates = Rates()
    """How much may be asked for with all its keys."""


class Tenants(Section):
    """A tenants file."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    """The version of this format: 1."""
    tenants: Annotated[Frozen[Annotated[str, AfterValidator(tenant_name)], Tenant], AfterValidator(_somebody)]
    """By name. The name is in the audit trail."""

"""JSON inside a policy, made unchangeable and back.

May import: proxy.policy.{checks,frozen}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.policy import checks
from proxy.policy.frozen import FrozenMap


def body(value: Any) -> Any:
    """A mapping with all that is in it frozen: mappings as `FrozenMap`, lists as tuples. Else an error."""
    if not isinstance(value, Mapping):
        raise checks.wrong("wrong-type", "must be a mapping of keys to values")
    return _frozen(value)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenMap({key: _frozen(inner) for key, inner in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def thawed(value: Any) -> Any:
    """The same as plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thawed(inner) for key, inner in value.items()}
    return [thawed(item) for item in value] if isinstance(value, tuple | list) else value

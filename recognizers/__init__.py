"""The explicit table of built-in recognizers and of the entities that they serve.

A recognizer that is not listed here does not run, and an entity that is not listed here cannot be named in a
policy unless the policy declares it. May import: its own modules. Never `proxy`.
"""

from __future__ import annotations

import os
from types import MappingProxyType

# Presidio skips a pattern that outlasts this many seconds and goes on as if it had found nothing. Ours is the only
# deadline that counts (it refuses the request and kills the worker), so Presidio's must never come first.
os.environ["REGEX_TIMEOUT_SECONDS"] = "86400"

from recognizers import address as address
from recognizers import contact as contact
from recognizers import dates as dates
from recognizers import health as health
from recognizers import names as names
from recognizers import national as national
from recognizers import network as network
from recognizers import payment as payment
from recognizers import secrets as secrets
from recognizers import traces as traces
from recognizers import work as work
from recognizers.base import Entity, Span

_MODULES = (payment, contact, network, secrets, dates, health, national, address, work, traces, names)

ENTITIES: MappingProxyType[str, Entity] = MappingProxyType(
    {entity.name: entity for module in _MODULES for entity in module.ENTITIES}
)
"""Every built-in entity by name."""

CHECKED: frozenset[str] = frozenset(
    {
        *("IBAN_CODE", "CREDIT_CARD", "CRYPTO", "VIN", "MEDICAL_LICENSE"),
        *(
            entity.name
            for entity in national.ENTITIES
            if entity.name not in {"PASSPORT", "ID_CARD", "DRIVER_LICENSE", "COMPANY_ID"}
        ),
    }
)
"""Entities whose numbers carry a check digit: where it is right, no list of allowed terms frees them."""

__all__ = ["CHECKED", "ENTITIES", "Entity", "Span"]

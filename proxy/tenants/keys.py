"""A tenant's key: made, hashed, and found again. May import: proxy.tenants.model, the standard library.

A key is 256 bits from the system's generator. So a plain SHA-256 is the right hash: what makes passwords need a slow
and salted one is that they can be guessed, and nobody guesses 256 bits. It also costs nothing at each request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from proxy.tenants.model import Key, Tenants

PREFIX = "cvg-"
"""What our keys begin with, so that one that lies around can be told from others."""


def new_key() -> str:
    """A key that nobody else has."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def owner(key: str, tenants: Tenants) -> tuple[str, Key] | None:
    """Whose key it is. Looks at every hash to the end, so the time says nothing about which was nearly right."""
    offered = digest(key).encode("ascii")
    found: tuple[str, Key] | None = None
    for name, tenant in tenants.tenants.items():
        for kept in tenant.keys:
            if hmac.compare_digest(offered, kept.sha256.encode("ascii")):
                found = name, kept
    return found

"""Who may look at the inspector. Pure. May import: errors, the standard library.

Without a key only this machine is answered: a peer on the loopback interface, with no proxy in between, that asks for
this machine by one of its own names (a page elsewhere whose name suddenly leads here says another). With a key every
request must bring it. A page of another origin gets nothing done in either case.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from proxy.errors import Refusal

USER_REALM = 'Basic realm="caviardage inspector", charset="UTF-8"'
"""The browser asks for a name, which may be anything, and a password, which is the key."""
_BETWEEN = frozenset({"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})


class Denied(Refusal):
    """The inspector is not for this caller."""

    status = 403
    kind = "permission_error"
    code = "inspector_denied"


class Unknown(Denied):
    """The key is missing or wrong."""

    status = 401


def admit(method: str, peer: str, headers: Mapping[str, str], key: bytes) -> None:
    """Raises `Denied`. `peer` is the address of the other end, `headers` have lower-case names."""
    host = headers.get("host", "")
    if key:
        if not _same(_offered(headers.get("authorization", "")), key):
            raise Unknown("The inspector needs its key, as the password of basic authentication.")
    elif not _is_loopback(peer) or not _BETWEEN.isdisjoint(headers):
        raise Denied("The inspector answers this machine only, unless a key was set for it.")
    elif not _is_loopback(_name_of(host)):
        raise Denied("The inspector is asked for as localhost or by a loopback address.")
    if method != "GET" and not _is_own(headers, host):
        raise Denied("The inspector takes requests from its own page only.")


def _offered(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


def _same(offered: bytes, key: bytes) -> bool:
    """In a time that tells neither how much of the key was right nor how long it is."""
    return hmac.compare_digest(hashlib.sha256(offered).digest(), hashlib.sha256(key).digest())


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _is_own(headers: Mapping[str, str], host: str) -> bool:
    """Browsers say where a request that changes something comes from; other clients say nothing."""
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    origin = headers.get("origin")
    return origin is None or (urlsplit(origin).netloc == host and host != "")

"""Records made unreadable: AES-256-GCM under keys that are derived from the operator's secret.

A record's key is derived (HKDF-SHA256) from the secret and from where the record belongs, so a record that was moved
to another tenant, kind or id does not open; nor does one whose end was put off, since that is authenticated too. Names
are HMAC-SHA256 of the same parts under a key of their own. The first secret seals; the others only open, so that a
secret can be replaced while the records that it sealed live on.

The layout: `CVS1`, the first 4 bytes of the secret's id, the end (seconds since 1970, 8 bytes), a random nonce of 12
bytes (NIST SP 800-38D, 8.2.2), the ciphertext with its tag of 16. May import: cryptography, the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

_MAGIC = b"CVS1"
_HEAD = struct.Struct(">4s4sQ12s")
_NAME_BYTES = 32


class Unreadable(Exception):
    """A record that does not open: of another place, sealed with another secret, or changed."""


@dataclass(frozen=True, slots=True)
class _Keys:
    id: bytes
    names: bytes = field(repr=False)
    records: bytes = field(repr=False)


class Sealer:
    """Names, seals and opens records. `secrets`: at least one; the first seals, all open. Holds keys: not printed."""

    __slots__ = ("_keys",)

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._keys = tuple(_keys(secret) for secret in secrets)

    def names(self, place: Sequence[bytes]) -> list[bytes]:
        """What a record is called under each secret, the sealing one first; 32 bytes each."""
        return [hmac.digest(keys.names, _joined(place), hashlib.sha256)[:_NAME_BYTES] for keys in self._keys]

    def seal(self, place: Sequence[bytes], content: bytes, until: int) -> bytes:
        """`content` for `place`, to be opened until that time (seconds since 1970)."""
        keys = self._keys[0]
        head = _HEAD.pack(_MAGIC, keys.id, until, os.urandom(12))
        return head + _cipher(keys, place).encrypt(head[-12:], content, head)

    def unseal(self, place: Sequence[bytes], blob: bytes) -> tuple[bytes, int]:
        """The content and until when it may be used. Raises `Unreadable`."""
        try:
            magic, id, until, nonce = _HEAD.unpack_from(blob)
            keys = next(keys for keys in self._keys if keys.id == id)
            if magic != _MAGIC:
                raise Unreadable
            return _cipher(keys, place).decrypt(nonce, blob[_HEAD.size :], blob[: _HEAD.size]), until
        except (struct.error, StopIteration, InvalidTag):
            raise Unreadable from None


def _keys(secret: bytes) -> _Keys:
    names, records = (_derived(hashlib.sha256(secret).digest(), use) for use in (b"names", b"records"))
    return _Keys(_derived(hashlib.sha256(secret).digest(), b"id")[:4], names, records)


def _derived(key: bytes, use: bytes) -> bytes:
    return HKDFExpand(algorithm=hashes.SHA256(), length=32, info=b"caviardage store\0" + use).derive(key)


def _cipher(keys: _Keys, place: Sequence[bytes]) -> AESGCM:
    return AESGCM(_derived(keys.records, _joined(place)))


def _joined(place: Sequence[bytes]) -> bytes:
    """The parts so that no two places look alike: each behind its length."""
    return b"".join(struct.pack(">I", len(part)) + part for part in place)

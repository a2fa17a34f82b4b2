"""The chain of the audit trail: how a line is sealed, and how a seal is read. Pure.

May import: the standard library.

A sealed line is the line's own JSON object with four more members at its end: `chain` (16 hexadecimal digits, drawn
when a chain begins), `seq` (0, 1, 2, ...), `prev` (the hash of the line before) and `hash`. The hash is taken over
every byte before `,"hash"`, and so over the hash of the line before: HMAC-SHA-256 under a key derived from the
secret, or plain SHA-256 where there is none (anybody can then seal anew what he has changed).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

NOTHING = "0" * 64
"""What stands for the line before the first."""
HEAD_BYTES = 512

_TAIL = re.compile(
    r',"chain":"(?P<chain>[0-9a-f]{16})","seq":(?P<seq>\d{1,15}),"prev":"(?P<prev>[0-9a-f]{64})"'
    r',"hash":"(?P<hash>[0-9a-f]{64})"\}'
)


@dataclass(frozen=True, slots=True)
class Link:
    """A line's place: the chain, its number and its hash. The next line is number `seq` + 1."""

    chain: str
    seq: int
    hash: str

    @staticmethod
    def origin() -> Link:
        """What the first line of a new chain follows."""
        return Link(secrets.token_hex(8), -1, NOTHING)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A line as it was read. `true` says whether its hash is that of its own bytes under one of our keys."""

    link: Link
    prev: str
    true: bool

    def follows(self, link: Link) -> bool:
        """Whether it is genuine and the very next line."""
        return self.true and (self.link.chain, self.link.seq, self.prev) == (link.chain, link.seq + 1, link.hash)


@dataclass(frozen=True, slots=True)
class Head:
    """Where a file's chain ends: its last line, the file's length in bytes, and when the file began.

    `anchored` and `at` are the number and the time of the last anchor. Times are seconds since 1970.
    """

    link: Link
    size: int
    began: float
    anchored: int
    at: float


class Seal:
    """Seals lines under the first secret and knows those of all; without one, hashes have no key."""

    def __init__(self, secrets_: Iterable[bytes] = ()) -> None:
        keys = tuple(hmac.digest(secret, b"caviardage audit chain", "sha256") for secret in secrets_ if secret)
        self._keys = keys or (b"",)

    @property
    def key(self) -> str:
        """The name of the key that seals: 16 hexadecimal digits, or `none`."""
        return hmac.digest(self._keys[0], b"name", "sha256").hex()[:16] if self._keys[0] else "none"

    def seal(self, line: str, after: Link) -> tuple[str, Link]:
        """The line (a JSON object without a line break) with its seal, and its place."""
        body = f'{line[:-1]},"chain":"{after.chain}","seq":{after.seq + 1},"prev":"{after.hash}"'
        link = Link(after.chain, after.seq + 1, _hash(self._keys[0], body))
        return f'{body},"hash":"{link.hash}"}}', link

    def read(self, line: str) -> Sealed | None:
        """The seal of a line, None if it has none."""
        at = line.rfind(',"chain":"')
        match = _TAIL.fullmatch(line, at) if at > 0 else None
        if match is None:
            return None
        body = line[: match.start("hash") - len(',"hash":"')]
        true = any(hmac.compare_digest(_hash(key, body), match["hash"]) for key in self._keys)
        return Sealed(Link(match["chain"], int(match["seq"]), match["hash"]), match["prev"], true)

    def mark(self, kind: str, after: Link, now: float, **more: str | int | bool) -> tuple[str, Link]:
        """A sealed line that is about the chain itself: `start`, `anchor` or `end`."""
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"record": kind, "time": moment, "key": self.key, **more}, separators=(",", ":"))
        return self.seal(line, after)

    def head(self, head: Head) -> bytes:
        """A head as it is kept beside the file: `HEAD_BYTES` bytes, sealed too."""
        body = json.dumps([*_flat(head.link), head.size, head.began, head.anchored, head.at], separators=(",", ":"))
        return json.dumps({"head": body, "hash": _hash(self._keys[0], body)}).encode().ljust(HEAD_BYTES - 1) + b"\n"

    def read_head(self, raw: bytes) -> Head | None:
        """The head, None if it is none of ours."""
        try:
            held = json.loads(raw)
            body, found = held["head"], held["hash"]
            if not any(hmac.compare_digest(_hash(key, body), found) for key in self._keys):
                return None
            chain, seq, digest, size, began, anchored, at = json.loads(body)
            return Head(Link(chain, seq, digest), size, began, anchored, at)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def _flat(link: Link) -> tuple[str, int, str]:
    return link.chain, link.seq, link.hash


def _hash(key: bytes, body: str) -> str:
    raw = body.encode("utf-8", "surrogatepass")
    return hmac.digest(key, raw, "sha256").hex() if key else hashlib.sha256(raw).hexdigest()

"""Fuzzes what reads bytes of strangers: `python -m tests.fuzz_readers [libFuzzer options]`, from a process of its own.

The first byte chooses a reader. A request: strict JSON, walked by an endpoint, written again. A stream: cut at bytes
that the input chooses, through an endpoint's stream. A body: the decompressors. The one thing that may come out is
a refusal in the provider's form; anything else that is raised is a finding, and libFuzzer keeps the input.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import atheris

with atheris.instrument_imports(include=["proxy.wire", "proxy.inflate"]):
    from proxy.errors import BadAnswer, Refusal
    from proxy.inflate import Inflater
    from proxy.model import Leaf, Seen
    from proxy.restore import Restoration
    from proxy.vault import Vault
    from proxy.wire.base import parse_answer, parse_strict, serialise
    from proxy.wire.dialects import USUAL
    from proxy.wire.endpoints import ENDPOINTS, Aids, Endpoint
    from proxy.wire.seals import NoSeals

AIDS = Aids(None, NoSeals())
PATHS = tuple(ENDPOINTS)
STREAMED = tuple(path for path in PATHS if ENDPOINTS[path].stream is not None)
ALLOWED = frozenset({"images", "files", "audio"})


def check_form(path: str, refusal: Refusal) -> None:
    """A refusal is told in the provider's form, with a status that no client tries again by itself."""
    body: Any = json.loads(serialise(USUAL.error_for(path)(refusal)))
    assert isinstance(body["error"]["message"], str)
    assert 400 <= refusal.status < 600


def replaced(leaf: Leaf) -> str:
    written = leaf.text if leaf.raw is None else leaf.raw
    return written.replace("secret", "<PERSON_123456>") if leaf.kind.value == "text" else written


def request(path: str, data: bytes) -> None:
    """What comes out of the walk is strict JSON again, and says the same where nothing was replaced."""
    endpoint: Endpoint = ENDPOINTS[path]
    try:
        body = parse_strict(data)
        endpoint.opening(body)
        sent = endpoint.rewrite_request(body, replaced, ALLOWED, AIDS)
    except Refusal as refusal:
        check_form(path, refusal)
        return
    again = parse_strict(serialise(sent))
    if b"secret" not in data and b"\\u" not in data and b"logprobs" not in data:
        assert serialise(again) == serialise(body)


def restoration() -> Restoration:
    vault = Vault(b"k" * 32)
    vault.issue("PERSON", "Zq Probe")
    return Restoration(vault)


def stream(path: str, data: bytes) -> None:
    """Cut anywhere, a stream comes out as it does uncut."""
    cut = data[0] if data else 1
    outcomes = [_streamed(path, data[1:], size) for size in (1 + cut % 17, len(data) or 1)]
    assert outcomes[0] == outcomes[1]


def _streamed(path: str, data: bytes, size: int) -> bytes:
    make = ENDPOINTS[path].stream
    assert make is not None
    made = make(restoration(), Seen(), AIDS)
    out = b""
    try:
        for at in range(0, len(data), size):
            out += made.feed(data[at : at + size])
        return out + made.finish()
    except BadAnswer as refusal:
        check_form(path, refusal)
        told = made.broken(refusal)
        assert told.endswith(b"\n\n")
        return b"broken " + refusal.code.encode()


def answer(path: str, data: bytes) -> None:
    try:
        body = parse_answer(data)
    except Refusal as refusal:
        check_form(path, refusal)
        return
    restored = ENDPOINTS[path].restore_answer(body, restoration(), Seen(), AIDS)
    parse_answer(serialise(restored))


def inflate(data: bytes) -> None:
    encodings = ("gzip", "deflate", "br", "zstd", "identity", "gzip, br")
    try:
        inflater = Inflater(encodings[data[0] % len(encodings)], max_in=1 << 16, max_out=1 << 18)
        for part in inflater.feed(data[1:]):
            assert len(part) <= 1 << 18
        inflater.finish()
    except Refusal as refusal:
        check_form("/v1/responses", refusal)


def one(data: bytes) -> None:
    """One input."""
    if len(data) < 3:
        return
    kind, which, rest = data[0] % 4, data[1], data[2:]
    if kind == 0:
        request(PATHS[which % len(PATHS)], rest)
    elif kind == 1:
        stream(STREAMED[which % len(STREAMED)], rest)
    elif kind == 2:
        answer(PATHS[which % len(PATHS)], rest)
    else:
        inflate(rest)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()

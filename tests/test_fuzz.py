"""Strangers' bytes: seeds of every endpoint and event from the SDKs' types, bent by chance; a fuzzer, for seconds."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import Refusal
from proxy.wire.base import parse_strict, serialise
from tests import fuzz_readers
from tests.bodies import as_is, nodes
from tests.surface import asked
from tests.surface.places import minimal, places
from tests.surface.sdks import SURFACES

SECONDS = int(os.environ.get("FUZZ_SECONDS", "6"))
ROOT = Path(__file__).resolve().parent.parent


def seeds() -> list[bytes]:
    """Inputs as `fuzz_readers.one` takes them: the smallest body of every kind, and every event."""
    found = []
    for surface in SURFACES:
        path = surface.path.split("?")[0]
        which = bytes([fuzz_readers.PATHS.index(path)])
        bodies = {place.row: asked._complete(surface, place.make("secret")) for place in places(surface.request)}
        found += [b"\0" + which + json.dumps(body).encode() for body in list(bodies.values())[::9]]
        found.append(b"\2" + which + json.dumps(minimal(surface.answer)).encode())
        if surface.stream is not None:
            stream = b"".join(
                f"event: {name}\ndata: {json.dumps(made)}\n\n".encode() for name, made in asked.events(surface)
            )
            found.append(b"\1" + bytes([fuzz_readers.STREAMED.index(path)]) + b"\5" + stream)
    return found


def test_the_readers_under_a_fuzzer(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for at, seed in enumerate(seeds()):
        (corpus / str(at)).write_bytes(seed)
    options = [f"-max_total_time={SECONDS}", "-max_len=8192", "-timeout=20", "-rss_limit_mb=3000", "-verbosity=0"]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz_readers", *options, f"-artifact_prefix={tmp_path}/", str(corpus)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS + 240,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]


bent = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.path)
@given(st.data())
def test_a_body_with_anything_anywhere_is_rewritten_or_refused(surface: Any, data: st.DataObject) -> None:
    """Any JSON in any place of any body of the SDK's: it goes on byte for byte, or a refusal in the provider's form."""
    kinds = KINDS[surface.path]
    place = kinds[data.draw(st.integers(0, len(kinds) - 1))]
    body = copy.deepcopy(
        asked._complete(surface, place.make(data.draw(st.text(max_size=8) if place.what == "key" else bent)))
    )
    ways = [way for way in nodes(body) if way]
    if data.draw(st.booleans()) and ways:
        _put(body, data.draw(st.sampled_from(ways)), data.draw(bent))
    raw = json.dumps(body, ensure_ascii=data.draw(st.booleans())).encode()
    endpoint = asked.endpoint_of(surface)
    try:
        tree = parse_strict(raw)
        before = serialise(tree)
        sent = endpoint.rewrite_request(tree, as_is, fuzz_readers.ALLOWED, asked.AIDS)
    except Refusal as refusal:
        fuzz_readers.check_form(surface.path.split("?")[0], refusal)
        return
    if "logprobs" not in json.dumps(body):
        assert serialise(sent) == before


def _put(body: Any, way: tuple[Any, ...], value: Any) -> None:
    for step in way[:-1]:
        body = body[step]
    body[way[-1]] = value


KINDS = {surface.path: list({place.row: place for place in places(surface.request)}.values()) for surface in SURFACES}

"""Ten values in every place of every endpoint, in every form, through the running proxy: none reaches the provider.

The places come from the SDKs' own types (`tests/surface`), not from a list. Where the proxy replaces, the text comes
back exact; where it cannot, it refuses, and nothing was sent. `make test` tries every kind of place once, in a form and
with a value that change from place to place; `make deep` tries each with each.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.e2e import Service
from tests.leaks import CARD_NUMBER, FORMS, MARK, TRIED, VALUES, everything, leaked, sentence
from tests.probe_answers import text_of
from tests.surface import asked
from tests.surface.places import Place, places
from tests.surface.sdks import SURFACES, Surface

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
STREAMED = {surface.path.split("?")[0] for surface in SURFACES if surface.stream is not None}
NAME = VALUES[0]
"""Not looked for in what the provider signed: a documented limit."""
MODEL = f"gpt-4o;probe={MARK}"


@dataclass(frozen=True)
class Case:
    """One request: what is planted where, and whether it must come back."""

    surface: Surface
    place: Place
    planted: Any
    stream: bool

    def body(self) -> Any:
        body = asked._complete(self.surface, self.place.make(self.planted))
        if body.get("model") == "gpt-4o" or "model" not in body:
            body = {**body, "model": MODEL}
        return {**body, "stream": True} if self.stream else body


def _turn(place: Place, length: int) -> int:
    """Which of so many is tried in this place: another one from place to place, the same in every run."""
    return int.from_bytes(hashlib.sha256(place.path.encode()).digest()[:4], "big") % length


@functools.cache
def _kinds() -> dict[str, list[tuple[Place, str]]]:
    """By path: one place of every row and class of an API, or all of them. Beta types are those without the word."""
    found: dict[str, list[tuple[Place, str]]] = {surface.path: [] for surface in SURFACES}
    seen: set[tuple[str, str, str, str]] = set()
    for surface in SURFACES:
        for place in places(surface.request):
            made = asked.request_place(surface, place)
            key = (surface.api, place.row.removeprefix("Beta"), place.what, made)
            if DEEP or key not in seen:
                seen.add(key)
                found[surface.path].append((place, made))
    return found


def _cases(surface: Surface) -> Iterator[Case]:
    """The whole text where a finding is replaced; one value at a time where it refuses, or each would hide behind
    the others."""
    can_stream = surface.path.split("?")[0] in STREAMED
    for place, made in _kinds()[surface.path]:
        if place.what == "number":
            yield Case(surface, place, CARD_NUMBER, False)
            continue
        forms = TRIED if DEEP else (TRIED[_turn(place, len(TRIED))],)
        tried = VALUES if "signed" not in made else tuple(value for value in VALUES if value != NAME)
        values = tried if DEEP else (tried[_turn(place, len(tried))],)
        for form in forms:
            texts = [everything()] if made == "read" and place.what == "text" else map(sentence, values)
            for text in texts:
                yield Case(surface, place, FORMS[form](text), can_stream and _turn(place, 2) == 0)
        if made in ("fixed", "identifier", "signed") or place.what == "key":
            for value in values:
                yield Case(surface, place, value, False)


def _try(case: Case, service: Service, client: httpx2.Client) -> str:
    """What is wrong with how a case went; empty if nothing is."""
    body = case.body()
    path = case.surface.path.removeprefix("/v1")
    answer = client.post(f"{service.base_url}{path}", content=json.dumps(body).encode())
    where = f"{case.surface.path} {case.place.path} ({case.place.what}) {str(case.planted)[:90]!r}"
    if answer.status_code >= 500:
        return f"{answer.status_code} {answer.text[:80]}: {where}"
    if answer.headers.get("x-should-retry") == "false":
        return f"told in a refusal: {where}" if leaked(answer.content) else ""
    said = text_of(path, answer.content)
    if isinstance(case.planted, str) and MARK in case.planted and said not in ("", case.planted):
        return f"came back as {said[:200]!r}: {where}"
    return ""


def _leaks(service: Service) -> list[str]:
    return [
        f"{request.path} received {found}: {request.body.decode()[:600]}"
        for request in service.provider.received
        if (found := leaked(request.body))
    ]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.path)
def test_no_value_reaches_the_provider_from_anywhere(service: Service, surface: Surface) -> None:
    headers = {"authorization": "Bearer one", "content-type": "application/json"}
    with (
        httpx2.Client(headers=headers, timeout=120, trust_env=False) as client,
        ThreadPoolExecutor(4) as pool,
    ):
        wrong = [line for line in pool.map(lambda case: _try(case, service, client), _cases(surface)) if line]
    leaks = _leaks(service)
    assert leaks == []
    assert wrong == []

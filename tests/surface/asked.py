"""Asks the code what it does in a place: a probe is put there, and what becomes of it is the answer.

A request: `read` (a finding is replaced), `fixed` (a finding refuses), `signed` (the same, but for names), `identifier`
(the same, and the form is checked), `hashed`, `left out`, `unread` (goes on without having been looked at), `refused`
(the place itself is), or `switch files: read` where a switch of the policy decides first. An answer or an event:
`restored`, `kept` where its form is an identifier's (else restored), `kept or refused` by its form, `kept always`,
`left out`, `refused`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from proxy.errors import BadAnswer, BadRequest, Refusal, UnsupportedByPolicy
from proxy.model import Kind, Leaf, Seen
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.base import parse_answer, serialise
from proxy.wire.endpoints import ENDPOINTS, Aids, Endpoint
from proxy.wire.seals import NoSeals
from tests.surface.places import Place, Variant, minimal, places, tag
from tests.surface.sdks import Surface
from tests.surface.shapes import OneOf, Record

TOKEN = "probezzq"
PROBES = (TOKEN, f"https://example.com/{TOKEN}", f"data:image/png;base64,{TOKEN}")
NUMBER = 918273645
SWITCHES = frozenset({"images", "files", "audio"})
NONE: frozenset[str] = frozenset()
AIDS = Aids(None, NoSeals())
_SWITCH = re.compile(r"policy switch ([a-z_.]+)")
_DONE = {
    Kind.TEXT: "read",
    Kind.NAME: "read",
    Kind.KEY: "read",
    Kind.NUMBER: "read",
    Kind.FIXED: "fixed",
    Kind.SIGNED: "signed",
    Kind.ID: "identifier",
}


def endpoint_of(surface: Surface) -> Endpoint:
    return ENDPOINTS[surface.path.split("?")[0]]


def request_place(surface: Surface, place: Place) -> str:
    """What happens to what stands in this place of a request."""
    probes: tuple[Any, ...] = (NUMBER,) if place.what == "number" else PROBES
    refused = ""
    for probe in probes:
        seen = _request(surface, place.make(probe), probe, NONE)
        if not seen.startswith("refused"):
            return seen
        refused = refused or seen
    switch = refused.removeprefix("refused").strip()
    if not switch:
        return "refused"
    for probe in probes:
        seen = _request(surface, place.make(probe), probe, SWITCHES)
        if not seen.startswith("refused"):
            return f"switch {switch}: {seen}"
    return f"switch {switch}: refused"


def request_variant(surface: Surface, variant: Variant) -> str:
    """Whether a body with this kind of record is taken: `taken`, `refused`, or the switch that decides."""
    return _taken(surface, variant.body)


def _taken(surface: Surface, body: Any) -> str:
    try:
        endpoint_of(surface).leaves(_complete(surface, body), NONE, AIDS)
    except Refusal as refusal:
        switch = _SWITCH.search(refusal.message)
        return f"switch {switch[1].removeprefix('attachments.')}" if switch else "refused"
    return "taken"


def _complete(surface: Surface, body: Any) -> Any:
    """With what our endpoint wants in every body, which some of the SDK's types leave out."""
    base = {"model": "gpt-4o", **({"messages": []} if "/messages" in surface.path else {})}
    return {**base, **body} if isinstance(body, dict) else body


def _request(surface: Surface, body: Any, probe: Any, allowed: frozenset[str]) -> str:
    body = _complete(surface, body)
    endpoint = endpoint_of(surface)
    token = str(NUMBER) if probe == NUMBER else TOKEN
    leaves: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        leaves.append(leaf)
        return leaf.text if leaf.raw is None else leaf.raw

    try:
        sent = endpoint.rewrite_request(body, visit, allowed, AIDS)
    except (UnsupportedByPolicy, BadRequest) as refusal:
        switch = _SWITCH.search(refusal.message)
        return f"refused {switch[1].removeprefix('attachments.')}" if switch else "refused"
    kinds = {_DONE.get(leaf.kind, leaf.kind.value) for leaf in leaves if token in leaf.text}
    if kinds:
        return "/".join(sorted(kinds))
    return "unread" if token in serialise(sent).decode() else "left out"


# Answers

VALUE = "Zq Probe"
"""Restored, it can be told from a placeholder by everybody."""


def _restoration() -> tuple[Restoration, str, str]:
    vault = Vault(b"k" * 32)
    entry = vault.issue("PERSON", VALUE)
    return Restoration(vault), entry.placeholder, entry.bare


def answer_place(surface: Surface, place: Place) -> str:
    """What happens to a placeholder in this place of an answer."""

    def restored(planted: str, restoring: Restoration) -> str:
        body = parse_answer(json.dumps(place.make(planted)).encode())
        return serialise(endpoint_of(surface).restore_answer(body, restoring, Seen(), AIDS)).decode()

    return _fate(restored)


def event_place(surface: Surface, place: Place) -> str:
    """What happens to a placeholder in this place of a stream's event."""
    return _fate(lambda planted, restoring: streamed(surface, place.make(planted), restoring))


def streamed(surface: Surface, event: Any, restoring: Restoration) -> str:
    """One event through the endpoint's stream, and what comes out. Raises `BadAnswer`."""
    make = endpoint_of(surface).stream
    assert make is not None
    stream = make(restoring, Seen(), AIDS)
    name = event.get("type") if isinstance(event, dict) else None
    head = f"event: {name}\n" if name else ""
    out = stream.feed(f"{head}data: {json.dumps(event)}\n\n".encode())
    if surface.api == "responses":  # what is held back is only let go by the event that ends an answer
        out += stream.feed(b"event: response.completed\ndata: " + json.dumps(_COMPLETED).encode() + b"\n\n")
    return (out + stream.finish()).decode()


_COMPLETED = {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}


def _fate(restored: Callable[[str, Restoration], str]) -> str:
    """Of a placeholder that no identifier could be, and of one that could."""
    bracketed, bare = (_one_fate(restored, form) for form in (1, 2))
    if bracketed == bare:
        return "kept always" if bare == "kept" else bare
    return {"restored": "kept", "refused": "kept or refused"}.get(bracketed, bracketed) if bare == "kept" else bare


def _one_fate(restored: Callable[[str, Restoration], str], form: int) -> str:
    made = _restoration()
    planted = made[form]
    assert isinstance(planted, str)
    try:
        out = restored(planted, made[0])
    except BadAnswer:
        return "refused"
    if VALUE in out or VALUE.replace(" ", "%20") in out:
        return "restored"
    return "kept" if planted in out else "left out"


def events(surface: Surface) -> Iterator[tuple[str, Any]]:
    """The name of every event that the SDK knows, and the smallest one of it."""
    options = surface.stream.options if isinstance(surface.stream, OneOf) else (surface.stream,)
    for option in options:
        if isinstance(option, Record):
            yield tag(option), minimal(option)


def event(surface: Surface, made: Any) -> str:
    """Whether the stream knows an event: `known` or `refused`."""
    try:
        streamed(surface, made, _restoration()[0])
    except BadAnswer:
        return "refused"
    return "known"


def event_places(surface: Surface) -> Iterator[Place]:
    """The places of all events; of what several events repeat, once an event and field."""
    assert surface.stream is not None
    seen: set[tuple[str, str, str]] = set()
    for place in places(surface.stream):
        key = place.path.partition(">")[0], place.row, place.what
        if key not in seen:
            seen.add(key)
            yield place

"""Every field, type and event that the installed SDKs know is decided about, and the code does what was decided."""

from __future__ import annotations

import pytest
from openai.types.chat import completion_create_params
from typing_extensions import TypedDict

from tests.surface import asked
from tests.surface.decisions import decided, flat
from tests.surface.places import places, variants
from tests.surface.sdks import SURFACES, Surface
from tests.surface.shapes import OneOf, shape
from tests.surface.tables import differences, found


class Location(TypedDict, total=False):
    type: str
    planet: str


class Grown(completion_create_params.CompletionCreateParamsNonStreaming, total=False):
    whereabouts: Location


class Hologram(TypedDict):
    type: str
    light: str


def test_everything_is_decided_and_done_so() -> None:
    assert differences() == [], "run: python -m tests.surface, decide, then python docs/generate.py"


def test_the_sdks_were_read() -> None:
    counts = {api: len(fields) for api, fields in ((api, flat({api: found()[api]})) for api in found())}
    assert counts["chat"] > 150
    assert counts["responses"] > 1500
    assert counts["messages"] > 1200
    assert len(found()["responses"]["events"]) >= 59
    assert len(found()["messages"]["events"]) >= 6


@pytest.mark.parametrize("api", sorted(found()))
def test_every_event_of_a_stream_is_known(api: str) -> None:
    assert {made for _, classes in found()[api].get("events", {}).items() for made in classes} <= {"known"}


def test_nothing_goes_on_unread_unless_a_switch_says_so() -> None:
    """And then only what no text is: images, audio, files."""
    unread = {key: made for key, made in flat(found()).items() if key[1] == "request" and "unread" in made}
    assert {key[3] for key in unread} <= {"data", "file_data", "result"}
    assert all("switch" in part for made in unread.values() for part in made.split(" | ") if "unread" in part)


def test_an_sdk_that_grows_is_noticed() -> None:
    surface = next(one for one in SURFACES if one.api == "chat")
    grown = Surface("chat", surface.path, shape(Grown), surface.answer)
    rows = {place.row: asked.request_place(grown, place) for place in places(grown.request)}
    assert rows["Location.planet"] == "read"
    known = {(record, field) for api, _, record, field in flat(decided()) if api == "chat"}
    assert ("Location", "planet") not in known
    assert ("Grown", "whereabouts") not in known


def test_a_type_that_is_added_is_noticed() -> None:
    surface = next(one for one in SURFACES if one.api == "chat")
    assert isinstance(surface.request, OneOf)
    more = OneOf((*surface.request.options, shape(Hologram)))
    assert "Hologram" in {variant.name for variant in variants(more)}


def test_what_a_field_holds_decides_nothing_that_was_not_asked() -> None:
    """The probe is seen wherever it is put: nothing is told to be read only because a neighbour is."""
    for surface in SURFACES:
        for place in places(surface.request):
            probe = asked.NUMBER if place.what == "number" else asked.TOKEN
            assert str(probe) in str(place.make(probe)), place.path

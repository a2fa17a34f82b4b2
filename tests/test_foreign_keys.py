"""A placeholder of another conversation is counted wherever it stands: as a value, and as a key at any level."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.errors import BadAnswer
from proxy.model import Seen
from proxy.wire.base import parse_answer
from tests.surface import asked
from tests.surface.places import minimal
from tests.surface.sdks import SURFACES, Surface
from tests.surface.shapes import OneOf, Record

FOREIGN = "<PERSON_000001>"


def objects(node: Any) -> list[dict[str, Any]]:
    """Every object of a tree that may get one more member."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    own = [node] if isinstance(node, dict) else []
    return own + [found for value in inner for found in objects(value)]


def filled(surface: Surface) -> Any:
    body = minimal(surface.answer)
    if surface.api == "responses" and "output" in body:
        part = {"type": "output_text", "text": "x", "annotations": []}
        body["output"] = [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}]
    if surface.api == "messages" and "content" in body:
        body["content"] = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]
    if surface.api == "embeddings":
        body["data"] = [{"object": "embedding", "index": 0, "embedding": [0.1]}]
    return body


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.path)
def test_in_any_object_of_an_answer(surface: Surface) -> None:
    for at in range(len(objects(filled(surface)))):
        body = filled(surface)
        objects(body)[at][FOREIGN] = 1
        restoring = asked._restoration()[0]
        asked.endpoint_of(surface).restore_answer(
            parse_answer(json.dumps(body).encode()), restoring, Seen(), asked.AIDS
        )
        assert restoring.tally.foreign == 1, at


@pytest.mark.parametrize("surface", [one for one in SURFACES if one.stream], ids=lambda surface: surface.path)
def test_in_any_object_of_an_event(surface: Surface) -> None:
    options = surface.stream.options if isinstance(surface.stream, OneOf) else (surface.stream,)
    for option in options:
        assert isinstance(option, Record)
        for at in range(len(objects(minimal(option)))):
            event = minimal(option)
            objects(event)[at][FOREIGN] = 1
            if FOREIGN in json.dumps(event.get("logprobs")):
                continue  # left out
            restoring = asked._restoration()[0]
            try:
                asked.streamed(surface, event, restoring)
            except BadAnswer:
                continue
            assert restoring.tally.foreign >= 1, (option.name, at)

"""The official Python client's Responses API through the real service: own words back, nothing to read upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from tests.e2e import EMAIL, NAME, TEXT, VALUES, Service


class Save(BaseModel):
    """A tool's arguments."""

    text: str


SAVE: Any = {
    "type": "function",
    "name": "save",
    "description": f"Saves what {NAME} said.",
    "strict": True,
    "parameters": Save.model_json_schema(),
}


@pytest.fixture
def client(service: Service) -> Iterator[OpenAI]:
    with OpenAI(base_url=service.base_url, api_key="sk-test-0123456789", timeout=120, max_retries=0) as made:
        yield made
    assert service.provider.leaks(*VALUES) == []


def test_a_text_and_its_echo(client: OpenAI) -> None:
    got = client.responses.create(model="echo", input=TEXT, instructions=f"Help {NAME}.", metadata={"who": NAME})
    assert got.output_text == TEXT
    assert (got.instructions, got.metadata) == (f"Help {NAME}.", {"who": NAME})


@pytest.mark.parametrize("size", [1, 7])
def test_a_stream(client: OpenAI, size: int) -> None:
    with client.responses.stream(model=f"echo;chunk={size}", input=TEXT) as stream:
        parts = [event.delta for event in stream if event.type == "response.output_text.delta"]
        assert stream.get_final_response().output_text == "".join(parts) == TEXT


def test_tools_and_the_next_turn_keep_the_same_placeholders(client: OpenAI, service: Service) -> None:
    first = client.responses.create(model="echo", input=TEXT, tools=[SAVE])
    (call,) = first.output
    assert call.type == "function_call"
    assert json.loads(call.arguments) == {"text": TEXT}
    said: Any = {"role": "user", "content": TEXT}
    called: Any = call.to_dict()
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": json.dumps({"saved": EMAIL})}
    second = client.responses.create(model="echo", input=[said, called, result], tools=[SAVE])
    assert json.loads(second.output_text) == {"saved": EMAIL}
    before, after = (request.json["input"] for request in service.provider.received)
    assert after[0]["content"] == before
    assert json.loads(after[1]["arguments"])["text"] == before


def test_what_is_not_inspected_is_refused(client: OpenAI, service: Service) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(model="echo", input=TEXT, previous_response_id="resp_never")
    assert (missing.value.code, missing.value.param) == ("state_not_found", "$.previous_response_id")
    with pytest.raises(openai.NotFoundError) as missing:
        client.responses.create(model="echo", input=TEXT, conversation="conv_never")
    assert (missing.value.code, missing.value.param) == ("state_not_found", "$.conversation")
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="echo", input="x", max_output_tokens=1_000_000)
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")
    assert service.provider.received == []


def test_a_stream_that_breaks_off_ends_in_the_providers_form(client: OpenAI) -> None:
    events: list[Any] = []
    with pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection"):  # noqa: PT012
        for event in client.responses.create(model="echo;die=8;chunk=3", input=TEXT, stream=True):
            events.append(event)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (events[-1].type, events[-1].code) == ("error", "upstream_unreachable")

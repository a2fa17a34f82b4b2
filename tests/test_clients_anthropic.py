"""The official Python client for Anthropic's API, and LangChain on top of it, through the real service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, SecretStr

from tests.e2e import EMAIL, NAME, TEXT, VALUES, Service

MODEL: Any = "echo"
SAVE: Any = {
    "name": "save",
    "description": f"Saves what {NAME} said.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}},
}
ASKED: Any = [{"role": "user", "content": TEXT}]


class Save(BaseModel):
    """Saves a note."""

    text: str
    count: int


@pytest.fixture
def guarded(service: Service) -> Iterator[Service]:
    yield service
    assert service.provider.received
    assert service.provider.leaks(*VALUES) == []


@pytest.fixture
def client(guarded: Service) -> Iterator[Anthropic]:
    with Anthropic(base_url=guarded.url, api_key="sk-ant-0123456789", timeout=120, max_retries=0) as made:
        yield made


def test_a_message_and_the_next_turn(client: Anthropic, guarded: Service) -> None:
    first = client.messages.create(model=MODEL, max_tokens=99, system=f"Help {NAME}.", messages=ASKED)
    assert first.content[0].text == TEXT  # type: ignore[union-attr]
    again = f"And once more for {NAME}, {EMAIL}"
    turns: Any = [*ASKED, {"role": "assistant", "content": first.content}, {"role": "user", "content": again}]
    second = client.messages.create(model=MODEL, max_tokens=99, messages=turns)
    assert second.content[0].text == again  # type: ignore[union-attr]
    before, after = (request.json["messages"] for request in guarded.provider.received)
    assert after[0] == before[0]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_streams(client: Anthropic, size: int) -> None:
    with client.messages.stream(model=f"echo;chunk={size}", max_tokens=99, messages=ASKED) as stream:
        assert "".join(stream.text_stream) == TEXT
        assert stream.get_final_message().content[0].text == TEXT  # type: ignore[union-attr]


@pytest.mark.parametrize("knobs", ["", ";ascii=1", ";chunk=1"])
def test_tools_whole_and_streamed(client: Anthropic, knobs: str) -> None:
    model: Any = f"echo{knobs}"
    whole = client.messages.create(model=model, max_tokens=99, messages=ASKED, tools=[SAVE])
    with client.messages.stream(model=model, max_tokens=99, messages=ASKED, tools=[SAVE]) as stream:
        streamed = stream.get_final_message()
    for answer in (whole, streamed):
        (call,) = answer.content
        assert call.type == "tool_use"
        assert call.input == {"text": TEXT, "count": 1}
    returned = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"Saved for {NAME}"}
    turns: Any = [*ASKED, {"role": "assistant", "content": whole.content}, {"role": "user", "content": [returned]}]
    last = client.messages.create(model=model, max_tokens=99, messages=turns, tools=[SAVE])
    assert last.content[0].text == f"Saved for {NAME}"  # type: ignore[union-attr]


def test_citations_count_in_the_documents_of_the_client(client: Anthropic, guarded: Service) -> None:
    text = f"A letter to {NAME} <{EMAIL}>.\n{NAME} owes nothing, says {EMAIL}.\nThat is all."
    source: Any = {"type": "text", "media_type": "text/plain", "data": text}
    document: Any = {"type": "document", "source": source, "citations": {"enabled": True}}
    asked: Any = [{"role": "user", "content": [document, {"type": "text", "text": "Who owes what?"}]}]
    whole = client.messages.create(model=MODEL, max_tokens=99, messages=asked)
    with client.messages.stream(model="echo;chunk=3", max_tokens=99, messages=asked) as stream:
        streamed = stream.get_final_message()
    for answer in (whole, streamed):
        (block,) = answer.content
        assert block.type == "text"
        (citation,) = block.citations or []
        assert citation.type == "char_location"
        assert citation.cited_text == text.split("\n")[1]
        assert text[citation.start_char_index : citation.end_char_index] == citation.cited_text
    turns: Any = [*asked, {"role": "assistant", "content": whole.content}, {"role": "user", "content": "Thanks"}]
    client.messages.create(model=MODEL, max_tokens=99, messages=turns)
    sent = guarded.provider.last.json["messages"]
    (again,) = sent[1]["content"][0]["citations"]
    data = sent[0]["content"][0]["source"]["data"]
    assert data[again["start_char_index"] : again["end_char_index"]] == again["cited_text"] == data.split("\n")[1]


def test_tokens_are_counted(client: Anthropic) -> None:
    assert client.messages.count_tokens(model=MODEL, messages=ASKED).input_tokens == 5_000


def test_refusals_are_its_errors(service: Service) -> None:
    """Paths that nobody serves, too: the client's headers say whose it is."""
    with Anthropic(base_url=service.url, api_key="sk-ant-0123456789") as client:
        image: Any = {"type": "image", "source": {"type": "url", "url": "https://example.com/x.png"}}
        with pytest.raises(anthropic.BadRequestError) as refused:
            client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": [image]}])
        assert "attachments.images" in refused.value.message
        with pytest.raises(anthropic.BadRequestError) as refused:
            client.post("/v1/nothing", body={}, cast_to=object)
    body: Any = refused.value.body
    assert (body["type"], body["error"]["code"]) == ("error", "unsupported_by_policy")
    assert service.provider.received == []


def langchain(service: Service, model: str = "echo") -> ChatAnthropic:
    more: Any = {
        "model_name": model,
        "base_url": service.url,
        "api_key": SecretStr("sk-ant-0123456789"),
        "timeout": 120,
    }
    return ChatAnthropic(max_retries=0, stop=None, **more)


def test_langchain_invokes_and_streams(guarded: Service) -> None:
    assert langchain(guarded).invoke(TEXT).content == TEXT
    chunks = list(langchain(guarded, "echo;chunk=2").stream(TEXT))
    assert "".join(str(chunk.text) for chunk in chunks) == TEXT


def test_langchain_tools_and_structured_output(guarded: Service) -> None:
    tools = langchain(guarded).bind_tools([Save])
    answer = tools.invoke([HumanMessage(TEXT)])
    assert isinstance(answer, AIMessage)
    assert [call["args"] for call in answer.tool_calls] == [{"text": TEXT, "count": 1}]
    result = ToolMessage(f"Saved for {NAME}", tool_call_id=answer.tool_calls[0]["id"])
    assert tools.invoke([HumanMessage(TEXT), answer, result]).content == f"Saved for {NAME}"
    structured = langchain(guarded).with_structured_output(Save)
    assert structured.invoke(TEXT) == Save(text=TEXT, count=1)

"""The official Python client and two frameworks on top of it, through the real service.

Every test asserts two things: the client gets its own words back to the letter, and the provider could read none of
the planted values, however written.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import openai
import pytest
from anthropic import Anthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, SecretStr
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.e2e import CARD, EMAIL, IBAN, NAME, TEXT, VALUES, Service, wait_until

PLAIN = "What is the capital of France?"


class Note(BaseModel):
    """What `.parse` and structured output ask for."""

    text: str
    items: list[str]


class Save(BaseModel):
    """A tool's arguments."""

    text: str
    count: int


SAVE: Any = openai.pydantic_function_tool(Save, name="save")


def user(text: str = TEXT) -> Any:
    return [{"role": "system", "content": "Be terse."}, {"role": "user", "content": text}]


@pytest.fixture
def guarded(service: Service) -> Iterator[Service]:
    """The service; at the end of the test the provider must have been asked, and must not have read any value."""
    yield service
    assert service.provider.received
    assert service.provider.leaks(*VALUES) == []


@pytest.fixture
def client(guarded: Service) -> Iterator[OpenAI]:
    with OpenAI(base_url=guarded.base_url, api_key="sk-test-0123456789", timeout=120) as made:
        yield made


def in_async(service: Service, work: Callable[[AsyncOpenAI], Any]) -> Any:
    async def run() -> Any:
        async with AsyncOpenAI(base_url=service.base_url, api_key="sk-test-0123456789", timeout=120) as made:
            return await work(made)

    return asyncio.run(run())


def test_the_provider_would_notice_a_value_in_any_spelling(service: Service) -> None:
    spelt = [
        TEXT,
        json.dumps(TEXT),
        json.dumps({"text": json.dumps(TEXT)}),
        quote(TEXT),
        base64.b64encode(f"x{TEXT}".encode()).decode(),
    ]
    with OpenAI(base_url=service.provider.url, api_key="x") as direct:
        for text in spelt:
            service.provider.reset()
            direct.chat.completions.create(model="echo", messages=[{"role": "user", "content": text}])
            assert service.provider.leaks(*VALUES) == list(VALUES)
            assert service.provider.leaks("Somebody Else") == []


def text_of(chunks: Any, choice: int = 0) -> str:
    choices = [found for chunk in chunks for found in chunk.choices if found.index == choice]
    return "".join(found.delta.content or "" for found in choices)


def test_chat(client: OpenAI, guarded: Service) -> None:
    raw = client.chat.completions.with_raw_response.create(model="echo", messages=user())
    assert raw.parse().choices[0].message.content == TEXT
    assert raw.headers["x-request-id"] == "req_upstream"
    assert raw.headers["x-ratelimit-remaining-requests"] == "99"
    assert "IBAN_CODE=1" in raw.headers["x-caviardage-entities"]
    assert dict(guarded.provider.last.headers)["authorization"] == "Bearer sk-test-0123456789"


def test_parts_and_history(client: OpenAI, guarded: Service) -> None:
    cut = TEXT.index(EMAIL) + 4
    parts = [{"type": "text", "text": TEXT[:cut]}, {"type": "text", "text": TEXT[cut:]}]
    turns: Any = [{"role": "user", "content": parts}]
    first = client.chat.completions.create(model="echo", messages=turns).choices[0].message
    assert first.content == TEXT
    turns += [first, {"role": "user", "content": f"And again for {NAME}, {EMAIL}."}]
    answer = client.chat.completions.create(model="echo", messages=turns).choices[0].message
    assert answer.content == f"And again for {NAME}, {EMAIL}."
    before, after = (request.json["messages"] for request in guarded.provider.received)
    assert after[: len(before)] == before


def test_several_choices(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="echo", messages=user(), n=3)
    assert [choice.message.content for choice in answer.choices] == [TEXT] * 3
    chunks = list(client.chat.completions.create(model="echo;chunk=2", messages=user(), n=3, stream=True))
    assert [text_of(chunks, choice) for choice in range(3)] == [TEXT] * 3


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_stream(client: OpenAI, chunk: int) -> None:
    chunks = list(client.chat.completions.create(model=f"echo;chunk={chunk}", messages=user(), stream=True))
    assert text_of(chunks) == TEXT
    assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == ["stop"]
    assert len({c.id for c in chunks}) == 1


def test_a_stream_comes_as_it_grows(client: OpenAI, guarded: Service) -> None:
    chunks = iter(client.chat.completions.create(model="echo;slow=0.05", messages=user(PLAIN * 9), stream=True))
    assert text_of([next(chunks) for _ in range(4)])
    assert guarded.provider.active == 1
    assert guarded.metric("caviardage_upstream_in_use") == 1
    assert text_of(chunks)


def test_usage_comes_last(client: OpenAI) -> None:
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    *chunks, last = list(client.chat.completions.create(model="echo;chunk=3", messages=user(), **asked))  # type: ignore[call-overload]
    assert text_of(chunks) == TEXT
    assert last.choices == []
    assert last.usage.total_tokens > 20


def test_stream_helper(client: OpenAI) -> None:
    with client.chat.completions.stream(model="echo;chunk=1", messages=user()) as stream:
        snapshots = [event.snapshot for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert final.choices[0].message.content == TEXT == snapshots[-1]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(snapshots))


def test_async_chats_side_by_side(guarded: Service) -> None:
    async def work(client: AsyncOpenAI) -> list[str]:
        async def one(number: int) -> str:
            mine = user(f"{number}: {TEXT}")
            if number % 2:
                answer = await client.chat.completions.create(model="echo", messages=mine)
                return answer.choices[0].message.content or ""
            chunks = await client.chat.completions.create(model="echo;chunk=2", messages=mine, stream=True)
            return text_of([chunk async for chunk in chunks])

        return await asyncio.gather(*(one(number) for number in range(12)))

    assert in_async(guarded, work) == [f"{number}: {TEXT}" for number in range(12)]


@pytest.mark.parametrize("knobs", ["", ";ascii=1"])
def test_tool_call_and_its_result(client: OpenAI, knobs: str) -> None:
    turns = user()
    message = client.chat.completions.create(model=f"echo{knobs}", messages=turns, tools=[SAVE]).choices[0].message
    call: Any = (message.tool_calls or [])[0]
    assert (call.id, call.function.name) == ("call_0", "save")
    assert json.loads(call.function.arguments) == {"text": TEXT, "count": 1}
    result = json.dumps({"saved": NAME, "mail": EMAIL}, ensure_ascii=bool(knobs))
    turns += [message, {"role": "tool", "tool_call_id": call.id, "content": result}]
    answer = client.chat.completions.create(model="echo", messages=turns, tools=[SAVE])
    assert answer.choices[0].message.content == result


@pytest.mark.parametrize("chunk", [1, 2, 3, 50])
@pytest.mark.parametrize("knobs", ["", ";mix=1", ";ascii=1", ";mix=1;ascii=1"])
def test_streamed_parallel_tool_calls(client: OpenAI, guarded: Service, chunk: int, knobs: str) -> None:
    model = f"echo;calls=2;chunk={chunk}{knobs}"
    arguments, order = {0: "", 1: ""}, []
    for part in client.chat.completions.create(model=model, messages=user(), tools=[SAVE], stream=True):
        for delta in part.choices[0].delta.tool_calls or []:
            arguments[delta.index] += (delta.function and delta.function.arguments) or ""
            order.append(delta.index)
    assert [json.loads(found) for found in arguments.values()] == [{"text": TEXT, "count": 1}] * 2
    if "mix" not in knobs:
        assert order == sorted(order)
    messages = guarded.provider.last.json["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]


def test_parsed_tool_arguments(client: OpenAI) -> None:
    parsed = client.chat.completions.parse(model="echo", messages=user(), tools=[SAVE])
    calls: Any = parsed.choices[0].message.tool_calls
    assert calls[0].function.parsed_arguments == Save(text=TEXT, count=1)
    with client.chat.completions.stream(model="echo;calls=2;chunk=1", messages=user(), tools=[SAVE]) as stream:
        done = [event for event in stream if event.type == "tool_calls.function.arguments.done"]
    assert [event.parsed_arguments for event in done] == [Save(text=TEXT, count=1)] * 2


@pytest.mark.parametrize("knobs", ["", ";ascii=1"])
def test_parse(client: OpenAI, knobs: str) -> None:
    wanted = Note(text=TEXT, items=[TEXT, "x"])
    parsed = client.chat.completions.parse(model=f"echo{knobs}", messages=user(), response_format=Note)
    assert parsed.choices[0].message.parsed == wanted
    model = f"echo;chunk=2{knobs}"
    with client.chat.completions.stream(model=model, messages=user(), response_format=Note) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == wanted


def test_values_in_unusual_places(client: OpenAI, guarded: Service) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string", "enum": [NAME, "other"], "default": NAME}}}
    messages: Any = [{"role": "user", "content": f"Who is {NAME}?", "name": "Zoe"}]
    create: Any = client.chat.completions.create
    answer = create(
        model="echo;json=1",
        messages=messages,
        metadata={"mail": EMAIL, "k": "v"},
        user=EMAIL,
        stop=[f"IBAN {IBAN}"],
        response_format={"type": "json_schema", "json_schema": {"name": "n", "description": EMAIL, "schema": schema}},
        extra_body={"unheard_of": {"deep": [f"card {CARD}"]}},
    )
    assert json.loads(answer.choices[0].message.content or "")["text"] == f"Who is {NAME}?"
    assert guarded.provider.last.json["metadata"]["k"] == "v"


def test_the_upstreams_429_is_passed_on_and_tried_again_by_the_client(client: OpenAI, guarded: Service) -> None:
    model = "echo;status=429;retry=0.01;fail=2;key=a"
    assert client.chat.completions.create(model=model, messages=user()).choices[0].message.content == TEXT
    assert len(guarded.provider.received) == 3
    guarded.provider.reset()
    with pytest.raises(openai.RateLimitError) as refused:
        client.chat.completions.create(model="echo;status=429;retry=0.01", messages=user())
    assert len(guarded.provider.received) == 3
    error = refused.value
    assert (error.status_code, error.code, error.type) == (429, "u429", "server_error")
    assert error.response.headers["retry-after"] == "0.01"
    assert TEXT in error.response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (422, openai.UnprocessableEntityError),
        (500, openai.InternalServerError),
    ],
)
def test_errors_of_the_upstream_keep_their_status(
    client: OpenAI, guarded: Service, status: int, error: type[openai.APIStatusError]
) -> None:
    once = client.with_options(max_retries=0)
    for more in ({}, {"stream": True}):
        with pytest.raises(error) as refused:
            once.chat.completions.create(model=f"echo;status={status}", messages=user(), **more)  # type: ignore[call-overload]
        assert refused.value.code == f"u{status}"
    assert len(guarded.provider.received) == 2


@pytest.mark.parametrize(
    ("changed", "code", "param"),
    [
        ({"model": "gpt-3.5-turbo", "messages": user("word " * 17000)}, "context_length_exceeded", "messages"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;"}}]}
                ]
            },
            "unsupported_by_policy",
            "$.messages[0].content[0]",
        ),
        ({"messages": [{"role": "user", "content": TEXT, "tool_call_id": EMAIL}]}, "unsupported_by_policy", None),
        ({"messages": "nonsense"}, "invalid_json", "$.messages"),
        ({"max_tokens": 200_000}, "context_length_exceeded", "messages"),
    ],
)
def test_our_own_refusals_are_bad_requests_that_nobody_tries_again(
    service: Service, changed: dict[str, Any], code: str, param: str | None
) -> None:
    asked = {"model": "echo", "messages": user(), **changed}
    statuses = []
    with OpenAI(base_url=service.base_url, api_key="x", timeout=120) as client:
        client._client.event_hooks = {"response": [lambda response: statuses.append(response.status_code)]}
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(**asked)
    error = refused.value
    assert statuses == [400]
    assert error.code == code
    assert param is None or error.param == param
    assert error.response.headers["x-should-retry"] == "false"
    assert not any(value in error.response.text for value in VALUES)
    assert service.provider.received == []


@pytest.mark.parametrize(("knobs", "code"), [("die=6", "upstream_unreachable"), ("broken=1", "unreadable_answer")])
def test_a_stream_that_breaks_is_an_error_and_never_a_silent_end(client: OpenAI, knobs: str, code: str) -> None:
    got = ""
    with pytest.raises(openai.APIError) as broken:  # noqa: PT012
        for chunk in client.chat.completions.create(model=f"echo;chunk=4;{knobs}", messages=user(), stream=True):
            got += chunk.choices[0].delta.content or ""
    assert broken.value.code == code
    assert got
    assert TEXT.startswith(got)
    assert got != TEXT


def test_a_client_that_leaves_takes_the_upstreams_stream_with_it(client: OpenAI, guarded: Service) -> None:
    stream = client.chat.completions.create(model="echo;chunk=1;slow=0.05", messages=user(), stream=True)
    for count, _ in enumerate(stream):
        if count == 5:
            break
    stream.close()
    wait_until(lambda: guarded.provider.active == 0)
    assert guarded.provider.disconnects == 1
    wait_until(lambda: guarded.metric("caviardage_upstream_in_use") == 0)


def test_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["echo"]


def test_endpoints_that_are_not_inspected_are_refused(service: Service) -> None:
    with OpenAI(base_url=service.base_url, api_key="x") as client:
        for call in (
            lambda: client.audio.speech.create(model="echo", voice="alloy", input=TEXT),
            lambda: client.images.generate(prompt=TEXT),
            lambda: client.files.create(file=TEXT.encode(), purpose="assistants"),
        ):
            with pytest.raises(openai.BadRequestError) as refused:
                call()
            assert refused.value.code == "unsupported_by_policy"
    assert service.provider.received == []


# --- langchain-openai -----------------------------------------------------------------------------------------------


def langchain(service: Service, model: str = "echo", **more: Any) -> ChatOpenAI:
    return ChatOpenAI(model=model, base_url=service.base_url, api_key=SecretStr("sk-test"), max_retries=0, **more)


def test_langchain_invoke_and_stream(guarded: Service) -> None:
    assert langchain(guarded).invoke(TEXT).content == TEXT
    chunks = list(langchain(guarded, "echo;chunk=2", stream_usage=True).stream([HumanMessage(TEXT)]))
    assert "".join(str(chunk.content) for chunk in chunks) == TEXT
    assert any(chunk.usage_metadata for chunk in chunks)
    assert [answer.content for answer in langchain(guarded).batch([TEXT, PLAIN])] == [TEXT, PLAIN]


def test_langchain_tools(guarded: Service) -> None:
    tools = langchain(guarded).bind_tools([Save])
    asked = HumanMessage(TEXT)
    answer = tools.invoke([asked])
    assert isinstance(answer, AIMessage)
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("Save", {"text": TEXT, "count": 1})]
    result = ToolMessage(f"Saved for {NAME}", tool_call_id=answer.tool_calls[0]["id"])
    assert tools.invoke([asked, answer, result]).content == f"Saved for {NAME}"
    total: Any = None
    for chunk in langchain(guarded, "echo;chunk=1;calls=2").bind_tools([Save]).stream(TEXT):
        total = chunk if total is None else total + chunk
    assert [call["args"] for call in total.tool_calls] == [{"text": TEXT, "count": 1}] * 2


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_langchain_structured_output(guarded: Service, method: Any) -> None:
    schema = Note if method == "json_schema" else Save
    structured = langchain(guarded).with_structured_output(schema, method=method)
    wanted = Note(text=TEXT, items=[TEXT, "x"]) if method == "json_schema" else Save(text=TEXT, count=1)
    assert structured.invoke(TEXT) == wanted


def test_langchain_async(guarded: Service) -> None:
    async def run() -> tuple[Any, str]:
        model = langchain(guarded, "echo;chunk=3")
        streamed = [str(chunk.content) async for chunk in model.astream(TEXT)]
        return (await model.ainvoke(TEXT)).content, "".join(streamed)

    assert asyncio.run(run()) == (TEXT, TEXT)


# --- pydantic-ai ----------------------------------------------------------------------------------------------------


async def with_agent(service: Service, model: str, work: Callable[[Agent[None, str], list[Save]], Any]) -> Any:
    """Runs `work` with an agent that has one tool, which keeps what it was called with."""
    kept: list[Save] = []
    async with AsyncOpenAI(base_url=service.base_url, api_key="sk-test", timeout=120) as client:
        agent = Agent(OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client)))

        @agent.tool_plain
        def save(text: str, count: int) -> str:
            """Saves a note."""
            kept.append(Save(text=text, count=count))
            return f"Saved {count} for {NAME}, {EMAIL}"

        return await work(agent, kept)


def test_pydantic_ai_runs_a_tool(guarded: Service) -> None:
    async def work(agent: Agent[None, str], kept: list[Save]) -> tuple[str, list[Save]]:
        return (await agent.run(TEXT)).output, kept

    output, kept = asyncio.run(with_agent(guarded, "echo", work))
    assert kept == [Save(text=TEXT, count=1)]
    assert output == f"Saved 1 for {NAME}, {EMAIL}"
    assert len(guarded.provider.received) == 2


def test_pydantic_ai_streams(guarded: Service) -> None:
    async def work(agent: Agent[None, str], kept: list[Save]) -> tuple[str, list[Save]]:
        async with agent.run_stream(TEXT) as result:
            pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
        return "".join(pieces), kept

    output, kept = asyncio.run(with_agent(guarded, "echo;chunk=2", work))
    assert kept == [Save(text=TEXT, count=1)]
    assert output == f"Saved 1 for {NAME}, {EMAIL}"


LINGER: Any = "echo;chunk=40;linger=0.5"
"""The provider's connection ends some time after its last event: who has that does not wait for it."""


def _chat(service: Service, headers: dict[str, str]) -> None:
    with OpenAI(base_url=service.base_url, api_key="sk-test") as client:
        chunks = client.chat.completions.create(model=LINGER, messages=user(), stream=True, extra_headers=headers)
        assert text_of(list(chunks)) == TEXT


def _response(service: Service, headers: dict[str, str]) -> None:
    with OpenAI(base_url=service.base_url, api_key="sk-test") as client:
        events = client.responses.create(model=LINGER, input=TEXT, stream=True, extra_headers=headers)
        assert "response.completed" in (event.type for event in events)  # looks no further
        events.close()


def _message(service: Service, headers: dict[str, str]) -> None:
    with Anthropic(base_url=service.url, api_key="sk-test") as client:
        asked: Any = [{"role": "user", "content": TEXT}]
        more: Any = {"stream": True, "extra_headers": headers}
        events = client.messages.create(model=LINGER, max_tokens=99, messages=asked, **more)
        assert "message_stop" in (event.type for event in events)
        events.close()


def _left(service: Service, headers: dict[str, str]) -> None:
    with OpenAI(base_url=service.base_url, api_key="sk-test") as client:
        model = "echo;chunk=4;slow=0.1"
        chunks = client.chat.completions.create(model=model, messages=user(), stream=True, extra_headers=headers)
        next(iter(chunks))
        chunks.close()


@pytest.mark.parametrize(
    ("ask", "verdict", "reason"),
    [
        (_chat, "release", ""),
        (_response, "release", ""),
        (_message, "release", ""),
        (_left, "cancelled", "client_disconnected"),
    ],
)
def test_a_stream_that_a_client_has_the_end_of_is_no_stream_that_it_left(
    guarded: Service, ask: Callable[[Service, dict[str, str]], None], verdict: str, reason: str
) -> None:
    for turn in range(4):
        name = f"end-{ask.__name__}-{turn}"
        ask(guarded, {"x-request-id": name})
        wait_until(lambda name=name: len(guarded.audit(name)) == 2)
        forward, end = guarded.audit(name)
        assert (forward["verdict"], end["verdict"], end["reason"]) == ("forward", verdict, reason)

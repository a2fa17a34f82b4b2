"""The official clients for Azure OpenAI, through the real service: under deployments, and on the surface without."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
import pytest
from openai import AzureOpenAI, OpenAI

from tests.e2e import EMAIL, IBAN, TEXT, VALUES, Service
from tests.test_clients import SAVE, Save, user

VERSION = "2024-10-21"
CHAT = "/openai/deployments/echo/chat/completions"


@pytest.fixture
def azure(service: Service) -> Any:
    with AzureOpenAI(azure_endpoint=service.url, api_key="k-0123456789", api_version=VERSION, max_retries=0) as made:
        yield made
    assert service.provider.leaks(*VALUES) == []


def test_chat_and_where_it_goes(azure: AzureOpenAI, service: Service) -> None:
    answer = azure.chat.completions.create(model="echo", messages=user())
    assert answer.choices[0].message.content == TEXT
    seen = service.provider.last
    assert (seen.path, seen.query) == (CHAT, f"api-version={VERSION}")
    assert dict(seen.headers)["api-key"] == "k-0123456789"


def test_streams_and_tools(azure: AzureOpenAI) -> None:
    chunks = list(azure.chat.completions.create(model="echo;chunk=2", messages=user(), stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == TEXT
    with azure.chat.completions.stream(model="echo;chunk=3", messages=user(), tools=[SAVE]) as stream:
        calls = stream.get_final_completion().choices[0].message.tool_calls or []
    assert [call.function.parsed_arguments for call in calls] == [Save(text=TEXT, count=1)]


def test_responses(azure: AzureOpenAI, service: Service) -> None:
    assert azure.responses.create(model="echo", input=TEXT).output_text == TEXT
    assert (service.provider.last.path, service.provider.last.query) == ("/openai/responses", f"api-version={VERSION}")
    with OpenAI(base_url=f"{service.url}/openai/v1", api_key="k-0123456789") as plain:
        assert plain.responses.create(model="echo", input=TEXT).output_text == TEXT
        assert service.provider.last.path == "/openai/v1/responses"
        assert plain.chat.completions.create(model="echo", messages=user()).choices[0].message.content == TEXT
    assert service.provider.leaks(*VALUES) == []


def post(service: Service, path: str, body: Any) -> httpx2.Response:
    return httpx2.post(f"{service.url}{path}", json=body, headers={"api-key": "k"}, timeout=60, trust_env=False)


def test_refusals_are_azures_errors(azure: AzureOpenAI, service: Service) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        azure.images.generate(model="echo", prompt=TEXT)
    assert refused.value.code == "unsupported_by_policy"
    assert json.loads(refused.value.response.text)["error"]["status"] == 400
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert service.provider.received == []


@pytest.mark.parametrize("value", [EMAIL, IBAN])
def test_a_value_as_the_name_of_a_deployment_goes_nowhere(service: Service, value: str) -> None:
    answer = post(service, f"/openai/deployments/{value}/chat/completions", {"messages": user("Hello")})
    assert answer.status_code == 400
    assert value not in answer.text
    assert service.provider.received == []


def test_a_body_needs_no_model_and_keeps_none(service: Service) -> None:
    answer = post(service, CHAT, {"messages": user()})
    assert service.provider.last.path == CHAT
    assert "model" not in service.provider.last.json
    assert service.provider.leaks(*VALUES) == []
    assert answer.status_code == 200

"""Azure's dialect: deployments as models, its own paths, its own form of refusals, and what is refused there."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.errors import BlockedEntity, UnsupportedByPolicy
from proxy.model import Kind, Leaf, Seen
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire import azure
from proxy.wire.base import serialise
from proxy.wire.endpoints import Aids, Endpoint
from proxy.wire.seals import NoSeals
from tests.wire import KEY, leaves_of

AIDS = Aids(None, NoSeals())
BODY: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}


def endpoint(path: str) -> Endpoint:
    found = azure.endpoint(path)
    assert found is not None
    return found


def leaves(path: str, body: dict[str, Any]) -> list[Leaf]:
    return leaves_of(endpoint(path).rewrite_request, body, allowed=frozenset(), aids=AIDS)


@pytest.mark.parametrize("rest", ["chat/completions", "completions", "embeddings"])
def test_a_deployment_is_the_model(rest: str) -> None:
    found = endpoint(f"/openai/deployments/gpt-4o_eu.1/{rest}")
    assert found.model_of({"model": "other"}) == "gpt-4o_eu.1"
    assert endpoint(f"/openai/v1/{rest}").model_of({"model": "other"}) == "other"


def test_the_deployment_is_a_leaf_and_a_model_in_the_body_another() -> None:
    path = "/openai/deployments/dep-1/chat/completions"
    model = Leaf("$.model", "dep-1", Kind.ID)
    assert leaves(path, BODY)[0] == model
    assert [leaf.text for leaf in leaves(path, {"model": "gpt-4o", **BODY})][:2] == ["dep-1", "gpt-4o"]
    assert model not in leaves("/openai/v1/chat/completions", {"model": "gpt-4o", **BODY})


@pytest.mark.parametrize(
    "path",
    [
        "/openai/deployments/dep/images/generations",
        "/openai/deployments/dep/audio/transcriptions",
        "/openai/deployments/a/b/chat/completions",
        "/openai/deployments//chat/completions",
        "/openai/deployments/dep ot/chat/completions",
        "/openai/deployments/dep/extensions/chat/completions",
        "/openai/assistants",
        "/openai/v1/files",
        "/openai/responses/resp_1",
    ],
)
def test_other_paths_are_served_by_nobody(path: str) -> None:
    assert azure.endpoint(path) is None


@pytest.mark.parametrize("field", ["data_sources", "dataSources"])
def test_searches_in_the_clients_own_stores_are_refused(field: str) -> None:
    source = {"type": "azure_search", "parameters": {"endpoint": "https://x", "authentication": {"key": "k"}}}
    with pytest.raises(UnsupportedByPolicy) as refused:
        leaves("/openai/deployments/dep/chat/completions", {**BODY, field: [source]})
    assert refused.value.param == f"$.{field}"
    leaves("/openai/deployments/dep/chat/completions", {**BODY, field: []})


def test_refusals_have_azures_form() -> None:
    error = azure.error_body(BlockedEntity({"PERSON": 2}))["error"]
    assert isinstance(error, dict)
    assert (error["status"], error["code"], error["param"]) == (400, "blocked_entity", None)


def test_verdicts_of_content_filters_and_the_chunk_without_choices_pass() -> None:
    served = endpoint("/openai/deployments/dep/chat/completions")
    assert served.stream is not None
    stream = served.stream(Restoration(Vault(KEY)), Seen(), AIDS)
    first = b'data: {"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}\n\n'
    chunk = _event({"delta": {"content": "Hi"}, "content_filter_results": {"hate": {"filtered": False}}})
    offsets = _event({"delta": {}, "finish_reason": "stop", "content_filter_offsets": {"check_offset": 44}})
    end = b"data: [DONE]\n\n"
    assert b"".join(map(stream.feed, (first, chunk, offsets, end))) == first + chunk + offsets + end


def _event(choice: dict[str, Any]) -> bytes:
    return b"data: " + serialise({"choices": [{"index": 0, **choice}]}) + b"\n\n"

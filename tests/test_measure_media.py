"""Images in a prompt, and items of which nobody knows how a provider renders them: towards the bound, not the floor."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.measure import load_counter, measure
from proxy.tokens.media import AUDIO, IMAGE, OPENAI_IMAGE, OPENAI_MINI_IMAGE
from proxy.verify import USAGE_FLOOR
from proxy.wire import ollama
from proxy.wire.endpoints import ENDPOINTS

COUNTER = load_counter("o200k_base")
DATA = "data:image/png;base64," + "abcd" * 100_000
LONG = "d e f " * 1000


def measured(path: str, body: dict[str, Any]) -> Any:
    return measure(body, COUNTER, None, size=9, charging=ENDPOINTS[path].charging)


def chat(*parts: Any, model: str = "qwen") -> Any:
    return measured("/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": list(parts)}]})


@pytest.mark.parametrize(("kind", "seconds"), [("wav", 300_000 // 8_000), ("mp3", 300_000 // 750)])
def test_audio_counts_by_the_longest_that_it_can_last(kind: str, seconds: int) -> None:
    """Not by its data, which is no text: neither towards the bound nor as what the provider must have read."""
    part = {"type": "input_audio", "input_audio": {"data": "abcd" * 100_000, "format": kind}}
    for found in (chat(part), responses({"role": "user", "content": [part]})):
        assert AUDIO * seconds <= found.prompt < AUDIO * (seconds + 1) + 100
        assert found.texts < 50
    odd = {"type": "input_audio", "input_audio": "abcd " * 1_000}
    assert chat(odd).prompt > 1_000


def responses(*items: Any, model: str = "qwen") -> Any:
    return measured("/v1/responses", {"model": model, "input": list(items)})


@pytest.mark.parametrize("url", [DATA, "https://example.com/x.png"])
def test_an_image_counts_by_itself_wherever_it_is(url: str) -> None:
    assert 2 * IMAGE < chat(*[{"type": "image_url", "image_url": {"url": url}}] * 2).prompt < 2 * IMAGE + 100
    part = {"type": "input_image", "image_url": url}
    said = {"role": "user", "content": [part]}
    shown = {
        "type": "computer_call_output",
        "call_id": "c",
        "output": {"type": "computer_screenshot", "image_url": url},
    }
    returned = {"type": "function_call_output", "call_id": "c", "output": [part]}
    assert 3 * IMAGE < responses(said, shown, returned).prompt < 3 * IMAGE + 250


@pytest.mark.parametrize(
    ("model", "each"),
    [
        ("gpt-4o", OPENAI_IMAGE),
        ("azure/gpt-5", OPENAI_IMAGE),
        ("o3", OPENAI_IMAGE),
        ("gpt-4o-mini-2024-07-18", OPENAI_MINI_IMAGE),
        ("gpt-oss-120b", IMAGE),
        ("olmo", IMAGE),
    ],
)
def test_what_an_image_costs_depends_on_the_model(model: str, each: int) -> None:
    assert each < chat({"type": "image_url", "image_url": {"url": DATA}}, model=model).prompt < each + 100


def test_text_beside_an_image_counts_as_text() -> None:
    alone, beside = (
        chat({"type": "text", "text": LONG}),
        chat({"type": "text", "text": LONG}, {"type": "image_url", "image_url": {"url": DATA}}),
    )
    assert alone.texts > 3000
    assert abs(beside.texts - alone.texts) < 20
    hidden = chat({"type": "text", "image_url": LONG, "text": "x"})
    assert hidden.prompt > 3000


def test_a_drawing_that_comes_back_counts_as_an_image() -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "abcd" * 100_000}
    assert IMAGE < responses(drawn).prompt < IMAGE + 100


@pytest.mark.parametrize(
    "item",
    [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": LONG}]},
        {"type": "web_search_call", "action": {"type": "search", "query": LONG}},
        {"type": "mcp_list_tools", "tools": [{"name": "t", "description": LONG}]},
        {"type": "code_interpreter_call", "code": LONG, "outputs": [{"type": "logs", "logs": LONG}]},
    ],
)
def test_what_a_provider_may_leave_out_belongs_to_the_bound_only(item: Any) -> None:
    found = responses({"role": "user", "content": "x"}, item)
    assert found.prompt > 3000
    assert found.texts < 100


@pytest.mark.parametrize(
    "item",
    [
        LONG,
        {"role": "user", "content": LONG},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": LONG}]},
        {"type": "function_call", "name": "f", "arguments": LONG},
        {"type": "function_call_output", "output": LONG},
        {"type": "shell_call_output", "output": [{"stdout": LONG}]},
    ],
)
def test_what_must_have_been_read_is_compared(item: Any) -> None:
    assert responses(item).texts > 3 * USAGE_FLOOR - 100


def test_a_text_as_input_counts() -> None:
    assert measured("/v1/responses", {"model": "m", "input": LONG}).texts > 2900


def test_images_beside_a_message_count_too() -> None:
    charging = {"/api/chat": {"messages": [{"content": "x", "images": ["abcd" * 100_000] * 2}]}}
    charging["/api/generate"] = {"prompt": "x", "images": ["abcd" * 100_000] * 2}  # type: ignore[dict-item]
    for path, body in charging.items():
        served = ollama.endpoint(path)
        assert served is not None
        assert 2 * IMAGE < measure(body, COUNTER, None, size=9, charging=served.charging).prompt < 2 * IMAGE + 100

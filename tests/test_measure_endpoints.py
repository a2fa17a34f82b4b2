"""The bounds of the endpoints that are no chat: above the tokens of what they hold, and not far above."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import ContextLengthExceeded
from proxy.measure import check_limit, count_prompt, load_counter, measure
from proxy.tokens.ids import decoder
from proxy.tokens.messages import CLIENT_TOOL, IMAGE, TOOLS, message_charges
from proxy.tokens.prompts import ENDS, prompt_charges
from proxy.tokens.ranks import load_encoding

ENCODING = load_encoding("cl100k_base")
COUNTER = load_counter("cl100k_base")
TEXTS = st.text(max_size=60).filter(lambda text: text.isprintable())


def tokens(text: str) -> int:
    return len(ENCODING.encode_ordinary(text))


def of_prompts(body: Any) -> int:
    return count_prompt(body, COUNTER, charging=prompt_charges)


def of_messages(body: Any) -> int:
    return count_prompt(body, COUNTER, charging=message_charges)


@given(TEXTS)
def test_one_prompt_is_its_tokens_and_two_ends(text: str) -> None:
    for body in ({"prompt": text}, {"input": text}, {"input": [text]}, {"input": ENCODING.encode_ordinary(text)}):
        assert of_prompts({"model": "m", "user": "u", "max_tokens": 9, **body}) == tokens(text) + ENDS


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_of_several_prompts_the_longest_counts(texts: list[str]) -> None:
    longest = max(map(tokens, texts)) + ENDS
    assert of_prompts({"input": texts}) == longest
    assert of_prompts({"input": [ENCODING.encode_ordinary(text) for text in texts]}) == longest


def test_what_else_becomes_text_counts() -> None:
    prompt = of_prompts({"prompt": "x"})
    assert of_prompts({"prompt": "x", "suffix": "a b c"}) >= prompt + 3 + 3
    assert of_prompts({"prompt": "x", "instruction": "a b c"}) >= prompt + 3
    assert of_prompts({"prompt": "x", "echo": True, "dimensions": 3, "stop": ["a b c"], "news": None}) == prompt
    assert of_prompts({}) == of_prompts({"prompt": None}) == of_prompts({"input": []}) == ENDS
    parts = [{"type": "text", "text": "a b c"}, {"type": "text", "text": "d e f"}]
    assert of_prompts({"input": parts}) >= 6


def plain(*contents: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user" if at % 2 else "assistant", "content": text} for at, text in enumerate(contents)]
    return {"model": "m", "max_tokens": 9, "messages": messages, **more}


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_a_conversation_is_bounded_from_both_sides(texts: list[str], system: str) -> None:
    counted = of_messages(plain(*texts, system=system))
    exact = sum(map(tokens, texts)) + tokens(system)
    assert exact + 3 * len(texts) <= counted <= exact + 8 * (len(texts) + 1) + 16
    blocks = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": "1h"}} for text in texts]
    in_blocks = plain(system=[{"type": "text", "text": system}])
    in_blocks["messages"] = [{"role": "user", "content": blocks}]
    assert exact <= of_messages(in_blocks) <= exact + 8 * (len(texts) + 2) + 16


JSON = st.recursive(
    st.text(max_size=9) | st.integers(0, 99_999) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["signature", "cache_control", "type", "source", "x"]), JSON, max_size=4))
def test_whatever_a_tool_is_called_with_counts(value: Any) -> None:
    """Names that are silent in a block are the client's own in the input of a tool."""
    body = plain()
    body["messages"] = [{"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": value}]}]
    assert of_messages(body) >= tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def test_what_the_model_does_not_read_does_not_count() -> None:
    body = plain("x", thinking={"type": "enabled", "budget_tokens": 9}, tool_choice={"type": "auto"})
    assert of_messages(body) == of_messages(plain("x"))
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    long = {**thought, "signature": "c2ln" * 1000}
    counts = [of_messages({"messages": [{"role": "assistant", "content": [block]}]}) for block in (thought, long)]
    assert counts[0] == counts[1]


def test_what_the_provider_may_leave_out_is_bounded_but_not_expected() -> None:
    """The provider's count is compared with the texts that it must have read."""

    def texts(*blocks: Any, **more: Any) -> tuple[int, int]:
        body = {
            "messages": [{"role": "user", "content": "a b c"}, {"role": "assistant", "content": list(blocks)}],
            **more,
        }
        measured = measure(body, COUNTER, None, size=9, charging=message_charges)
        return measured.texts, measured.prompt

    long = "d e f " * 1000
    expected, _ = texts()
    for block in ({"type": "thinking", "thinking": long}, {"type": "redacted_thinking", "data": long}):
        read, bound = texts(block)
        assert read < expected + 20
        assert bound > 3000
    text = {"type": "text", "text": long}
    assert texts(text)[0] > 3000
    for cut in (texts(text, context_management={"edits": []}), texts(text, {"type": "compaction", "content": "x"})):
        assert cut[0] < 300 < 3000 < cut[1]


@pytest.mark.parametrize("long", [{"x": "a b c " * 100}, {"ttl": "a b c " * 100}, "a b c " * 100])
def test_a_cache_mark_that_is_none_counts(long: Any) -> None:
    body = plain()
    body["messages"] = [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": long}]}]
    assert of_messages(body) > 300


def test_an_image_counts_by_itself_and_not_by_its_data() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "abcd" * 100_000}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image, image]}
    body = {"messages": [{"role": "user", "content": [image, result]}]}
    assert 3 * IMAGE < of_messages(body) < 3 * IMAGE + 200


def test_tools_bring_a_text_of_their_own() -> None:
    own = {"name": "f", "input_schema": {"type": "object"}}
    without = of_messages(plain("x"))
    assert of_messages(plain("x", tools=[own])) > without + TOOLS
    assert (
        of_messages(plain("x", tools=[own, {"type": "bash_20250124", "name": "bash"}])) > without + TOOLS + CLIENT_TOOL
    )
    assert of_messages(plain("x", tools=[])) < without + TOOLS


def test_max_tokens_is_the_completion() -> None:
    body = plain("x y z", max_tokens=4000)
    measured = measure(body, COUNTER, 4000, size=100, charging=message_charges)
    assert measured.completion == 4000
    with pytest.raises(ContextLengthExceeded):
        check_limit(measured, 4000)


def test_ids_are_the_text_that_they_stand_for() -> None:
    assert decoder(ENCODING)(ENCODING.encode_ordinary("Zoë 🎉")) == "Zoë 🎉"
    for ids in ([100257], [10**9], ENCODING.encode_ordinary("🎉")[:1]):
        with pytest.raises(ValueError, match="token") as failed:
            decoder(ENCODING)(ids)
        assert failed.value.__cause__ is None

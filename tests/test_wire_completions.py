"""Legacy completions: prompts of every form, streams of `text`, and token ids that are made text again."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import Kind, Seen, Usage
from proxy.tokens.ids import decoder
from proxy.tokens.ranks import load_encoding
from proxy.wire.completions import CompletionStream, opening, restore_answer, rewrite_request
from tests.bodies import as_is
from tests.wire import MAIL, NAME, events_of, leaves_of, pieces, redacted, run, values_in

FULL: dict[str, Any] = {
    "model": "gpt-3.5-turbo-instruct",
    "prompt": ["Dear Mira,", '{"iban": "FR76"}'],
    "suffix": "Yours, Mira",
    "stop": ["###", "\n"],
    "user": "u-1",
    "echo": True,
    "logprobs": 5,
    "best_of": 2,
    "logit_bias": {"50256": -100},
    "stream": True,
    "some_new_field": {"deep": ["text"]},
}


def test_kinds_and_order_of_a_full_request() -> None:
    assert [(leaf.path, leaf.text, leaf.kind, leaf.run) for leaf in leaves_of(rewrite_request, FULL)] == [
        ("$.model", "gpt-3.5-turbo-instruct", Kind.ID, None),
        ("$.prompt[0]", "Dear Mira,", Kind.TEXT, None),
        ("$.prompt[1]#${0}", "iban", Kind.KEY, None),
        ("$.prompt[1]#$.iban", "FR76", Kind.TEXT, None),
        ("$.suffix", "Yours, Mira", Kind.TEXT, None),
        ("$.stop[0]", "###", Kind.TEXT, None),
        ("$.stop[1]", "\n", Kind.TEXT, None),
        ("$.user", "u-1", Kind.TEXT, None),
        *[(f"${{{at}}}", key, Kind.FIXED, None) for at, key in ((5, "echo"), (6, "logprobs"), (7, "best_of"))],
        ("${9}", "stream", Kind.FIXED, None),
        ("$.some_new_field{0}", "deep", Kind.FIXED, None),
        ("$.some_new_field.deep[0]", "text", Kind.TEXT, None),
        ("${10}", "some_new_field", Kind.FIXED, None),
    ]


@pytest.mark.parametrize("prompt", ["x", ["x", "y"], None, [], ""])
def test_prompts_of_every_form_pass(prompt: Any) -> None:
    leaves_of(rewrite_request, {"model": "m", "prompt": prompt})


ENCODING = load_encoding("cl100k_base")
DECODE = decoder(ENCODING)
TEXT = f"Dear {NAME}, 🎉 <{MAIL}>"


@pytest.mark.parametrize("many", [False, True])
def test_token_ids_go_on_as_the_text_that_was_inspected(many: bool) -> None:
    ids: Any = ENCODING.encode_ordinary(TEXT)
    body = {"model": "m", "prompt": [ids, ids] if many else ids}
    sent = rewrite_request(body, as_is, decode=DECODE)
    assert sent["prompt"] == ([TEXT, TEXT] if many else TEXT)
    seen: list[str] = []
    rewrite_request(body, lambda leaf: seen.append(leaf.text) or leaf.text, decode=DECODE)
    assert TEXT in seen


@pytest.mark.parametrize(
    ("ids", "decode"),
    [
        ([15339, 1917], None),
        ([[15339]], None),
        ([100257], DECODE),  # <|endoftext|>
        ([15339, 99_999_999], DECODE),
        ([2**31 - 1], DECODE),
        (ENCODING.encode_ordinary("🎉")[:1], DECODE),  # half a character
    ],
)
def test_token_ids_that_are_no_text_are_refused(ids: Any, decode: Any) -> None:
    with pytest.raises(UnsupportedByPolicy) as refused:
        rewrite_request({"model": "m", "prompt": ids}, as_is, decode=decode)
    assert refused.value.param in ("$.prompt", "$.prompt[0]")
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"prompt": "x"},
        {"model": 5},
        {"model": "m", "prompt": 5},
        {"model": "m", "prompt": {}},
        {"model": "m", "prompt": ["x", 5]},
        {"model": "m", "prompt": [[True]]},
        {"model": "m", "prompt": [[-1]]},
        {"model": "m", "prompt": [["x"]]},
        {"model": "m", "prompt": [{"text": "x"}]},
        {"model": "m", "Prompt": "x"},
        {"model": "m", "logit_bias": {"x": 1}},
    ],
)
def test_wrong_types_are_refused(body: Any) -> None:
    with pytest.raises(BadRequest):
        rewrite_request(body, as_is, decode=DECODE)


@pytest.mark.parametrize("field", ["input_ids", "prompt_token_ids", "token_ids", "prompt_embeds", "input_embeds"])
def test_prompts_that_nobody_can_read_are_refused(field: str) -> None:
    with pytest.raises(UnsupportedByPolicy):
        rewrite_request({"model": "m", "prompt": "x", field: [1]}, as_is, decode=DECODE)


def test_the_opening_stays_while_the_prompt_grows() -> None:
    prompt = "User: " + "x" * 300
    grown = {"prompt": prompt + " Assistant: y User: z"}
    assert opening({"prompt": prompt}) == opening(grown) == opening({"prompt": [prompt, "other"]}) != opening({})
    assert opening([]) == ""


SENT, RESTORING = redacted(rewrite_request, {"model": "m", "prompt": TEXT, "suffix": MAIL, "stop": [NAME]})


def chunk(text: str, index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "text": text, "logprobs": {"tokens": [text]}, "finish_reason": finish}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1790000000, "model": "m", "choices": [choice]}


def stream_of(events: list[dict[str, Any]]) -> bytes:
    return "".join([f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]).encode()


def echo(size: int) -> bytes:
    sent = pieces(str(SENT["prompt"]), size)
    return stream_of([chunk(p, i) for p in sent for i in (0, 1)] + [chunk("", i, "stop") for i in (0, 1)])


def test_what_the_upstream_sees_holds_no_value_and_the_echo_is_the_text() -> None:
    assert values_in(SENT) == []
    seen = Seen()
    usage = {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17}
    choice = {"index": 0, "text": SENT["prompt"], "logprobs": {"tokens": ["<P"]}, "finish_reason": "stop"}
    got: Any = restore_answer({"model": "m", "choices": [choice], "usage": usage}, RESTORING, seen)
    assert got["choices"] == [{**choice, "text": TEXT, "logprobs": None}]
    assert seen == Seen(Usage(9, 8, None), "m", ["stop"])


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_streamed_echo_is_the_text(size: int) -> None:
    seen = Seen()
    out = events_of(run(CompletionStream(RESTORING, seen), echo(size)))
    assert len(out) == echo(size).count(b"\n\n")
    for index in (0, 1):
        texts = [c["text"] for _, e in out[:-1] for c in e["choices"] if c["index"] == index]
        assert "".join(texts) == TEXT
    assert all(c["logprobs"] is None for _, e in out[:-1] for c in e["choices"])
    assert seen.done


@given(st.lists(st.integers(0, 10**6), max_size=30), st.sampled_from([1, 3, 40]))
def test_cuts_between_bytes_change_nothing(cuts: list[int], size: int) -> None:
    data = echo(size)
    assert run(CompletionStream(RESTORING, Seen()), data, cuts) == run(CompletionStream(RESTORING, Seen()), data)


def test_the_official_client_reads_the_stream() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        body = run(CompletionStream(RESTORING, Seen()), echo(4))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = OpenAI(api_key="k", base_url="http://127.0.0.1:1/v1", max_retries=0, http_client=transport)
    stream = client.completions.create(model="m", prompt=TEXT, stream=True)
    assert "".join(c.text for event in stream for c in event.choices if c.index == 0) == TEXT

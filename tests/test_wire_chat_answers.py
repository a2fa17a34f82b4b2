"""Chat answers and streams: restored for every cut of the bytes and split of the text, and nothing else changed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import APIError, OpenAI

from proxy.errors import BadAnswer
from proxy.model import Moved, Seen, Usage
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.answers import remap, restore_answer, usage_of
from proxy.wire.sse import KEEP_ALIVE, SSEParser
from proxy.wire.stream import ChatStream

NAME = 'Zoë "Zo" Müller'
MAIL = "zoe.mueller@example.com"


def restoration() -> tuple[Restoration, str, str]:
    vault = Vault(b"k" * 32)
    person, mail = vault.issue("PERSON", NAME), vault.issue("EMAIL_ADDRESS", MAIL)
    return Restoration(vault), person.placeholder, mail.placeholder


RESTORING, P, M = restoration()
IDLE = Restoration(Vault(b"k" * 32))
SENT = f"Dear {P}, a < b, write to {M} or <PERSON_1>."
READ = f"Dear {NAME}, a < b, write to {MAIL} or <PERSON_1>."
ARGUMENTS = json.dumps({"to": f"{P} <{M}>", "n": [1.5, None]})


def chunk(delta: dict[str, Any] | None, index: int = 0, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish, "logprobs": {"content": [{"token": "<P"}]}}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "m"}
    return {**head, "choices": [choice], "obfuscation": "xx", **more}


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def stream_of(events: list[dict[str, Any]], *, done: bool = True, eol: str = "\n") -> bytes:
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}{eol}{eol}" for event in events]
    return ("".join(lines) + (f"data: [DONE]{eol}{eol}" if done else "")).encode()


def run(stream: bytes, cuts: list[int] | None = None, restoring: Restoration = RESTORING) -> tuple[bytes, Seen]:
    seen = Seen()
    chat = ChatStream(restoring, seen)
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts or [])})
    out = b"".join([chat.feed(stream[a:b]) for a, b in itertools.pairwise(edges)]) + chat.finish()
    return out, seen


def events_of(stream: bytes) -> list[Any]:
    found = [event.data for event in SSEParser().feed(stream) if not event.comment]
    return [data if data == "[DONE]" else json.loads(data) for data in found]


def texts_of(events: list[Any]) -> dict[tuple[Any, ...], str]:
    """Every growing text, joined, and the bare structure of the stream is checked on the way."""
    texts: dict[tuple[Any, ...], str] = {}

    def gather(node: Any, key: tuple[Any, ...]) -> None:
        if isinstance(node, dict):
            for name, value in node.items():
                gather(value, (*key, name))
        elif isinstance(node, list):
            for at, value in enumerate(node):
                gather(value, (*key, value.get("index", at) if isinstance(value, dict) else at))
        elif isinstance(node, str):
            texts[key] = texts.get(key, "") + node

    for event in events:
        for choice in event["choices"] if isinstance(event, dict) else []:
            gather(choice["delta"], (choice["index"],))
    return texts


def bare(node: Any) -> Any:
    """An event without its texts and probabilities."""
    if isinstance(node, dict):
        return {key: None if key == "logprobs" else bare(value) for key, value in node.items()}
    if isinstance(node, list):
        return [bare(value) for value in node]
    return "" if isinstance(node, str) and node not in {"chatcmpl-1", "m", "xx"} else node


def long_stream(size: int) -> list[dict[str, Any]]:
    """One of everything: reasoning, content of two choices in turn, parallel tool calls, usage."""
    events = [chunk({"role": "assistant", "content": "", "refusal": None}, index) for index in (0, 1)]
    events += [chunk({"reasoning_content": piece, "reasoning": piece}) for piece in pieces(SENT, size)]
    for piece in pieces(SENT, size):
        events += [chunk({"content": piece}, index) for index in (0, 1)]
    heads = [
        {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": "f", "arguments": ""}} for i in (0, 1)
    ]
    events += [chunk({"tool_calls": [head]}) for head in heads]
    for piece in pieces(ARGUMENTS, size):
        events += [chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]}) for i in (0, 1)]
    events += [
        chunk({"tool_calls": [{"index": 2, "id": "call_2", "type": "custom", "custom": {"name": "c", "input": ""}}]})
    ]
    events += [chunk({"tool_calls": [{"index": 2, "custom": {"input": piece}}]}) for piece in pieces(SENT, size)]
    events += [chunk({}, 0, "tool_calls"), chunk({"content": P[:-1]}, 1, "stop")]
    usage = {"prompt_tokens": 9, "completion_tokens": 8, "prompt_tokens_details": {"cached_tokens": 7}}
    return [*events, {**chunk(None), "choices": [], "usage": usage}]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_every_text_is_restored_and_every_event_stays(size: int) -> None:
    sent = long_stream(size)
    out, seen = run(stream_of(sent))
    got = events_of(out)
    assert bare(got[:-1]) == bare(sent)
    assert got[-1] == "[DONE]"
    texts = texts_of(got)
    assert texts[(0, "reasoning_content")] == texts[(0, "reasoning")] == texts[(0, "content")] == READ
    assert texts[(1, "content")] == READ + NAME
    assert texts[(0, "tool_calls", 2, "custom", "input")] == READ
    for call in (0, 1):
        assert json.loads(texts[(0, "tool_calls", call, "function", "arguments")])["to"] == f"{NAME} <{MAIL}>"
        assert texts[(0, "tool_calls", call, "id")] == f"call_{call}"
    assert seen == Seen(Usage(9, 8, 7), "m", ["tool_calls", "stop"], False, True)


@given(st.lists(st.integers(0, 10**6), max_size=30), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([1, 3, 40]))
def test_cuts_between_bytes_change_nothing(cuts: list[int], eol: str, size: int) -> None:
    stream = stream_of(long_stream(size), eol=eol)
    assert run(stream, cuts)[0] == run(stream)[0]


def test_one_byte_at_a_time() -> None:
    stream = stream_of([chunk({"content": piece}) for piece in pieces(SENT, 5)])
    assert run(stream, list(range(len(stream))))[0] == run(stream)[0]


@pytest.mark.parametrize("field", ["content", "refusal", "reasoning_content", "some_new_field"])
def test_every_two_cuts_of_a_placeholder(field: str) -> None:
    text = f"Hi {P}, ok"
    for a, b in itertools.combinations(range(1, len(text)), 2):
        out, _ = run(stream_of([chunk({field: piece}) for piece in (text[:a], text[a:b], text[b:])]))
        assert texts_of(events_of(out)) == {(0, field): f"Hi {NAME}, ok"}


@given(st.lists(st.sampled_from(["a", " ", "<", P, P[:-1], M[:5], "PERSON", "\\", '"', "{"]), max_size=8), st.data())
def test_any_split_of_any_text_is_restored_as_a_whole(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    split = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    out, _ = run(stream_of([chunk({"content": piece}) for piece in split] + [chunk({}, finish="stop")]))
    expected: Any = restore_answer({"x": text}, restoration()[0], Seen())
    assert texts_of(events_of(out))[(0, "content")] == expected["x"]
    assert len(events_of(out)) == len(split) + 2


def test_events_leave_at_once_when_nothing_is_held() -> None:
    chat = ChatStream(RESTORING, Seen())
    texts = ("words ", P[:4], P[4:-1], ">", " end")
    out = [chat.feed(stream_of([chunk({"content": text})], done=False)) for text in texts]
    assert [len(events_of(events)) for events in out] == [1, 0, 0, 3, 1]
    assert chat.feed(b": upstream says mira\n\n") == KEEP_ALIVE


def test_the_restored_text_stands_in_the_first_event_that_waited() -> None:
    out, _ = run(stream_of([chunk({"content": piece}) for piece in ("a " + P[:4], P[4:8], P[8:] + " b", " c")]))
    assert [event["choices"][0]["delta"]["content"] for event in events_of(out)[:-1]] == [f"a {NAME} b", "", "", " c"]


def test_a_text_ends_when_another_field_of_the_choice_goes_on() -> None:
    chat = ChatStream(RESTORING, Seen())
    assert chat.feed(stream_of([chunk({"reasoning": "see <PERS"})], done=False)) == b""
    out = chat.feed(stream_of([chunk({"content": "Hello"})], done=False))
    assert texts_of(events_of(out)) == {(0, "reasoning"): "see <PERS", (0, "content"): "Hello"}


def test_a_custom_call_ends_when_the_next_call_begins() -> None:
    def call(index: int, text: str) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": index, "custom": {"input": text}}]})

    chat = ChatStream(RESTORING, Seen())
    assert chat.feed(stream_of([call(0, "<PERS")], done=False)) == b""
    assert len(events_of(chat.feed(stream_of([call(1, "x")], done=False)))) == 2


def test_one_choice_that_never_goes_on_cannot_hold_the_others_for_ever() -> None:
    chat = ChatStream(RESTORING, Seen())
    chat.feed(stream_of([chunk({"content": "<PERS"}, 0)], done=False))
    out = b"".join([chat.feed(stream_of([chunk({"content": "x" * 99_999}, 1)], done=False)) for _ in range(50)])
    assert texts_of(events_of(out))[(0, "content")] == "<PERS"


def test_nothing_substituted_means_nothing_changed() -> None:
    sent = long_stream(3)
    out, seen = run(stream_of(sent), restoring=IDLE)
    assert events_of(out) == [*sent, "[DONE]"]
    assert seen.done
    assert seen.finish_reasons == ["tool_calls", "stop"]


def test_citations_point_into_the_restored_text() -> None:
    cited = {
        "type": "url_citation",
        "url_citation": {"start_index": 5, "end_index": 5 + len(P), "title": P, "url": f"https://x/{P}"},
    }
    inside = {"url_citation": {"start_index": 7, "end_index": 9}}
    text = f"Dear {P} and {M}"
    last = {"url_citation": {"start_index": text.index(M), "end_index": len(text)}}
    notes = [cited, inside, last]
    sent = [chunk({"content": piece}) for piece in pieces(text, 4)] + [chunk({"annotations": notes})]
    out: Any = events_of(run(stream_of(sent))[0])
    whole: Any = restore_answer({"choices": [{"message": {"annotations": notes, "content": text}}]}, RESTORING, Seen())
    for got, content in (
        (out[-2]["choices"][0]["delta"]["annotations"], texts_of(out)[(0, "content")]),
        (whole["choices"][0]["message"]["annotations"], whole["choices"][0]["message"]["content"]),
    ):
        spans = [content[note["url_citation"]["start_index"] : note["url_citation"]["end_index"]] for note in got]
        assert spans == [NAME, NAME, MAIL]
        assert got[0]["url_citation"]["title"] == NAME
        assert got[0]["url_citation"]["url"] == "https://x/Zo%C3%AB%20%22Zo%22%20M%C3%BCller"


def test_offsets_between_placeholders() -> None:
    moved = [Moved(2, 4, 2, 9), Moved(6, 8, 11, 12)]
    assert [remap(at, moved, at_end=False) for at in range(10)] == [0, 1, 2, 2, 9, 10, 11, 11, 12, 13]
    assert [remap(at, moved, at_end=True) for at in (2, 3, 4, 7)] == [2, 9, 9, 12]


def test_an_error_in_mid_stream_is_restored_and_passed_without_an_invented_end() -> None:
    error = {"error": {"message": f"about {P}", "type": "server_error", "code": "mid", "param": None}}
    out, seen = run(stream_of([chunk({"content": "x <PERS"}), error], done=False))
    assert events_of(out)[1]["error"]["message"] == f"about {NAME}"
    assert events_of(out)[0]["choices"][0]["delta"]["content"] == "x <PERS"
    assert b"[DONE]" not in out
    assert (seen.upstream_error, seen.done) == (True, False)


@pytest.mark.parametrize(
    ("events", "end", "done"),
    [
        ([chunk({"content": "x"})], b"", False),
        ([chunk({"content": "x"}, finish="stop")], b"", True),
        ([chunk({"content": "x"}, finish="stop"), chunk({"content": "y"}, 1)], b"", False),
        ([], b"", False),
        ([chunk({"content": "x"})], b"data: [DONE]", True),
        ([chunk({"content": "x"})], b'data: {"choices": [{"del', False),
        ([chunk({"content": f"x {P[:-3]}"})], b"", False),
    ],
)
def test_the_end_of_the_upstream(events: list[dict[str, Any]], end: bytes, done: bool) -> None:
    out, seen = run(stream_of(events, done=False) + end)
    assert seen.done is done
    assert texts_of(events_of(out)) == texts_of(events)


@pytest.mark.parametrize(
    "data",
    [
        "hello",
        "[]",
        '"x"',
        "5",
        "{}",
        '{"message": "x"}',
        '{"choices": {}}',
        '{"choices": ["x"]}',
        '{"a": NaN}',
        "<html>",
    ],
)
def test_what_is_not_understood_breaks_the_stream(data: str) -> None:
    with pytest.raises(BadAnswer):
        run(f"data: {data}\n\n".encode())


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"usage": {"prompt_tokens": 1}},
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"delta": {"content": [{"type": "text", "text": "x"}]}}]},
        {"object": "error", "message": "x", "code": 400},
    ],
)
def test_dialects_pass(event: dict[str, Any]) -> None:
    out, _ = run(stream_of([event]))
    assert events_of(out) == [event, "[DONE]"]


def test_an_error_beside_a_piece_of_the_answer_is_no_end() -> None:
    error = {"message": "x"}
    for event in (chunk({"content": "x"}, error=error), {**chunk({"content": "x"}), "object": "error"}):
        _, seen = run(stream_of([event], done=False))
        assert (seen.upstream_error, seen.done) == (False, False)
        _, seen = run(stream_of([event]))
        assert (seen.upstream_error, seen.done) == (False, True)
    _, seen = run(stream_of([chunk({"content": "x"}), {"choices": [], "error": error}], done=False))
    assert (seen.upstream_error, seen.done) == (True, False)


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"prompt_tokens": 9.0, "completion_tokens": "8"}, Usage(9, 8, None)),
        ({"prompt_tokens": " 9.0 ", "completion_tokens": 1.5}, Usage(9, None, None)),
        ({"prompt_tokens": 1, "input_tokens": 20_000, "output_tokens": 3}, Usage(1, 3, None)),
        ({"prompt_tokens": 20_000, "input_tokens": "1"}, Usage(1, None, None)),
        ({"input_tokens": "x", "prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4.0}}, Usage(7, None, 4)),
        ({"prompt_tokens": True, "completion_tokens": []}, Usage(None, None, None)),
    ],
)
def test_usage_in_any_spelling(told: dict[str, Any], usage: Usage) -> None:
    assert usage_of(told) == usage


FOREIGN = "<IBAN_CODE_123123>"


@pytest.mark.parametrize(
    "where",
    [
        lambda key: {**chunk({"content": "x"}), key: 1},
        lambda key: {**chunk(None), "choices": [{"index": 0, "delta": {"content": "x"}, key: "y"}]},
        lambda key: chunk({key: "x"}),
        lambda key: chunk({"details": [{key: {key: "x"}}]}),
        lambda key: {**chunk(None), "choices": [{"index": 0, "message": {"content": "x", key: None}}]},
    ],
)
def test_placeholders_in_keys_are_restored_and_foreign_ones_counted(where: Any) -> None:
    restoring, person, _ = restoration()
    out, _ = run(stream_of([where(person)]), restoring=restoring)
    wanted = where(NAME)
    if "logprobs" in wanted["choices"][0]:
        wanted["choices"][0]["logprobs"] = None
    assert events_of(out)[0] == wanted
    assert restoring.tally.foreign == 0
    run(stream_of([where(FOREIGN)]), restoring=restoring)
    assert restoring.tally.foreign > 0


def test_keys_of_a_whole_answer_are_restored_and_foreign_ones_counted() -> None:
    def answer(key: str) -> Any:
        return {key: 1, "choices": [{key: 2, "message": {"content": "x", key: None}}]}

    restoring, person, _ = restoration()
    assert restore_answer(answer(person), restoring, Seen()) == answer(NAME)
    restore_answer(answer(FOREIGN), restoring, Seen())
    assert restoring.tally.foreign == 3


def test_text_after_the_end_is_dropped() -> None:
    out, _ = run(stream_of([chunk({"content": "x"})]) + b"data: junk\n\n: more\n\n")
    assert events_of(out)[-1] == "[DONE]"


def client_for(stream: bytes) -> OpenAI:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=run(stream)[0])

    return OpenAI(
        api_key="k",
        base_url="http://127.0.0.1:1/v1",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_the_official_accumulator_reads_parallel_calls(size: int) -> None:
    events = [chunk({"role": "assistant", "content": None})]
    for i in (0, 1):
        head = {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": "f", "arguments": ""}}
        events += [chunk({"tool_calls": [head]})]
        events += [chunk({"tool_calls": [{"index": i, "function": {"arguments": p}}]}) for p in pieces(ARGUMENTS, size)]
    stream = stream_of([*events, chunk({}, finish="tool_calls")])
    with client_for(stream) as client, client.chat.completions.stream(model="m", messages=[]) as got:
        done = [event for event in got if event.type == "tool_calls.function.arguments.done"]
        final = got.get_final_completion()
    assert [json.loads(event.arguments)["to"] for event in done] == [f"{NAME} <{MAIL}>"] * 2
    assert [call.id for call in final.choices[0].message.tool_calls or []] == ["call_0", "call_1"]


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_the_official_accumulator_reads_content(size: int) -> None:
    events = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": piece}) for piece in pieces(SENT, size))]
    events += [chunk({}, finish="stop")]
    with client_for(stream_of(events)) as client, client.chat.completions.stream(model="m", messages=[]) as got:
        assert got.get_final_completion().choices[0].message.content == READ


def test_the_official_client_raises_on_an_error_event() -> None:
    error = {"error": {"message": f"about {P}", "type": "server_error", "code": "mid"}}
    with client_for(stream_of([chunk({"content": "x"}), error], done=False)) as client:
        stream = client.chat.completions.create(model="m", messages=[], stream=True)
        with pytest.raises(APIError, match="about Zoë"):
            list(stream)


ANSWER: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": SENT,
                "refusal": SENT,
                "reasoning_content": SENT,
                "reasoning_details": [{"type": "reasoning.text", "text": SENT, "signature": "c2ln"}],
                "audio": {"id": "audio_1", "transcript": SENT, "data": "UklGRg=="},
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": ARGUMENTS}},
                    {"id": "call_2", "type": "custom", "custom": {"name": "c", "input": SENT}},
                ],
                "function_call": {"name": "f", "arguments": ARGUMENTS},
            },
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "<P", "logprob": -0.1}]},
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17},
    "metadata": {"who": P, "id": P, "role": M},
}


def test_a_whole_answer_is_restored_field_by_field() -> None:
    seen = Seen()
    got: Any = restore_answer(ANSWER, RESTORING, seen)
    message = got["choices"][0]["message"]
    for text in ("content", "refusal", "reasoning_content"):
        assert message[text] == READ
    assert message["reasoning_details"][0]["text"] == message["audio"]["transcript"] == READ
    assert message["tool_calls"][1]["custom"]["input"] == READ
    for call in (message["tool_calls"][0]["function"], message["function_call"]):
        assert json.loads(call["arguments"])["to"] == f"{NAME} <{MAIL}>"
    assert got["metadata"] == {"who": NAME, "id": NAME, "role": MAIL}
    assert got["choices"][0]["logprobs"] is None
    assert seen == Seen(Usage(9, 8, None), "m", ["stop"], False, False)
    assert bare(got) == bare({**ANSWER, "choices": [{**ANSWER["choices"][0], "logprobs": None}]})


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_tool_that_the_policy_excludes_keeps_its_placeholders(size: int) -> None:
    vault = Vault(b"k" * 32)
    person = vault.issue("PERSON", NAME).placeholder
    restoring = Restoration(vault, in_tools=lambda tool: tool != "web_fetch")
    arguments = json.dumps({"q": person})
    calls = [
        {"index": 0, "id": "call_0", "type": "function", "function": {"name": "web_fetch", "arguments": arguments}},
        {"index": 1, "id": "call_1", "type": "function", "function": {"name": "mail", "arguments": arguments}},
    ]
    got: Any = restore_answer({"choices": [{"message": {"tool_calls": calls}}]}, restoring, Seen())
    whole = [json.loads(call["function"]["arguments"])["q"] for call in got["choices"][0]["message"]["tool_calls"]]
    events = []
    for call in calls:
        named: Any = {**call, "function": {**call["function"], "arguments": ""}}  # type: ignore[dict-item]
        events.append(chunk({"tool_calls": [named]}))
        for piece in pieces(arguments, size):
            events.append(chunk({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]}))
    texts = texts_of(events_of(run(stream_of(events), restoring=restoring)[0]))
    streamed = [json.loads(texts[(0, "tool_calls", call, "function", "arguments")])["q"] for call in (0, 1)]
    assert whole == streamed == [person, NAME]


def test_an_idle_answer_is_the_same_tree() -> None:
    seen = Seen()
    assert restore_answer(ANSWER, IDLE, seen) == ANSWER
    assert seen.usage == Usage(9, 8, None)


def test_error_bodies_are_restored() -> None:
    seen = Seen()
    body = {"error": {"message": f"{P} is too long", "type": "invalid_request_error", "param": None, "code": "x"}}
    got: Any = restore_answer(body, RESTORING, seen)
    assert got["error"]["message"] == f"{NAME} is too long"
    assert seen.upstream_error

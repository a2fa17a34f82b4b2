"""Streams of Anthropic's Messages API: restored for every cut of the bytes and split of the text, nothing else."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadAnswer
from proxy.model import Seen, Usage
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.messages import MessagesStream, restore_answer, rewrite_request
from proxy.wire.seals import Ledger
from proxy.wire.sse import KEEP_ALIVE
from tests.wire import CARD, MAIL, NAME, events_of, pieces, redacted, run

TEXT = f"Dear {NAME}, a < b, write to {MAIL} or <PERSON_1>."
INPUT = {"to": f"{NAME} <{MAIL}>", "card": CARD, "n": [1.5, None], "deep": {MAIL: CARD}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": INPUT}
SENT, RESTORING = redacted(
    rewrite_request,
    {
        "model": "m",
        "messages": [{"role": "user", "content": TEXT}, {"role": "assistant", "content": [CALL]}],
    },
)
ECHO = SENT["messages"][0]["content"]
SENT_INPUT = SENT["messages"][1]["content"][0]["input"]
P = ECHO[5 : ECHO.index(">") + 1]
IDLE = Restoration(Vault(b"k" * 32))
CITED = {"type": "char_location", "cited_text": ECHO, "document_index": 0, "start_char_index": 0, "end_char_index": 9}
USAGE = {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 1}


def start(**more: Any) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": USAGE}
    return {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None, **more}}


def block(index: int, begun: dict[str, Any], kind: str, field: str, texts: list[str]) -> list[dict[str, Any]]:
    deltas = [{"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text}} for text in texts]
    begin = {"type": "content_block_start", "index": index, "content_block": begun}
    return [begin, *deltas, {"type": "content_block_stop", "index": index}]


def text_block(index: int, texts: list[str]) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": "", "citations": None}, "text_delta", "text", texts)


def call_block(index: int, texts: list[str], name: str = "pay") -> list[dict[str, Any]]:
    begun = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    return block(index, begun, "input_json_delta", "partial_json", ["", *texts])


def thinking_block(index: int, texts: list[str]) -> list[dict[str, Any]]:
    begun = {"type": "thinking", "thinking": "", "signature": ""}
    events = block(index, begun, "thinking_delta", "thinking", texts)
    signed = {"type": "content_block_delta", "index": index, "delta": {"type": "signature_delta", "signature": "c2ln"}}
    return [*events[:-1], signed, events[-1]]


END: list[dict[str, Any]] = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 8},
    },
    {"type": "message_stop"},
]


def long_stream(size: int) -> list[dict[str, Any]]:
    """One of everything."""
    cited = text_block(2, pieces(ECHO, size))
    cited.insert(
        -1, {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": CITED}}
    )
    found = {"type": "web_search_result", "title": ECHO, "url": "https://x.org", "encrypted_content": "ZW5j"}
    result = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [found]}
    return [
        start(),
        {"type": "ping"},
        *thinking_block(0, pieces(f"I think {ECHO}", size)),
        *block(1, {"type": "redacted_thinking", "data": "ZW5j=="}, "", "", []),
        *cited,
        *call_block(3, pieces(json.dumps(SENT_INPUT), size)),
        *call_block(4, pieces(json.dumps({"q": P}, ensure_ascii=True), size)),
        *block(5, result, "", "", []),
        *END,
    ]


def stream_of(events: list[dict[str, Any]], eol: str = "\n") -> bytes:
    return "".join(
        f"event: {event['type']}{eol}data: {json.dumps(event, ensure_ascii=False)}{eol}{eol}" for event in events
    ).encode()


def restored(data: bytes, cuts: list[int] | None = None, restoring: Restoration = RESTORING) -> bytes:
    return run(MessagesStream(restoring, Seen()), data, cuts)


def texts_of(events: list[tuple[str | None, Any]]) -> dict[tuple[int, str], str]:
    """Every growing text, joined."""
    found: dict[tuple[int, str], str] = {}
    for _, event in events:
        for field, value in event.get("delta", {}).items() if event["type"] == "content_block_delta" else ():
            if isinstance(value, str) and field != "type":
                found[event["index"], field] = found.get((event["index"], field), "") + value
    return found


def bare(event: Any) -> Any:
    """An event without what may change."""
    event = copy.deepcopy(event)
    for name in ("text", "partial_json", "citation"):
        event.get("delta", {}).pop(name, None)
    if event.get("content_block", {}).get("type") == "web_search_tool_result":
        event["content_block"]["content"][0].pop("title")
    return event


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_every_text_is_restored_and_every_event_stays(size: int) -> None:
    sent = long_stream(size)
    seen = Seen()
    got = events_of(run(MessagesStream(RESTORING, seen), stream_of(sent)))
    assert [(event["type"], bare(event)) for event in sent] == [(name, bare(event)) for name, event in got]
    texts = texts_of(got)
    assert texts[0, "thinking"] == f"I think {ECHO}"
    assert texts[0, "signature"] == "c2ln"
    assert texts[2, "text"] == TEXT
    assert json.loads(texts[3, "partial_json"]) == INPUT
    assert json.loads(texts[4, "partial_json"]) == {"q": NAME}
    assert next(e["delta"]["citation"]["cited_text"] for _, e in got if "citation" in e.get("delta", {})) == TEXT
    assert got[-4][1]["content_block"]["content"][0]["title"] == TEXT
    assert seen == Seen(Usage(9, 8, 4), "m", ["tool_use"], False, True)


@given(st.lists(st.integers(0, 10**6), max_size=30), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([1, 3, 40]))
def test_cuts_between_bytes_change_nothing(cuts: list[int], eol: str, size: int) -> None:
    data = stream_of(long_stream(size), eol)
    assert restored(data, cuts) == restored(data)


def test_one_byte_at_a_time() -> None:
    data = stream_of([start(), *text_block(0, pieces(ECHO, 5)), *END])
    assert restored(data, list(range(len(data)))) == restored(data)


def test_every_two_cuts_of_a_placeholder() -> None:
    text = f"Hi {P}, ok"
    for a, b in itertools.combinations(range(1, len(text)), 2):
        out = restored(stream_of([start(), *text_block(0, [text[:a], text[a:b], text[b:]]), *END]))
        assert texts_of(events_of(out)) == {(0, "text"): f"Hi {NAME}, ok"}


@given(st.data())
def test_any_split_of_a_tools_input_is_the_json_that_it_was(data: st.DataObject) -> None:
    text = json.dumps(SENT_INPUT, ensure_ascii=data.draw(st.booleans()))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    split = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    out = restored(stream_of([start(), *call_block(0, split), *END]))
    streamed = json.loads(texts_of(events_of(out))[0, "partial_json"])
    call = {**CALL, "input": SENT_INPUT}
    whole: Any = restore_answer({"type": "message", "content": [call]}, RESTORING, Seen())
    assert streamed == whole["content"][0]["input"] == INPUT


@given(st.lists(st.sampled_from(["a", " ", "<", P, P[:-1], MAIL[:5], "PERSON", "\\", '"', "{"]), max_size=8), st.data())
def test_any_split_of_any_text_is_restored_as_a_whole(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    split = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    out = events_of(restored(stream_of([start(), *text_block(0, split), *END])))
    expected: Any = restore_answer({"x": text}, RESTORING, Seen())
    assert texts_of(out).get((0, "text"), "") == expected["x"]
    assert len(out) == len(split) + 5


def test_a_tools_input_is_json_even_where_it_does_not_look_like_it() -> None:
    out = restored(stream_of([start(), *call_block(0, pieces(f'"{P}"', 4)), *END]))
    assert json.loads(texts_of(events_of(out))[0, "partial_json"]) == NAME


def test_held_text_leaves_in_front_of_the_end_of_its_block() -> None:
    stream = MessagesStream(RESTORING, Seen())
    events = [start(), *text_block(0, ["a ", P[:4], P[4:-1]])]
    out = [events_of(stream.feed(stream_of([event]))) for event in events]
    assert [len(leaving) for leaving in out] == [1, 1, 1, 0, 0, 3]
    assert [e["type"] for _, e in out[-1]] == ["content_block_delta", "content_block_delta", "content_block_stop"]
    assert "".join(e["delta"]["text"] for _, e in out[-1][:2]) == NAME


def test_a_ping_waits_behind_held_text_and_comments_do_not() -> None:
    stream = MessagesStream(RESTORING, Seen())
    stream.feed(stream_of([start(), *text_block(0, ["<PERS"])[:-1]]))
    assert stream.feed(stream_of([{"type": "ping"}])) == b""
    assert stream.feed(b": upstream says zoe\n\n") == KEEP_ALIVE
    assert [name for name, _ in events_of(stream.feed(stream_of([END[0]])))] == [
        "content_block_delta",
        "ping",
        "message_delta",
    ]


def test_text_that_its_block_begins_with_is_part_of_it() -> None:
    begun = {"text": f"Hi {P[:5]}", "type": "text", "note": P}
    out = events_of(restored(stream_of([start(), *block(0, begun, "text_delta", "text", [P[5:], " ok"]), *END])))
    assert list(out[1][1]["content_block"]) == ["text", "type", "note"]
    assert out[1][1]["content_block"]["note"] == NAME
    assert out[1][1]["content_block"]["text"] + texts_of(out)[0, "text"] == f"Hi {NAME} ok"


def test_blocks_may_interleave() -> None:
    one, two = text_block(0, pieces(ECHO, 3)), text_block(1, pieces(ECHO, 4))
    mixed = [event for pair in itertools.zip_longest(one, two) for event in pair if event]
    texts = texts_of(events_of(restored(stream_of([start(), *mixed, *END]))))
    assert texts[0, "text"] == texts[1, "text"] == TEXT


def test_a_tool_that_the_policy_excludes_keeps_its_placeholders() -> None:
    restoring = Restoration(RESTORING.vault, in_tools=lambda tool: tool != "web_fetch")
    text = json.dumps({"q": P})
    calls = [*call_block(0, pieces(text, 3), "web_fetch"), *call_block(1, pieces(text, 3), "mail")]
    texts = texts_of(events_of(restored(stream_of([start(), *calls, *END]), restoring=restoring)))
    assert json.loads(texts[0, "partial_json"]) == {"q": P}
    assert json.loads(texts[1, "partial_json"]) == {"q": NAME}


def test_nothing_substituted_means_nothing_changed() -> None:
    sent = long_stream(3)
    assert [event for _, event in events_of(restored(stream_of(sent), restoring=IDLE))] == sent


def test_new_kinds_of_events_and_deltas_are_restored_and_pass() -> None:
    new = [
        {"type": "some_news", "text": f"about {P}"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "words": P[:5], "id": P[1:-1]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "words": P[5:], "n": [P]}},
        {"type": "content_block_delta", "index": 0, "delta": None},
        {"type": "content_block_start", "index": 1, "content_block": None},
    ]
    out = [event for _, event in events_of(restored(stream_of([start(), *new, *END])))]
    assert out[1] == {"type": "some_news", "text": f"about {NAME}"}
    assert out[2]["delta"] == {"type": "new_delta", "words": NAME, "id": P[1:-1]}
    assert out[3]["delta"] == {"type": "new_delta", "words": "", "n": [NAME]}
    assert out[4:6] == new[3:]


def test_what_the_last_events_say_is_restored() -> None:
    end = copy.deepcopy(END)
    end[0]["delta"].update(stop_sequence=P, stop_details={"type": "refusal", "explanation": ECHO})
    out = [event for _, event in events_of(restored(stream_of([start(), *end])))]
    assert out[1]["delta"]["stop_sequence"] == NAME
    assert out[1]["delta"]["stop_details"]["explanation"] == TEXT


def test_an_error_in_mid_stream_is_restored_and_nothing_is_invented_behind_it() -> None:
    seen = Seen()
    error = {"type": "error", "error": {"type": "overloaded_error", "message": f"about {P}"}}
    out = events_of(run(MessagesStream(RESTORING, seen), stream_of([start(), *text_block(0, ["<PERS"])[:-1], error])))
    assert [name for name, _ in out] == ["message_start", "content_block_start", "content_block_delta", "error"]
    assert out[2][1]["delta"]["text"] == "<PERS"
    assert out[3][1]["error"]["message"] == f"about {NAME}"
    assert (seen.upstream_error, seen.done) == (True, False)


def test_an_error_beside_a_piece_of_the_answer_is_no_end() -> None:
    error = {"type": "overloaded_error", "message": "x"}
    for event in ({**END[0], "error": error}, start(error=error), {"type": "ping", "error": error}):
        seen = Seen()
        run(MessagesStream(RESTORING, seen), stream_of([start(), *text_block(0, ["x"]), event]))
        assert (seen.upstream_error, seen.done) == (False, False)
    seen = Seen()
    run(MessagesStream(RESTORING, seen), stream_of([start(), {"type": "server_error", "error": error}]))
    assert seen.upstream_error


@pytest.mark.parametrize(
    ("data", "done"),
    [
        (stream_of([start(), *text_block(0, ["x"]), *END]), True),
        (stream_of([start(), *text_block(0, ["x"]), *END])[:-1], True),
        (stream_of([start(), *text_block(0, ["x"]), END[0]]), False),
        (stream_of([start(), *text_block(0, ["x"])]) + b'event: message_stop\ndata: {"type": "mess', False),
        (stream_of([start()]) + b"data: [DONE]\n\n", False),
        (b"", False),
    ],
)
def test_only_message_stop_ends_a_stream(data: bytes, done: bool) -> None:
    seen = Seen()
    run(MessagesStream(RESTORING, seen), data)
    assert seen.done is done


def test_text_after_the_end_is_dropped() -> None:
    data = stream_of([start(), *END])
    assert restored(data + b"event: ping\ndata: junk\n\ndata: [DONE]\n\n") == restored(data)


@pytest.mark.parametrize(
    "data", ["hello", "[]", '"x"', "5", "{}", '{"text": "x"}', '{"type": 5}', '{"a": NaN}', "<html>"]
)
def test_what_is_not_understood_breaks_the_stream(data: str) -> None:
    with pytest.raises(BadAnswer):
        restored(f"event: ping\ndata: {data}\n\n".encode())


def test_the_last_event_of_a_stream_that_is_broken_off() -> None:
    refusal = BadAnswer("It cannot be an answer to this.", code="usage_mismatch")
    name, event = events_of(MessagesStream(RESTORING, Seen()).broken(refusal))[0]
    assert (name, event["type"]) == ("error", "error")
    assert event["error"]["type"] == "api_error"


def client_for(data: bytes) -> anthropic.Anthropic:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    return anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:1", max_retries=0, http_client=transport)


def ask(data: bytes) -> Any:
    client = client_for(data)
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_the_official_accumulator_reads_the_stream(size: int) -> None:
    final = ask(restored(stream_of(long_stream(size), "\r\n")))
    assert final.content[0].thinking == f"I think {ECHO}"
    assert final.content[0].signature == "c2ln"
    assert final.content[1].data == "ZW5j=="
    assert final.content[2].text == TEXT
    assert final.content[2].citations[0].cited_text == TEXT
    assert final.content[3].input == INPUT
    assert final.content[4].input == {"q": NAME}
    assert (final.stop_reason, final.usage.output_tokens) == ("tool_use", 8)


def test_the_official_client_raises_what_breaks_the_stream() -> None:
    stream = MessagesStream(RESTORING, Seen())
    data = stream.feed(stream_of([start(), *text_block(0, ["x"])]))
    data += stream.broken(BadAnswer("It cannot be an answer to this.", code="usage_mismatch"))
    with pytest.raises(anthropic.APIStatusError, match="cannot be an answer"):
        ask(data)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_thinking_that_the_client_puts_together_is_known_when_it_comes_back(size: int) -> None:
    seals = Ledger(b"tenant")
    thought = f"The contact may be {MAIL}, says {P}."
    data = stream_of([start(), *thinking_block(0, pieces(thought, size)), *text_block(1, ["x"]), *END])
    final = ask(run(MessagesStream(RESTORING, Seen(), seals), data))
    block = final.content[0].to_dict()
    assert block["thinking"] == thought
    assert seals.received(block) == block
    messages = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": [block]}]
    sent, _ = redacted(rewrite_request, {"model": "m", "messages": messages}, seals=seals)
    assert sent["messages"][1]["content"] == [block]


@given(st.lists(st.integers(0, 10**6), max_size=9), st.lists(st.integers(0, 10**6), max_size=9))
def test_thinking_that_is_shown_goes_back_as_it_was_received(splits: list[int], cuts: list[int]) -> None:
    seals = Ledger(b"tenant", shows=True)
    thought = f"I think {ECHO} or {P[1:-1].lower()} and <PERS"
    edges = sorted({0, len(thought), *(at % len(thought) for at in splits)})
    events = thinking_block(0, [thought[a:b] for a, b in itertools.pairwise(edges)])
    events[0]["content_block"]["thinking"] = P
    data = stream_of([start(), *events, *text_block(1, ["x"]), *END])
    final = ask(run(MessagesStream(RESTORING, Seen(), seals), data, cuts))
    block = final.content[0].to_dict()
    assert block["thinking"] == f"{NAME}I think {TEXT} or {NAME} and <PERS"
    messages = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": [block]}]
    sent, _ = redacted(rewrite_request, {"model": "m", "messages": messages}, seals=seals)
    assert sent["messages"][1]["content"] == [{**block, "thinking": P + thought}]

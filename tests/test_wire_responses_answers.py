"""Answers and streams of the Responses API: restored for every cut, and everything that is told twice agrees."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from proxy.errors import BadAnswer, UpstreamUnreachable
from proxy.model import Seen, Usage
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.responses_answers import restore_answer
from proxy.wire.responses_events import GROWING
from proxy.wire.responses_stream import ResponsesStream
from proxy.wire.sse import KEEP_ALIVE, SSEParser
from tests.responses_samples import FUNCTION, items

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
USAGE = {
    "input_tokens": 9,
    "output_tokens": 8,
    "total_tokens": 17,
    "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
CITED = [
    {"type": "url_citation", "start_index": 5, "end_index": 5 + len(P), "title": P, "url": f"https://x/{P}"},
    {"type": "file_citation", "file_id": "file_1", "filename": f"{P}.txt", "index": len(SENT)},
]
TEXT_PART = {
    "type": "output_text",
    "text": SENT,
    "annotations": CITED,
    "logprobs": [{"token": "<P", "logprob": -0.1, "bytes": [60, 80], "top_logprobs": []}],
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [TEXT_PART, {"type": "refusal", "refusal": SENT}],
}


def output() -> list[dict[str, Any]]:
    """An answer with every type of item in it."""
    samples = items(SENT)
    kinds = [
        *("reasoning", "function_call", "custom_tool_call", "mcp_call", "code_interpreter_call", "shell_call"),
        *("shell_call_output", "file_search_call", "web_search_call", "computer_call", "local_shell_call"),
        *("apply_patch_call", "mcp_list_tools", "mcp_approval_request", "program", "program_output"),
        *("tool_search_call", "tool_search_output", "image_generation_call"),
    ]
    picked = [{"id": f"it_{kind}", **samples[kind]} for kind in kinds]
    for item in picked:
        if "arguments" in item and isinstance(item["arguments"], str):
            item["arguments"] = ARGUMENTS
    picked[-1]["result"] = "iVBORw0KGgo="
    return [MESSAGE, *picked]


def response(found: list[dict[str, Any]], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1790000000,
        "status": status,
        "model": "gpt-5.6",
        "error": None,
        "incomplete_details": None,
        "instructions": f"Help {P}.",
        "metadata": {"who": P, "id": P},
        "output": found,
        "parallel_tool_calls": True,
        "prompt": {"id": "pmpt_1", "variables": {"who": {"type": "input_text", "text": SENT}}},
        "reasoning": {"effort": None, "summary": None},
        "temperature": 1.0,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"properties": {"logprobs": {"enum": [P]}}}}},
        "tool_choice": "auto",
        "tools": [{**FUNCTION, "description": f"for {M}", "strict": True}],
        "top_p": 1.0,
        "user": M,
        "usage": None if status == "in_progress" else USAGE,
        **more,
    }


Event = dict[str, Any]


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def grown(name: str, text: str, size: int, field: str, where: dict[str, Any]) -> list[Event]:
    """A text that grows by deltas and is told whole at the end."""
    deltas = [{"type": f"{name}.delta", **where, "delta": piece, "obfuscation": "xx"} for piece in pieces(text, size)]
    return [*deltas, {"type": f"{name}.done", **where, field: text}]


def of_part(part: dict[str, Any], size: int, where: dict[str, Any]) -> list[Event]:
    field = "refusal" if part["type"] == "refusal" else "text"
    events: list[Event] = [{"type": "response.content_part.added", **where, "part": {**part, field: ""}}]
    if "annotations" in part:
        events[0]["part"].update(annotations=[], logprobs=[])
    name = {"output_text": "output_text", "refusal": "refusal", "reasoning_text": "reasoning_text"}[part["type"]]
    texts = grown(f"response.{name}", part[field], size, field, where)
    for event in texts:
        if name == "output_text":
            event["logprobs"] = [{"token": "<P", "logprob": -0.1}]
    notes: list[Event] = [
        {"type": "response.output_text.annotation.added", **where, "annotation_index": at, "annotation": note}
        for at, note in enumerate(part.get("annotations", []))
    ]
    return [*events, *texts[:-1], *notes, texts[-1], {"type": "response.content_part.done", **where, "part": part}]


def of_item(item: dict[str, Any], size: int, where: dict[str, Any]) -> list[Event]:
    """The events between an item's `added` and `done`."""
    match item["type"]:
        case "message":
            return [
                e for i, part in enumerate(item["content"]) for e in of_part(part, size, {**where, "content_index": i})
            ]
        case "reasoning":
            at = {**where, "summary_index": 0}
            (told,) = item["summary"]
            return [
                {"type": "response.reasoning_summary_part.added", **at, "part": {**told, "text": ""}},
                *grown("response.reasoning_summary_text", told["text"], size, "text", at),
                {"type": "response.reasoning_summary_part.done", **at, "part": told},
                *of_part(item["content"][0], size, {**where, "content_index": 0}),
            ]
        case "function_call":
            texts = grown("response.function_call_arguments", item["arguments"], size, "arguments", where)
            return [*texts[:-1], {**texts[-1], "name": item["name"]}]
        case "mcp_call":
            return [
                {"type": "response.mcp_call.in_progress", **where},
                *grown("response.mcp_call_arguments", item["arguments"], size, "arguments", where),
                {"type": "response.mcp_call.completed", **where},
            ]
        case "custom_tool_call":
            return grown("response.custom_tool_call_input", item["input"], size, "input", where)
        case "code_interpreter_call":
            return grown("response.code_interpreter_call_code", item["code"], size, "code", where)
        case "shell_call":
            at = {"output_index": where["output_index"], "command_index": 0}
            (command,) = item["action"]["commands"]
            added = {"type": "response.shell_call_command.added", **at, "command": ""}
            return [added, *grown("response.shell_call_command", command, size, "command", at)]
        case "shell_call_output":
            at = {**where, "command_index": 0}
            name, text = "response.shell_call_output_content", item["output"][0]["stdout"]
            both = [{"type": f"{name}.delta", **at, "delta": {"stdout": p, "stderr": p}} for p in pieces(text, size)]
            return [*both, {"type": f"{name}.done", **at, "output": item["output"]}]
        case _:
            return []


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it is added: its texts are still empty."""
    empty: dict[str, Any] = {"arguments": "", "input": "", "code": "", "content": [], "summary": []}
    return {key: empty.get(key, value) if isinstance(value, str | list) else value for key, value in item.items()}


def long_stream(size: int, found: list[dict[str, Any]] | None = None) -> list[Event]:
    """One of everything."""
    found = output() if found is None else found
    start = response([], "in_progress")
    events: list[Event] = [{"type": f"response.{word}", "response": start} for word in ("created", "in_progress")]
    for at, item in enumerate(found):
        where = {"item_id": item["id"], "output_index": at}
        events.append({"type": "response.output_item.added", "output_index": at, "item": begun(item)})
        events += of_item(item, size, where)
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events += grown("response.audio.transcript", SENT, size, "x", {})[:-1]
    events += [{"type": "response.audio.delta", "delta": "UklGRg=="}, {"type": "response.audio.transcript.done"}]
    events.append({"type": "response.completed", "response": response(found)})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def stream_of(events: list[Event], eol: str = "\n") -> bytes:
    return "".join(
        f"event: {event.get('type', 'error')}{eol}data: {json.dumps(event, ensure_ascii=False)}{eol}{eol}"
        for event in events
    ).encode()


def run(stream: bytes, cuts: list[int] | None = None, restoring: Restoration = RESTORING) -> tuple[bytes, Seen]:
    seen = Seen()
    reader = ResponsesStream(restoring, seen)
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts or [])})
    return b"".join([reader.feed(stream[a:b]) for a, b in itertools.pairwise(edges)]) + reader.finish(), seen


def events_of(stream: bytes) -> list[Event]:
    found = [event for event in SSEParser().feed(stream) if not event.comment]
    events = [json.loads(event.data) for event in found]
    assert [event.name for event in found] == [event.get("type", "error") for event in events]
    return events


def grew(events: list[Event]) -> dict[tuple[Any, ...], str]:
    """Every text that grew, joined: by its name, and where it stands."""
    texts: dict[tuple[Any, ...], str] = {}
    for event in events:
        name, _, end = event["type"].rpartition(".")
        if end != "delta" or name not in GROWING:
            continue
        index = GROWING[name][1]
        key = (name, event.get("output_index"), event.get(index) if index else None)
        delta = event["delta"]
        for field, piece in delta.items() if isinstance(delta, dict) else [("", delta)]:
            texts[(*key, field)] = texts.get((*key, field), "") + piece
    return texts


def bare(node: Any) -> Any:
    """An event without its texts, probabilities and offsets."""
    if isinstance(node, dict):
        moved = {"logprobs", "start_index", "end_index", "index"}
        return {key: node[key] if key == "type" else None if key in moved else bare(node[key]) for key in node}
    if isinstance(node, list):
        return [bare(value) for value in node]
    return "" if isinstance(node, str) else node


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_every_text_is_restored_and_every_event_stays(size: int) -> None:
    sent = long_stream(size)
    out, seen = run(stream_of(sent))
    got = events_of(out)
    assert bare(got) == bare(sent)
    texts = grew(got)
    assert {name for name, *_ in texts} == set(GROWING)
    for (name, *_), text in texts.items():
        if name.endswith("arguments"):
            assert json.loads(text)["to"] == f"{NAME} <{MAIL}>"
        else:
            assert text == READ
    assert seen == Seen(Usage(9, 8, 7), "gpt-5.6", ["completed"], False, True)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_is_told_again_agrees_with_what_grew(size: int) -> None:
    got = events_of(run(stream_of(long_stream(size)))[0])
    texts = grew(got)
    told = 0
    for event in got:
        name, _, end = event["type"].rpartition(".")
        if end == "done" and name in GROWING and GROWING[name][0] in event and isinstance(event[GROWING[name][0]], str):
            index = GROWING[name][1]
            key = (name, event.get("output_index"), event.get(index) if index else None, "")
            assert event[GROWING[name][0]] == texts[key]
            told += 1
    assert told == 9
    final = got[-1]["response"]
    assert [event["item"] for event in got if event["type"] == "response.output_item.done"] == final["output"]
    parts = [event["part"] for event in got if event["type"] == "response.content_part.done"]
    assert parts == [*final["output"][0]["content"], *final["output"][1]["content"]]
    whole: Any = restore_answer(response(output()), RESTORING, Seen())
    assert final == whole


def test_the_events_echo_the_request_as_the_client_wrote_it() -> None:
    for event in (events_of(run(stream_of(long_stream(9)))[0])[at]["response"] for at in (0, 1, -1)):
        assert event["instructions"] == f"Help {NAME}."
        assert event["metadata"] == {"who": NAME, "id": NAME}
        assert event["user"] == MAIL
        assert event["tools"][0]["description"] == f"for {MAIL}"
        assert event["tools"][0]["name"] == "get_weather"
        assert event["text"]["format"]["schema"]["properties"]["logprobs"]["enum"] == [NAME]
        assert event["prompt"]["variables"]["who"]["text"] == READ


@given(st.lists(st.integers(0, 10**6), max_size=30), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from([1, 3, 40]))
def test_cuts_between_bytes_change_nothing(cuts: list[int], eol: str, size: int) -> None:
    stream = stream_of(long_stream(size, [MESSAGE]), eol)
    assert run(stream, cuts)[0] == run(stream)[0]


@pytest.mark.parametrize("name", sorted(set(GROWING) - {"response.shell_call_output_content"}))
def test_every_two_cuts_of_a_placeholder(name: str) -> None:
    text = f"Hi {P}, ok"
    for a, b in itertools.combinations(range(1, len(text)), 2):
        events = [{"type": f"{name}.delta", "delta": piece} for piece in (text[:a], text[a:b], text[b:])]
        assert list(grew(events_of(run(stream_of(events))[0])).values()) == [f"Hi {NAME}, ok"]


@given(st.lists(st.sampled_from(["a", " ", "<", P, P[:-1], M[:5], "PERSON", "\\", '"', "{"]), max_size=8), st.data())
def test_any_split_of_any_text_agrees_with_the_whole(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    deltas = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    events: list[Event] = [{"type": "response.output_text.delta", **where, "delta": delta} for delta in deltas]
    got = events_of(run(stream_of([*events, {"type": "response.output_text.done", **where, "text": text}]))[0])
    assert "".join(event["delta"] for event in got[:-1]) == got[-1]["text"]
    assert len(got) == len(deltas) + 1


def test_events_leave_at_once_when_nothing_is_held() -> None:
    reader = ResponsesStream(RESTORING, Seen())
    texts = ("words ", P[:4], P[4:-1], ">", " end")
    out = [reader.feed(stream_of([{"type": "response.output_text.delta", "delta": text}])) for text in texts]
    assert [len(events_of(events)) for events in out] == [1, 0, 0, 3, 1]
    assert reader.feed(b": upstream says mira\n\n") == KEEP_ALIVE


@pytest.mark.parametrize(
    "last",
    [
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "see <PERS"},
        {"type": "response.content_part.done", "output_index": 0, "content_index": 0, "part": {"type": "output_text"}},
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": "message"}},
        {"type": "response.completed", "response": {}},
        {"type": "response.incomplete", "response": {}},
        {"type": "error", "message": "x"},
    ],
)
def test_a_text_ends_with_whatever_says_that_it_is_complete(last: Event) -> None:
    reader = ResponsesStream(RESTORING, Seen())
    where = {"output_index": 0, "content_index": 0}
    assert reader.feed(stream_of([{"type": "response.output_text.delta", **where, "delta": "see <PERS"}])) == b""
    other = {**last, "output_index": 1, "content_index": 1}
    if last["type"] in {"response.output_text.done", "response.content_part.done", "response.output_item.done"}:
        assert reader.feed(stream_of([other])) == b""
    events = events_of(reader.feed(stream_of([last])))
    assert events[0]["delta"] == "see <PERS"
    assert events[-1] == last


def test_texts_of_two_items_may_take_turns() -> None:
    events = [
        {"type": "response.output_text.delta", "output_index": at, "content_index": 0, "delta": piece}
        for piece in pieces(SENT, 3)
        for at in (0, 1)
    ]
    assert set(grew(events_of(run(stream_of(events))[0])).values()) == {READ}


def test_nothing_substituted_means_nothing_changed() -> None:
    sent = long_stream(3)
    out, seen = run(stream_of(sent), restoring=IDLE)
    assert events_of(out) == sent
    assert seen.done
    assert restore_answer(response(output()), IDLE, Seen()) == response(output())


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_citations_point_into_the_restored_text(size: int) -> None:
    got = events_of(run(stream_of(long_stream(size, [MESSAGE])))[0])
    added = [event["annotation"] for event in got if event["type"] == "response.output_text.annotation.added"]
    part = got[-1]["response"]["output"][0]["content"][0]
    assert added == part["annotations"]
    assert part["text"][added[0]["start_index"] : added[0]["end_index"]] == NAME == added[0]["title"]
    assert added[0]["url"] == "https://x/Zo%C3%AB%20%22Zo%22%20M%C3%BCller"
    assert added[1]["index"] == len(READ)
    assert added[1]["filename"] == f"{NAME}.txt"
    assert part["logprobs"] == []
    assert all(event.get("logprobs", []) == [] for event in got)


def test_what_is_sealed_comes_back_byte_for_byte() -> None:
    got: Any = restore_answer(response(output()), RESTORING, Seen())
    kinds = {item["type"]: item for item in got["output"]}
    assert kinds["reasoning"]["encrypted_content"] == "gAAAAABm_x-Y=="
    assert kinds["program"]["fingerprint"] == "fpr_x=="
    assert kinds["image_generation_call"]["result"] == "iVBORw0KGgo="
    assert kinds["program"]["code"] == f"f('{READ}')"
    assert kinds["image_generation_call"]["revised_prompt"] == READ


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("pay", {"response.function_call_arguments"}),
        ("code", {"response.custom_tool_call_input"}),
        ("t", {"response.mcp_call_arguments"}),
        ("code_interpreter", {"response.code_interpreter_call_code"}),
        ("shell", {"response.shell_call_command"}),
        ("web_search", set()),
        ("apply_patch", set()),
    ],
)
def test_a_tool_that_the_policy_excludes_keeps_its_placeholders(size: int, tool: str, kinds: set[str]) -> None:
    restoring = Restoration(RESTORING.vault, in_tools=lambda name: name != tool)
    got = events_of(run(stream_of(long_stream(size)), restoring=restoring)[0])
    assert {name for (name, *_), text in grew(got).items() if P in text} == kinds
    assert [event["item"] for event in got if event["type"] == "response.output_item.done"] == got[-1]["response"][
        "output"
    ]
    for event in got:
        if event["type"].removesuffix(".done") in kinds:
            assert P in json.dumps(event)
    excluded = [item for item in got[-1]["response"]["output"] if P in json.dumps(item)]
    assert excluded
    assert all(tool in (item.get("name"), item["type"].removesuffix("_call")) for item in excluded)


def test_error_bodies_and_failed_responses_are_restored() -> None:
    seen = Seen()
    error: Any = {"error": {"message": f"{P} is too long", "type": "invalid_request_error", "param": None, "code": "x"}}
    got: Any = restore_answer(error, RESTORING, seen)
    assert got["error"]["message"] == f"{NAME} is too long"
    assert seen.upstream_error
    failed = response([], "failed", error={"code": "server_error", "message": f"about {P}"})
    out, seen = run(stream_of([{"type": "response.failed", "response": failed, "sequence_number": 0}]))
    assert events_of(out)[0]["response"]["error"]["message"] == f"about {NAME}"
    assert (seen.upstream_error, seen.done, seen.finish_reasons) == (True, True, ["failed"])


def test_an_answer_that_was_cut_says_why() -> None:
    seen = Seen()
    restore_answer(response([], "incomplete", incomplete_details={"reason": "max_output_tokens"}), RESTORING, seen)
    assert (seen.finish_reasons, seen.usage) == (["max_output_tokens"], Usage(9, 8, 7))


def test_counted_tokens_pass() -> None:
    assert restore_answer({"object": "response.input_tokens", "input_tokens": 7}, RESTORING, Seen()) == {
        "object": "response.input_tokens",
        "input_tokens": 7,
    }


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "code": "mid", "message": f"about {P}", "param": None, "sequence_number": 1},
        {"error": {"message": f"about {P}", "type": "server_error", "code": "mid"}},
    ],
)
def test_an_error_in_mid_stream_is_restored_and_passed_without_an_invented_end(error: Event) -> None:
    out, seen = run(stream_of([{"type": "response.output_text.delta", "delta": "x <PERS"}, error]))
    got = events_of(out)
    assert [got[0]["delta"], f"about {NAME}" in json.dumps(got[1], ensure_ascii=False)[:0] or len(got)] == [
        "x <PERS",
        2,
    ]
    assert (got[1].get("error") or got[1])["message"] == f"about {NAME}"
    assert (seen.upstream_error, seen.done) == (True, False)


DELTA = {"type": "response.output_text.delta", "delta": "x", "sequence_number": 4}
END = {"type": "response.completed", "response": response([])}


@pytest.mark.parametrize(
    ("events", "end", "done"),
    [
        ([DELTA], b"", False),
        ([], b"", False),
        ([DELTA, END], b"", True),
        ([DELTA], stream_of([END]).rstrip(), True),
        ([DELTA], b'event: response.completed\ndata: {"type": "respo', False),
        ([DELTA, END], b"data: [DONE]\n\n", True),
    ],
)
def test_the_end_of_the_upstream(events: list[Event], end: bytes, done: bool) -> None:
    out, seen = run(stream_of(events) + end)
    assert seen.done is done
    assert out.count(b"[DONE]") == end.count(b"[DONE]")


def test_a_done_without_an_end_is_a_stream_that_broke_off() -> None:
    with pytest.raises(BadAnswer) as caught:
        run(stream_of([DELTA]) + b"data: [DONE]\n\n")
    assert caught.value.code == "upstream_stream_broken"


def test_what_comes_after_the_end_is_dropped() -> None:
    out, _ = run(stream_of([END, DELTA]) + b"data: junk\n\n: more\n\n")
    assert [event["type"] for event in events_of(out)] == ["response.completed"]


def test_a_stream_that_is_broken_off_says_so_in_the_providers_form() -> None:
    reader = ResponsesStream(RESTORING, Seen())
    reader.feed(stream_of([DELTA]))
    (event,) = events_of(reader.broken(UpstreamUnreachable("It broke.")))
    assert event == {
        "type": "error",
        "code": "upstream_unreachable",
        "message": "It broke.",
        "param": None,
        "sequence_number": 5,
    }


BARE = {"item_id": "ws_1", "output_index": 0, "sequence_number": 3}


@pytest.mark.parametrize(
    "kind",
    [
        *(f"response.web_search_call.{word}" for word in ("in_progress", "searching", "completed")),
        *(f"response.image_generation_call.{word}" for word in ("in_progress", "generating", "completed")),
        *(f"response.mcp_list_tools.{word}" for word in ("in_progress", "completed", "failed")),
        "response.compaction.compacting",
        "response.telepathy_call.listening",
    ],
)
def test_signs_of_progress_pass(kind: str) -> None:
    event = {"type": kind, **BARE}
    assert events_of(run(stream_of([event]))[0]) == [event]


def test_pictures_on_their_way_pass() -> None:
    event = {"type": "response.image_generation_call.partial_image", **BARE, "partial_image_b64": "iVBORw0KGgo="}
    assert events_of(run(stream_of([event]))[0]) == [event]


@pytest.mark.parametrize(
    "event",
    [
        "hello",
        [],
        {},
        {"type": 5},
        {"type": "response.telepathy.delta", "delta": "x", **BARE},
        {"type": "response.telepathy_call.listening", **BARE, "item_id": "Mira Tallow"},
        {"type": "response.telepathy_call.listening", **BARE, "output_index": {"x": "y"}},
        {"type": "telepathy.begun", **BARE},
        {"choices": [{"delta": {"content": "x"}}]},
    ],
)
def test_what_is_not_understood_breaks_the_stream(event: Any) -> None:
    with pytest.raises(BadAnswer):
        run(f"data: {json.dumps(event)}\n\n".encode())


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
def test_the_official_accumulator_reads_the_stream(size: int) -> None:
    call = {**items()["function_call"], "arguments": ARGUMENTS, "status": "completed"}
    events = [event for event in long_stream(size, [MESSAGE, call]) if "audio" not in event["type"]]
    with client_for(stream_of(events)) as client, client.responses.stream(model="m", input="x") as got:
        snapshots = [event.snapshot for event in got if event.type == "response.output_text.delta"]
        final = got.get_final_response()
    assert final.output_text == snapshots[-1] == READ
    called = final.output[1]
    assert called.type == "function_call"
    assert json.loads(called.arguments)["to"] == f"{NAME} <{MAIL}>"

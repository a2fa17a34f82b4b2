"""Requests and answers of Anthropic's Messages API: every leaf is seen or refused, signed blocks stay as they are."""

from __future__ import annotations

import ast
import copy
import json
import re
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import (
    BadAnswer,
    BadRequest,
    BlockedEntity,
    BodyTooLarge,
    ContextLengthExceeded,
    Refusal,
    Unavailable,
    UnsupportedByPolicy,
    UpstreamUnreachable,
)
from proxy.model import JSON, Kind, Leaf, Seen, Usage
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.base import number_text, parse_answer, parse_strict, serialise
from proxy.wire.messages import error_body, opening, restore_answer, rewrite_request
from proxy.wire.seals import Ledger, digests, read, written
from recognizers import ENTITIES
from tests.bodies import SHAPES, as_is, nodes, planted, put
from tests.wire import CARD, MAIL, NAME, VALUES, leaves_of, redacted, values_in

CACHE = {"type": "ephemeral", "ttl": "5m"}
CITATION = {
    "type": "char_location",
    "cited_text": "quote",
    "document_index": 0,
    "document_title": "T",
    "start_char_index": 10_000,
    "end_char_index": 10_005,
    "file_id": None,
}
FULL: dict[str, Any] = {
    "model": "claude-opus-4-8",
    "max_tokens": 32_000,
    "system": [{"type": "text", "text": "Be terse.", "cache_control": CACHE}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Mira "},
                {"type": "text", "text": "Tallow", "cache_control": CACHE},
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "report"},
                    "title": "Title",
                    "context": "Context",
                    "citations": {"enabled": True},
                },
                {
                    "type": "document",
                    "source": {"type": "content", "content": [{"type": "text", "text": "piece"}]},
                },
                {
                    "type": "search_result",
                    "source": "https://example.org/?u=1",
                    "title": "Found",
                    "content": [{"type": "text", "text": "hit"}],
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "They mean <PERSON_123456>.", "signature": "c2ln+/=="},
                {"type": "redacted_thinking", "data": "ZW5j=="},
                {"type": "text", "text": "Cited.", "citations": [CITATION]},
                {
                    "type": "tool_use",
                    "id": "toolu_01",
                    "name": "pay",
                    "input": {"card": 4000005260181590, "first_name": "Zo", "n": 1.5, "deep": [{"k e y": "text"}]},
                    "caller": {"type": "direct"},
                },
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "query"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": [
                        {
                            "type": "web_search_result",
                            "title": "Page",
                            "url": "https://example.org",
                            "encrypted_content": "ZW5j" * 2000,
                            "page_age": "May 1",
                        }
                    ],
                },
                {
                    "type": "web_fetch_tool_result",
                    "tool_use_id": "srvtoolu_2",
                    "content": {
                        "type": "web_fetch_result",
                        "url": "https://example.org/a",
                        "content": {"type": "document", "source": {"type": "text", "data": "fetched"}},
                    },
                },
                {
                    "type": "bash_code_execution_tool_result",
                    "tool_use_id": "srvtoolu_3",
                    "content": {
                        "type": "bash_code_execution_result",
                        "stdout": "out",
                        "stderr": "err",
                        "return_code": 0,
                        "content": [],
                    },
                },
                {"type": "mcp_tool_use", "id": "mcp_1", "name": "find", "server_name": "crm", "input": {"q": "who"}},
                {"type": "mcp_tool_result", "tool_use_id": "mcp_1", "content": [{"type": "text", "text": "row"}]},
                {"type": "compaction", "content": "summary", "encrypted_content": "ZW5j", "cache_control": CACHE},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_01",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": '{"ok": "yes"}'},
                        {"type": "tool_reference", "tool_name": "pay"},
                        {
                            "type": "browser_state",
                            "tabs": [{"tab_id": "t1", "title": "Inbox", "url": "https://mail.example.org/7"}],
                        },
                    ],
                },
                {"type": "tool_result", "tool_use_id": "toolu_02", "content": "plain"},
            ],
        },
        {"role": "system", "content": "Mid."},
        {"role": "assistant", "content": "Prefill"},
    ],
    "tools": [
        {
            "name": "pay",
            "description": "Pays.",
            "input_schema": {"type": "object", "properties": {"card": {"enum": ["A"]}}, "required": ["card"]},
            "input_examples": [{"card": "E"}],
            "allowed_callers": ["direct"],
            "cache_control": CACHE,
        },
        {"type": "bash_20250124", "name": "bash"},
        {"type": "computer_20250124", "name": "computer", "display_width_px": 1024},
    ],
    "tool_choice": {"type": "tool", "name": "pay"},
    "metadata": {"user_id": "u-1"},
    "stop_sequences": ["###"],
    "thinking": {"type": "enabled", "budget_tokens": 16_000},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"const": "C"}}},
    "service_tier": "auto",
    "context_management": {"edits": [{"type": "clear_tool_uses_20250919", "exclude_tools": ["pay"]}]},
    "fallbacks": [{"model": "claude-sonnet-5"}],
    "container": None,
    "mcp_servers": [],
    "temperature": 0.7,
    "stream": True,
    "some_new_field": {"deep": [{"er": "text"}, 123456]},
}


def message(*content: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": list(content)}], **more}


def test_kinds_labels_and_order_of_a_full_request() -> None:
    seen = [(leaf.path, leaf.text, leaf.kind, leaf.label) for leaf in leaves_of(rewrite_request, FULL)]
    m = "$.messages"
    a, tool = f"{m}[1].content", f"{m}[1].content[3].input"
    wanted = [
        ("$.model", "claude-opus-4-8", Kind.ID, ""),
        ("$.max_tokens", "32000", Kind.FIXED, "max tokens"),
        ("$.system[0].text", "Be terse.", Kind.TEXT, ""),
        ("$.system[0].cache_control.ttl", "5m", Kind.ID, ""),
        (f"{m}[0].content[0].text", "Mira ", Kind.TEXT, ""),
        (f"{m}[0].content[2].source.data", "report", Kind.TEXT, ""),
        (f"{m}[0].content[2].title", "Title", Kind.TEXT, ""),
        (f"{m}[0].content[2].context", "Context", Kind.TEXT, ""),
        (f"{m}[0].content[3].source.content[0].text", "piece", Kind.TEXT, ""),
        (f"{m}[0].content[4].source", "https://example.org/?u=1", Kind.TEXT, ""),
        (f"{m}[0].content[4].content[0].text", "hit", Kind.TEXT, ""),
        (f"{a}[0].thinking", "They mean <PERSON>.", Kind.SIGNED, ""),
        (f"{a}[0].signature", "c2ln+/==", Kind.ID, ""),
        (f"{a}[1].data", "ZW5j==", Kind.ID, ""),
        (f"{a}[2].citations[0].cited_text", "quote", Kind.TEXT, "cited text"),
        (f"{a}[2].citations[0].start_char_index", "10000", Kind.FIXED, "start char index"),
        (f"{a}[3].id", "toolu_01", Kind.ID, ""),
        (f"{a}[3].name", "pay", Kind.FIXED, ""),
        (f"{tool}{{0}}", "card", Kind.KEY, ""),
        (f"{tool}.card", "4000005260181590", Kind.NUMBER, "card"),
        (f"{tool}.first_name", "Zo", Kind.TEXT, "first name"),
        (f"{tool}.n", "1.5", Kind.NUMBER, "n"),
        (f"{tool}.deep[0]{{0}}", "k e y", Kind.KEY, ""),
        (f"{tool}.deep[0]{{0}}", "text", Kind.TEXT, "k e y"),
        (f"{a}[4].input.query", "query", Kind.TEXT, "query"),
        (f"{a}[5].content[0].title", "Page", Kind.TEXT, ""),
        (f"{a}[5].content[0].encrypted_content", "ZW5j" * 2000, Kind.ID, ""),
        (f"{a}[6].content.content.source.data", "fetched", Kind.TEXT, ""),
        (f"{a}[7].content.stdout", "out", Kind.TEXT, "stdout"),
        (f"{a}[8].server_name", "crm", Kind.FIXED, ""),
        (f"{a}[9].content[0].text", "row", Kind.TEXT, ""),
        (f"{a}[10].content", "summary", Kind.SIGNED, ""),
        (f"{m}[2].content[0].content[0].text#$.ok", "yes", Kind.TEXT, "ok"),
        (f"{m}[2].content[0].content[1].tool_name", "pay", Kind.FIXED, ""),
        (f"{m}[2].content[0].content[2].tabs[0].title", "Inbox", Kind.TEXT, ""),
        (f"{m}[2].content[1].content", "plain", Kind.TEXT, ""),
        (f"{m}[3].content", "Mid.", Kind.TEXT, ""),
        (f"{m}[4].content", "Prefill", Kind.TEXT, ""),
        ("$.tools[0].description", "Pays.", Kind.TEXT, ""),
        ("$.tools[0].input_schema.properties.card.enum[0]", "A", Kind.TEXT, "card"),
        ("$.tools[0].input_examples[0].card", "E", Kind.TEXT, "card"),
        ("$.tools[2].name", "computer", Kind.FIXED, ""),
        ("$.tool_choice.name", "pay", Kind.FIXED, ""),
        ("$.metadata.user_id", "u-1", Kind.TEXT, "user id"),
        ("$.stop_sequences[0]", "###", Kind.TEXT, ""),
        ("$.output_config.format.schema.const", "C", Kind.TEXT, ""),
        ("$.some_new_field.deep[0].er", "text", Kind.TEXT, "er"),
        ("$.some_new_field.deep[1]", "123456", Kind.FIXED, "deep"),
    ]
    at = [seen.index(leaf) for leaf in wanted]
    assert at == sorted(at)


def test_text_blocks_that_follow_one_another_are_one_run() -> None:
    text, reference = (
        {"type": "text", "text": "a"},
        {"type": "search_result", "source": "s", "title": "t", "content": []},
    )
    leaves = leaves_of(rewrite_request, message(text, text, reference, text, system=[text]))
    assert [leaf.run for leaf in leaves if leaf.text == "a"] == [1, 1, 2, 3]


# Every leaf is visited or refused


PLACES = nodes(FULL)


def unseen(body: Any, canaries: list[str]) -> list[str]:
    try:
        leaves = leaves_of(rewrite_request, body)
    except Refusal:
        return []
    return [canary for canary in canaries if not any(canary in leaf.text for leaf in leaves)]


def at(body: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        body = body[key]
    return body


@given(st.sampled_from(PLACES[1:]), SHAPES, st.booleans())
def test_whatever_stands_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, as_text: bool) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    put(body, place, json.dumps(value) if as_text and isinstance(value, dict | list) else value)
    assert unseen(body, canaries) == []


NEW = st.sampled_from(["", "x", "source", "content", "input", "citations", "image_url", "signature", "encrypted_index"])


@given(st.sampled_from(PLACES), SHAPES, NEW)
def test_a_new_member_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, name: str) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    target = at(body, place)
    if isinstance(target, dict):
        target[name] = value
        assert unseen(body, canaries) == []


def test_every_single_string_is_a_leaf_or_refused() -> None:
    """No field is exempt: a value that fits the alphabet of ids is seen in each of them."""
    for place in PLACES[1:]:
        if isinstance(at(FULL, place), str):
            body = copy.deepcopy(FULL)
            put(body, place, "zoe@example.com")
            assert unseen(body, ["zoe@example.com"]) == [], place


NUMBERS = st.sampled_from([b"1.10", b"1E5", b"-0.0", b"123456789012345678901234567890", b"0.1e-7"])


@given(NUMBERS, NUMBERS)
def test_digits_of_numbers_survive(one: bytes, two: bytes) -> None:
    data = (
        b'{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"a":%s,"b":[%s]}}]}]}'
    ) % (one, two)
    assert serialise(rewrite_request(parse_strict(data), as_is)) == data


# What is refused


PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
UPLOAD = {"type": "container_upload", "file_id": "file_1"}


@pytest.mark.parametrize(
    ("body", "switch", "param"),
    [
        (message(PNG), "images", "$.messages[0].content[0]"),
        (message({"type": "image", "source": {"type": "url", "url": "https://x.org/a.png"}}), "images", None),
        (message({"type": "image", "source": {"type": "file", "file_id": "file_1"}}), "images", None),
        (message({"type": "tool_result", "tool_use_id": "t", "content": [PNG]}), "images", None),
        (message({"type": "document", "source": {"type": "content", "content": [PNG]}}), "images", None),
        (message(PDF), "files", "$.messages[0].content[0].source"),
        (message({"type": "document", "source": {"type": "url", "url": "https://x.org/a.pdf"}}), "files", None),
        (message({"type": "document", "source": {"type": "file", "file_id": "file_1"}}), "files", None),
        (message(UPLOAD), "files", "$.messages[0].content[0]"),
        (message(container="container_1"), "files", "$.container"),
    ],
)
def test_attachments_need_their_switch(body: Any, switch: str, param: str | None) -> None:
    with pytest.raises(UnsupportedByPolicy, match=rf"attachments\.{switch} decides") as refused:
        rewrite_request(body, as_is, frozenset({"images", "files", "audio"}) - {switch})
    assert param in (None, refused.value.param)
    leaves_of(rewrite_request, body, allowed=frozenset({switch}))


@pytest.mark.parametrize(
    "body",
    [
        message({"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "AAAA"}}),
        message({"type": "image", "source": {"type": "base64", "data": "AAAA"}}),
        message({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "Zoe is here"}}),
        message({"type": "image", "source": {"type": "url", "url": "data:text/plain,Zoe"}}),
        message({"type": "image", "source": {"type": "new", "x": "y"}}),
        message({"type": "document", "source": {"data": "x"}}),
        message({"type": "new_block", "text": "x"}),
        message({"text": "x"}),
        message({"type": "web_search_tool_result", "content": {"type": "new_result"}}),
        message({"type": "redacted_thinking", "data": "not base64!"}),
        message(thread={"type": "continue", "previous_message_id": "msg_1"}),
        message(mcp_servers=[{"type": "url", "url": "https://x.org", "name": "crm"}]),
        *[
            message(tools=[{"type": kind, "name": "x"}])
            for kind in ("web_search_20260209", "web_fetch_20260318", "code_execution_20260521", "mcp_toolset", 5)
        ],
    ],
)
def test_what_is_not_inspected_is_refused_with_every_switch_on(body: Any) -> None:
    with pytest.raises(UnsupportedByPolicy) as refused:
        rewrite_request(body, as_is, frozenset({"images", "files", "audio"}))
    assert refused.value.param is not None


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], "$"),
        ({"messages": []}, "$.model"),
        ({"model": "m"}, "$.messages"),
        ({"model": "m", "messages": ["x"]}, "$.messages[0]"),
        (message(5), "$.messages[0].content[0]"),
        (message({"type": "text", "text": 5}), "$.messages[0].content[0].text"),
        (message(system=5), "$.system"),
        (message(tools={}), "$.tools"),
        (message(Messages=[]), "$"),
    ],
)
def test_wrong_types_are_refused(body: Any, param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        rewrite_request(body, as_is)
    assert refused.value.param == param


# Round trips


def used(value: Any) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": value}
    return {"model": "m", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}]}


def input_of(body: Any) -> Any:
    return body["messages"][1]["content"][0]["input"]


def answered(*content: Any, **more: Any) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content), **more}


INPUT = {
    "name": NAME,
    "card": CARD,
    "cards": [CARD, -1.5, {"to": f"{NAME} <{MAIL}>", "no": f"card {CARD}"}],
    MAIL: {"flag": True, "none": None},
    "json": json.dumps({"who": NAME, "card": CARD}),
}


def test_the_input_of_a_tool_comes_back_as_the_json_that_it_was() -> None:
    sent, restoring = redacted(rewrite_request, used(INPUT))
    assert values_in(sent) == []
    assert isinstance(input_of(sent)["card"], str)
    call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": input_of(sent)}
    got: Any = restore_answer(answered(call), restoring, Seen())
    assert got["content"] == [{**call, "input": INPUT}]
    assert redacted(rewrite_request, used(got["content"][0]["input"]))[0] == sent


def test_a_number_in_the_input_of_a_tool_is_read_as_its_value_and_keeps_its_digits() -> None:
    seen: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        seen.append(leaf)
        return leaf.raw or leaf.text

    written = ["4000005260181590.0", "4.000005260181590e15", "-4.0E3", "1.50", "7"]
    body: Any = parse_strict(json.dumps(used("@")).replace('"@"', f"[{','.join(written)}]").encode())
    sent = rewrite_request(body, visit)
    numbers = [(leaf.text, leaf.raw) for leaf in seen if leaf.kind is Kind.NUMBER]
    shown = ["4000005260181590", "4000005260181590", "-4000", "1.50", "7"]
    assert numbers == list(zip(shown, written, strict=True))
    assert f"[{','.join(written)}]".encode() in serialise(sent)


@pytest.mark.parametrize("digits", [f"{CARD}.0", f"{CARD}e0", f"{str(CARD)[0]}.{str(CARD)[1:]}e15"])
def test_a_card_with_a_fraction_or_an_exponent_is_replaced_and_comes_back_as_written(digits: str) -> None:
    body: Any = parse_strict(json.dumps(used("@")).replace('"@"', digits).encode())
    sent, restoring = redacted(rewrite_request, body)
    assert str(input_of(sent)).startswith("<CREDIT_CARD_")
    call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": input_of(sent)}
    got: Any = restore_answer(answered(call), restoring, Seen())
    assert number_text(got["content"][0]["input"]) == digits


TREES = st.recursive(
    st.sampled_from(
        [*VALUES, CARD, 1.5, None, True, "plain", "", f"x {NAME} {CARD}", f" {MAIL}\n", "<PERSON_1>", "a_b 12345"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["k", MAIL, "a b"]), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["k", "card", NAME]), TREES, max_size=3))
def test_any_input_makes_the_round_trip(value: Any) -> None:
    sent, restoring = redacted(rewrite_request, used(value))
    assert values_in(sent) == []
    call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": input_of(sent)}
    got: Any = restore_answer(answered(call), restoring, Seen())
    assert got["content"][0]["input"] == value
    assert type(got["content"][0]["input"]) is dict


def test_keys_that_would_become_the_same_are_refused() -> None:
    def masked(leaf: Leaf) -> str:
        return "***" if leaf.kind is Kind.KEY else as_is(leaf)

    with pytest.raises(UnsupportedByPolicy, match="would become the same"):
        rewrite_request(used({"a": 1, "b": 2}), masked)


def test_a_number_that_cannot_be_replaced_is_refused() -> None:
    with pytest.raises(UnsupportedByPolicy, match="cannot be replaced"):
        rewrite_request(used({"a": 1}), lambda leaf: "7" if leaf.kind is Kind.NUMBER else as_is(leaf))


def test_a_tool_that_the_policy_excludes_keeps_its_placeholders() -> None:
    vault = Vault(b"k" * 32)
    person = vault.issue("PERSON", NAME).placeholder
    restoring = Restoration(vault, in_tools=lambda tool: tool != "web_fetch")
    calls = [{"type": "tool_use", "name": name, "input": {"q": person}} for name in ("web_fetch", "mail")]
    got: Any = restore_answer(answered(*calls), restoring, Seen())
    assert [call["input"]["q"] for call in got["content"]] == [person, NAME]


TEXT = f"Dear {NAME}, a < b, write to {MAIL} or pay with {CARD}."
ASKED = message({"type": "text", "text": TEXT}, {"type": "text", "text": NAME}, system=f"for {MAIL}")
SENT, RESTORING = redacted(rewrite_request, ASKED)
ECHO = SENT["messages"][0]["content"][0]["text"]


def test_a_whole_answer_is_restored_block_by_block() -> None:
    assert values_in(SENT) == []
    thinking = {"type": "thinking", "thinking": f"I think {ECHO}", "signature": "c2ln"}
    hidden = {"type": "redacted_thinking", "data": "ZW5j=="}
    compaction = {"type": "compaction", "content": ECHO, "encrypted_content": "ZW5j"}
    citation = {**CITATION, "cited_text": ECHO, "document_title": ECHO}
    result = {"type": "web_search_result", "title": ECHO, "url": f"https://x/{ECHO[5:20]}", "encrypted_content": "ZW5j"}
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 8}
    seen = Seen()
    body = answered(
        thinking,
        hidden,
        compaction,
        {"type": "text", "text": ECHO, "citations": [citation]},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [result]},
        stop_reason="stop_sequence",
        stop_sequence=ECHO,
        stop_details={"type": "refusal", "explanation": ECHO},
        usage=usage,
    )
    before = copy.deepcopy(body)
    got: Any = restore_answer(body, RESTORING, seen)
    assert body == before
    assert got["content"][:3] == [thinking, hidden, compaction]
    text = got["content"][3]
    assert (text["text"], text["citations"][0]["cited_text"], text["citations"][0]["document_title"]) == (TEXT,) * 3
    assert got["content"][4]["content"][0]["title"] == TEXT
    assert (got["stop_sequence"], got["stop_details"]["explanation"]) == (TEXT, TEXT)
    assert list(got) == list(body)
    assert seen == Seen(Usage(9, 8, 4), "m", ["stop_sequence"])


def test_a_count_of_tokens_passes() -> None:
    seen = Seen()
    assert restore_answer({"input_tokens": 11}, RESTORING, seen) == {"input_tokens": 11}
    assert not seen.upstream_error


def test_an_error_of_the_upstream_is_restored() -> None:
    seen = Seen()
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": ECHO}, "request_id": "req_1"}
    got: Any = restore_answer(error, RESTORING, seen)
    assert got == {**error, "error": {"type": "invalid_request_error", "message": TEXT}}
    assert seen.upstream_error


# Signed thinking


def turn(*blocks: Any) -> dict[str, Any]:
    """The conversation's next request, in which an answer goes back."""
    answer = {"role": "assistant", "content": list(blocks)}
    return {**ASKED, "messages": [*ASKED["messages"], answer, {"role": "user", "content": "go"}]}


def thought(text: str, signature: str = "c2ln") -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature}


@pytest.mark.parametrize("signature", ["c2ln", ""])
def test_thinking_goes_back_byte_for_byte_and_the_prefix_stays(signature: str) -> None:
    received = thought(f"I think {ECHO}", signature)
    got: Any = restore_answer(answered(received), RESTORING, Seen())
    sent, _ = redacted(rewrite_request, turn(*got["content"]))
    assert sent["messages"][1]["content"] == [received]
    assert sent["messages"][0] == SENT["messages"][0]
    assert sent["system"] == SENT["system"]


def test_signed_thinking_that_holds_a_value_is_refused_unless_the_upstream_wrote_it() -> None:
    invented = thought(f"The contact may be {MAIL}.")
    with pytest.raises(UnsupportedByPolicy, match=r"\$\.messages\[1\]\.content\[0\]\.thinking") as refused:
        redacted(rewrite_request, turn(invented))
    assert MAIL not in refused.value.message
    seals = Ledger(b"tenant")
    restore_answer(answered(invented), RESTORING, Seen(), seals)
    reordered = {"signature": "c2ln", "thinking": invented["thinking"], "type": "thinking"}
    sent, _ = redacted(rewrite_request, turn(reordered), seals=seals)
    assert sent["messages"][1]["content"] == [invented]


@pytest.mark.parametrize(
    "changed",
    [
        thought("The contact may be zoe.mueller@example.com!"),
        thought("The contact may be zoe.mueller@example.com.", "c2lu"),
        {**thought("The contact may be zoe.mueller@example.com."), "more": "x"},
        {**thought("The contact may be zoe.mueller@example.com."), "more": None},
        {**thought("The contact may be zoe.mueller@example.com."), MAIL: None},
    ],
)
def test_a_block_that_was_changed_is_not_the_one_that_the_upstream_wrote(changed: Any) -> None:
    seals = Ledger(b"tenant")
    original = thought(f"The contact may be {MAIL}.")
    restore_answer(answered(original), RESTORING, Seen(), seals)
    assert seals.received(original) == original
    for tenant in (seals, Ledger(b"other", seals.entries)):
        with pytest.raises(UnsupportedByPolicy):
            redacted(rewrite_request, turn(changed), seals=tenant)
    with pytest.raises(UnsupportedByPolicy):
        redacted(rewrite_request, turn(original), seals=Ledger(b"other", seals.entries))


def test_the_digits_of_a_number_are_part_of_a_remembered_block() -> None:
    def block(digits: str) -> Any:
        text = f'{{"type":"compaction","content":"sum","more":{{"score":{digits},"none":null}}}}'
        return parse_answer(text.encode())

    seals = Ledger(b"tenant")
    seals.remember(block("1.50"))
    assert seals.received(block("1.50")) == block("1.50")
    for other in ("1.5", "1.500", "1.5000000000000000000004000005260181590", "15e-1"):
        assert seals.received(block(other)) is None
    assert seals.received({**block("1.50"), "more": {"none": None, "score": block("1.50")["more"]["score"]}})
    assert seals.received({**block("1.50"), "more": {"score": block("1.50")["more"]["score"]}}) is None


def test_a_compaction_goes_back_as_it_was_whatever_its_cache_mark() -> None:
    seals = Ledger(b"tenant")
    block = {"type": "compaction", "content": f"They wrote to {MAIL}", "encrypted_content": "ZW5j"}
    restore_answer(answered(block), RESTORING, Seen(), seals)
    marked = {**block, "cache_control": CACHE}
    assert redacted(rewrite_request, turn(marked), seals=seals)[0]["messages"][1]["content"] == [marked]
    with pytest.raises(UnsupportedByPolicy):
        redacted(rewrite_request, turn({**marked, "cache_control": {"type": f"to {MAIL}"}}), seals=seals)
    with pytest.raises(UnsupportedByPolicy):
        redacted(rewrite_request, turn(marked))


def test_values_around_placeholders_in_unsigned_thinking_are_replaced() -> None:
    sent, _ = redacted(rewrite_request, turn(thought(f"{ECHO[5:20]} or {MAIL}", "")))
    assert values_in(sent) == []
    assert sent["messages"][1]["content"][0]["thinking"].startswith(f"{ECHO[5:20]} or <EMAIL_ADDRESS_")


@pytest.mark.parametrize("signature", ["", "c2ln"])
@pytest.mark.parametrize("text", ["<DE89370400440532013000_123456> x", "x <A_4000005260181590_123456>"])
def test_what_only_has_the_form_of_a_placeholder_is_inspected(text: str, signature: str) -> None:
    seen: list[str] = []

    def visit(leaf: Leaf) -> str:
        seen.append(leaf.text)
        return leaf.text

    sent: Any = rewrite_request(turn(thought(text, signature)), visit)
    assert sent["messages"][1]["content"] == [thought(text, signature)]
    value = next(part for part in ("DE89370400440532013000", "A_4000005260181590") if part in text)
    assert any(re.search(rf"(?:^|\s){value}(?:\s|$)", leaf) for leaf in seen)


def test_a_type_of_any_entity_is_a_placeholder() -> None:
    for name in (*ENTITIES, "PROJECT_X2", "ISO_27A"):
        text = f"<{name}_123456>"
        assert (
            rewrite_request(turn(thought(text, "")), lambda leaf: "!" if "_1" in leaf.text else leaf.text)["messages"]
            == turn(thought(text, ""))["messages"]
        )


def test_thinking_is_shown_where_it_can_be_undone() -> None:
    seals = Ledger(b"tenant", shows=True)
    bent = f"I think {ECHO} or {ECHO[6:19].lower()}, says Ada Lovelace."
    received, hidden = thought(bent), {"type": "redacted_thinking", "data": "ZW5j=="}
    compaction = {"type": "compaction", "content": ECHO, "encrypted_content": "ZW5j"}
    got: Any = restore_answer(answered(received, hidden, compaction), RESTORING, Seen(), seals)
    shown = f"I think {TEXT} or {NAME}, says Ada Lovelace."
    assert got["content"] == [thought(shown), hidden, compaction]
    sent, _ = redacted(rewrite_request, turn(*got["content"]), seals=seals)
    assert sent["messages"][1]["content"] == [received, hidden, compaction]
    assert sent["messages"][0] == SENT["messages"][0]
    assert not [value for value in VALUES if value in repr(list(seals.entries.values()))]
    for other in (None, Ledger(b"other", seals.entries)):
        with pytest.raises(UnsupportedByPolicy):
            redacted(rewrite_request, turn(*got["content"]), seals=other)


@given(st.lists(st.sampled_from([NAME, ECHO[5:20], "x ", "<", "\U0001f600", "{", '"', "\\\\"]), max_size=8))
def test_what_was_shown_and_kept_comes_back_as_it_was_received(pieces: list[str]) -> None:
    received = thought("".join(pieces) + ECHO)
    first = Ledger(b"tenant", shows=True)
    got: Any = restore_answer(answered(received), RESTORING, Seen(), first)
    kept = {name: read(written(spans)) for name, spans in first.entries.items()}
    (block,) = got["content"]
    assert digests(b"tenant", turn(block)) == list(kept)
    assert Ledger(b"tenant", kept).received(block) == received
    assert Ledger(b"other", kept).received(block) is None
    assert not [value for value in VALUES if value.encode() in b"".join(map(written, kept.values()))]


# The opening


def test_the_opening_is_the_first_user_message_whatever_its_cache_marks() -> None:
    text = {"type": "text", "text": "Mira"}
    plain = message(text)
    assert opening(message({**text, "cache_control": CACHE})) == opening(plain) == '[{"type":"text","text":"Mira"}]'
    later = {**plain, "messages": [{"role": "system", "content": "s"}, *plain["messages"], {"role": "user"}]}
    assert opening(later) == opening(plain)
    assert opening({"messages": [{"role": "assistant", "content": "x"}]}) == '"x"'
    assert opening({"messages": []}) == opening({}) == opening([]) == ""


# What the documentation says


def test_every_field_that_is_no_plain_text_is_documented() -> None:
    root = Path(__file__).resolve().parent.parent
    said = (root / "docs/coverage.md").read_text().split("## Other endpoints")[1].split("\n## ")[0]
    listed = set(re.findall(r"`([^`]+)`", said))
    for name in ("messages", "messages_blocks", "signed"):
        for node in ast.walk(ast.parse((root / f"proxy/wire/{name}.py").read_text())):
            keys = node.keys if isinstance(node, ast.Dict) else []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fromkeys":
                keys = list(getattr(node.args[0], "elts", []))
            for key in keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    assert key.value in listed, f"{name}: {key.value}"


# Our own refusals


@pytest.mark.parametrize(
    ("refusal", "error", "kind"),
    [
        (BadRequest("m", param="$.x"), anthropic.BadRequestError, "invalid_request_error"),
        (UnsupportedByPolicy("m"), anthropic.BadRequestError, "invalid_request_error"),
        (BlockedEntity({"IBAN_CODE": 1}), anthropic.BadRequestError, "invalid_request_error"),
        (ContextLengthExceeded(9, 10, 1), anthropic.BadRequestError, "invalid_request_error"),
        (BodyTooLarge("m"), anthropic.APIStatusError, "request_too_large"),
        (Unavailable("m"), anthropic.InternalServerError, "api_error"),
        (BadAnswer("m", code="usage_mismatch"), anthropic.InternalServerError, "api_error"),
        (UpstreamUnreachable("m"), anthropic.InternalServerError, "api_error"),
        (UpstreamUnreachable("m", timed_out=True), anthropic.InternalServerError, "timeout_error"),
    ],
)
def test_the_official_client_raises_the_right_error(refusal: Refusal, error: type[Exception], kind: str) -> None:
    calls: list[int] = []

    def answer(_: httpx2.Request) -> httpx2.Response:
        calls.append(1)
        return httpx2.Response(refusal.status, headers=refusal.headers(), content=serialise(error_body(refusal)))

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:1", http_client=transport)
    with pytest.raises(error) as raised:
        client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    body: Any = raised.value.body  # type: ignore[attr-defined]
    assert body["type"] == "error"
    assert body["error"]["type"] == kind
    assert (body["error"]["code"], body["error"]["param"]) == (refusal.code, refusal.param)
    assert calls == [1]


def test_a_prompt_that_is_too_long_is_told_in_this_apis_words() -> None:
    def said(refusal: Refusal) -> JSON:
        error: Any = error_body(refusal)["error"]
        return error["message"]  # type: ignore[no-any-return]

    assert said(ContextLengthExceeded(200_000, 208_310, 1)) == "prompt is too long: 208310 tokens > 200000 maximum"
    assert "exceed context limit: 190000 + 64000 > 200000" in str(said(ContextLengthExceeded(200_000, 190_000, 64_000)))

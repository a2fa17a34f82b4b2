"""Chat requests: every leaf is seen or the request is refused, and what is not changed comes out as it went in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest, Refusal, UnsupportedByPolicy
from proxy.model import Kind, Leaf
from proxy.wire.base import parse_strict, serialise
from proxy.wire.chat import rewrite_request
from tests.bodies import SHAPES, as_is, nodes, planted, put

FULL: dict[str, Any] = {
    "model": "ft:gpt-4o:org::abc",
    "messages": [
        {"role": "system", "content": "Be terse."},
        {
            "role": "user",
            "name": "mira_tallow",
            "content": [{"type": "text", "text": "Mira "}, {"type": "text", "text": "Tallow"}, "bare string"],
        },
        {
            "role": "assistant",
            "content": None,
            "refusal": "no",
            "reasoning_content": "thinking",
            "annotations": [{"type": "url_citation", "url_citation": {"title": "T", "url": "https://x.org/?q=1"}}],
            "tool_calls": [
                {
                    "id": "call_4000005260181590",
                    "type": "function",
                    "function": {"name": "pay", "arguments": '{"card": 4000005260181590, "first_name": "Zo\\u00eb"}'},
                },
                {"id": "call_2", "type": "custom", "custom": {"name": "code", "input": "print('x')"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_4000005260181590", "name": "pay", "content": '{"ok": "yes"}'},
        {"role": "assistant", "function_call": {"name": "pay", "arguments": "{not json"}},
        {"role": "function", "name": "pay", "content": "plain"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "pay",
                "description": "Pays.",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"iban": {"type": "string", "enum": ["A", "B"], "description": "The IBAN"}},
                    "required": ["iban"],
                    "additionalProperties": False,
                },
            },
        },
        {
            "type": "custom",
            "custom": {
                "name": "code",
                "description": "Runs.",
                "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: X"}},
            },
        },
    ],
    "tool_choice": {"type": "function", "function": {"name": "pay"}},
    "functions": [{"name": "old", "description": "Old.", "parameters": {}}],
    "function_call": "auto",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "D", "schema": {"const": "C"}, "strict": True},
    },
    "prediction": {"type": "content", "content": [{"type": "text", "text": "Dear"}]},
    "stop": ["###", "END"],
    "metadata": {"customer": "Omar Benhaddou"},
    "user": "u-1",
    "safety_identifier": "s-1",
    "prompt_cache_key": "p-1",
    "logit_bias": {"50256": -100},
    "modalities": ["text"],
    "web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Lyon"}}},
    "service_tier": "auto",
    "seed": 1234567,
    "temperature": 0.7,
    "stream": True,
    "stream_options": {"include_usage": True},
    "store": True,
    "some_new_field": {"deep": [{"er": "text"}, 123456]},
}


def leaves_of(body: Any, allowed: frozenset[str] = frozenset()) -> list[Leaf]:
    leaves: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        leaves.append(leaf)
        return as_is(leaf)

    assert serialise(rewrite_request(body, visit, allowed)) == serialise(body)
    return leaves


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_kinds_labels_and_order_of_a_full_request() -> None:
    seen = [(leaf.path, leaf.text, leaf.kind, leaf.label) for leaf in leaves_of(FULL)]
    m, call = "$.messages", "$.messages[2].tool_calls[0]"
    wanted = [
        ("$.model", "ft:gpt-4o:org::abc", Kind.ID, ""),
        (f"{m}[0].content", "Be terse.", Kind.TEXT, ""),
        (f"{m}[1].name", "mira_tallow", Kind.NAME, "name"),
        (f"{m}[1].content[0].text", "Mira ", Kind.TEXT, ""),
        (f"{m}[1].content[2]", "bare string", Kind.TEXT, ""),
        (f"{m}[2].refusal", "no", Kind.TEXT, ""),
        (f"{m}[2].reasoning_content", "thinking", Kind.TEXT, ""),
        (f"{m}[2].annotations[0].url_citation.title", "T", Kind.TEXT, ""),
        (f"{call}.id", "call_4000005260181590", Kind.ID, ""),
        (f"{call}.function.name", "pay", Kind.FIXED, ""),
        (f"{call}.function.arguments#$.card", "4000005260181590", Kind.NUMBER, "card"),
        (f"{call}.function.arguments#$.first_name", "Zoë", Kind.TEXT, "first name"),
        (f"{m}[2].tool_calls[1].custom.input", "print('x')", Kind.TEXT, ""),
        (f"{m}[3].tool_call_id", "call_4000005260181590", Kind.ID, ""),
        (f"{m}[3].name", "pay", Kind.FIXED, ""),
        (f"{m}[3].content#$.ok", "yes", Kind.TEXT, "ok"),
        (f"{m}[4].function_call.arguments", "{not json", Kind.TEXT, ""),
        ("$.tools[0].function.description", "Pays.", Kind.TEXT, ""),
        ("$.tools[0].function.parameters.properties{0}", "iban", Kind.FIXED, ""),
        ("$.tools[0].function.parameters.properties.iban.enum[0]", "A", Kind.TEXT, "iban"),
        ("$.tools[0].function.parameters.properties.iban.description", "The IBAN", Kind.TEXT, ""),
        ("$.tools[0].function.parameters.required[0]", "iban", Kind.FIXED, ""),
        ("$.tools[1].custom.format.grammar.definition", "start: X", Kind.TEXT, ""),
        ("$.response_format.json_schema.schema.const", "C", Kind.TEXT, ""),
        ("$.prediction.content[0].text", "Dear", Kind.TEXT, ""),
        ("$.stop[1]", "END", Kind.TEXT, ""),
        ("$.metadata{0}", "customer", Kind.FIXED, ""),
        ("$.metadata.customer", "Omar Benhaddou", Kind.TEXT, "customer"),
        ("$.user", "u-1", Kind.TEXT, ""),
        ("$.web_search_options.user_location.approximate.city", "Lyon", Kind.TEXT, "city"),
        ("$.seed", "1234567", Kind.FIXED, "seed"),
        ("$.some_new_field.deep[0].er", "text", Kind.TEXT, "er"),
        ("$.some_new_field.deep[1]", "123456", Kind.FIXED, "deep"),
    ]
    at = [seen.index(leaf) for leaf in wanted]
    assert at == sorted(at)


def test_text_parts_that_follow_one_another_are_one_run() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}
    text = {"type": "text", "text": "a"}
    body = chat(user([text, text, image, text]), user([text]), user("a"))
    runs = [leaf.run for leaf in leaves_of(body, frozenset({"images"})) if leaf.text == "a"]
    assert runs == [1, 1, 2, 3, None]


PLACES = nodes(FULL)


@given(st.sampled_from(PLACES[1:]), SHAPES, st.booleans())
def test_whatever_stands_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, as_text: bool) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    put(body, place, json.dumps(value) if as_text and isinstance(value, dict | list) else value)
    try:
        leaves = leaves_of(body)
    except Refusal:
        return
    assert not [canary for canary in canaries if not any(canary in leaf.text for leaf in leaves)]


@given(st.sampled_from(PLACES[1:]), SHAPES, st.sampled_from(["", "x", "image_url", "messages"]))
def test_a_new_member_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, name: str) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    target: Any = body
    for key in place:
        target = target[key]
    if not isinstance(target, dict):
        return
    target[name] = value
    try:
        leaves = leaves_of(body)
    except Refusal:
        return
    assert not [canary for canary in canaries if not any(canary in leaf.text for leaf in leaves)]


NUMBERS = st.sampled_from([b"1.10", b"1E5", b"-0.0", b"123456789012345678901234567890", b"0.1e-7", b"5e+3"])


@given(NUMBERS, NUMBERS)
def test_digits_of_numbers_survive(one: bytes, two: bytes) -> None:
    data = b'{"model":"m","messages":[{"role":"user","content":"h\xc3\xa9"}],"x":%s,"y":[{"z":%s}]}' % (one, two)
    assert serialise(rewrite_request(parse_strict(data), as_is)) == data


@given(st.recursive(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(), st.lists))
def test_serialise_is_what_the_standard_library_writes(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json.loads(serialise(value)) == value
    assert serialise(value).decode() == text


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":2}',
        b'{"content":"x","cont\\u0065nt":"y"}',
        b'{"content":"x","Content":"y"}',
        '{"k":1,"\u212a":2}'.encode(),
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":1.' + b"9" * 5000 + b"}",
        b'"\\ud800"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b'{"a":"\xff"}',
        b"{} x",
        b"{}{}",
        b"[" * 10_000,
        b"[" * 300 + b"]" * 300,
        b"",
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":"\n"}',
    ],
)
def test_what_parsers_disagree_on_is_refused_without_a_value(data: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_strict(data)
    assert caught.value.__cause__ is None
    assert "canary" not in caught.value.message


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], "$"),
        ("x", "$"),
        ({"messages": []}, "$.model"),
        ({"model": 5, "messages": []}, "$.model"),
        ({"model": "m"}, "$.messages"),
        ({"model": "m", "messages": {}}, "$.messages"),
        (chat("x"), "$.messages[0]"),
        (chat({"content": "x"}), "$.messages[0].role"),
        (chat(user(5)), "$.messages[0].content"),
        (chat(user({"text": "x"})), "$.messages[0].content"),
        (chat(user([5])), "$.messages[0].content[0]"),
        (chat(user([{"type": "text", "text": 5}])), "$.messages[0].content[0].text"),
        (chat({"role": "user", "content": "x", "name": 5}), "$.messages[0].name"),
        (chat({"role": "assistant", "tool_calls": {}}), "$.messages[0].tool_calls"),
        (chat({"role": "assistant", "tool_calls": ["x"]}), "$.messages[0].tool_calls[0]"),
        (chat(tools={}), "$.tools"),
        (chat(metadata=[]), "$.metadata"),
        (chat(logit_bias={"x": 1}), "$.logit_bias"),
        (chat(user=5), "$.user"),
        (chat({"role": "user", "Content": "x"}), "$.messages[0]"),
        (chat(Messages=[]), "$"),
    ],
)
def test_wrong_types_are_bad_requests(body: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        rewrite_request(body, as_is)
    assert caught.value.param == param


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
FILE = {"type": "file", "file": {"filename": "Tallow_Mira.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
PARAM = "$.messages[0].content[0]"


@pytest.mark.parametrize(
    ("body", "switch", "param"),
    [
        (chat(user([IMAGE])), "images", PARAM),
        (chat(user([AUDIO])), "audio", PARAM),
        (chat(user([FILE])), "files", PARAM),
        (chat(user([{"type": "image_url", "url": "data:"}])), "images", PARAM),
        (chat({"role": "assistant", "audio": {"id": "audio_1"}}), "audio", "$.messages[0].audio"),
        (chat(modalities=["text", "audio"]), "audio", "$.modalities"),
    ],
)
def test_attachments_need_their_switch(body: Any, switch: str, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite_request(body, as_is, frozenset({"images", "files", "audio"}) - {switch})
    assert f"attachments.{switch}" in caught.value.message
    assert caught.value.param == param
    leaves_of(body, frozenset({switch}))


def test_what_is_let_through_is_still_looked_at_where_it_is_text() -> None:
    fetched = {"type": "image_url", "image_url": "https://x.org/mira.tallow@example.com.png"}
    leaves = {leaf.text: leaf.kind for leaf in leaves_of(chat(user([FILE, fetched])), frozenset({"images", "files"}))}
    assert leaves["Tallow_Mira.pdf"] is Kind.TEXT
    assert leaves["https://x.org/mira.tallow@example.com.png"] is Kind.FIXED


@pytest.mark.parametrize(
    "url",
    ["data:text/plain;base64,TWlyYQ==", "data:image/svg+xml;base64,PHN2Zz4=", "data:image/png,Mira", "file:///etc/x"],
)
def test_an_image_that_is_text_is_refused_even_with_the_switch(url: str) -> None:
    with pytest.raises(UnsupportedByPolicy):
        rewrite_request(chat(user([{"type": "image_url", "image_url": {"url": url}}])), as_is, frozenset({"images"}))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (chat(user([{"type": "video_url", "video_url": {"url": "x"}}])), PARAM),
        (chat(user([{"image_url": "x"}])), PARAM),
        (chat(user([{"type": ["text"], "text": "x"}])), PARAM),
        (chat(tools=[{"type": "web_search"}]), "$.tools[0]"),
        (chat(tools=[{"name": "x"}]), "$.tools[0]"),
        (chat({"role": "assistant", "tool_calls": [{"type": "mcp"}]}), "$.messages[0].tool_calls[0]"),
        (chat(input_ids=[1, 2, 3]), "$.input_ids"),
        (chat(context=[1, 2, 3]), "$.context"),
        (chat(tokens=[[1, 2], [3]]), "$.tokens"),
        (chat(prompt_embeds="AAAA"), "$.prompt_embeds"),
        (chat({"role": "user", "content": "x", "images": ["AAAA"]}), "$.messages[0].images"),
        (chat({"role": "zoe müller", "content": "x"}), "$.messages[0].role"),
        (chat({"role": "tool", "tool_call_id": "<b>", "content": "x"}), "$.messages[0].tool_call_id"),
        (chat(model="Zoe Mueller"), "$.model"),
    ],
)
def test_what_is_not_inspected_is_refused(body: Any, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite_request(body, as_is)
    assert caught.value.param == param


@pytest.mark.parametrize(
    "model", ["mock-echo;chunk=1;eol=crlf", "ft:gpt-4o:org::abc", "org/model@rev", "a+b", "gpt-4o"]
)
def test_model_names_pass(model: str) -> None:
    assert leaves_of(chat(user("x"), model=model))[0] == Leaf("$.model", model, Kind.ID)


def test_nulls_and_empty_values_survive() -> None:
    body = chat(
        {"role": "assistant", "content": None, "refusal": None, "audio": None, "tool_calls": None, "name": None},
        {"role": "assistant", "content": "", "tool_calls": [], "function_call": None, "annotations": []},
        {"role": "user", "content": []},
        tools=None,
        stop=None,
        metadata=None,
        response_format=None,
        user=None,
    )
    assert leaves_of(body)[0].path == "$.model"


def test_replacements_land_where_the_leaf_was() -> None:
    def visit(leaf: Leaf) -> str:
        if leaf.kind is Kind.NUMBER:
            return '"<CREDIT_CARD_000001>"'
        return as_is(leaf).replace("Omar Benhaddou", "<PERSON_000001>").replace("Mira ", "<PERSON_000002> ")

    out: Any = rewrite_request(FULL, visit)
    assert out["metadata"] == {"customer": "<PERSON_000001>"}
    assert out["messages"][1]["content"][0] == {"type": "text", "text": "<PERSON_000002> "}
    arguments = out["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert arguments == '{"card": "<CREDIT_CARD_000001>", "first_name": "Zo\\u00eb"}'
    assert FULL["metadata"] == {"customer": "Omar Benhaddou"}


def test_keys_that_could_be_values_show_in_no_path() -> None:
    leaves = leaves_of(
        chat(metadata={"mira@example.com": "x", "ünï": "y", "ok_key": "z"}, thing={"Mira T": {"a": "q"}})
    )
    assert [leaf.path for leaf in leaves if leaf.text in "xyzq"] == [
        "$.metadata{0}",
        "$.metadata{1}",
        "$.metadata.ok_key",
        "$.thing{0}.a",
    ]


def test_a_field_that_may_hold_tokens_is_read_where_it_holds_text() -> None:
    seen: list[str] = []

    def visit(leaf: Leaf) -> str:
        seen.append(leaf.text)
        return leaf.text if leaf.raw is None else leaf.raw

    rewrite_request(chat(context="some words", tokens=["a", "b"]), visit)
    assert {"some words", "a", "b"} <= set(seen)

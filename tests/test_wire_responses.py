"""Requests of the Responses API: every leaf is seen or the request is refused, and the rest goes out as it came in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest, Refusal, UnsupportedByPolicy
from proxy.model import Kind, Leaf, Seen
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire.base import parse_strict, serialise
from proxy.wire.endpoints import ENDPOINTS, Aids
from proxy.wire.responses import ResponsesStream, opening, restore_answer, rewrite_request
from proxy.wire.responses import drawn as names_of
from proxy.wire.seals import Ledger, NoSeals
from tests.bodies import SHAPES, as_is, nodes, planted, put
from tests.responses_samples import TEXT, TOOLS, items

FULL: dict[str, Any] = {
    "model": "gpt-5.6",
    "instructions": "Be terse.",
    "input": [
        {"role": "developer", "content": "Say you."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Mira "},
                {"type": "input_text", "text": "Tallow", "prompt_cache_breakpoint": {"mode": "explicit"}},
            ],
        },
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "phase": "final_answer",
            "content": [
                {
                    "type": "output_text",
                    "text": "See https://x.org",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "start_index": 4,
                            "end_index": 17,
                            "url": "https://x.org",
                            "title": "X",
                        },
                        {"type": "file_citation", "file_id": "file_1", "filename": "n.txt", "index": 3},
                    ],
                },
                {"type": "refusal", "refusal": "no"},
            ],
        },
        *items().values(),
    ],
    "tools": list(TOOLS.values()),
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]},
    "text": {
        "format": {"type": "json_schema", "name": "n", "description": "D", "schema": {"const": "C"}, "strict": True},
        "verbosity": "low",
    },
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "metadata": {"customer": "Omar Benhaddou"},
    "user": "u-1",
    "safety_identifier": "s-1",
    "prompt_cache_key": "p-1",
    "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
    "truncation": "disabled",
    "previous_response_id": None,
    "conversation": None,
    "background": False,
    "prompt": None,
    "context_management": [{"type": "compaction", "compact_threshold": 1000}],
    "moderation": {"model": "omni-moderation-latest"},
    "service_tier": "auto",
    "max_output_tokens": 16384,
    "store": False,
    "stream": True,
    "some_new_field": {"deep": [{"er": "text"}, 123456]},
}


def leaves_of(body: Any, allowed: frozenset[str] = frozenset(), *, stateful: bool = False) -> list[Leaf]:
    leaves: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        leaves.append(leaf)
        return as_is(leaf)

    assert serialise(rewrite_request(body, visit, allowed, stateful=stateful)) == serialise(body)
    return leaves


def asked(*said: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(said), **more}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def test_kinds_labels_and_order_of_a_full_request() -> None:
    seen = [(leaf.path, leaf.text, leaf.kind, leaf.label) for leaf in leaves_of(FULL)]
    call = f"$.input[{3 + list(items()).index('function_call')}]"
    wanted = [
        ("$.model", "gpt-5.6", Kind.ID, ""),
        ("$.instructions", "Be terse.", Kind.TEXT, ""),
        ("$.input[0].content", "Say you.", Kind.TEXT, ""),
        ("$.input[1].content[0].text", "Mira ", Kind.TEXT, ""),
        ("$.input[2].id", "msg_1", Kind.ID, ""),
        ("$.input[2].content[0].annotations[0].url", "https://x.org", Kind.TEXT, "url"),
        ("$.input[2].content[0].annotations[1].file_id", "file_1", Kind.ID, ""),
        ("$.input[2].content[1].refusal", "no", Kind.TEXT, ""),
        (f"{call}.name", "pay", Kind.FIXED, ""),
        (f"{call}.arguments#$.card", "4000005260181590", Kind.NUMBER, "card"),
        ("$.tools[0].name", "get_weather", Kind.FIXED, ""),
        ("$.tools[0].parameters.properties{0}", "city", Kind.FIXED, ""),
        ("$.tools[0].output_schema.description", "What comes back", Kind.TEXT, ""),
        ("$.tools[1].format.definition", "start: X", Kind.TEXT, ""),
        ("$.tools[2].tools[0].description", "Get the current weather in a given place", Kind.TEXT, ""),
        ("$.tools[4].filters.allowed_domains[0]", "example.org", Kind.FIXED, ""),
        ("$.tools[4].user_location.city", "Lyon", Kind.TEXT, "city"),
        ("$.tool_choice.tools[0].name", "get_weather", Kind.FIXED, ""),
        ("$.text.format.name", "n", Kind.FIXED, ""),
        ("$.text.format.schema.const", "C", Kind.TEXT, ""),
        ("$.include[0]", "reasoning.encrypted_content", Kind.ID, ""),
        ("$.metadata{0}", "customer", Kind.FIXED, ""),
        ("$.metadata.customer", "Omar Benhaddou", Kind.TEXT, "customer"),
        ("$.user", "u-1", Kind.TEXT, ""),
        ("$.max_output_tokens", "16384", Kind.FIXED, "max output tokens"),
        ("$.some_new_field.deep[0].er", "text", Kind.TEXT, "er"),
        ("$.some_new_field.deep[1]", "123456", Kind.FIXED, "deep"),
    ]
    missing = [leaf for leaf in wanted if leaf not in seen]
    assert not missing, [leaf for leaf in seen if leaf[0] in {path for path, *_ in missing}]
    at = [seen.index(leaf) for leaf in wanted]
    assert at == sorted(at)


@pytest.mark.parametrize("kind", items())
def test_every_text_of_every_type_of_item_is_shown(kind: str) -> None:
    item = items()[kind]
    texts = json.dumps(item).count(TEXT)
    leaves = leaves_of(asked(item))
    shown = [leaf for leaf in leaves if TEXT in leaf.text]
    assert len(shown) == texts
    assert all(leaf.kind is Kind.TEXT for leaf in shown)


def test_text_parts_that_follow_one_another_are_one_run() -> None:
    image = {"type": "input_image", "image_url": "https://x.org/a.png"}
    part = {"type": "input_text", "text": "a"}
    body = asked(
        user(part, {"type": "output_text", "text": "a"}, image, part), user(part), {"role": "user", "content": "a"}
    )
    runs = [leaf.run for leaf in leaves_of(body, frozenset({"images"})) if leaf.text == "a"]
    assert runs == [1, 1, 2, 3, None]


PLACES = nodes(FULL)


def unseen(body: Any, canaries: list[str]) -> list[str]:
    """Canaries that no leaf shows, in a request that was not refused."""
    try:
        leaves = leaves_of(body)
    except Refusal:
        return []
    return [canary for canary in canaries if not any(canary in leaf.text for leaf in leaves)]


@given(st.sampled_from(PLACES[1:]), SHAPES, st.booleans())
def test_whatever_stands_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, as_text: bool) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    put(body, place, json.dumps(value) if as_text and isinstance(value, dict | list) else value)
    assert not unseen(body, canaries)


@given(st.sampled_from(PLACES[1:]), SHAPES, st.sampled_from(["", "x", "image_url", "messages", "name", "logprobs"]))
def test_a_new_member_anywhere_is_visited_or_refused(place: tuple[Any, ...], shape: Any, name: str) -> None:
    canaries: list[str] = []
    value = planted(shape, canaries)
    body = copy.deepcopy(FULL)
    target: Any = body
    for key in place:
        target = target[key]
    if isinstance(target, dict) and not (name == "logprobs" and target.get("type") == "output_text"):
        target[name] = value
        assert not unseen(body, canaries)


def test_digits_of_numbers_survive() -> None:
    data = b'{"model":"m","input":[{"type":"tool_search_call","arguments":{"a":1.10,"b":1E5}}],"temperature":0.70}'
    assert serialise(rewrite_request(parse_strict(data), as_is)) == data


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], "$"),
        ({"input": "x"}, "$.model"),
        ({"model": "m", "input": {}}, "$.input"),
        ({"model": "m", "input": 5}, "$.input"),
        (asked("x"), "$.input[0]"),
        (asked({"type": "message", "content": "x"}), "$.input[0].role"),
        (asked({"role": "user", "content": 5}), "$.input[0].content"),
        (asked({"role": "user", "content": {"text": "x"}}), "$.input[0].content"),
        (asked(user(5)), "$.input[0].content[0]"),
        (asked(user({"type": "input_text", "text": 5})), "$.input[0].content[0].text"),
        (asked({"type": "custom_tool_call", "input": {}}), "$.input[0].input"),
        (asked(tools={}), "$.tools"),
        (asked(tools=["x"]), "$.tools[0]"),
        (asked(metadata=[]), "$.metadata"),
        (asked(user=5), "$.user"),
        (asked({"role": "user", "Content": "x"}), "$.input[0]"),
        (asked(Input=[]), "$"),
        (asked(text="x"), "$.text"),
    ],
)
def test_wrong_types_are_bad_requests(body: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        rewrite_request(body, as_is)
    assert caught.value.param == param


PART = "$.input[0].content[0]"
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "file_id": None, "detail": "auto"}
AUDIO = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
FILE = {"type": "input_file", "filename": "Tallow_Mira.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
SCREEN = {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}
SKILL = {"type": "inline", "name": "s", "description": "d", "source": {"type": "base64", "data": "UEsDBA=="}}


@pytest.mark.parametrize(
    ("body", "switch", "param"),
    [
        (asked(user(IMAGE)), "images", PART),
        (asked(user({"type": "input_image", "file_id": "file_1"})), "images", PART),
        (asked(user(AUDIO)), "audio", PART),
        (asked(user(FILE)), "files", PART),
        (asked(user({"type": "input_file", "file_url": "https://x.org/a.pdf"})), "files", PART),
        (asked({"type": "function_call_output", "call_id": "c", "output": [IMAGE]}), "images", "$.input[0].output[0]"),
        (asked({"type": "computer_call_output", "call_id": "c", "output": SCREEN}), "images", "$.input[0].output"),
        (asked({"type": "image_generation_call", "id": "i", "result": "iVBO="}), "images", "$.input[0].result"),
        (
            asked({"type": "code_interpreter_call", "outputs": [{"type": "image", "url": "https://x.org/a.png"}]}),
            "images",
            "$.input[0].outputs[0]",
        ),
        (asked(tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}]), "files", "$.tools[0]"),
        (asked(tools=[{"type": "image_generation", "size": "1024x1024"}]), "images", "$.tools[0]"),
        (
            asked(tools=[{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file_1"]}}]),
            "files",
            "$.tools[0].container.file_ids",
        ),
        (
            asked(tools=[{"type": "shell", "environment": {"type": "container_auto", "skills": [SKILL]}}]),
            "files",
            "$.tools[0].environment.skills",
        ),
        (asked(modalities=["text", "audio"]), "audio", "$.modalities"),
    ],
)
def test_attachments_need_their_switch(body: Any, switch: str, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite_request(body, as_is, frozenset({"images", "files", "audio"}) - {switch})
    assert f"attachments.{switch}" in caught.value.message
    assert caught.value.param == param
    leaves_of(body, frozenset({switch}))


def test_what_is_let_through_is_still_looked_at_where_it_is_text() -> None:
    fetched = {"type": "input_file", "file_url": "https://x.org/mira.tallow@example.com.pdf"}
    search = {"type": "file_search", "filters": {"type": "eq", "key": "who", "value": TEXT}}
    found = leaves_of(asked(user(FILE, fetched), tools=[search]), frozenset({"files"}))
    leaves = {leaf.text: leaf.kind for leaf in found}
    assert leaves["Tallow_Mira.pdf"] is Kind.TEXT
    assert leaves["https://x.org/mira.tallow@example.com.pdf"] is Kind.FIXED
    assert (leaves["who"], leaves[TEXT]) == (Kind.FIXED, Kind.TEXT)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": "data:text/plain;base64,TWlyYQ=="},
        {"type": "input_image", "image_url": "data:image/svg+xml;base64,PHN2Zz4="},
        {"type": "input_file", "file_data": "Mira Tallow"},
        {"type": "input_file", "file_url": "file:///etc/x"},
        {"type": "input_image", "file_id": "mira tallow"},
    ],
)
def test_text_in_the_place_of_an_attachment_is_refused_even_with_the_switch(part: Any) -> None:
    with pytest.raises(UnsupportedByPolicy):
        rewrite_request(asked(user(part)), as_is, frozenset({"images", "files"}))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (asked(user({"type": "input_video", "url": "x"})), PART),
        (asked(user({"text": "x"})), PART),
        (asked(user({"type": ["input_text"], "text": "x"})), PART),
        (asked({"type": "telepathy_call"}), "$.input[0]"),
        (asked({"type": ["message"], "role": "user"}), "$.input[0]"),
        (asked(tools=[{"type": "telepathy"}]), "$.tools[0]"),
        (asked(tools=[{"name": "x"}]), "$.tools[0]"),
        (asked({"type": "additional_tools", "tools": [{"type": "telepathy"}]}), "$.input[0].tools[0]"),
        (
            asked(tools=[{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]),
            "$.tools[0].tools[0]",
        ),
        (asked(tools=[{"type": "mcp", "server_label": "s", "server_url": "https://x.org"}]), "$.tools[0]"),
        (
            asked(
                tools=[
                    {
                        "type": "code_interpreter",
                        "container": {
                            "type": "auto",
                            "network_policy": {"type": "allowlist", "domain_secrets": [{"value": "x"}]},
                        },
                    }
                ]
            ),
            "$.tools[0].container.network_policy.domain_secrets",
        ),
        (asked({"type": "reasoning", "encrypted_content": "Mira Tallow"}), "$.input[0].encrypted_content"),
        (asked({"type": "program", "code": "", "fingerprint": {"x": 1}}), "$.input[0].fingerprint"),
        (asked({"type": "function_call", "call_id": "<b>"}), "$.input[0].call_id"),
        (asked({"role": "zoe müller", "content": "x"}), "$.input[0].role"),
        (asked(truncation="auto"), "$.truncation"),
        (asked(input_ids=[1, 2]), "$.input_ids"),
        (asked(model="Zoe Mueller"), "$.model"),
    ],
)
def test_what_is_not_inspected_is_refused(body: Any, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite_request(body, as_is, frozenset({"images", "files", "audio"}))
    assert caught.value.param == param


STATE = [
    (asked(previous_response_id="resp_1"), "$.previous_response_id"),
    (asked(conversation="conv_1"), "$.conversation"),
    (asked(conversation={"id": "conv_1"}), "$.conversation"),
    (asked(background=True), "$.background"),
    (asked({"type": "item_reference", "id": "msg_1"}), "$.input[0]"),
    (asked({"id": "msg_1"}), "$.input[0]"),
    ({"model": "m", "prompt": {"id": "pmpt_1", "version": "2"}}, "$.prompt"),
    (asked(prompt_cache_options={"comparison_response_id": "resp_1"}), "$.prompt_cache_options.comparison_response_id"),
    (asked(tools=[{"type": "code_interpreter", "container": "cntr_1"}]), "$.tools[0].container"),
    (
        asked(tools=[{"type": "shell", "environment": {"type": "container_reference", "container_id": "cntr_1"}}]),
        "$.tools[0].environment",
    ),
]


@pytest.mark.parametrize(("body", "param"), STATE)
def test_what_the_provider_stored_is_refused_unless_somebody_looks_after_it(body: Any, param: str) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite_request(body, as_is)
    assert caught.value.param == param
    stored = [leaf for leaf in leaves_of(body, stateful=True) if leaf.text in {"resp_1", "conv_1", "msg_1", "pmpt_1"}]
    assert all(leaf.kind is Kind.ID for leaf in stored)


def test_a_drawing_goes_back_to_the_provider_that_sent_it_to_this_tenant() -> None:
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo="}
    answer: Any = {"id": "resp_1", "status": "completed", "output": [drawn]}
    ours, others, streamed = Ledger(b"a"), Ledger(b"b"), Ledger(b"c")
    assert restore_answer(answer, Restoration(Vault(b"k")), Seen(), ours) == answer
    event = {"type": "response.output_item.done", "output_index": 0, "item": drawn}
    stream = ResponsesStream(Restoration(Vault(b"k")), Seen(), seals=streamed)
    stream.feed(b"data: " + serialise(event) + b"\n\n")
    for seals, key in ((ours, b"a"), (streamed, b"c")):
        assert rewrite_request(asked(drawn), as_is, seals=seals)["input"] == [drawn]
        assert set(names_of(key, asked(drawn))) == set(seals.entries)
    for seals, item in ((others, drawn), (ours, {**drawn, "result": "iVBORw="})):
        with pytest.raises(UnsupportedByPolicy, match="images"):
            rewrite_request(asked(item), as_is, seals=seals)


def test_variables_of_a_stored_prompt_are_read() -> None:
    variables = {"who": TEXT, "what": {"type": "input_text", "text": "x"}, "pic": IMAGE}
    body = {"model": "m", "prompt": {"id": "pmpt_1", "variables": variables}}
    with pytest.raises(UnsupportedByPolicy, match="images"):
        leaves_of(body, stateful=True)
    seen = {leaf.path: leaf.text for leaf in leaves_of(body, frozenset({"images"}), stateful=True)}
    assert seen["$.prompt.variables.who"] == TEXT
    assert "x" in seen.values()


def test_probabilities_of_earlier_answers_stay_at_home() -> None:
    part = {"type": "output_text", "text": TEXT, "logprobs": [{"token": "Mira"}, {"token": " Tallow"}]}
    sent: Any = rewrite_request(asked({"role": "assistant", "content": [part]}), as_is)
    assert sent["input"][0]["content"][0] == {"type": "output_text", "text": TEXT, "logprobs": []}


def test_what_is_sealed_goes_back_byte_for_byte_whatever_its_length() -> None:
    blob = "gAAAAABm-_/+=" * 2000
    (leaf,) = [leaf for leaf in leaves_of(asked({"type": "reasoning", "encrypted_content": blob})) if leaf.text == blob]
    assert leaf.kind is Kind.ID


@pytest.mark.parametrize(
    "turns",
    [
        [
            {"model": "m", "input": TEXT},
            asked({"role": "user", "content": TEXT}),
            asked(user({"type": "input_text", "text": TEXT})),
            asked(user({"type": "input_text", "text": "Mira "}, {"type": "input_text", "text": "Tallow"})),
            asked(
                {"role": "developer", "content": "x"},
                {"type": "message", "role": "user", "content": TEXT, "id": "msg_1"},
                {"type": "reasoning", "summary": []},
                {"role": "user", "content": "more"},
            ),
        ],
        [
            asked(user({"type": "input_text", "text": TEXT}, IMAGE)),
            asked(user({"type": "input_text", "text": TEXT}, IMAGE)),
        ],
        [asked({"type": "function_call_output", "call_id": "c", "output": "x"})] * 2,
    ],
)
def test_the_opening_is_the_same_at_every_turn(turns: list[Any]) -> None:
    assert len({opening(body) for body in turns}) == 1
    assert opening(turns[0]) != opening(asked(user({"type": "input_text", "text": "another"})))


@pytest.mark.parametrize(
    "body", [[], {"model": "m"}, asked(), {"model": "m", "input": ""}, {"model": "m", "input": None}]
)
def test_nothing_said_opens_nothing(body: Any) -> None:
    assert opening(body) == ""


def test_openings_of_two_conversations_differ() -> None:
    first = asked(user({"type": "input_text", "text": TEXT}, IMAGE))
    assert len({opening(first), opening(asked(user(IMAGE))), opening(asked(user()))}) == 3


def test_replacements_land_where_the_leaf_was() -> None:
    def visit(leaf: Leaf) -> str:
        if leaf.kind is Kind.NUMBER:
            return '"<CREDIT_CARD_000001>"'
        return as_is(leaf).replace(TEXT, "<PERSON_000001>")

    out: Any = rewrite_request(FULL, visit)
    assert TEXT not in json.dumps(out)
    call = next(item for item in out["input"] if item.get("type") == "function_call")
    assert call["arguments"] == '{"to": "<PERSON_000001>", "card": "<CREDIT_CARD_000001>"}'
    assert TEXT in json.dumps(FULL)


NO_AIDS = Aids(None, NoSeals())


@pytest.mark.parametrize("path", [path for path in ENDPOINTS if "responses" in path])
def test_the_endpoints_share_the_table(path: str) -> None:
    endpoint = ENDPOINTS[path]
    assert [leaf.text for leaf in endpoint.leaves({"model": "m", "input": TEXT}, frozenset(), NO_AIDS)] == ["m", TEXT]
    assert endpoint.prompt == "input"
    assert (endpoint.stream is None) == (path != "/v1/responses")

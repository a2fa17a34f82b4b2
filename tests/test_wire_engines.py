"""What vLLM and SGLang add: guided decoding with the prompt's placeholders, and what is refused there."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.errors import BadAnswer, UnsupportedByPolicy
from proxy.model import Context, Kind, Seen
from proxy.restore import Restoration
from proxy.vault import Vault
from proxy.wire import chat, engines
from proxy.wire.base import serialise
from proxy.wire.endpoints import Aids
from proxy.wire.seals import NoSeals
from tests.bodies import as_is
from tests.wire import KEY, MAIL, NAME, leaves_of, redacted, values_in

AIDS = Aids(None, NoSeals())
SCHEMA = {"type": "object", "properties": {"who": {"enum": [NAME], "description": MAIL}}}
PATHS = {"/v1/chat/completions": {"messages": [{"role": "user", "content": NAME}]}, "/v1/completions": {"prompt": NAME}}
FIELDS: list[dict[str, Any]] = [
    {"guided_json": SCHEMA},
    {"guided_choice": [NAME, MAIL]},
    {"guided_regex": f"{MAIL}|none"},
    {"structured_outputs": {"json": SCHEMA}},
    {"structured_outputs": {"choice": [NAME], "regex": f"({MAIL})+"}},
    {"chat_template_kwargs": {"enable_thinking": True, "who": NAME}},
    {"documents": [{"title": NAME, "text": MAIL}]},
    {"bad_words": [NAME]},
    {"vllm_xargs": {"note": MAIL}},
    {"regex": MAIL},
    {"ebnf": f'root ::= "{MAIL}"'},
    {"json_schema": serialise(SCHEMA).decode()},
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("served", [engines.vllm, engines.sglang])
@pytest.mark.parametrize("more", FIELDS, ids=lambda more: next(iter(more)))
def test_fields_of_engines_are_read(path: str, served: Any, more: dict[str, Any]) -> None:
    body = {"model": "m", **PATHS[path], **more}
    sent, restoration = redacted(served(path).rewrite_request, body, allowed=frozenset(), aids=AIDS)
    assert values_in(sent) == []
    assert sent.keys() == body.keys()
    placeholder = sent["messages"][0]["content"] if "messages" in sent else sent["prompt"]
    if "guided_choice" in more:
        assert sent["guided_choice"][0] == placeholder
    assert restoration.whole(placeholder, Context.PLAIN)[0] == NAME


def rewrite(served: Any, more: dict[str, Any]) -> Any:
    body = {"model": "m", **PATHS["/v1/chat/completions"], **more}
    return served("/v1/chat/completions").rewrite_request(body, as_is, frozenset(), AIDS)


@pytest.mark.parametrize(
    ("served", "field", "value"),
    [
        (engines.vllm, "chat_template", "{{ messages }}"),
        (engines.sglang, "chat_template", "{{ messages }}"),
        (engines.sglang, "custom_logit_processor", "80049503"),
        (engines.sglang, "session_params", {"id": "s"}),
        (engines.sglang, "input_ids", [1]),
        (engines.vllm, "prompt_token_ids", [1]),
        (engines.vllm, "prompt_embeds", "AAAA"),
    ],
)
def test_what_nobody_can_read_is_refused(served: Any, field: str, value: Any) -> None:
    with pytest.raises(UnsupportedByPolicy) as caught:
        rewrite(served, {field: value})
    assert caught.value.param == f"$.{field}"
    rewrite(served, {field: None})


def test_a_backslash_hides_nothing_in_a_pattern() -> None:
    body = {"model": "m", **PATHS["/v1/chat/completions"], "guided_regex": r"zoe\.mueller@example\.com"}
    served = engines.vllm("/v1/chat/completions")
    assert served is not None
    seen = leaves_of(served.rewrite_request, body, allowed=frozenset(), aids=AIDS)
    assert [(leaf.text, leaf.kind) for leaf in seen if leaf.path == "$.guided_regex"] == [
        (r"zoe\.mueller@example\.com", Kind.TEXT),
        (MAIL, Kind.FIXED),
    ]


@pytest.mark.parametrize(
    "written", [r"^zoe\.mueller@example\.com$", "zoe[.]mueller@example[.]com", r"zoe.mueller\@example.com"]
)
def test_nor_in_one_of_a_schema_or_of_a_tool(written: str) -> None:
    """A pattern of a schema, the names that one allows, and a grammar are read as what they match, too."""
    schema = {"properties": {"a": {"pattern": written}}, "patternProperties": {written: {"type": "string"}}}
    grammar = {"type": "grammar", "grammar": {"syntax": "regex", "definition": written}}
    function: Any = {"type": "function", "function": {"name": "f", "parameters": schema}}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "tools": [function, {"type": "custom", "custom": {"name": "g", "format": grammar}}],
    }
    read = [leaf for leaf in leaves_of(chat.rewrite_request, body) if MAIL in leaf.text]
    assert [leaf.kind for leaf in read] == [Kind.FIXED] * 3
    with pytest.raises(UnsupportedByPolicy):
        redacted(chat.rewrite_request, body)


@pytest.mark.parametrize("path", ["/tokenize", "/detokenize", "/generate", "/v1/score", "/v1/moderations", "/pooling"])
def test_other_paths_are_served_by_nobody(path: str) -> None:
    assert engines.vllm(path) is None
    assert engines.sglang(path) is None


def test_refusals_of_sglang_have_its_form_and_openais() -> None:
    served = engines.sglang("/v1/chat/completions")
    assert served is not None
    body: Any = served.error(BadAnswer("no", code="usage_mismatch"))
    assert (body["object"], body["code"], body["message"]) == ("error", 502, "no")
    assert body["error"]["code"] == "usage_mismatch"


def test_probabilities_of_the_prompt_go_where_it_holds_placeholders() -> None:
    served = engines.vllm("/v1/chat/completions")
    assert served is not None
    whole: Any = {
        "choices": [{"index": 0, "message": {"reasoning": "x"}}],
        "prompt_logprobs": [None, {"1": {"rank": 1}}],
    }
    idle = Restoration(Vault(KEY))
    assert served.restore_answer(whole, idle, Seen(), AIDS) == whole
    _, restoration = redacted(
        served.rewrite_request, {"model": "m", **PATHS["/v1/chat/completions"]}, allowed=frozenset(), aids=AIDS
    )
    restored: Any = served.restore_answer(whole, restoration, Seen(), AIDS)
    assert restored["prompt_logprobs"] is None

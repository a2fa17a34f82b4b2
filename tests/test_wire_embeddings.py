"""Embeddings and moderations: every text is seen, vectors pass as they came, one tenant has one placeholder."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest, Refusal, UnsupportedByPolicy
from proxy.model import Kind, Seen, Usage
from proxy.tokens.ids import decoder
from proxy.tokens.ranks import load_encoding
from proxy.vault import conversation_key, tenant_key
from proxy.wire import embeddings, moderations
from proxy.wire.base import parse_answer, parse_strict, serialise
from tests.bodies import as_is
from tests.wire import MAIL, NAME, leaves_of, redacted, values_in

ENCODING = load_encoding("cl100k_base")
DECODE = decoder(ENCODING)


def embed(value: Any, **more: Any) -> dict[str, Any]:
    return {"model": "text-embedding-3-small", "input": value, **more}


def test_kinds_of_a_full_request() -> None:
    body = embed(["Mira", "x"], encoding_format="base64", dimensions=256, user="u", input_type="query")
    assert [(leaf.path, leaf.kind) for leaf in leaves_of(embeddings.rewrite_request, body)] == [
        ("$.model", Kind.ID),
        ("$.input[0]", Kind.TEXT),
        ("$.input[1]", Kind.TEXT),
        ("$.encoding_format", Kind.ID),
        ("${3}", Kind.FIXED),
        ("$.user", Kind.TEXT),
        ("$.input_type", Kind.TEXT),
        ("${5}", Kind.FIXED),
    ]


@pytest.mark.parametrize("text", ["Dear Zoë", "", "汉字 🎉", "a<|endoftext|>b"])
@pytest.mark.parametrize("many", [False, True])
def test_token_ids_go_on_as_text(text: str, many: bool) -> None:
    ids = ENCODING.encode_ordinary(text)
    sent = embeddings.rewrite_request(embed([ids, [0]] if many else ids), as_is, decode=DECODE)
    assert sent["input"] == ([text, "!"] if many else text if text else [])


@pytest.mark.parametrize("ids", [[9906, 1917, 0], [[9906, 1917], [0]]])
def test_without_a_tokenizer_token_ids_are_refused(ids: Any) -> None:
    with pytest.raises(UnsupportedByPolicy) as refused:
        embeddings.rewrite_request(embed(ids), as_is)
    assert str(refused.value.param).startswith("$.input")


@given(st.lists(st.integers(0, 120_000), max_size=40))
def test_any_token_ids_are_text_again_or_refused(ids: list[int]) -> None:
    try:
        sent = embeddings.rewrite_request(embed([ids]), as_is, decode=DECODE)
    except UnsupportedByPolicy:
        return
    assert sent["input"] == [ENCODING.decode(ids)]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"input": "x"},
        embed(5),
        embed([5, "x"]),
        embed([{"text": "x"}]),
        embed([["x"]]),
        embed("x", INPUT="y"),
        embed("x", messages=[{"role": "user", "content": "x"}]),
        embed("x", prompt_embeds="AAAA"),
    ],
)
def test_what_cannot_be_read_is_refused(body: Any) -> None:
    with pytest.raises(Refusal) as refused:
        embeddings.rewrite_request(body, as_is, decode=DECODE)
    assert isinstance(refused.value, BadRequest | UnsupportedByPolicy)


PACKED = base64.b64encode(struct.pack("<3f", 1.5, -2.25, 3e-9)).decode()


def answer(*vectors: Any) -> dict[str, Any]:
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 9, "total_tokens": 9}
    return {"object": "list", "data": data, "model": "m", "usage": usage}


def test_vectors_pass_digit_for_digit() -> None:
    _, restoring = redacted(embeddings.rewrite_request, embed(NAME))
    raw = b'{"object":"list","data":[{"embedding":[1.10,-1E-5,0.0],"index":0},{"embedding":"%s"}],"model":"m"}'
    raw = raw % PACKED.encode()
    assert serialise(embeddings.restore_answer(parse_answer(raw), restoring, Seen())) == raw
    seen = Seen()
    body = answer([0.5, 1e-9], PACKED)
    assert embeddings.restore_answer(body, restoring, seen) == body
    assert seen == Seen(Usage(9, None, None), "m")


def test_an_error_that_quotes_the_input_is_restored() -> None:
    sent, restoring = redacted(embeddings.rewrite_request, embed([NAME]))
    assert values_in(sent) == []
    seen = Seen()
    got: Any = embeddings.restore_answer({"error": {"message": sent["input"][0]}}, restoring, seen)
    assert got["error"]["message"] == NAME
    assert seen.upstream_error
    got = embeddings.restore_answer({"data": ["x", {"note": sent["input"][0]}], "y": 1}, restoring, Seen())
    assert got == {"data": ["x", {"note": NAME}], "y": 1}


def test_an_index_and_its_query_share_placeholders() -> None:
    assert embeddings.SCOPE == "tenant"
    tenant = tenant_key(b"s" * 32, "t")
    bodies = embed([f"{NAME} lives here", "other"]), embed(f"where does {NAME} live?", user=MAIL)
    keys = [conversation_key(tenant, embeddings.opening(body)) for body in bodies]
    index, query = (redacted(embeddings.rewrite_request, b, key)[0] for b, key in zip(bodies, keys, strict=True))
    placeholder = index["input"][0].split(" lives")[0]
    assert query["input"] == f"where does {placeholder} live?"


# Moderations


def moderate(value: Any, **more: Any) -> dict[str, Any]:
    return {"input": value, **more}


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize(
    ("value", "runs"),
    [
        ("Mira", [None]),
        (["Mira", "Tallow"], [None, None]),
        ([{"type": "text", "text": "Mira "}, {"type": "text", "text": "Tallow"}], [1, 1]),
    ],
)
def test_what_is_classified_is_read(value: Any, runs: list[int | None]) -> None:
    leaves = leaves_of(moderations.rewrite_request, moderate(value, model="omni-moderation-latest"))
    assert [leaf.run for leaf in leaves if leaf.kind is Kind.TEXT] == runs
    leaves_of(moderations.rewrite_request, moderate(value))


def test_images_are_refused_unless_the_switch_says_pass() -> None:
    body = moderate([{"type": "text", "text": "x"}, IMAGE])
    with pytest.raises(UnsupportedByPolicy, match=r"\$\.input\[1\].*attachments\.images"):
        moderations.rewrite_request(body, as_is)
    leaves_of(moderations.rewrite_request, body, allowed=frozenset({"images"}))


@pytest.mark.parametrize("value", [5, {}, [5], [[5]], [5, IMAGE], [{"type": "audio"}], [{"text": "x"}]])
def test_other_inputs_are_refused(value: Any) -> None:
    with pytest.raises(Refusal):
        moderations.rewrite_request(moderate(value), as_is, frozenset({"images"}))


def test_scores_pass_digit_for_digit() -> None:
    sent, restoring = redacted(moderations.rewrite_request, moderate([NAME, MAIL]))
    assert values_in(sent) == []
    raw = b'{"id":"modr-1","model":"m","results":[{"flagged":false,"category_scores":{"self-harm":1.10E-7}}]}'
    assert serialise(moderations.restore_answer(parse_strict(raw), restoring, Seen())) == raw
    assert moderations.opening(moderate([NAME])) == moderations.opening(moderate(NAME)) != ""

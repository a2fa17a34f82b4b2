"""Counts against raw tiktoken and an independent tokenizer; the prompt bound against the published formula."""

from __future__ import annotations

import asyncio
import json
import socket
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
import regex
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from proxy import measure as face
from proxy.errors import BadRequest, ContextLengthExceeded, Unavailable
from proxy.measure import (
    Counter,
    Measured,
    check_limit,
    count_prompt,
    load_counter,
    requested_completion,
)
from proxy.model import JSON
from proxy.tokens import counter as counters
from proxy.tokens import ranks
from proxy.tokens.charges import NOT_IN_PROMPT
from proxy.tokens.counter import FORCED_CUT, EncodingCounter, FactorCounter
from proxy.tokens.pieces import PIECE, SAFE, cut, digit_boundary, last_boundary
from tests.responses_samples import FUNCTION, items

NAMES = ("o200k_base", "cl100k_base")
ENCODINGS = {name: ranks.load_encoding(name) for name in NAMES}
COUNTERS = {name: EncodingCounter(ENCODINGS[name]) for name in NAMES}
BYTES = load_counter("bytes")


def _oracles() -> dict[str, Any]:
    """An independent implementation with its own copy of the ranks; used in tests only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import _bindings
    return {name: _bindings.tokenizer_for_encoding(name) for name in NAMES}


ORACLES = _oracles()

both = pytest.mark.parametrize("name", NAMES)


def true_count(name: str, text: str) -> int:
    """Raw tiktoken, in one call, by its public method."""
    return len(ENCODINGS[name].encode_ordinary(text))


def cuts(name: str, text: str) -> list[tuple[int, bool]]:
    """The pieces of a text as their ends, each with whether it was forced, when every piece is taken whole."""
    ends, start, pattern = [], 0, regex.compile(ENCODINGS[name]._pat_str)
    while start < len(text):
        start, forced = cut(text, start, pattern)
        ends.append((start, forced))
    return ends


# ---------------------------------------------------------------- rank files


@both
def test_definition_is_the_published_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def load(url: str, expected_hash: str) -> dict[bytes, int]:
        seen.append(expected_hash)
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", load)
    published = getattr(openai_public, name)()
    ours = ranks.ENCODINGS[name]
    assert (ours.sha256, ours.pattern, dict(ours.specials)) == (
        seen[0],
        published["pat_str"],
        published["special_tokens"],
    )


@both
def test_loads_without_any_socket(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("no network here")

    for function in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, function, refuse)
    assert load_counter(name).count("hello world") == 2


def test_a_changed_rank_file_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ranks.ENCODINGS["cl100k_base"]
    wrong = ranks.Ranks("0" * 64, real.pattern, real.specials)
    monkeypatch.setattr(ranks, "ENCODINGS", {"cl100k_base": wrong, "absent": real})
    with pytest.raises(ranks.CorruptRanks, match="SHA-256"):
        ranks.load_encoding("cl100k_base")
    with pytest.raises(ranks.CorruptRanks, match="cannot be read"):
        ranks.load_encoding("absent")


@both
def test_every_byte_is_a_token(name: str) -> None:
    """What makes the byte count an upper bound."""
    tokens = set(ENCODINGS[name].token_byte_values())
    assert all(bytes([value]) in tokens for value in range(256))


# ---------------------------------------------------------------- choosing a counter


def test_unknown_tokenizer_and_bad_factor_are_named() -> None:
    with pytest.raises(ValueError, match=r"'gpt2'.*o200k_base, cl100k_base, bytes"):
        load_counter("gpt2")
    for factor in (0.99, 0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="factor"):
            load_counter("bytes", factor)


def test_names() -> None:
    assert load_counter("bytes").name == "bytes"
    assert load_counter("bytes", 1.15).name == "bytes*1.15"
    assert COUNTERS["o200k_base"].name == "o200k_base"


def test_factor_rounds_up() -> None:
    assert load_counter("bytes", 1.15).count("a" * 101) == 117
    assert load_counter("bytes", 2).count("") == 0
    assert face.scaled(BYTES, 3).count("aé") == 9
    assert face.scaled(BYTES, 1) is BYTES


def test_loaded_counters_are_shared_by_factors() -> None:
    loaded = face.Counters(["bytes"])
    assert loaded.of("bytes", 1) is loaded.of("bytes", 1.0)
    assert loaded.of("bytes", 1.5).count("abc") == 5
    with pytest.raises(KeyError):
        loaded.of("o200k_base", 1)


@given(st.integers(0, 300), st.integers(0, 400), st.floats(1, 8))
def test_factor_never_stops_below_the_limit(length: int, stop: int, factor: float) -> None:
    text = "٠١٢" * length
    plain = COUNTERS["o200k_base"]
    counter = FactorCounter(plain, factor)
    full, stopped = counter.count(text), counter.count(text, stop)
    assert full >= plain.count(text) * factor - 1e-6
    assert stopped == full if full <= stop else stop < stopped <= full


# ---------------------------------------------------------------- counts against tiktoken and the oracle

NATURAL = [
    "Dear Ms Okonkwo, it's about the invoice of 12 March (no. 4711): we'll pay €1,250.00.\n\n- one\n- two\n",
    "Le dossier médical de l'élève n'a pas été transmis à l'hôpital, malgré trois rappels.\n",
    "患者张伟的病历号是 4471920，请在周五之前发送给李医生。谢谢！",
    "def total(items: list[int]) -> int:\n    return sum(item * 2 for item in items if item % 3)\n",
    '{"name": "Ada", "items": [1, 2.5, null, true], "note": "line\\nbreak"}\n',
    "Мы отправили договор вчера; ответа пока нет. ",
    "هذا نص عربي للتجربة، وفيه أرقام 123. ",
    "2026-03-01T12:00:00Z INFO request 7f3a9c took 12.5 ms [GET /v1/models] 200\n",
]


@both
@pytest.mark.parametrize("sample", NATURAL)
def test_natural_text_is_counted_exactly(name: str, sample: str) -> None:
    text = sample * (3 * PIECE // len(sample) + 1)
    assert COUNTERS[name].count(text) == true_count(name, text) == ORACLES[name].count(text)
    assert len(cuts(name, text)) <= 2 + len(text) // (PIECE - 1024)


alphabets = st.sampled_from(
    [
        "ab",
        "aàé漢字ñ",
        "a1'",
        "'stmdrevl",
        "'STſs",
        " \t\n\r\u00a0\u3000",
        "-=",
        "€£/\n",
        "०१२३",
        "٠١٢ ",
        "e\u0301a\u200d",
        "aA",
        "👩\u200d\u200b",
        "<|endoftext>",
        "한국어а",
        "x₁²½",
    ]
)
hostile = st.tuples(alphabets, st.randoms(use_true_random=False), st.integers(1, 3000)).map(
    lambda drawn: "".join(drawn[1].choices(drawn[0], k=drawn[2])) * (1 + 4 * PIECE // drawn[2])
)


@both
@settings(max_examples=50, deadline=None)
@given(text=hostile)
def test_hostile_periodic_text_is_never_counted_below(name: str, text: str) -> None:
    true, ours = true_count(name, text), COUNTERS[name].count(text)
    slack = (FORCED_CUT + 6) * (1 + len(text) // (PIECE - 1024))
    assert true <= ours <= true + slack


@both
@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=400))
def test_any_text_agrees_with_the_oracle(name: str, text: str) -> None:
    assert COUNTERS[name].count(text) == true_count(name, text) == ORACLES[name].count(text)


def _random(alphabet: str, length: int) -> str:
    return "".join(Random(7).choices(alphabet, k=length))


MILLION = 1_000_000
HOSTILE: Mapping[str, Callable[[], str]] = {
    "letter": lambda: "a" * MILLION,
    "spaces": lambda: " " * MILLION,
    "no-break spaces": lambda: "\u00a0" * MILLION,
    "caret": lambda: "^" * MILLION,
    "zero width": lambda: "\u200b" * (MILLION // 3),
    "emoji": lambda: "👩\u200d👩\u200d👧" * (MILLION // 18),
    "letters": lambda: _random("abcdefghijklmnopqrstuvwxyz", MILLION),
    "base64": lambda: _random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", MILLION),
    "hex": lambda: _random("0123456789abcdef", MILLION),
    "digits": lambda: "1234567890" * (MILLION // 10),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_million_hostile_bytes(kind: str) -> None:
    """Against the oracle, since tiktoken itself panics on a million spaces in one piece."""
    text = HOSTILE[kind]()
    true = ORACLES["o200k_base"].count(text)
    ours = COUNTERS["o200k_base"].count(text)
    assert true <= ours <= true + FORCED_CUT * (2 + len(text) // (PIECE - 1024))


@pytest.mark.parametrize("motif", ["०७२", "0²1", "٣½٤"])
def test_shifted_digit_groups_are_not_counted_below(motif: str) -> None:
    """Digits are grouped by three from the start of a run; some groups cost a third of the same digits shifted."""
    for lead in ("", motif[0], motif[:2]):
        text = lead + motif * (2 * PIECE)
        assert COUNTERS["o200k_base"].count(text) == true_count("o200k_base", text)


WINDOWS = ("a's ", "b'ſSt.", "1²a٣ ", " \n\tx", "é\u0301'l-", "!\n/ a", "aA'vE")


@both
def test_boundaries_hold_whatever_follows(name: str) -> None:
    """A boundary found in a window is one of the pre-tokenizer's own, for every continuation."""
    rng, pattern = Random(5), regex.compile(ENCODINGS[name]._pat_str)
    found = 0
    for _ in range(6_000):
        alphabet = rng.choice(WINDOWS)
        window = "".join(rng.choices(alphabet, k=rng.randint(1, 24)))
        text = window + "".join(rng.choices(alphabet, k=rng.randint(0, 6)))
        true = {match.start() for match in pattern.finditer(text)} | {len(text)}
        boundaries = {last_boundary(window, pattern), digit_boundary(window)} - {0}
        boundaries |= {match.end() for match in SAFE.finditer(text)}
        assert boundaries <= true
        found += len(boundaries)
    assert found > 5_000


@both
def test_special_token_text_is_ordinary_text(name: str) -> None:
    for special in ENCODINGS[name].special_tokens_set:
        assert COUNTERS[name].count(special) == true_count(name, special) > 1
    text = "<|endoftext|>" * 2000
    assert COUNTERS[name].count(text) == true_count(name, text) >= 2000 * 5


def test_lone_surrogates_are_refused_without_their_text() -> None:
    for counter in (*COUNTERS.values(), BYTES):
        for text in ("secret\ud800", "secret" * PIECE + "\udfff" + "a" * PIECE):
            with pytest.raises(BadRequest) as caught:
                counter.count(text)
            assert "secret" not in str(caught.value)
            assert caught.value.__context__ is None


@both
def test_counting_grows_linearly(name: str) -> None:
    """By the number of pieces and their sizes, for every hostile kind: no clock needed."""
    for make in HOSTILE.values():
        text = make()
        ends = cuts(name, text)
        sizes = [
            end - start for start, end in zip([0, *(end for end, _ in ends)], [end for end, _ in ends], strict=False)
        ]
        assert max(sizes) <= PIECE
        assert len(sizes) <= 2 + 2 * len(text) // (PIECE - 1024)


@both
def test_letters_and_digits_mean_the_same_to_python_and_to_tiktoken(name: str) -> None:
    """What makes a cut safe: `str.isalnum` lies within tiktoken's letters and numbers, and what may stand
    behind a cut lies outside these and its marks.
    """
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    single = {bytes([value]): value for value in range(256)}

    def matched(characters: list[str], pattern: str) -> int:
        splitter = tiktoken.Encoding("bytes", pat_str=pattern, mergeable_ranks=single, special_tokens={})
        return len(splitter.encode_ordinary("".join(characters)))

    before = [char for char in every if char.isalnum()]
    assert matched(before, r"[\p{L}\p{N}]") == len("".join(before).encode())
    behind = [char for char in every if SAFE.match("z" + char) and not char.isdecimal()]
    assert len(behind) > 40
    assert "'" not in behind
    assert matched(behind, r"[\p{L}\p{N}\p{M}']") == 0


# ---------------------------------------------------------------- stopping, deadlines, failures, threads


class Watched:
    """Records the sizes of the pieces that reach tiktoken."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding, self.sizes = encoding, list[int]()

    def encode_ordinary(self, text: str) -> list[int]:
        self.sizes.append(len(text))
        return self.encoding.encode_ordinary(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoding, name)


class NoBuffer(Watched):
    """An encoding of a tiktoken without the private buffer method."""

    @property
    def _core_bpe(self) -> object:
        return object()


def test_counts_are_the_same_with_and_without_the_private_buffer() -> None:
    assert hasattr(ENCODINGS["o200k_base"]._core_bpe, "encode_to_tiktoken_buffer")
    without: Any = NoBuffer(ENCODINGS["o200k_base"])
    fallback = EncodingCounter(without)
    for text in (*NATURAL, "", "a" * 3 * PIECE, "<|endoftext|>"):
        assert fallback.count(text) == COUNTERS["o200k_base"].count(text)
    with pytest.raises(BadRequest):
        fallback.count("\ud800")


def test_counting_stops_early() -> None:
    watched: Any = NoBuffer(ENCODINGS["o200k_base"])
    text = "word " * 400_000
    stopped = EncodingCounter(watched).count(text, stop_above=10_000)
    assert 10_000 < stopped <= true_count("o200k_base", text)
    assert sum(watched.sizes) < 10_000 * 5 + 2 * PIECE


@given(st.integers(-2, 2), st.sampled_from([NATURAL[0] * 400, "0123456789" * 5000, "é" * 40_000]))
@settings(deadline=None, max_examples=30)
def test_stopping_gives_the_same_verdict(offset: int, text: str) -> None:
    counter = COUNTERS["o200k_base"]
    full = counter.count(text)
    limit = full + offset
    assert (counter.count(text, stop_above=limit) > limit) == (full > limit)


def test_a_deadline_stops_between_pieces() -> None:
    counter = COUNTERS["cl100k_base"]
    late = time.monotonic() - 1
    for text in ("short", "long " * PIECE):
        with pytest.raises(Unavailable) as caught:
            counter.count(text, None, late)
        assert caught.value.code == "measure_timeout"
    with pytest.raises(Unavailable):
        count_prompt({"messages": [{"role": "user", "content": "x"}]}, BYTES, deadline=late)
    with pytest.raises(Unavailable):
        count_prompt({"messages": [1, 2, 3]}, counter, deadline=late)
    assert counter.count("short", None, time.monotonic() + 600) == 1


class PanicException(BaseException):
    """What a panic in the binding looks like: not an `Exception`, and it may quote the text."""


@pytest.mark.parametrize("error", [PanicException, ValueError, MemoryError])
def test_a_failing_binding_becomes_a_refusal_without_text(error: type[BaseException]) -> None:
    def fail(piece: str) -> int:
        raise error(piece)

    with pytest.raises(Unavailable) as caught:
        counters.guarded(fail)("secret")
    assert caught.value.code == "measure_failed"
    assert caught.value.__context__ is None
    assert "secret" not in repr(caught.value)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_signals_to_stop_pass_through(error: type[BaseException]) -> None:
    def fail(piece: str) -> int:
        raise error

    with pytest.raises(error):
        counters.guarded(fail)("text")


def test_threads_share_a_counter() -> None:
    counter = COUNTERS["o200k_base"]
    texts = [sample * 300 for sample in NATURAL] * 2
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(counter.count, texts)) == [counter.count(text) for text in texts]


# ---------------------------------------------------------------- prompts: the published formula


def cookbook(messages: list[dict[str, str]], name: str) -> int:
    """OpenAI cookbook, "How to count tokens with tiktoken": 3 per message, 1 per name, 3 for the reply."""
    total = 3
    for message in messages:
        total += 3
        for key, value in message.items():
            total += true_count(name, value) + (key == "name")
    return total


EXAMPLE = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates "
        "corporate jargon into plain English.",
    },
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on "
        "opportunities for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]


@pytest.mark.parametrize(("name", "published"), [("o200k_base", 124), ("cl100k_base", 129)])
def test_the_published_example(name: str, published: int) -> None:
    assert cookbook(EXAMPLE, name) == published
    ours = count_prompt({"model": "gpt-4o", "messages": list(EXAMPLE)}, COUNTERS[name])
    assert published <= ours <= published + 8 + 4 * len(EXAMPLE)


chat = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "developer"]), "content": st.text(max_size=200)},
        optional={"name": st.text("abcdefgh_-0123", min_size=1, max_size=20)},
    ),
    max_size=8,
)


@both
@given(messages=chat)
@settings(deadline=None)
def test_plain_chats_are_bounded_tightly(name: str, messages: list[dict[str, str]]) -> None:
    formula = cookbook(messages, name)
    ours = count_prompt({"model": "m", "temperature": 0.5, "messages": list(messages)}, COUNTERS[name])
    assert formula <= ours <= formula + 8 + 4 * len(messages)


def test_many_messages_are_bounded_tightly() -> None:
    messages = EXAMPLE * 50
    formula = cookbook(messages, "o200k_base")
    ours = count_prompt({"messages": list(messages)}, COUNTERS["o200k_base"])
    assert formula <= ours <= formula + 8 + 4 * len(messages)


# ---------------------------------------------------------------- prompts: everything else that is counted

values: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=20,
)


def texts_in(value: JSON) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts_in(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    return [json.dumps(value)]


@given(values)
@settings(deadline=None)
def test_every_leaf_of_a_message_counts(value: JSON) -> None:
    counter = COUNTERS["o200k_base"]
    ours = count_prompt({"messages": [{"role": "user", "content": "hi", "anything": value}]}, counter)
    assert ours >= sum(true_count("o200k_base", text) for text in texts_in(value)) + 8


def test_only_keys_that_no_template_writes_are_free() -> None:
    def cost(message: JSON) -> int:
        return count_prompt({"messages": [message]}, COUNTERS["o200k_base"])

    assert cost({"content": "hi"}) == cost("hi")
    assert cost({"content": [{"text": "hi"}]}) - cost("hi") == 4
    for key in ("role", "content", "name", "type", "text"):
        assert cost({"x": {key: "hi"}}) > cost({"x": "hi"})


@both
@given(value=values, field=st.sampled_from(["tools", "functions", "response_format", "documents", "prediction"]))
@settings(deadline=None)
def test_rendered_fields_are_at_least_their_json(name: str, value: JSON, field: str) -> None:
    ours = count_prompt({"messages": [], field: value}, COUNTERS[name])
    empty = count_prompt({"messages": []}, COUNTERS[name])
    renderings = [json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, indent=4)]
    if value is not None and not isinstance(value, str):
        assert ours - empty >= max(true_count(name, text) for text in renderings)


def test_digits_beyond_a_float_count() -> None:
    """The wire keeps numbers as they were written, in a float that knows its digits."""

    class Exact(float):
        def __repr__(self) -> str:
            return "1." + "0" * 900

    for body in ({"messages": [Exact(1)]}, {"tools": [{"minimum": Exact(1)}]}):
        assert count_prompt(body, BYTES) > 900


def test_deep_nesting_is_bounded_without_being_rendered() -> None:
    deep: JSON = [1] * 20_000
    for _ in range(150):
        deep = [deep]
    ours = count_prompt({"tools": deep}, COUNTERS["o200k_base"])
    assert ours >= 20_000 * 4 * 151
    assert count_prompt({"messages": [{"role": "user", "x": deep}]}, COUNTERS["o200k_base"]) > 20_000


TOOL: JSON = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a given place",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def test_tools_cost_more_than_gpt_oss_renders() -> None:
    """One small tool adds 81 tokens in gpt-oss's own renderer (openai-harmony 0.0.8), fifty add 2,188."""
    counter = COUNTERS["o200k_base"]
    base = count_prompt({"messages": []}, counter)
    assert count_prompt({"messages": [], "tools": [TOOL]}, counter) - base >= 81
    assert count_prompt({"messages": [], "tools": [TOOL] * 50}, counter) - base >= 2188


def test_tools_of_the_responses_api_cost_as_much_as_gpt_oss_renders() -> None:
    """They are written flatter than in chat (81 and 2,188 there), in namespaces too."""
    counter = COUNTERS["o200k_base"]
    base = count_prompt({"input": []}, counter)
    assert count_prompt({"input": [], "tools": [FUNCTION]}, counter) - base >= 81
    assert count_prompt({"input": [], "tools": [FUNCTION] * 50}, counter) - base >= 2188
    nested: JSON = [{"type": "namespace", "name": "n", "description": "d", "tools": [FUNCTION] * 50}]
    assert count_prompt({"input": [], "tools": nested}, counter) - base >= 2188


PROSE = {"message", "agent_message", "reasoning"}


@pytest.mark.parametrize("kind", sorted(set(items()) - PROSE))
def test_items_are_at_least_their_json(kind: str) -> None:
    counter = COUNTERS["o200k_base"]
    item: JSON = items('A "quoted" word, C:\\ and\n\ta line: ' + NATURAL[1][:200])[kind]
    ours = count_prompt({"input": [item]}, counter) - count_prompt({"input": []}, counter)
    assert ours >= true_count("o200k_base", json.dumps(item, ensure_ascii=False, separators=(",", ":")))


@both
@given(texts=st.lists(st.text(max_size=60), max_size=5))
@settings(deadline=None)
def test_a_conversation_costs_about_the_same_in_both_apis(name: str, texts: list[str]) -> None:
    """A part is called `input_text` instead of `text`, which may cost a token; nothing else differs."""

    def cost(field: str, kind: str) -> int:
        parts: JSON = [{"type": kind, "text": text} for text in texts]
        return count_prompt({field: [{"role": "user", "content": parts}]}, COUNTERS[name])

    assert cost("messages", "text") <= cost("input", "input_text") <= cost("messages", "text") + len(texts)
    joined = "".join(texts)
    assert count_prompt({"input": joined}, COUNTERS[name]) == count_prompt({"messages": joined}, COUNTERS[name])


def test_what_cannot_be_read_is_allowed_for_but_not_held_against_the_provider() -> None:
    counter = COUNTERS["o200k_base"]
    reasoning: JSON = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAABm" * 1000}
    said: JSON = {"role": "user", "content": NATURAL[0]}
    plain: dict[str, JSON] = {"input": [said]}
    full: dict[str, JSON] = {"input": [said, reasoning], "tools": [{"type": "web_search"}]}
    size = face.EXACT_BYTES
    least, most = (face.measure(body, counter, None, size=size) for body in (plain, full))
    assert most.prompt - least.prompt >= 8000 // 5 + 256
    assert most.texts - least.texts < 30
    assert true_count("o200k_base", NATURAL[0]) <= least.texts <= least.prompt


def test_tool_calls_and_their_arguments_count() -> None:
    counter = COUNTERS["o200k_base"]

    def body(arguments: JSON) -> dict[str, JSON]:
        call: JSON = {"id": "call_1", "type": "function", "function": {"name": "send", "arguments": arguments}}
        return {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}

    none, one, two = (count_prompt(body(text), counter) for text in ("{}", '{"a":1}', '{"a":1,"b":2}'))
    assert one - none >= 12
    assert two - one >= 12
    assert count_prompt(body({"a": 1, "b": 2}), counter) >= two - 4
    assert count_prompt(body("not json " * 50), counter) >= true_count("o200k_base", "not json " * 50)
    assert count_prompt(body("[" * 100_000), counter) > 0


@pytest.mark.parametrize(
    "field", ["prompt", "input", "instructions", "system", "documents", "chat_template", "suffix", "text"]
)
def test_other_text_fields_count(field: str) -> None:
    text = NATURAL[0]
    ours = count_prompt({"messages": [], field: text}, COUNTERS["o200k_base"])
    assert ours >= true_count("o200k_base", text) + count_prompt({"messages": []}, COUNTERS["o200k_base"])


def test_fields_that_are_not_in_the_prompt_do_not_count() -> None:
    body: dict[str, JSON] = {name: {"long": "text " * 100} for name in NOT_IN_PROMPT}
    empty = count_prompt({}, COUNTERS["o200k_base"])
    assert count_prompt(body, COUNTERS["o200k_base"]) == empty < 12
    assert count_prompt({"tools": None}, COUNTERS["o200k_base"]) == empty


def test_messages_of_the_wrong_shape_are_counted_as_text() -> None:
    counter = COUNTERS["o200k_base"]
    text = NATURAL[1]
    shapes: list[JSON] = [text, [text], {"content": text}, [[[text]]], [{"content": [{"type": "video", "u": text}]}]]
    for shape in shapes:
        assert count_prompt({"messages": shape}, counter) >= true_count("o200k_base", text)


@given(values, st.integers(0, 400))
@settings(deadline=None)
def test_a_stopped_prompt_has_the_same_verdict(value: JSON, limit: int) -> None:
    body: dict[str, JSON] = {"messages": [{"role": "user", "content": value}], "tools": value}
    counter = COUNTERS["o200k_base"]
    full, stopped = count_prompt(body, counter), count_prompt(body, counter, limit)
    assert stopped == full if full <= limit else limit < stopped <= full


def test_absurd_numbers_are_refused() -> None:
    huge = 10**5000
    for body in ({"messages": [huge]}, {"tools": [huge]}):
        with pytest.raises(BadRequest, match="digits"):
            count_prompt(body, BYTES)


def test_too_deep_values_are_refused() -> None:
    deep: JSON = []
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(BadRequest, match="deep"):
        count_prompt({"tools": deep}, BYTES)
    assert count_prompt({"messages": deep}, BYTES) > 20_000


# ---------------------------------------------------------------- the completion and the limit

FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")


def test_requested_completion_is_the_largest_field() -> None:
    assert requested_completion({}) == 0
    assert requested_completion({"max_tokens": None, "n": 4}) == 0
    for field in FIELDS:
        assert requested_completion({field: 17, "n": 5}) == 17
    assert requested_completion({"max_tokens": 5, "max_completion_tokens": 9, "max_output_tokens": 7}) == 9


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("wrong", [-1, True, False, 1.0, "5", [], {}])
def test_a_wrong_completion_is_refused_by_name(field: str, wrong: JSON) -> None:
    with pytest.raises(BadRequest, match=field) as caught:
        requested_completion({field: wrong})
    assert caught.value.param == field


def test_limit_counts_prompt_and_completion() -> None:
    check_limit(Measured(90, 10), 100)
    check_limit(Measured(10**9, 10**9), None)
    with pytest.raises(ContextLengthExceeded) as caught:
        check_limit(Measured(90, 11), 100, param="input")
    assert caught.value.code == "context_length_exceeded"
    assert caught.value.param == "input"
    assert "maximum context length is 100 tokens. However, you requested 101 tokens (90 in" in caught.value.message
    assert caught.value.message.endswith("Cut at least 1 tokens.")


def test_measure_is_exact_unless_the_body_is_huge() -> None:
    counter: Counter = COUNTERS["o200k_base"]
    body: dict[str, JSON] = {"messages": [{"role": "user", "content": NATURAL[0] * 3000}], "max_tokens": 50}
    full = count_prompt(body, counter)
    near = full - 5_000
    measured = face.measure(body, counter, near, size=face.EXACT_BYTES)
    assert (measured.prompt, measured.completion) == (full, 50)
    stopped = face.measure(body, counter, near, size=face.EXACT_BYTES + 1)
    assert near - 50 < stopped.prompt < full
    with pytest.raises(ContextLengthExceeded):
        check_limit(stopped, near)
    assert face.measure(body, counter, full + 50, size=face.EXACT_BYTES + 1) == measured
    assert face.measure(body, counter, None, size=face.EXACT_BYTES + 1) == measured
    assert face.measure(body, counter, 10, size=face.EXACT_BYTES + 1).prompt > 0

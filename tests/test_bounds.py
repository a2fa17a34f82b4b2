"""Bounds instead of counts for long bodies, and counts that are remembered: sound, and never another tenant's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest, ContextLengthExceeded, Unavailable
from proxy.measure import BOUNDED_BYTES, Counters, check_limit, count_prompt, load_counter, measure, scaled
from proxy.model import JSON
from proxy.tokens import trial
from proxy.tokens.cache import LEAST, Cache, CachedCounter
from proxy.tokens.counter import Bounds, EncodingCounter
from proxy.tokens.ranks import ENCODINGS, load_encoding
from proxy.tokens.words import pre_tokens, word_starts
from tests.test_taste import ask, policy, request, whole

ENCODED = {name: load_encoding(name) for name in ENCODINGS}
COUNTERS = {name: load_counter(name) for name in ENCODINGS}
O200K = COUNTERS["o200k_base"]
BYTES = load_counter("bytes")
ENGLISH = trial.WORDS[0]

both = pytest.mark.parametrize("name", ENCODINGS)
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.text("a1 \t\n\r/'.-_é中́", max_size=200),
    st.text("aB1'vEsS²", max_size=200),
    st.lists(st.sampled_from([*trial.WORDS, "\n//\n//", " /\n /", "*/\n/ a"]), max_size=5).map("".join),
)


@both
@given(text=texts)
def test_bounds_hold(name: str, text: str) -> None:
    bounds, true = COUNTERS[name].bounds(text), len(ENCODED[name].encode_ordinary(text))
    assert bounds.most is not None
    assert bounds.least <= true <= bounds.most


@both
@given(text=texts)
def test_no_pre_token_holds_the_starts_of_two(name: str, text: str) -> None:
    """Why pre-tokens are a lower bound: tokens do not reach across them."""
    definition = ENCODINGS[name]
    found = [match.group() for match in regex.finditer(definition.pattern, text)]
    assert "".join(found) == text
    for cases in {False, definition.cases}:
        assert all(pre_tokens(piece.encode(), cases=cases) <= 1 for piece in found)
        assert pre_tokens(text.encode(), cases=cases) <= len(found)


@given(texts)
def test_word_starts_are_letters_or_digits_behind_space_or_punctuation(text: str) -> None:
    behind = r"(?<=[ \t\n\r\v\f!-&(-/:-@\[-`{-~])"
    every = len(regex.findall(behind + r"[\p{L}\p{N}]", text))
    ascii_only = len(regex.findall(behind + r"[A-Za-z0-9]", text))
    assert ascii_only <= word_starts(text.encode()) <= every
    assert word_starts(text.encode()) <= pre_tokens(text.encode())


def test_every_byte_that_begins_a_word_begins_letters_only() -> None:
    lead = {chr(code).encode()[0] for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF and chr(code).isalnum()}
    counted = [value for value in range(256) if word_starts(b" " + bytes([value]))]
    assert set(counted) <= lead
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF and chr(code).encode()[0] in counted:
            assert chr(code).isalnum(), hex(code)


@pytest.mark.parametrize(
    ("text", "plain", "cases"),
    [
        ("one, two", 1, 1),
        ("a.b;c", 2, 2),
        ("abc123", 1, 1),
        ("123abc", 1, 1),
        (" 1234567", 2, 2),  # one behind the space, four places where digits stand in fours
        ("1234567", 1, 1),
        ("aBcDeF", 0, 3),
        ("I'vE don'T", 1, 0),  # two, were the contractions not taken off
        ("don't", 0, 0),
        ("l'eau", 0, 0),
        ("\u00e9t\u00e9 \u00e9t\u00e9", 0, 0),  # whose first byte may also begin a sign
        ("\u4e2d \u6587", 1, 1),
        ("", 0, 0),
    ],
)
def test_pre_tokens_that_are_certain(text: str, plain: int, cases: int) -> None:
    assert (pre_tokens(text.encode()), pre_tokens(text.encode(), cases=True)) == (plain, cases)


def test_pre_tokens_are_counted_across_chunks() -> None:
    for words in (1, 100_000, 300_001):
        assert word_starts(b" a" * words) == pre_tokens(b" a" * words) == words
        assert word_starts(b"  a" * words) == words
        assert pre_tokens(b"aB" * words, cases=True) == words
        assert pre_tokens(b"0" * 3 * words) == (words * 3 - 3) // 3


@both
@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("0123456789" * 30_000, 1.01),
        ("".join(Random(1).choices("aAbBcCdD0123+/", k=300_000)), 3),
        ("\u60a3\u8005\u5f20\u4f1f\u7684\u75c5\u5386\u53f7\uff0c\u8c22\u8c22\u3002" * 9_000, 12),
        (ENGLISH * 3_000, 2.5),
        ("snake_case.attribute(index)[0];" * 9_000, 2),
    ],
    ids=["digits", "base64", "Han", "prose", "code"],
)
def test_texts_without_spaces_are_bounded_well_enough(name: str, text: str, times: float) -> None:
    true = len(ENCODED[name].encode_ordinary(text))
    assert true / times <= COUNTERS[name].bounds(text).least <= true


def test_what_a_pattern_allows_is_tried() -> None:
    assert {name: trial.cuts_before_capitals(definition.pattern) for name, definition in ENCODINGS.items()} == {
        name: definition.cases for name, definition in ENCODINGS.items()
    }
    assert trial.cuts_before_capitals(r"\p{L}+(?: \p{L}+)*|\s+|.") is None  # joins words
    assert trial.cuts_before_capitals(r" ?\p{L}+| ?\p{N}+|[^\s\p{L}\p{N}]+|\s+") is None  # any number of digits
    assert trial.cuts_before_capitals(r" ?\p{L}+| ?\p{N}|[^\s\p{L}\p{N}]+|\s+") is False


def test_factors_scale_bounds_as_they_scale_counts() -> None:
    for factor in (1.0, 1.4, 2.0):
        counter = scaled(O200K, factor)
        bounds, count = counter.bounds(ENGLISH), counter.count(ENGLISH)
        assert bounds.most is not None
        assert bounds.least <= count <= bounds.most
    assert BYTES.bounds("aé") == Bounds(3, 3)
    with pytest.raises(BadRequest):
        O200K.bounds("secret\ud800")


# ---------------------------------------------------------------- the verdict


def chat(text: str, **more: JSON) -> dict[str, JSON]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


LONG = chat(ENGLISH * 12_000, max_tokens=100)
SIZE = len(ENGLISH.encode()) * 12_000


class Forbidden:
    """A counter whose texts must not be counted."""

    name = "forbidden"

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        raise AssertionError("counted")

    def bounds(self, text: str) -> Bounds:
        return O200K.bounds(text)


def test_a_prompt_that_is_clearly_over_or_under_is_not_counted() -> None:
    assert SIZE > BOUNDED_BYTES
    true = count_prompt(LONG, O200K)
    under = measure(LONG, Forbidden(), 2_000_000, size=SIZE)
    assert under.bounded
    assert true <= under.prompt <= 2_000_000
    assert 0 < under.texts <= true
    check_limit(under, 2_000_000)
    over = measure(LONG, Forbidden(), 100_000, size=SIZE)
    assert over.bounded
    assert 100_000 < over.prompt + over.completion <= true + 100
    with pytest.raises(ContextLengthExceeded):
        check_limit(over, 100_000)


def test_a_prompt_near_the_limit_or_of_a_small_body_is_counted() -> None:
    true = count_prompt(LONG, O200K)
    for limit in (true + 100, true + 99):
        near = measure(LONG, O200K, limit, size=SIZE)
        assert not near.bounded
        assert near.prompt == true
        with pytest.raises(AssertionError):
            measure(LONG, Forbidden(), limit, size=SIZE)
    small = measure(LONG, O200K, 10**9, size=BOUNDED_BYTES - 1)
    assert (small.bounded, small.prompt) == (False, true)
    assert not measure(LONG, O200K, None, size=SIZE).bounded


@given(st.lists(texts, max_size=4), st.integers(0, 1500), st.integers(0, 50))
def test_bounds_and_counts_give_the_same_verdict(contents: list[str], limit: int, completion: int) -> None:
    body = chat("", max_tokens=completion, tools=[{"type": "function", "function": {"name": t}} for t in contents])
    body["messages"] = [{"role": "user", "content": text} for text in contents]

    def fits(size: int) -> bool:
        measured = measure(body, O200K, limit, size=size)
        return measured.prompt + measured.completion <= limit

    assert fits(BOUNDED_BYTES) == fits(0)


def test_a_deadline_holds_for_bounds_too() -> None:
    with pytest.raises(Unavailable):
        measure(LONG, Forbidden(), 2_000_000, size=SIZE, deadline=0.0)


# ---------------------------------------------------------------- remembered counts


class Tallied:
    """How many characters were counted."""

    name = "tallied"

    def __init__(self) -> None:
        self.read = 0

    def count(self, text: str, stop_above: int | None = None, deadline: float | None = None) -> int:
        self.read += len(text)
        return O200K.count(text, stop_above, deadline)

    def bounds(self, text: str) -> Bounds:
        return O200K.bounds(text)


def test_a_growing_chat_is_counted_once() -> None:
    tallied, cache = Tallied(), Cache()
    counter = CachedCounter(tallied, cache, b"tenant")
    messages: list[JSON] = []
    size = 0
    for turn in range(20):
        text = f"{turn} {ENGLISH * 20}"
        size += len(text)
        messages.append({"role": "user", "content": text})
        assert count_prompt({"messages": messages}, counter) == count_prompt({"messages": messages}, O200K)
    assert size <= tallied.read < size + 20 * 20 * 20


def test_tenants_and_tokenizers_do_not_share_counts() -> None:
    cache, text = Cache(), ENGLISH * 20
    first, second = Tallied(), Tallied()
    CachedCounter(first, cache, b"one").count(text)
    CachedCounter(second, cache, b"two").count(text)
    assert (first.read, second.read, len(cache)) == (len(text), len(text), 2)
    assert CachedCounter(COUNTERS["cl100k_base"], cache, b"one").count(text) == COUNTERS["cl100k_base"].count(text)
    assert len(cache) == 3


def test_no_text_is_remembered() -> None:
    cache = Cache()
    CachedCounter(O200K, cache, b"one").count("Mira Tallow " * 100)
    ((key, count),) = cache._counts.items()
    assert (len(key), type(count)) == (20, int)
    CachedCounter(O200K, cache, b"one").count("Mira Tallow"[: LEAST - 1])
    assert len(cache) == 1


def test_a_count_that_stopped_early_is_not_remembered() -> None:
    counter, text = CachedCounter(O200K, Cache(), b"one"), ENGLISH * 2_000
    stopped = counter.count(text, 100)
    assert 100 < stopped < O200K.count(text) == counter.count(text) == counter.count(text, 100)
    with pytest.raises(Unavailable):
        counter.count(text, None, 0.0)


def test_the_cache_is_bounded_and_drops_what_was_not_used() -> None:
    cache = Cache(3)
    for number in range(3):
        cache.put(bytes([number]), number)
    assert cache.get(b"\0") == 0
    cache.put(b"\3", 3)
    assert [cache.get(bytes([number])) for number in range(4)] == [0, None, 2, 3]
    assert len(cache) == 3


def test_threads_share_the_cache() -> None:
    counters = Counters(["o200k_base"])
    rng = Random(3)
    samples = [rng.choice(trial.WORDS) * rng.randint(5, 9) for _ in range(200)]

    def counted(text: str) -> int:
        return counters.of("o200k_base", 1.5, b"tenant").count(text)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(counted, samples))
    assert found == [scaled(O200K, 1.5).count(text) for text in samples]
    assert isinstance(counters.of("o200k_base", 1.0), EncodingCounter)


def test_a_request_that_bounds_refuse_is_audited_as_bounded() -> None:
    """1.2 MB of prose against 128,000 tokens; nothing of it was sent."""
    got = ask(whole("Hello", 9), request(ENGLISH * 13_000), policy())
    assert (got.status, got.code, got.sent) == (400, "context_length_exceeded", {})
    assert got.event.tokens_bound
    assert got.event.tokens_before is not None
    assert 128_000 < got.event.tokens_before <= 13_000 * O200K.count(ENGLISH) + 20
    assert not ask(whole("Hello", 9), request("short"), policy()).event.tokens_bound

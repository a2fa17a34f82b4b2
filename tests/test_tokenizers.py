"""Tokenizers from files: never below what the library that they were made for counts, refused where they are wrong."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiktoken import Encoding
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from typer.testing import CliRunner

from proxy import app as application
from proxy.__main__ import command_line
from proxy.detect import Detector
from proxy.errors import BadRequest, Unavailable
from proxy.measure import Counter, Counters, WrongTokenizer, load_file, verify_file
from proxy.plan import Plan
from proxy.policy import parse_policy
from proxy.policy.limits import TokenizerSource
from proxy.settings import Settings, StartError
from proxy.tokens import convert, files, trial
from proxy.tokens.counter import EncodingCounter
from proxy.tokens.foreign import CUT, PIECE, LibraryCounter
from proxy.tokens.normal import NormalizedCounter
from proxy.tokens.ranks import ENCODINGS, load_encoding

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "tests" / "clients" / "node_modules" / "@lenml"
(MISTRAL,) = sorted((ROOT / ".venv-others").resolve().glob("lib/python3*/site-packages"))[:1] or [Path("absent")]
TEKKEN = MISTRAL / "mistral_common" / "data" / "tekken_240911.json"
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+| ?[^\s\p{L}]+|\s+",
)


@dataclass(frozen=True)
class Family:
    """A counter of ours, and the count of whoever made the tokenizer, of the whole text in one call."""

    counter: Counter
    true: Callable[[str], int]


def _openai(name: str) -> Family:
    encoding = load_encoding(name)
    return Family(EncodingCounter(encoding), lambda text: len(encoding.encode_ordinary(text)))


def _published(package: str) -> Family:
    raw = (PUBLIC / package / "models" / "tokenizer.json").read_bytes()
    library = Tokenizer.from_buffer(raw)
    library.encode_special_tokens = True
    return Family(files.counter_from(raw, package), lambda text: len(library.encode(text, add_special_tokens=False)))


def _mistral() -> Family:
    """Against the file itself: all its ranks in one encoding, and the whole text in one call."""
    raw = TEKKEN.read_bytes()
    recipe = convert.tekken(json.loads(raw))
    assert recipe is not None
    encoding = Encoding("tekken", pat_str=recipe.pattern, mergeable_ranks=dict(recipe.ranks), special_tokens={})
    return Family(files.counter_from(raw, "tekken"), lambda text: len(encoding.encode_ordinary(text)))


FAMILIES: dict[str, Callable[[], Family]] = {
    **{name: lambda name=name: _openai(name) for name in ENCODINGS},  # type: ignore[misc]
    "llama 3.1": lambda: _published("tokenizer-llama3_1"),
    "qwen 3": lambda: _published("tokenizer-qwen3"),
    "mistral": _mistral,
}


@cache
def family(name: str) -> Family:
    return FAMILIES[name]()


each = pytest.mark.parametrize("name", FAMILIES)

runs = st.tuples(
    st.sampled_from([*trial.ALPHABETS, "\U0001d160\u0344\u0958", "𝐀ﷺ½", "<|endoftext|>", "\u200b", "aeiou "]),
    st.randoms(use_true_random=False),
    st.integers(1, 400),
).map(lambda drawn: "".join(drawn[1].choices(drawn[0], k=drawn[2])))
pieces = st.one_of(runs, st.sampled_from(trial.WORDS), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
prompts = st.tuples(st.lists(pieces, max_size=6).map("".join), st.sampled_from([1, 1, 1, 1, 12])).map(
    lambda drawn: drawn[0] * drawn[1]
)


@each
@given(text=prompts)
def test_no_prompt_is_counted_below(name: str, text: str) -> None:
    them = family(name)
    true, bounds = them.true(text), them.counter.bounds(text)
    assert true <= them.counter.count(text)
    assert bounds.least <= true
    assert bounds.most is None or true <= bounds.most


@each
def test_the_median_prompt_is_counted_within_two_percent(name: str) -> None:
    them, rng = family(name), Random(11)
    ratios = []
    for _ in range(200):
        text = "".join(rng.choices(trial.WORDS, k=rng.randint(2, 30)))
        ratios.append(them.counter.count(text) / them.true(text))
    assert 1 <= statistics.median(ratios) <= 1.02
    assert max(ratios) <= 1.1


@pytest.mark.parametrize("name", ["llama 3.1", "qwen 3"])
def test_published_tokenizers_are_converted_and_agree(name: str) -> None:
    assert isinstance(family(name).counter, EncodingCounter | NormalizedCounter)
    for text in trial.WORDS:
        assert family(name).counter.count(text * 80) == family(name).true(text * 80)


def test_a_normal_form_that_makes_a_text_longer_counts() -> None:
    """Qwen's NFC turns one musical note of four bytes into two of eight: more tokens than there were bytes."""
    text = "\U0001d160" * 50
    them = family("qwen 3")
    most = them.counter.bounds(text).most
    assert most is not None
    assert them.true(text) <= them.counter.count(text) <= most
    assert most > len(text.encode())


# ---------------------------------------------------------------- tokenizers made here


def _trained(pattern: str | None = QWEN, *, normalizer: Any = None, splits: tuple[str, ...] = ()) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    steps: list[Any] = [pre_tokenizers.Split(Regex(one), "isolated") for one in ((pattern,) if pattern else splits)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not steps)]
    )
    tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([text * 3 for text in trial.WORDS], trainer)
    return tokenizer


def _counter(tokenizer: Tokenizer) -> Counter:
    return files.counter_from(tokenizer.to_str().encode(), "made")


@pytest.mark.parametrize(
    ("tokenizer", "kind"),
    [
        (_trained(), EncodingCounter),
        (_trained(normalizer=normalizers.NFC()), NormalizedCounter),
        (_trained(normalizer=normalizers.Sequence([normalizers.NFKC()])), NormalizedCounter),
        (_trained(normalizer=normalizers.Lowercase()), LibraryCounter),
        (_trained(None, splits=DEEPSEEK), LibraryCounter),
        (_trained(r"\S+|\s+"), LibraryCounter),
        (_trained(None), LibraryCounter),
    ],
    ids=["plain", "nfc", "nfkc", "lower case", "several splits", "words with digits", "gpt2"],
)
def test_what_can_be_converted_is_and_the_rest_is_counted_by_the_library(tokenizer: Tokenizer, kind: type) -> None:
    """GPT-2's pattern takes a run of digits whole, so that it cannot be cut where the others can."""
    counter = _counter(tokenizer)
    assert type(counter) is kind
    for text in (*trial.WORDS, "٣½٤" * 50, "", "ﷺ" * 40):
        assert counter.count(text) == len(tokenizer.encode(text, add_special_tokens=False))


SLOW = _counter(_trained(None, splits=DEEPSEEK))
SLOW_TRUE = _trained(None, splits=DEEPSEEK)


@given(text=pieces, times=st.integers(1, 60))
def test_the_library_in_pieces_is_never_below_the_library_in_one(text: str, times: int) -> None:
    assert isinstance(SLOW, LibraryCounter)
    whole, true = text * times, len(SLOW_TRUE.encode(text * times, add_special_tokens=False))
    if "<|end|>" in whole:
        return
    ours = SLOW.count(whole)
    assert true <= ours <= true + (2 * CUT + 8) * (1 + len(whole) // (PIECE - 1024))
    assert SLOW.bounds(whole).most is None


def test_the_library_stops_early_and_in_time() -> None:
    text = "word " * 20_000
    assert 100 < SLOW.count(text, 100) < 8_000
    with pytest.raises(Unavailable, match="too long"):
        SLOW.count(text, None, 0.0)
    with pytest.raises(BadRequest):
        SLOW.count("secret\ud800")
    with pytest.raises(BadRequest):
        family("qwen 3").counter.bounds("secret\ud800")


def test_special_tokens_in_a_text_are_text() -> None:
    """The larger number: a template that takes them for more has fewer tokens."""
    for counter in (_counter(_trained()), SLOW):
        assert counter.count("<|end|>" * 9) >= 9 * 3


# ---------------------------------------------------------------- what is wrong with a file


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@pytest.fixture
def made(tmp_path: Path) -> TokenizerSource:
    raw = _trained().to_str().encode()
    (tmp_path / "tokenizer.json").write_bytes(raw)
    return TokenizerSource("made", str(tmp_path / "tokenizer.json"), None, _digest(raw))


def test_a_file_is_loaded_and_counts_without_a_decoder(made: TokenizerSource) -> None:
    counters = Counters(["bytes"], [made])
    assert counters.of("made", 1.0).count("Dear Ms Okonkwo") == load_file(made).count("Dear Ms Okonkwo")
    assert counters.decoder("made", 1.0) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        (b"changed", "has the SHA-256"),
    ],
)
def test_an_absent_or_changed_file_is_told(made: TokenizerSource, content: bytes | None, told: str) -> None:
    path = Path(made.file)
    path.unlink() if content is None else path.write_bytes(content)
    for check in (verify_file, load_file):
        with pytest.raises(WrongTokenizer, match=told):
            check(made)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff", "neither"),
        (b"[]", "neither"),
        (b"{}", "neither"),
        (b"[" * 100_000, "neither"),
        (b'{"model": {"type": "BPE"}}', "library cannot read it"),
        (b'{"config": {}, "vocab": []}', "no byte-level tekken"),
        (
            b'{"config": {"pattern": "a", "default_vocab_size": 9, "default_num_special_tokens": 1}, "vocab": [{}]}',
            "no",
        ),
    ],
)
def test_what_is_no_tokenizer_is_told(content: bytes, told: str) -> None:
    with pytest.raises(WrongTokenizer, match=told):
        files.counter_from(content, "made")


def test_a_vocabulary_without_all_bytes_is_not_converted() -> None:
    data = json.loads(_trained().to_str())
    assert convert.hugging_face(data) is not None
    del data["model"]["vocab"]["a"]
    assert convert.hugging_face(data) is None
    small = json.loads(TEKKEN.read_bytes())
    small["vocab"] = small["vocab"][1:]
    with pytest.raises(WrongTokenizer, match="byte-level"):
        files.counter_from(json.dumps(small).encode(), "tekken")


def test_a_conversion_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges in another order than the library's make other tokens: the self-test sees it."""
    raw = _trained().to_str().encode()
    honest = convert.hugging_face(json.loads(raw))
    assert honest is not None
    turned = {token: 10_000 - rank if len(token) > 1 else rank for token, rank in honest.ranks.items()}
    monkeypatch.setattr(files, "hugging_face", lambda data: convert.Recipe(honest.pattern, turned))
    assert isinstance(files.counter_from(raw, "made"), LibraryCounter)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TokenizerSource:
    """An installed package with a tokenizer in it."""
    raw = _trained().to_str().encode()
    (tmp_path / "vocabularies-1.0.dist-info").mkdir()
    (tmp_path / "vocabularies-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: vocabularies\nVersion: 1.0\n"
    )
    (tmp_path / "vocabularies").mkdir()
    (tmp_path / "vocabularies" / "t.json").write_bytes(raw)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    importlib.invalidate_caches()
    return TokenizerSource("t", "vocabularies/t.json", "vocabularies", _digest(raw))


def test_a_package_may_carry_the_file(package: TokenizerSource) -> None:
    assert load_file(package).count("it's") > 0
    gone = TokenizerSource("t", package.file, "no-such-package", package.sha256)
    with pytest.raises(WrongTokenizer, match="'no-such-package' is not installed"):
        verify_file(gone)


# ---------------------------------------------------------------- in a policy


def _policy(made: TokenizerSource, model: str = "house-7b") -> bytes:
    named = f"{{file: {made.file}, sha256: {made.sha256}}}"
    return (
        f"version: 1\nlimits: {{models: {{{model}: {{served: 4096, tokenizer: {named}}}}}}}\n"
        "entities: {EMAIL_ADDRESS: replace}\n"
    ).encode()


def test_a_policy_names_a_file(made: TokenizerSource) -> None:
    policy = parse_policy(_policy(made), file="p.yaml", entities=["EMAIL_ADDRESS"])
    limit = policy.limit_for("house-7b")
    assert limit is not None
    assert (limit.factor, limit.tokenizer) == (1.0, f"tokenizer.json@{made.sha256[:12]}")
    assert [(source.name, source.file) for source in policy.tokenizers] == [(limit.tokenizer, made.file)]
    other = parse_policy(_policy(made).replace(b"4096", b"4097"), file="p.yaml", entities=["EMAIL_ADDRESS"])
    assert other.digest != policy.digest


def test_the_service_and_the_linter_refuse_a_policy_whose_file_was_changed(
    made: TokenizerSource, tmp_path: Path
) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(_policy(made))
    run = CliRunner()
    text = tmp_path / "text"
    text.write_text("Dear Ms Okonkwo")
    asked = ["count", str(text), "--policy", str(path), "--model", "house-7b"]
    counted = run.invoke(command_line(), asked)
    assert counted.output.startswith(f"{load_file(made).count('Dear Ms Okonkwo')}\t4096\t")
    assert run.invoke(command_line(), ["check", str(path)]).exit_code == 0
    Path(made.file).write_bytes(b"{}")
    policy = parse_policy(_policy(made), file="p.yaml", entities=["EMAIL_ADDRESS"])
    with pytest.raises(StartError, match=r"tokenizer: .* has the SHA-256"):
        application.live_of(
            Plan(default=path, policies={path: policy}),
            Settings(upstream="http://127.0.0.1:1/v1", policy=path),
            lambda looks: Detector(looks, workers=1, deadline=1),
        )
    checked = run.invoke(command_line(), ["check", str(path)])
    assert checked.exit_code == 1
    assert "the policy states" in checked.output
    assert run.invoke(command_line(), asked).exit_code == 2

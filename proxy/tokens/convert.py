"""A tokenizer's file -> what a tiktoken encoding is made of, where it is a byte-level BPE. Pure.

A file that says anything which this module does not know is not converted: `None`, and the caller goes another way.
May import: the standard library.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What a byte-level pre-tokenizer splits by if it is not told otherwise."""

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True, slots=True)
class Recipe:
    """`ranks` holds all 256 single bytes, lower ranks merge first; `forms` are Unicode normal forms to apply before."""

    pattern: str
    ranks: Mapping[bytes, int] = field(repr=False)
    forms: tuple[str, ...] = ()


def tekken(data: Mapping[str, Any]) -> Recipe | None:
    """Mistral's format: a pattern, and a vocabulary by rank of which the first part is in use."""
    config, vocabulary = data["config"], data["vocab"]
    if not isinstance(config, Mapping) or not isinstance(vocabulary, list):
        return None
    pattern = config.get("pattern")
    size, specials = config.get("default_vocab_size"), config.get("default_num_special_tokens")
    if not isinstance(pattern, str) or type(size) is not int or type(specials) is not int:
        return None
    try:
        pairs = ((a2b_base64(entry["token_bytes"]), int(entry["rank"])) for entry in vocabulary)
        ranks = {token: rank for token, rank in pairs if rank < size - specials}
    except (Error, KeyError, TypeError, ValueError):
        return None
    return Recipe(pattern, ranks) if _covers(ranks) else None


def hugging_face(data: Mapping[str, Any]) -> Recipe | None:
    """The format of the `tokenizers` library, if nothing in it but NFC and the like changes the text."""
    model, forms = data["model"], _forms(data.get("normalizer"))
    pattern = _pattern(data.get("pre_tokenizer"))
    if forms is None or pattern is None or not isinstance(model, Mapping) or not _is_plain(model):
        return None
    ranks = _ranks(model)
    return Recipe(pattern, ranks, forms) if ranks is not None and _covers(ranks) else None


def _covers(ranks: Mapping[bytes, int]) -> bool:
    """All 256 bytes are tokens: no text is left over, and no text has more tokens than bytes."""
    return all(bytes([value]) in ranks for value in range(256))


def _forms(normalizer: Any) -> tuple[str, ...] | None:
    if normalizer is None:
        return ()
    if not isinstance(normalizer, Mapping):
        return None
    if normalizer.get("type") in _FORMS:
        return (normalizer["type"],)
    if normalizer.get("type") != "Sequence" or not isinstance(normalizer.get("normalizers"), list):
        return None
    inner = [_forms(part) for part in normalizer["normalizers"]]
    return None if None in inner else tuple(chain.from_iterable(filter(None, inner)))


def _pattern(pre: Any) -> str | None:
    """The one pattern that splits the text, followed by nothing but the writing of bytes as characters."""
    if not isinstance(pre, Mapping):
        return None
    steps = pre.get("pretokenizers") if pre.get("type") == "Sequence" else [pre]
    if not isinstance(steps, list) or not steps or not all(isinstance(step, Mapping) for step in steps):
        return None
    *splits, last = steps
    if last.get("type") != "ByteLevel" or last.get("add_prefix_space"):
        return None
    if last.get("use_regex", True):
        return None if splits else GPT2
    if len(splits) != 1 or splits[0].get("type") != "Split":
        return None
    split = splits[0]
    if split.get("behavior") != "Isolated" or split.get("invert"):
        return None
    pattern = split.get("pattern")
    found = pattern.get("Regex") if isinstance(pattern, Mapping) else None
    return found if isinstance(found, str) else None


def _is_plain(model: Mapping[str, Any]) -> bool:
    if model.get("type", "BPE") != "BPE" or not isinstance(model.get("vocab"), Mapping):
        return False
    odd = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    return isinstance(model.get("merges"), list) and not any(model.get(name) for name in odd)


def _ranks(model: Mapping[str, Any]) -> dict[bytes, int] | None:
    """Single bytes, then what each merge makes in the order of the merges.

    With `ignore_merges` a pre-token that is in the vocabulary is one token, merged or not: those come last.
    """
    values, vocabulary = _byte_values(), model["vocab"]
    ranks = {bytes([values[char]]): rank for rank, char in enumerate(char for char in values if char in vocabulary)}
    try:
        for left, right in _pairs(model["merges"]):
            ranks.setdefault(_bytes(left, values) + _bytes(right, values), len(ranks))
    except (KeyError, TypeError, ValueError):
        return None
    if model.get("ignore_merges"):
        for token in sorted(vocabulary, key=lambda token: str(vocabulary[token])):
            if all(char in values for char in token):
                ranks.setdefault(_bytes(token, values), len(ranks))
    return ranks


def _pairs(merges: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for merge in merges:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        yield left, right


def _bytes(token: str, values: Mapping[str, int]) -> bytes:
    return bytes([values[char] for char in token])


def _byte_values() -> dict[str, int]:
    """The printable character that byte-level tokenizers write for each byte -> the byte (as GPT-2 published it)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(256) if value not in printable]
    return {chr(v): v for v in printable} | {chr(256 + at): value for at, value in enumerate(others)}

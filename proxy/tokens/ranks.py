"""The packaged rank files of the encodings: loaded once at start, verified, never fetched.

A rank file is the vocabulary of a byte-level BPE: one token a line, base64 of its bytes, a space, its rank.
tiktoken would download it at first use; here it is package data (xz), its SHA-256 is in this file, and nothing
in this package calls the parts of tiktoken that know an address.

May import: tiktoken's `Encoding`, the standard library.
"""

from __future__ import annotations

import hashlib
import lzma
from binascii import a2b_base64
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from tiktoken import Encoding


@dataclass(frozen=True, slots=True)
class Ranks:
    """What defines an encoding: `sha256` of the raw rank file, the pre-token pattern, the special tokens.

    `cases`: whether the pattern cuts before a capital behind a small letter.

    Source: the definitions that OpenAI publishes with tiktoken 0.14.
    """

    sha256: str
    pattern: str
    specials: Mapping[str, int]
    cases: bool = False


_WORD = r"[^\r\n\p{L}\p{N}]?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

ENCODINGS: Mapping[str, Ranks] = MappingProxyType(
    {
        "o200k_base": Ranks(
            sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            pattern="|".join(
                (
                    f"{_WORD}{_UPPER}*{_LOWER}+{_SUFFIX}",
                    f"{_WORD}{_UPPER}+{_LOWER}*{_SUFFIX}",
                    r"\p{N}{1,3}",
                    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                    r"\s*[\r\n]+",
                    r"\s+(?!\S)",
                    r"\s+",
                )
            ),
            specials=MappingProxyType({"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
            cases=True,
        ),
        "cl100k_base": Ranks(
            sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            pattern="|".join(
                (
                    r"'(?i:[sdmt]|ll|ve|re)",
                    r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                    r"\p{N}{1,3}+",
                    r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                    r"\s++$",
                    r"\s*[\r\n]",
                    r"\s+(?!\S)",
                    r"\s",
                )
            ),
            specials=MappingProxyType(
                {
                    "<|endoftext|>": 100257,
                    "<|fim_prefix|>": 100258,
                    "<|fim_middle|>": 100259,
                    "<|fim_suffix|>": 100260,
                    "<|endofprompt|>": 100276,
                }
            ),
        ),
    }
)


class CorruptRanks(Exception):
    """A packaged rank file is missing or is not the one that this version was built with: nothing may start."""


def load_encoding(name: str) -> Encoding:
    """The encoding of that name (a key of `ENCODINGS`), built from the packaged file: about 0.5 s, 40 to 95 MB.

    Raises `CorruptRanks`. No cache: whoever composes the program calls it once and hands the object on.
    """
    definition = ENCODINGS[name]
    return Encoding(
        name,
        pat_str=definition.pattern,
        mergeable_ranks=_parse(_read(name, definition.sha256)),
        special_tokens=dict(definition.specials),
    )


def _read(name: str, sha256: str) -> bytes:
    try:
        raw = lzma.decompress((resources.files(__package__) / f"{name}.tiktoken.xz").read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise CorruptRanks(f"The packaged rank file of {name} cannot be read.") from error
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise CorruptRanks(f"The packaged rank file of {name} has the wrong SHA-256.")
    return raw


def _parse(raw: bytes) -> dict[bytes, int]:
    pairs = (line.split() for line in raw.splitlines())
    return {a2b_base64(token): int(rank) for token, rank in pairs}

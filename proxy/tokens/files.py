"""A model's own tokenizer from a file that the policy names: read, verified, and made into a counter. Never fetched.

Two formats are known, and told apart by what is in them: `tokenizer.json` of the Hugging Face `tokenizers` library,
and Mistral's `tekken.json`. A byte-level BPE becomes a tiktoken encoding, which counts fast and without holding the
GIL, if it then agrees with the library on every text of the self-test; any other goes through the library itself.

May import: its neighbours in this package, tokenizers, tiktoken's `Encoding`, the standard library.
"""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

from tiktoken import Encoding
from tokenizers import Tokenizer

from proxy.tokens import trial
from proxy.tokens.convert import Recipe, hugging_face, tekken
from proxy.tokens.counter import Counter, EncodingCounter
from proxy.tokens.foreign import LibraryCounter
from proxy.tokens.normal import NormalizedCounter
from proxy.tokens.words import Words

MOST_BYTES = 200_000_000
"""The largest published tokenizer.json has 33 MB."""


class WrongTokenizer(Exception):
    """A tokenizer's file is absent, is not the one that the policy states, or cannot be used: nothing may start."""


def read_verified(file: str, package: str | None, sha256: str) -> bytes:
    """The content of a file, or of a file inside an installed package, if it has the SHA-256 that was stated.

    Raises `WrongTokenizer`, in words for the operator.
    """
    path = _located(file, package)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise WrongTokenizer(f"the tokenizer's file {path} cannot be read ({reason})") from None
    if len(raw) > MOST_BYTES:
        raise WrongTokenizer(f"the tokenizer's file {path} is larger than {MOST_BYTES} bytes")
    found = hashlib.sha256(raw).hexdigest()
    if found != sha256:
        raise WrongTokenizer(f"the tokenizer's file {path} has the SHA-256 {found}, and the policy states {sha256}")
    return raw


def _located(file: str, package: str | None) -> Path:
    if package is None:
        return Path(file)
    try:
        return Path(str(metadata.distribution(package).locate_file(file)))
    except (metadata.PackageNotFoundError, ValueError):
        raise WrongTokenizer(f"the tokenizer's package '{package}' is not installed where the proxy runs") from None


def counter_from(raw: bytes, name: str) -> Counter:
    """A counter named `name` from the content of a file: 1 to 3 s, up to 200 MB. Raises `WrongTokenizer`."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise WrongTokenizer(f"{name}: neither a tokenizer.json nor a tekken.json") from None
    if not isinstance(data, dict):
        raise WrongTokenizer(f"{name}: neither a tokenizer.json nor a tekken.json")
    if "config" in data and "vocab" in data:
        return _from_tekken(data, name)
    if "model" in data:
        return _from_library(raw, data, name)
    raise WrongTokenizer(f"{name}: neither a tokenizer.json nor a tekken.json")


def _from_tekken(data: dict[str, Any], name: str) -> Counter:
    recipe = tekken(data)
    converted = None if recipe is None else _converted(recipe, name)
    if converted is None:
        raise WrongTokenizer(f"{name}: no byte-level tekken.json, or one that cannot be counted in pieces")
    return converted


def _from_library(raw: bytes, data: dict[str, Any], name: str) -> Counter:
    try:
        tokenizer = Tokenizer.from_buffer(raw)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the binding is no Exception
        raise WrongTokenizer(f"{name}: the tokenizers library cannot read it ({type(error).__name__})") from None
    library = LibraryCounter(tokenizer, name)
    recipe = hugging_face(data)
    converted = None if recipe is None else _converted(recipe, name)
    if converted is None or not trial.agree(converted, library.tokens, trial.corpus(data)):
        return library
    return converted


def _converted(recipe: Recipe, name: str) -> Counter | None:
    """The tiktoken encoding of a recipe, with what stands before it; None if it cannot be cut into pieces."""
    if not trial.can_be_cut(recipe.pattern):
        return None
    try:
        encoding = Encoding(name, pat_str=recipe.pattern, mergeable_ranks=dict(recipe.ranks), special_tokens={})
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a pattern that its engine does not know, or a panic of the binding
        return None
    cases = trial.cuts_before_capitals(recipe.pattern)
    counter = EncodingCounter(encoding, words=None if cases is None else Words.of(encoding, cases=cases))
    return NormalizedCounter(counter, recipe.forms) if recipe.forms else counter

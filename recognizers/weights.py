"""Weights of our own for the name models: one file a language in `trained/`, checked against its pinned hash.

A file is msgpack in xz: the labels, the spaCy configuration of the component, its transition system, and its arrays in
half precision. Nothing in it is code, and nothing is unpickled. Words' vectors are not in it: they come from the
packaged model that the component was trained on.

May import: spacy, srsly, numpy, the standard library.
"""

from __future__ import annotations

import hashlib
import lzma
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "trained"
FORMAT = 1


class WeightsRefused(RuntimeError):
    """The file is missing, is not the pinned one, or is not of this format."""


def read(path: Path, expected: str) -> dict[str, Any]:
    """The content of a weights file whose sha256 is `expected`. Raises `WeightsRefused`."""
    try:
        packed = path.read_bytes()
    except OSError:
        raise WeightsRefused(
            f"{path.name}: the weights of the name model are missing; install the package again"
        ) from None
    found = hashlib.sha256(packed).hexdigest()
    if found != expected:
        raise WeightsRefused(f"{path.name} is not the pinned file (sha256 {found}, expected {expected})")
    return unpack(packed)


def unpack(packed: bytes) -> dict[str, Any]:
    """`{"format", "lang", "labels", "config", "cfg", "moves", "model"}`. Raises `WeightsRefused`."""
    import srsly

    content: dict[str, Any] = srsly.msgpack_loads(lzma.decompress(packed))
    if content.get("format") != FORMAT:
        raise WeightsRefused(f"weights of format {content.get('format')}, expected {FORMAT}")
    return content


def install(nlp: Any, content: dict[str, Any]) -> Any:
    """Puts the component into `nlp`, in place of any `ner` there, and returns `nlp`.

    The vocabulary of `nlp` must carry the vectors that the component was trained with.
    """
    import srsly

    if "ner" in nlp.pipe_names:
        nlp.remove_pipe("ner")
    component = nlp.add_pipe("ner", config={"model": content["config"]})
    for label in content["labels"]:
        nlp.vocab.strings.add(label)
    model = dict(content["model"], params=[_widened(params) for params in content["model"]["params"]])
    message = {"cfg": content["cfg"], "moves": content["moves"], "model": srsly.msgpack_dumps(model)}
    component.from_bytes(srsly.msgpack_dumps(message), exclude=["vocab"])
    return nlp


def _widened(params: dict[str, Any]) -> dict[str, Any]:
    return {name: array.astype(np.float32) if hasattr(array, "astype") else array for name, array in params.items()}

"""The word vectors in context of a spaCy component, computed for reading only: the same numbers in half the time.

Three things make spaCy's own way slow. It embeds a word as often as it stands in a text; its maxout also notes which
piece won, which only learning needs; and each layer goes through arrays that fit into no processor cache. Here each
distinct word is embedded once, by spaCy's own layers, and the convolutions run over a few hundred rows at a time.

May import: thinc, spacy, numpy, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

_ROWS = 256
"""Rows that go through a layer at once: what they need stays in a processor's second cache."""
_TINY = np.float32(1e-08)
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class _Layer:
    """One convolution: a maxout over a word and its two neighbours, normalised. `weights`: piece after piece."""

    weights: Any
    bias: Any
    gain: Any
    shift: Any

    def __call__(self, rows: Any) -> Any:
        """What the layer adds to all of `rows` but the first and the last, which are neighbours only."""
        width = rows.shape[1]
        pieces = np.hstack((rows[:-2], rows[1:-1], rows[2:])) @ self.weights
        pieces += self.bias
        best = np.maximum(pieces[:, :width], pieces[:, width : 2 * width])
        for at in range(2 * width, pieces.shape[1], width):
            np.maximum(best, pieces[:, at : at + width], out=best)
        best -= best.mean(axis=1, keepdims=True)
        spread = np.einsum("ij,ij->i", best, best) / np.float32(width) + _TINY
        best *= (1 / np.sqrt(spread))[:, None]
        best *= self.gain
        best += self.shift
        return best


class _Distinct:
    """Some of the words of some documents, as spaCy's embedding asks a document for them."""

    def __init__(self, vocab: Any, columns: Sequence[int], values: Any) -> None:
        self.vocab = vocab
        self._values = {column: values[:, place] for place, column in enumerate(columns)}
        self._length = len(values)

    def __len__(self) -> int:
        return self._length

    def to_array(self, columns: Any) -> Any:
        if isinstance(columns, list):
            return np.stack([self._values[_code(column)] for column in columns], axis=1)
        return self._values[_code(columns)]


def install(component: Any) -> None:
    """Lets a component of spaCy's `Tok2Vec.v2` with windows of one word read this way from now on. Needs the CPU."""
    from thinc.api import Model

    slow = component.model.layers[0]
    fast = _reader(slow)

    def forward(_: Any, docs: Any, is_train: bool) -> Any:
        return slow(docs, is_train) if is_train else (fast(docs), None)

    component.model.layers[0] = Model("read_only_tok2vec", forward, attrs={"slow": slow})


def _reader(slow: Any) -> Callable[[Sequence[Any]], Any]:
    tok2vec, _, linear = slow.layers
    embed, encode = tok2vec.get_ref("embed"), tok2vec.get_ref("encode")
    padding = encode.attrs["pad"]
    layers = _layers(encode)
    features = next(node for node in embed.walk() if node.name == "extract_features").attrs["columns"]
    columns = [_code("ORTH"), *map(_code, features)]

    def read(docs: Sequence[Any]) -> Any:
        values = np.concatenate([doc.to_array(columns) for doc in docs if len(doc)])
        first, inverse = distinct(values)
        (vectors,) = embed.predict([_Distinct(docs[0].vocab, columns, values[first])])
        places = _places([len(doc) for doc in docs], padding)
        rows = np.zeros((len(values) + padding * (len(docs) + 1) + 2, vectors.shape[1]), dtype=np.float32)
        rows[places] = vectors[inverse]
        for layer in layers:
            rows = _through(layer, rows)
        return linear.predict(rows[places])

    return read


def distinct(values: Any) -> tuple[Any, Any]:
    """`(first, inverse)`: where each distinct row stands first, and which of these each row is like."""
    keys = values[:, 0] * _MIX
    keys ^= values[:, 1]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(values[first][inverse], values):  # two words with one key
        everything = np.arange(len(values))
        return everything, everything
    return first, inverse


def _code(column: int | str) -> int:
    from spacy.attrs import IDS

    return IDS[column] if isinstance(column, str) else column


def _layers(encode: Any) -> list[_Layer]:
    nodes = list(encode.walk())
    found = []
    for maxout, norm in zip(
        [node for node in nodes if node.name == "maxout"],
        [node for node in nodes if node.name == "layernorm"],
        strict=True,
    ):
        weights = maxout.get_param("W")  # out, piece, in
        flat = np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(weights.shape[2], -1))
        bias = np.ascontiguousarray(maxout.get_param("b").T.reshape(-1))
        found.append(_Layer(flat, bias, norm.get_param("G"), norm.get_param("b")))
    return found


def _places(lengths: Sequence[int], padding: int) -> Any:
    """Which rows are words: before, between and behind the documents stand `padding` rows, at both ends one more."""
    starts = np.cumsum([1 + padding, *(length + padding for length in lengths[:-1])])
    return np.concatenate([np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)])


def _through(layer: _Layer, rows: Any) -> Any:
    """`rows` and what a layer adds to them; the first and last row stay empty."""
    out = np.zeros_like(rows)
    for start, end in pairwise([*range(1, len(rows) - 1, _ROWS), len(rows) - 1]):
        np.add(rows[start:end], layer(rows[start - 1 : end + 1]), out=out[start:end])
    return out

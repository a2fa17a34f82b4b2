"""A Hugging Face token classifier, exported to ONNX, as a recognizer. Needs `pip install caviardage[onnx]`.

A folder holds the graph (`*.onnx`), `tokenizer.json` (the file of the `tokenizers` library) and `config.json` (for
`id2label`). Nothing is downloaded and no code of the folder runs: a graph is data. Text of any length is read in
windows that overlap; each token counts in the window in which it stands farthest from an edge.

May import: base, blockwise, device, pinned, tagged, numpy, onnxruntime, tokenizers, the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recognizers import pinned
from recognizers.base import Span
from recognizers.blockwise import BlockModel
from recognizers.device import has_onnx_cuda
from recognizers.tagged import Hit, Scheme, Token, softmax

_BATCH_TOKENS = 8_192
"""Tokens, padding included, that go through the model at once."""
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The absolute path of a folder with digest `sha256` (as `pinned.digest` computes it).

    `labels` maps the model's labels, without `B-` and `I-`, to entities. `file` names the graph inside the folder
    where there are several. `window`: tokens that are read at once, those that frame a text included.
    """

    source: str
    sha256: str
    labels: Mapping[str, str]
    file: str | None = None
    window: int = 512
    examples: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        return f"onnx:{Path(self.source).name}"


class _Window(NamedTuple):
    """One window of a text as the model reads it: ids, which of them are of the text, and where they stand."""

    text: int
    ids: Sequence[int]
    types: Sequence[int]
    places: Sequence[tuple[int, Token]]


class OnnxRecognizer(BlockModel):
    """Holds no text between calls."""

    def __init__(self, spec: OnnxModel, *, cuda: bool = False) -> None:
        self._spec = spec
        self._providers = [CUDA, CPU] if cuda and has_onnx_cuda() else [CPU]
        self._session: Any = None
        super().__init__(spec.title, spec.labels)  # which loads

    def load(self) -> None:
        """Verifies, then loads. Raises ValueError in words for whoever wrote the policy."""
        if self._session is not None:
            return
        folder = Path(self._spec.source)
        runtime, tokenizers = _package("onnxruntime"), _package("tokenizers")
        pinned.check(folder, self._spec.sha256)
        self._scheme = Scheme(_labels(folder), self.labels)
        self._unknown(self._scheme.kinds)
        self._tokenizer = _tokenizer(tokenizers, folder, self._spec.window)
        self._session = _session(runtime, _graph(folder, self._spec.file), self._providers)
        self._inputs = frozenset(given.name for given in self._session.get_inputs())
        if not {"input_ids"} <= self._inputs <= _INPUTS:
            raise ValueError(f"{self.title}: not a token classifier, its inputs are {', '.join(sorted(self._inputs))}")
        shape = self._session.get_outputs()[0].shape
        if len(shape) != 3 or (isinstance(shape[2], int) and shape[2] != len(self._scheme.labels)):
            raise ValueError(f"{self.title}: its output does not have one number for each of its labels")

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        windows = sorted(self._windows(texts), key=lambda window: len(window.ids))
        seen: list[dict[int, tuple[int, Token, Any]]] = [{} for _ in texts]
        for batch in _batches(windows):
            for window, rows in zip(batch, self._run(batch), strict=True):
                _keep_most_central(seen[window.text], window, rows)
        return [self._spans(text, found) for text, found in zip(texts, seen, strict=True)]

    def _windows(self, texts: Sequence[str]) -> Iterator[_Window]:
        for index, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            for part in (encoding, *encoding.overflowing):
                places = [
                    (at, Token(start, end, -1 if word is None else word))
                    for at, ((start, end), word, special) in enumerate(
                        zip(part.offsets, part.word_ids, part.special_tokens_mask, strict=True)
                    )
                    if not special and end > start
                ]
                if places:
                    yield _Window(index, part.ids, part.type_ids, places)

    def _run(self, batch: Sequence[_Window]) -> Any:
        """Probabilities (windows, tokens, labels)."""
        longest = max(len(window.ids) for window in batch)
        arrays = {name: np.zeros((len(batch), longest), dtype=np.int64) for name in _INPUTS}
        for row, window in enumerate(batch):
            arrays["input_ids"][row, : len(window.ids)] = window.ids
            arrays["attention_mask"][row, : len(window.ids)] = 1
            arrays["token_type_ids"][row, : len(window.ids)] = window.types
        (logits, *_) = self._session.run(None, {name: arrays[name] for name in self._inputs})
        if not np.isfinite(logits).all():
            raise ValueError("a model returned something that is no number")
        return softmax(np.asarray(logits, dtype=np.float32))

    def _spans(self, text: str, found: Mapping[int, tuple[int, Token, Any]]) -> list[Span]:
        if not found:
            return []
        ordered = [found[start] for start in sorted(found)]
        rows = np.stack([row for _, _, row in ordered])
        hits: list[Hit] = self._scheme.decode(text, [token for _, token, _ in ordered], rows)
        return [Span(h.start, h.end, h.entity, h.score, self.title, f"model {h.label}") for h in hits]


def _keep_most_central(found: dict[int, tuple[int, Token, Any]], window: _Window, rows: Any) -> None:
    """Of a token that two windows saw, the view with more to both its sides."""
    for at, token in window.places:
        room = min(at, len(window.ids) - at)
        if token.start not in found or room > found[token.start][0]:
            found[token.start] = (room, token, rows[at])


def _batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Windows of like length together; they come sorted by length."""
    batch: list[_Window] = []
    for window in windows:
        if batch and (len(batch) + 1) * len(window.ids) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ValueError(f"ONNX models need the package {name}: pip install caviardage[onnx]") from error


def _graph(folder: Path, name: str | None) -> Path:
    if name is not None:
        path = folder / name
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{folder} holds no file {name}")
        return path
    graphs = sorted(folder.rglob("*.onnx"))
    if len(graphs) != 1:
        held = ", ".join(path.relative_to(folder).as_posix() for path in graphs) or "none"
        raise ValueError(f"{folder} should hold one .onnx file and holds {held}; 'file' names the one to use")
    return graphs[0]


def _labels(folder: Path) -> tuple[str, ...]:
    try:
        named = json.loads((folder / "config.json").read_text("utf-8"))["id2label"]
        return tuple(str(named[str(index)]) for index in range(len(named)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder}: config.json with 'id2label' is missing or cannot be read") from error


def _tokenizer(package: Any, folder: Path, window: int) -> Any:
    try:
        tokenizer = package.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises Exception itself
        raise ValueError(f"{folder}: tokenizer.json is missing or cannot be read") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=window, stride=window // 4)
    return tokenizer


def _session(runtime: Any, graph: Path, providers: list[str]) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a worker a core
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(str(graph), options, providers=providers)
    except Exception as error:
        raise ValueError(f"{graph} does not load as an ONNX model ({type(error).__name__})") from error
    if session.get_providers()[0] != providers[0]:  # the runtime falls back without a word
        raise ValueError(f"{graph} loads, but not with {providers[0]}: does onnxruntime find CUDA and cuDNN?")
    return session

"""Which models the shared process holds, and the process itself as its parent sees it.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import multiprocessing
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from recognizers import models
from recognizers.base import Span
from recognizers.blockwise import BlockModel
from recognizers.custom import CustomSpec, Model, bring
from recognizers.device import has_onnx_cuda
from recognizers.names import NameModel
from recognizers.onnx import OnnxModel
from recognizers.shared import Address, Find, Remote, serve

LOADING = 180.0
"""Longest time that the process may take to load, in seconds; a cold device compiles its kernels first."""


class Elsewhere(BlockModel):
    """A model that a policy brought along, in the shared process."""

    def __init__(self, spec: Model, remote: Remote) -> None:
        self._remote = remote
        super().__init__(spec.title, spec.labels)

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        return self._remote(texts)


def elsewhere(specs: Sequence[CustomSpec], address: Address) -> Iterator[tuple[int, Elsewhere]]:
    """The policy's own models as a worker sees them, each with its place among `specs`."""
    for index, spec in enumerate(specs):
        if isinstance(spec, Model):
            yield index, Elsewhere(spec, Remote(address, _name(index)))


def _brought(specs: Sequence[CustomSpec]) -> Iterator[tuple[str, Model]]:
    for index, spec in enumerate(specs):
        if isinstance(spec, Model):
            yield _name(index), spec


def _name(index: int) -> str:
    return f"own:{index}"


def load(languages: Sequence[str], specs: Sequence[CustomSpec], cuda: bool) -> Mapping[str, Find]:
    """Everything that the process answers for, by name; each tried once, so that the first request finds it warm."""
    found: dict[str, Find] = {}
    for code in filter(models.SOURCES.__contains__, languages):  # the multilingual one is small: workers hold it
        model = NameModel(models.SOURCES[code])
        model.load(cuda=cuda)
        found[f"names:{code}"] = model.hits
    for name, spec in _brought(specs):
        if cuda and isinstance(spec, OnnxModel) and not has_onnx_cuda():
            raise ValueError("ONNX models need the package onnxruntime-gpu: pip install caviardage[onnx-gpu]")
        brought: Any = bring(spec, cuda=cuda)
        found[name] = brought.find
    for find in found.values():
        find(["Warm up: Anna Schmidt, Paris."])
    return found


class Holder:
    """The process that holds the models, for a parent that starts it, sees it die and starts it again."""

    def __init__(self, languages: Sequence[str], specs: Sequence[CustomSpec], *, cuda: bool) -> None:
        """Makes a folder for its socket, which nobody else can enter. Raises FileNotFoundError if there is no place."""
        self._load = partial(load, tuple(languages), tuple(specs), cuda)
        self._folder = Path(tempfile.mkdtemp(prefix="caviardage-"))
        self.address = Address(str(self._folder / "models"), secrets.token_bytes(32))
        self._process: Any = None
        self._pipe: Connection | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and bool(self._process.is_alive())

    def start(self) -> None:
        """Returns once the models are loaded. Raises ValueError in words for the operator."""
        self.kill()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(self._load, self.address, theirs), daemon=True)
        self._process.start()
        theirs.close()
        wrong: str | None = f"not loaded within {LOADING:.0f} seconds"
        try:
            if self._pipe.poll(LOADING):
                wrong = self._pipe.recv()
        except EOFError:
            wrong = "ended while it loaded"
        if wrong is not None:
            self.kill()
            raise ValueError(f"the process that holds the models: {wrong}")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def stop(self) -> None:
        """Ends the process and removes its folder."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

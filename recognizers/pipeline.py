"""Any installed spaCy pipeline, or one in a folder, as a recognizer: its entities under the policy's names.

May import: base, blockwise, device, pinned, visible, spacy, the standard library.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recognizers import pinned
from recognizers.base import Span
from recognizers.blockwise import BlockModel
from recognizers.device import prepare
from recognizers.visible import visible

_BATCH = 32


@dataclass(frozen=True, slots=True)
class SpacyPipeline:
    """`source` is the name of an installed package or the absolute path of a folder.

    A package must be of `version`; a folder must have the digest `sha256` (as `pinned.digest` computes it), which may
    be asked of a package too. `labels` maps the pipeline's labels to entities. `examples`: see `foreign.Foreign`.
    """

    source: str
    labels: Mapping[str, str]
    version: str | None = None
    sha256: str | None = None
    score: float = 0.85
    examples: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        return f"spacy:{Path(self.source).name}"


class SpacyRecognizer(BlockModel):
    """A pipeline whose entities count. Holds no text between calls; one thread at a time."""

    def __init__(self, spec: SpacyPipeline, *, cuda: bool = False) -> None:
        self._spec = spec
        self._cuda = cuda
        self._nlp: Any = None
        super().__init__(spec.title, spec.labels)  # which loads

    def load(self) -> None:
        """Verifies, then loads. Raises ValueError in words for whoever wrote the policy."""
        if self._nlp is not None:
            return
        path = _folder(self._spec)
        if self._spec.sha256 is not None:
            pinned.check(path, self._spec.sha256)
        self._nlp = _loaded(path, self._spec, self._cuda)
        known = [label for name in self._nlp.pipe_names for label in self._nlp.pipe_labels.get(name, ())]
        self._unknown(known)

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        found: list[list[Span]] = []
        for first in range(0, len(texts), _BATCH):
            batch = [visible(text) for text in texts[first : first + _BATCH]]
            # A zone drops the strings that the batch brought in: without, a worker grows with every new word.
            with self._nlp.memory_zone():
                found += [self._spans(doc) for doc in self._nlp.pipe(batch, batch_size=_BATCH)]
        return found

    def _spans(self, doc: Any) -> list[Span]:
        return [
            Span(
                entity.start_char,
                entity.end_char,
                self.labels[entity.label_],
                self._spec.score,
                self.title,
                f"model {entity.label_}",
            )
            for entity in doc.ents
            if entity.label_ in self.labels
        ]


def _folder(spec: SpacyPipeline) -> Path:
    """Where the pipeline is, if it is the one meant. Never downloads."""
    if Path(spec.source).is_absolute():
        return Path(spec.source)
    try:
        module = importlib.import_module(spec.source)
    except Exception as error:
        raise ValueError(f"the spaCy package {spec.source} cannot be imported ({type(error).__name__})") from error
    place, version = Path(str(module.__file__)).parent, str(getattr(module, "__version__", None))
    if version != spec.version:
        raise ValueError(f"the spaCy package {spec.source} is version {version}, the policy says {spec.version}")
    inner = [path.parent for path in sorted(place.glob("*/config.cfg"))]
    return inner[0] if len(inner) == 1 else place


def _loaded(path: Path, spec: SpacyPipeline, cuda: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        prepare(cuda)
        try:
            return spacy.load(path)
        except Exception as error:
            raise ValueError(f"{spec.source} does not load as a spaCy pipeline ({type(error).__name__})") from error

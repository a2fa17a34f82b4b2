"""What models that somebody brings along have in common: they read blocks of text, several at a time.

May import: base, blocks, presidio_analyzer, the standard library.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers.base import Span, to_result
from recognizers.blocks import blocks


class BlockModel(EntityRecognizer):
    """A statistical model. The analyzer calls `find`; Presidio's own entry point cuts a text and does the same."""

    def __init__(self, title: str, labels: Mapping[str, str]) -> None:
        self.title = title
        self.labels = dict(labels)
        super().__init__(supported_entities=sorted(set(self.labels.values())), name=title)

    def load(self) -> None:
        """Nothing to load, unless a subclass has something."""

    @abstractmethod
    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """The spans of each text, in its code points. Texts are at most a few thousand code points long."""

    def analyze(self, text: str, entities: Iterable[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        wanted, places = set(entities), list(blocks(text))
        results = []
        for (start, _), spans in zip(places, self.find([text[a:b] for a, b in places]), strict=True):
            moved = (span._replace(start=span.start + start, end=span.end + start) for span in spans)
            results += [to_result(span, self.title) for span in moved if span.entity in wanted]
        return results

    def _unknown(self, known: Iterable[str]) -> None:
        """Raises ValueError for a label of the policy that the model never gives: a slip that would find nothing."""
        if missing := sorted(set(self.labels) - set(known)):
            raise ValueError(
                f"{self.title} has no label {', '.join(missing)}; it has {', '.join(sorted(set(known))) or 'none'}"
            )

"""Recognizers that somebody wrote for Presidio, imported by name: what they return is checked, not trusted.

Their code runs in detection workers, with every right of the service; docs/own.md says what that means.
May import: presidio_analyzer, the standard library.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult


@dataclass(frozen=True, slots=True)
class Foreign:
    """`package.module.Class`, an `EntityRecognizer` of Presidio's kind; `entities` it is asked for (all if empty).

    `arguments` are passed to its constructor by name. `examples` are texts in which it must find something.
    """

    path: str
    entities: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.path


class ForeignRecognizer(EntityRecognizer):
    """Somebody else's recognizer, asked only for what it was named for."""

    def __init__(self, spec: Foreign) -> None:
        self._inner = _instance(spec)
        able = list(self._inner.get_supported_entities())
        if missing := sorted(set(spec.entities) - set(able)):
            raise ValueError(
                f"{spec.path} does not recognize {', '.join(missing)}; it recognizes {', '.join(sorted(able))}"
            )
        super().__init__(supported_entities=list(spec.entities) or able, name=spec.path)

    def load(self) -> None:
        self._inner.load()

    def analyze(self, text: str, entities: Iterable[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        wanted = [entity for entity in self.supported_entities if entity in set(entities)]
        if not wanted:
            return []
        results = self._inner.analyze(text, wanted, nlp_artifacts) or []
        return [result for result in results if result.entity_type in wanted and _counts(result, text)]


def _counts(result: RecognizerResult, text: str) -> bool:
    """False for a result that names nothing; one that cannot be true is a fault of its author."""
    if not 0 <= result.start <= result.end <= len(text):
        raise ValueError("a recognizer returned a span outside the text")
    if not 0 <= result.score <= 1:
        raise ValueError("a recognizer returned a score that is not between 0 and 1")
    return bool(result.end > result.start and result.score > 0)


def _instance(spec: Foreign) -> EntityRecognizer:
    path, arguments = spec.path, spec.arguments
    module_name, _, class_name = path.rpartition(".")
    try:
        kind: Any = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:  # the module's own code runs here, and may raise anything
        raise ValueError(f"{path}: cannot be imported ({type(error).__name__})") from error
    if not (isinstance(kind, type) and issubclass(kind, EntityRecognizer)):
        raise ValueError(f"{path} is not a subclass of presidio_analyzer.EntityRecognizer")
    build: Any = kind
    try:
        made: EntityRecognizer = build(**arguments)
    except Exception as error:
        how = f"with the arguments {', '.join(sorted(arguments))}" if arguments else "without arguments"
        raise ValueError(f"{path} cannot be built {how} ({type(error).__name__})") from error
    return made

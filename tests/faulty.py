"""A recognizer as a team could plug it in, and as bad as it can be: what it does is in the text that it reads."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult


class Faulty(EntityRecognizer):
    """`FAULT-1` is found; `RAISE` raises an error that quotes the text, `HANG` never ends, `DIE` kills the process."""

    def __init__(self) -> None:
        super().__init__(supported_entities=["FAULT"], name="faulty")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        if "RAISE" in text:
            raise ValueError(text)
        if "HANG" in text:
            time.sleep(600)
        if "DIE" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        at = text.find("FAULT-1")
        return [RecognizerResult("FAULT", at, at + 7, 0.9)] if at >= 0 and "FAULT" in entities else []

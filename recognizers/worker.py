"""What runs inside a detection worker: a process that loads everything once and then only computes.

The one mutable name here belongs to the process, is set once before the first task, and holds no text.
May import: its own package, the standard library.
"""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import signal
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recognizers.analyzer import Analyzer, Item, Settings
from recognizers.base import Span
from recognizers.known import propagate as _propagate
from recognizers.prove import fault

_analyzer: list[Analyzer] = []


def check(settings: Settings) -> None:
    """Tries what the policy declares, so that what cannot work is told in the parent, in words (ValueError)."""
    wrong = fault(settings.custom)
    if wrong is not None:
        raise ValueError(wrong)


def start(settings: Settings) -> None:
    """Runs once in a new worker: silence (no library may print text), then load."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    analyzer = Analyzer(settings)
    analyzer.load()
    gc.freeze()  # half a million objects of the models that no collection need visit again
    _analyzer.append(analyzer)


def warm() -> None:
    """Returns once this worker has loaded; the first real request then meets warm caches."""
    analyse([Item("Warm up: Anna Schmidt, Paris. Bonjour Madame Durand, merci.")])


def analyse(items: Sequence[Item]) -> list[list[Span]]:
    return _analyzer[0].analyze(items)


def hits(items: Sequence[Item]) -> list[list[Span]]:
    return _analyzer[0].hits(items)


def proven(texts: Sequence[str]) -> list[list[Span]]:
    return _analyzer[0].proven(texts)


def under(settings: Settings, task: Literal["analyse", "propagate"], *arguments: Any) -> list[list[Span]]:
    """A task under other settings than this worker's, whose languages and brought recognizers it has already.

    The analyzer for them is put together from what is loaded (milliseconds), used once and forgotten.
    """
    analyzer = Analyzer(settings, lender=_analyzer[0])
    analyzer.load()
    if task == "analyse":
        return analyzer.analyze(*arguments)
    texts, known = arguments
    return _propagate(texts, known, analyzer.lexicon)


def propagate(texts: Sequence[str], known: Mapping[str, str]) -> list[list[Span]]:
    return _propagate(texts, known, _analyzer[0].lexicon)

"""How fast text is searched, next to plain spaCy and plain Presidio, and whether time grows with the text.

All engines run in this process, one thread each, on the same texts in turn; times are CPU seconds of the process.
May import: its neighbours in this package, proxy, recognizers, the standard library.
"""

from __future__ import annotations

import gc
import logging
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import chats, servers, stock, texts
from benchmarks.report import Options, Table, growth
from benchmarks.stock import Engine

if TYPE_CHECKING:
    from recognizers.analyzer import Analyzer

CAP = 3.0
"""Seconds that a text may take before ten times of it are left out, unless `--slow` is given."""
MB = 1e6
POLICIES = ("default", "strict")
OURS = ("default", "strict", "rules", "patterns", "structure")
REPEATS = {1_000: 20, 10_000: 4}


def run(options: Options) -> list[Table]:
    """A prompt and a chat, speed against the two libraries, then growth."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    plain = stock.engines()
    ours = {policy: _analyzer(policy) for policy in POLICIES}
    gc.freeze()
    return [_speed(ours, plain, options), chats.run(options), _increase(ours["default"], options)]


def _analyzer(policy: str) -> Analyzer:
    from proxy.analysis import settings_for  # not at the top: see stock
    from proxy.policy import load_policy
    from recognizers import ENTITIES
    from recognizers.analyzer import Analyzer

    path = servers.ROOT / "policies" / f"{policy}.yaml"
    analyzer = Analyzer(settings_for(load_policy(path, entities=ENTITIES)))
    analyzer.load()
    return analyzer


def _engines(ours: dict[str, Analyzer], plain: dict[str, Engine]) -> dict[str, Engine]:
    from recognizers.structure import StructuredNames

    return {
        "default": _whole(ours["default"]),
        "strict": _whole(ours["strict"]),
        "rules": ours["default"].without_models,
        "patterns": _whole(ours["default"], names=False),
        "structure": StructuredNames(ours["default"].lexicon).find,
        **plain,
    }


def _speed(ours: dict[str, Analyzer], plain: dict[str, Engine], options: Options) -> Table:
    engines = _engines(ours, plain)
    sizes = [1_000, 10_000, 100_000, *([1_000_000] if options.slow else [])][: 2 if options.quick else None]
    for engine in engines.values():
        engine(texts.natural("en", 20_000, 99))
    rows = []
    for size in sizes:
        seconds = _in_turn(engines, size)
        speed = {name: size / MB / taken for name, taken in seconds.items()}
        rows.append(
            (
                f"{size // 1000} KB",
                *(f"{speed[name]:.2f}" for name in OURS),
                *(f"{speed[name]:.3f}" for name in plain),
                *(f"**{speed['default'] / speed[name]:.1f}**" for name in plain),
            )
        )
    heads = (
        "natural English",
        "Caviardage, default.yaml",
        "strict.yaml",
        "patterns and structure",
        "patterns alone",
        "structure alone",
        "spaCy tok2vec + ner",
        "Presidio, default",
        "times spaCy",
        "times Presidio",
    )
    note = (
        "Megabytes a CPU second, one core; the ratios compare the whole analyzer of default.yaml with each library on "
        "the same texts. Caviardage has all five languages loaded. spaCy is given one paragraph at a time, "
        "Presidio the "
        "whole text."
    )
    return Table("Searching", heads, rows, note)


def _in_turn(engines: dict[str, Engine], size: int) -> dict[str, float]:
    """CPU seconds a text of `size` takes each engine: median of several texts, another engine after each.

    Automata that know a text from the engine before are fast, so another engine comes first each time.
    """
    taken: dict[str, list[float]] = defaultdict(list)
    for seed in range({1_000: 40, 10_000: 8, 100_000: 3}.get(size, 1)):
        text = texts.natural("en", size, 1000 + seed)
        for name, engine in [*engines.items()][seed % len(engines) :] + [*engines.items()][: seed % len(engines)]:
            taken[name].append(_cpu(engine, text))
    return {name: sorted(times)[len(times) // 2] for name, times in taken.items()}


def _cpu(engine: Engine, text: str) -> float:
    gc.collect()
    start = time.process_time()
    engine(text)
    return time.process_time() - start


def _increase(analyzer: Analyzer, options: Options) -> Table:
    """Time a decade, as a multiple of the one before."""
    sizes = (1_000, 10_000) if options.quick else (1_000, 10_000, 100_000, 1_000_000)
    kinds: dict[str, texts.Maker] = {
        "natural English": partial(texts.natural, "en"),
        "natural French": partial(texts.natural, "fr"),
        "JSON records": texts.records,
        **texts.HOSTILE,
    }
    cap = math.inf if options.slow else CAP
    rows = [(kind, *_decades(analyzer, make, sizes, cap)) for kind, make in kinds.items()]
    heads = ["text"]
    for size in sizes:
        heads += [f"{size // 1000} KB, ms", "growth"] if size > sizes[0] else [f"{size // 1000} KB, ms"]
    note = (
        "CPU milliseconds of the whole analyzer (default.yaml), and their multiple of the column before, for ten times "
        "the text. Time that grows with the length of the text shows as 10; a start that costs something as less. "
        "Every text is a new one: automata that know a text from the run before are fast."
    )
    return Table("Ten times the text", heads, rows, note)


def _decades(analyzer: Analyzer, make: texts.Maker, sizes: Sequence[int], cap: float) -> list[str]:
    cells: list[str] = []
    before: float | None = None
    for size in sizes:
        if before is not None and before > cap:
            cells += ["`--slow`", ""]
            continue
        repeats = REPEATS.get(size, 1)
        seconds = min(_cpu(_whole(analyzer), make(size, 1000 * repeat + size)) for repeat in range(repeats))
        cells += [f"{seconds * 1000:.1f}"] + ([growth(before, seconds)] if size > sizes[0] else [])
        before = seconds
    return cells


def _whole(analyzer: Analyzer, *, names: bool = True) -> Engine:
    from recognizers.analyzer import Item

    return lambda text: analyzer.analyze([Item(text, names=names)])

"""Counting speed: our counter against raw tiktoken in the same run, over four decades of size.

Raw is one call of tiktoken on the whole text. Times are CPU time, best of several runs.
May import: its neighbours in this package, proxy, the standard library.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random

from benchmarks.report import Options, Table, growth
from proxy.measure import BOUNDED_BYTES, count_prompt, load_counter, measure
from proxy.model import JSON
from proxy.tokens.ranks import load_encoding

SIZES = (1_000, 10_000, 100_000, 1_000_000)
NOTE = (
    "Time over that of one call of tiktoken on the same text (below 1 is faster); growth is our time over that for a "
    "tenth of the text. `fails`: tiktoken cannot encode it at all."
)
VERDICTS = (
    "Bounds decide where they can; `(counted)` where they could not: the text has few words. "
    "Memory is the most that Python held at a time, without the body itself."
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"

NATURAL = {
    "english": "The patient, Ms Okonkwo, was seen on 12 March; it's her third visit this year (file 4471920).\n",
    "french": "Le dossier médical de l'élève n'a pas été transmis à l'hôpital, malgré trois rappels.\n",
    "chinese": "患者张伟的病历号是四四七一九二零，请在周五之前发送给李医生，谢谢。",
    "code": "def total(items: list[int]) -> int:\n    return sum(item * 2 for item in items if item % 3)\n",
}


def _random(alphabet: str, size: int) -> str:
    return "".join(Random(size).choices(alphabet, k=size))


HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "dashes": lambda size: "-" * size,
    "random letters": lambda size: _random(LETTERS, size),
    "base64": lambda size: _random(LETTERS + LETTERS.upper() + "0123456789+/", size),
    "digits": lambda size: _random("0123456789", size),
    "zero width": lambda size: "\u200b" * (size // 3),
    "emoji": lambda size: "👩\u200d👩\u200d👧" * (size // 18),
    "apostrophes": lambda size: _random("'stmdrevl", size),
    "white space": lambda size: _random(" \t\n\u00a0", size),
}


def best(call: Callable[[], object], size: int) -> float:
    """Seconds of CPU of the fastest run; small texts are repeated to get above the clock's grain."""
    repeat = max(1, 100_000 // size)
    times = []
    for _ in range(3 if size < 1_000_000 else 1):
        start = time.process_time()
        for _ in range(repeat):
            call()
        times.append((time.process_time() - start) / repeat)
    return max(min(times), 1e-9)


def run(options: Options) -> list[Table]:
    """Both tokenizers, then chats and threads."""
    sizes = SIZES[:2] if options.quick else SIZES
    tables = [_against_raw(name, sizes) for name in ("o200k_base", "cl100k_base")]
    tokens = 16_384 if options.quick else 1_048_576
    return [*tables, _verdicts(tokens), _chats((10, 100) if options.quick else (10, 1_000, 100_000)), _threads(options)]


def _against_raw(name: str, sizes: Sequence[int]) -> Table:
    counter, encoding = load_counter(name), load_encoding(name)

    def raw(text: str) -> int | None:
        try:
            return memoryview(encoding._core_bpe.encode_to_tiktoken_buffer(text, frozenset())).nbytes // 4
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # its panic on long white space is no Exception
            return None

    natural = {kind: _repeated(text) for kind, text in NATURAL.items()}
    rows: list[tuple[str, ...]] = []
    for kind, make in {**natural, **HOSTILE}.items():
        cells: list[str] = []
        previous = 0.0
        for size in sizes:
            text = make(size)
            seconds = best(partial(counter.count, text), size)
            if size > sizes[0]:
                cells.append(growth(previous, seconds))
            previous = seconds
        count, true = counter.count(text), raw(text)
        ratio = "fails" if true is None else f"{seconds / best(partial(raw, text), size):.2f}"
        over = "" if true is None else str(count - true)
        rows.append((kind, f"{len(text.encode()) / seconds / 1e6:.1f}", ratio, *cells, f"{count:,}", over))
    grown = [f"growth to {size // 1000} KB" for size in sizes[1:]]
    heads = (name, f"MB/s at {sizes[-1] // 1000} KB", "time / tiktoken's", *grown, "tokens", "too many")
    return Table(f"Counting with {name}", heads, rows, NOTE)


def _verdicts(tokens: int) -> Table:
    """The measure stage on a prompt of so many tokens, held against limits far below, far above and just met."""
    counter, encoding = load_counter("o200k_base"), load_encoding("o200k_base")
    natural = {kind: _repeated(text) for kind, text in NATURAL.items()}
    rows = []
    for kind, make in {**natural, **{kind: HOSTILE[kind] for kind in ("base64", "random letters", "digits")}}.items():
        per = counter.count(make(20_000)) / 20_000
        text = make(int(tokens / per))
        raw = best(partial(encoding._core_bpe.encode_to_tiktoken_buffer, text, frozenset()), 1_000_000)
        body: dict[str, JSON] = {"messages": [{"role": "user", "content": text}]}
        true, size = count_prompt(body, counter), max(len(text.encode()), BOUNDED_BYTES)
        cells = []
        for limit in (true // 10, 10 * true, true):
            call = partial(measure, body, counter, limit, size=size)
            bounded = "" if call().bounded else " (counted)"
            cells.append(f"{best(call, 1_000_000) / raw:.3f}{bounded}")
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append((kind, f"{true:,}", f"{raw * 1000:.0f}", *cells, f"{peak / size:.2f}"))
    heads = ("text", "tokens", "tiktoken, ms", "limit a tenth", "limit ten times", "limit just met", "memory / body")
    return Table("Verdicts about long prompts: time over tiktoken's", heads, rows, VERDICTS)


def _repeated(text: str) -> Callable[[int], str]:
    return lambda size: text * (size // len(text.encode()) + 1)


def _chats(messages: Sequence[int]) -> Table:
    counter = load_counter("o200k_base")
    rows = []
    for number in messages:
        body: dict[str, JSON] = {"messages": [{"role": "user", "content": "Is it there yet?"}] * number}
        seconds = best(partial(count_prompt, body, counter), number * 40)
        rows.append((f"{number:,}", f"{seconds / number * 1e6:.1f}"))
    return Table("Chats of small messages", ("messages", "µs a message"), rows)


def _threads(options: Options) -> Table:
    counter = load_counter("o200k_base")
    text = _repeated(NATURAL["english"])(200_000 if options.quick else 8_000_000)
    start = time.perf_counter()
    counter.count(text)
    alone = time.perf_counter() - start
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(counter.count, [text, text]))
    times = 2 * alone / (time.perf_counter() - start)
    return Table(
        "Two threads", ("English each", "times the speed of one"), [(f"{len(text) / 1e6:.1f} MB", f"{times:.2f}")]
    )

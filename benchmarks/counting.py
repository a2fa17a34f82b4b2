"""Counting speed: our counter against raw tiktoken in the same run, over four decades of size.

    python benchmarks/counting.py [o200k_base|cl100k_base]

Raw is one call of tiktoken on the whole text. Columns: size in bytes, our MB/s, time of ours / time of raw (below
1 is faster), growth (our time over that of the size before, for ten times the text), our count - raw count. Times
are CPU time, best of several runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random

from proxy.measure import count_prompt, load_counter
from proxy.model import JSON
from proxy.tokens.ranks import load_encoding

SIZES = (1_000, 10_000, 100_000, 1_000_000)
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


def main(name: str) -> None:
    counter, encoding = load_counter(name), load_encoding(name)

    def raw(text: str) -> int | None:
        try:
            return memoryview(encoding._core_bpe.encode_to_tiktoken_buffer(text, frozenset())).nbytes // 4
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # its panic on long white space is no Exception
            return None

    makers: dict[str, Callable[[int], str]] = {
        kind: lambda size, text=text: text * (size // len(text.encode()) + 1) for kind, text in NATURAL.items()
    }
    print(f"{name:15}{'bytes':>10}{'MB/s':>8}{'ours/raw':>10}{'growth':>8}{'tokens':>10}{'ours-raw':>10}")
    for kind, make in {**makers, **HOSTILE}.items():
        previous = 0.0
        for size in SIZES:
            text = make(size)
            ours = best(lambda text=text: counter.count(text), size)
            count, true = counter.count(text), raw(text)
            ratio = "fails" if true is None else f"{ours / best(lambda text=text: raw(text), size):.2f}"
            growth = f"{ours / previous:.1f}" if previous else ""
            over = "" if true is None else count - true
            speed = len(text.encode()) / ours / 1e6
            print(f"{kind:15}{len(text.encode()):10}{speed:8.1f}{ratio:>10}{growth:>8}{count:10}{over:>10}", flush=True)
            previous = ours

    print("\nchats of small messages")
    for messages in (10, 100, 1_000, 10_000, 100_000):
        body: dict[str, JSON] = {"messages": [{"role": "user", "content": "Is it there yet?"}] * messages}
        seconds = best(lambda body=body: count_prompt(body, counter), messages * 40)
        print(f"{messages:15}{seconds / messages * 1e6:8.1f} µs a message")

    text = makers["english"](8_000_000)
    start = time.perf_counter()
    counter.count(text)
    alone = time.perf_counter() - start
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(counter.count, [text, text]))
    print(
        f"\ntwo threads: {2 * alone / (time.perf_counter() - start):.2f} times the speed of one (8 MB of English each)"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "o200k_base")

"""Does a worker grow? `python -m benchmarks.memory`: requests of words that nobody has written before.

Each request is a chat message of about 400 code points with names, words and numbers made up for it. The detector is
the real one, with one worker; what is watched is that process's resident memory, after a warm-up that fills its caches
(spans of the last requests, RE2's automata). May import: its neighbours in this package, proxy, the standard library.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from pathlib import Path

from benchmarks import servers
from proxy.analysis import settings_for
from proxy.detect import Detector
from proxy.model import Leaf
from proxy.policy import load_policy
from recognizers import ENTITIES

SYLLABLES = "bacedifogukaleminopurasetivoxuyazelimonuarelinorumastentistorkund"
"""Any two letters of it that stand together."""
AT_ONCE = 32


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.memory", description="Does a worker grow?")
    options.add_argument("--requests", type=int, default=20_000)
    options.add_argument("--warm", type=int, default=4_000, help="requests before the first figure")
    chosen = options.parse_args()
    asyncio.run(_run(chosen.requests, chosen.warm))


async def _run(requests: int, warm: int) -> None:
    policy = load_policy(servers.ROOT / "policies" / "default.yaml", entities=ENTITIES)
    detector = Detector(settings_for(policy), workers=1, deadline=600.0, waiting=AT_ONCE)
    await detector.start()
    try:
        pid = int(await detector._run(_pid, 1e12))
        chance = random.Random(2024)
        first = await _some(detector, policy, chance, warm, pid)
        figures = [first]
        for _ in range(4):
            figures.append(await _some(detector, policy, chance, requests // 4, pid))
            print(
                f"{len(figures) - 1} of 4: {figures[-1]:.0f} MB, {100 * (figures[-1] / first - 1):+.1f} %", flush=True
            )
        print(f"{requests:,} requests of new words: from {first:.0f} to {figures[-1]:.0f} MB resident in the worker")
    finally:
        await detector.stop()


async def _some(detector: Detector, policy: object, chance: random.Random, count: int, pid: int) -> float:
    for _ in range(0, count, AT_ONCE):
        leaves = [Leaf("$", _message(chance)) for _ in range(AT_ONCE)]
        await asyncio.gather(*(detector.detect([leaf], policy, "t") for leaf in leaves))  # type: ignore[arg-type]
    return _resident(pid)


def _word(chance: random.Random) -> str:
    places = (chance.randrange(len(SYLLABLES) - 1) for _ in range(chance.randint(2, 5)))
    return "".join(SYLLABLES[at : at + 2] for at in places)


def _message(chance: random.Random) -> str:
    """New words in sentences that look like a prompt."""
    name = f"{_word(chance).title()} {_word(chance).title()}"
    words = " ".join(_word(chance) for _ in range(40))
    return (
        f"Please write to {name} about the {words}. The reference is {chance.randrange(10**8)}, "
        f"the address {_word(chance)}@{_word(chance)}.example, and {_word(chance).title()} must not know of it."
    )


def _pid() -> int:
    import os

    return os.getpid()


def _resident(pid: int) -> float:
    """Megabytes of a process that are in memory, shared pages included."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise OSError("this system does not tell the memory of a process")


if __name__ == "__main__":
    main()

"""What a person waits for: a prompt of ordinary length, and a chat that is sent again with every turn.

Through the detector with one worker, as the proxy has it, so with what it costs to hand texts to another process.
May import: its neighbours in this package, proxy, recognizers, the standard library.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks import servers, texts
from benchmarks.report import Options, Table

if TYPE_CHECKING:
    from proxy.detect import Detector
    from proxy.policy import Policy

PROMPT = 3_400
"""Characters of the generator's English in 1,000 tokens (o200k_base)."""
TURNS, MESSAGE = 30, 600


def run(options: Options) -> Table:
    """Milliseconds of a prompt, of a chat, and of the same chat again."""
    return asyncio.run(_measured(3 if options.quick else 20))


async def _measured(times: int) -> Table:
    from proxy.analysis import settings_for  # not at the top: see stock
    from proxy.detect import Detector
    from proxy.policy import load_policy
    from recognizers import ENTITIES

    policy = load_policy(servers.ROOT / "policies" / "default.yaml", entities=ENTITIES)
    detector = Detector(settings_for(policy), workers=1, deadline=60)
    await detector.start()
    await _seconds(detector, policy, [texts.natural("en", 20_000, 99)])
    prompts, first, again = [], [], []
    for seed in range(times):
        prompts.append(await _seconds(detector, policy, [texts.natural("en", PROMPT, 5_000 + seed)]))
        chat = [texts.natural("en", MESSAGE, 10_000 + 100 * seed + turn) for turn in range(TURNS)]
        first.append(await _seconds(detector, policy, chat))
        again.append(await _seconds(detector, policy, chat))
    await detector.stop()
    share = _median([late / early for early, late in zip(first, again, strict=True)])
    rows = [
        ("1,000 tokens", f"{_median(prompts) * 1000:.0f}", "", ""),
        (
            f"chat of {TURNS} messages",
            f"{_median(first) * 1000:.0f}",
            f"{_median(again) * 1000:.1f}",
            f"**{share:.3f}**",
        ),
    ]
    note = (
        f"Milliseconds on the clock, medians of {times}, one worker, default.yaml; other work of the machine counts "
        f"too. A message has {MESSAGE} characters. The second time, it is known where the values are."
    )
    return Table("A prompt and a chat", ("natural English", "first", "again", "share"), rows, note)


async def _seconds(detector: Detector, policy: Policy, messages: Sequence[str]) -> float:
    from proxy.model import Leaf

    start = time.perf_counter()
    await detector.detect([Leaf("$", text) for text in messages], policy, "tenant")
    return time.perf_counter() - start


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]

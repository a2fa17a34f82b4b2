"""Generated documents with their names marked: own sentence frames, names from public lists, fixed seeds.

`generate` is how the trainer reads them; `python -m training.generate` writes them to a file.
May import: its own modules, training.pools, training.text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from training.generate.documents import document
from training.pools import Pools
from training.text import FROM_TYPE, Mark, Text, tidy


def generate(pools: Pools, rng: random.Random, count: int) -> Iterator[Text]:
    """`count` documents in the language of `pools`. Raises `FileNotFoundError` if a list of names is missing."""
    for _ in range(count):
        made = document(pools.folder, pools.language, rng.getrandbits(40))
        marks = [Mark(start, end, FROM_TYPE[kind]) for start, end, kind in made.spans if kind in FROM_TYPE]
        yield Text(made.text, tidy(made.text, marks), f"own:{made.kind}")


__all__ = ["document", "generate"]

"""What one language is trained and measured on: the corpora, completed by the packaged model, and generated text.

May import: its neighbours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training import augment, corpora, forms, start
from training.pools import Pools
from training.text import Mark, Text, joined, merge

Maker = Callable[[Pools, random.Random, int], Iterator[Text]]
"""A source of generated text: pools, generator, how many."""


@dataclass(frozen=True)
class Data:
    """`train` pairs each text with its weight; `dev` is what no update ever sees, by kind of text."""

    train: tuple[tuple[Text, float], ...]
    dev: tuple[tuple[str, Text], ...]
    read: tuple[corpora.Corpus, ...]
    missing: tuple[str, ...]
    pools: tuple[Pools, ...] = field(repr=False, default=())


def gather(folder: Path, languages: Sequence[str], share_alike: bool, teacher: Any = None) -> Data:
    """Reads what is there. `teacher` is the packaged pipeline that marks what annotators left out, or None.

    Raises `FileNotFoundError` if there is no corpus for the languages at all.
    """
    train: list[tuple[Text, float]] = []
    dev: list[tuple[str, Text]] = []
    read, missing = [], []
    for corpus in corpora.wanted(languages, share_alike):
        path = corpora.locate(folder, corpus)
        if path is None:
            missing.append(corpus.name)
            continue
        read.append(corpus)
        documents = list(corpora.read(path, corpus))
        texts = _completed([text for _, text in documents], corpus, teacher)
        for (identifier, _), text in zip(documents, texts, strict=True):
            if corpora.is_dev(identifier):
                dev.append((corpus.kind, text))
            else:
                train.append((text, corpus.weight))
    if not read:
        raise FileNotFoundError(f"no corpus for {', '.join(languages)} below {folder}")
    pools = tuple(Pools(folder, language) for language in languages)
    return Data(tuple(train), tuple(dev), tuple(read), tuple(missing), pools)


def rounds(data: Data, rng: random.Random, makers: Sequence[Maker], share: float) -> Iterator[Text]:
    """Texts to learn from, without end: the corpora by weight, varied, mixed with `share` generated ones.

    Now and then several are read as one, since at run time a block is many lines.
    """
    while True:
        chosen = [
            text for text, weight in data.train if rng.random() < weight or (weight > 1 and rng.random() < weight - 1)
        ]
        chosen += [text for text, weight in data.train if weight > 1 and rng.random() < weight - 1]
        items = [augment.varied(text, rng.choice(data.pools), rng) for text in chosen]
        count = int(len(items) * share / max(1, len(makers)))
        for maker in makers:
            for pools in data.pools:
                made = maker(pools, rng, count // len(data.pools))
                items += [augment.varied(item, pools, rng) if rng.random() < 0.2 else item for item in made]
        rng.shuffle(items)
        while items:
            take = rng.choice((1, 1, 1, 2, 3, 5))
            group, items = items[:take], items[take:]
            yield joined(group, augment.between(rng)) if len(group) > 1 else group[0]


def generated_dev(pools: Sequence[Pools], makers: Sequence[Maker], seed: int, count: int) -> list[tuple[str, Text]]:
    """Generated texts to measure on, from another seed than the ones to learn from."""
    rng = random.Random(seed + 1_000_003)
    items = [text for maker in makers for pool in pools for text in maker(pool, rng, count // len(pools))]
    return [("generated " + item.source.partition(":")[2], item) for item in items]


def default_makers() -> tuple[Maker, ...]:
    """The forms here, and the sentences of `training.generate` where that package is present."""
    try:
        from training.generate import generate as sentences
    except ImportError:
        return (forms.generate,)
    return (forms.generate, sentences)


def _completed(texts: Sequence[Text], corpus: corpora.Corpus, teacher: Any) -> list[Text]:
    if teacher is None:
        return list(texts)
    silver = start.marks(teacher, [text.text for text in texts])
    return [text._replace(marks=_complete(text, found, corpus)) for text, found in zip(texts, silver, strict=True)]


def _complete(text: Text, silver: Sequence[Mark], corpus: corpora.Corpus) -> tuple[Mark, ...]:
    """The annotators' marks, and the teacher's of the labels that they did not mark everywhere."""
    return merge(text.text, text.marks, [mark for mark in silver if mark.label not in corpus.complete])

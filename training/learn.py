"""The training loop: a fixed number of words, one seed, averaged weights.

May import: its neighbours, spacy, thinc.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from thinc.api import Adam

from training import data, start
from training.text import Text


@dataclass(frozen=True)
class Plan:
    """The hyper-parameters of a run; the whole of them, with the data, decides the weights.

    `words` is how much is read in all, `batch` how much in one update. `rate` falls linearly to a tenth at the end,
    after a warm-up over the first twentieth. `keep` and `lean` are applied at the end (`mix`, `lean`).
    """

    words: int = 1_500_000
    batch: int = 1_200
    rate: float = 0.0007
    dropout: float = 0.15
    share: float = 0.3
    seed: int = 1
    keep: float = 1.0
    lean: float = 0.0


PLANS: Mapping[str, Plan] = MappingProxyType(
    {"en": Plan(keep=0.75, lean=1.4), "fr": Plan(lean=1.0), "xx": Plan(words=2_500_000, rate=0.001)}
)
"""What the shipped weights were learned with; decided on the held-out slice."""


def learn(nlp: Any, found: data.Data, makers: Sequence[data.Maker], plan: Plan) -> None:
    """Updates the `ner` component of `nlp` and leaves it with the averaged weights. Prints progress to stderr."""
    component = nlp.get_pipe("ner")
    optimizer = Adam(plan.rate, L2=0.0, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)
    done, losses, began, shown = 0, {"ner": 0.0}, time.monotonic(), 0
    for batch in _batches(data.rounds(found, random.Random(plan.seed), makers, plan.share), plan.batch):
        optimizer.learn_rate = _rate(plan, done)
        examples = [start.example(nlp, item) for item in batch]
        component.update(examples, sgd=optimizer, drop=plan.dropout, losses=losses)
        done += sum(len(item.reference) for item in examples)
        if done - shown >= plan.words // 20:
            shown = done
            print(f"{done:>9,} words  loss {losses['ner']:>9.0f}  {time.monotonic() - began:5.0f} s", file=sys.stderr)
            losses["ner"] = 0.0
        if done >= plan.words:
            break
    for node in component.model.walk():
        for name in node.param_names:
            average = optimizer.averages.get((node.id, name))
            if average is not None and node.has_param(name):
                node.set_param(name, average.copy())


def mix(nlp: Any, origin: dict[int, Any], share: float) -> None:
    """Moves the weights back towards those of `snapshot`: `share` 1 keeps what was learned, 0 forgets it."""
    for index, node in enumerate(nlp.get_pipe("ner").model.walk()):
        for name in node.param_names:
            if node.has_param(name):
                node.set_param(name, share * node.get_param(name) + (1 - share) * origin[index][name])


def snapshot(nlp: Any) -> dict[int, Any]:
    """A copy of all parameters, for `mix`."""
    nodes = enumerate(nlp.get_pipe("ner").model.walk())
    return {
        i: {name: node.get_param(name).copy() for name in node.param_names if node.has_param(name)} for i, node in nodes
    }


def lean(nlp: Any, by: float) -> None:
    """Takes `by` from the score of "no name here": more is found, and more that is none. Decided on the dev slice."""
    component = nlp.get_pipe("ner")
    last = component.model.get_ref("upper")
    bias = last.get_param("b").copy()
    bias[start.out_row(component)] -= by
    last.set_param("b", bias)


def _rate(plan: Plan, done: int) -> float:
    at = done / plan.words
    return plan.rate * (at / 0.05 if at < 0.05 else 1 - 0.9 * (at - 0.05) / 0.95) if at else plan.rate * 0.05


def _batches(items: Iterator[Text], words: int) -> Iterator[list[Text]]:
    batch: list[Text] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.text.count(" ") + 1
        if size >= words:
            yield batch
            batch, size = [], 0

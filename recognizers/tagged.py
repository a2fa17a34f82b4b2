"""From what a token classifier says about each token to spans of the text. Pure.

Understands BIO, BIOES, BILOU and bare labels. Probabilities of labels that the policy calls the same entity are added
up, so a name that the model takes half for a given name and half for a surname is a name all the same.

May import: numpy, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

_BEGINS, _PREFIXES = frozenset("BSU"), frozenset("BIESLU")
OUTSIDE = ""


class Token(NamedTuple):
    """`[start, end)` in the text, and the word that it belongs to: tokens of one word are judged together."""

    start: int
    end: int
    word: int


class Hit(NamedTuple):
    """A span, what it is, how sure the model is (0 to 1) and its own label."""

    start: int
    end: int
    entity: str
    score: float
    label: str


def split(label: str) -> tuple[str, str]:
    """`B-PER` -> (`B`, `PER`); `PER` -> (`I`, `PER`); `O` -> (`O`, "")."""
    if label == "O":
        return "O", ""
    prefix, _, rest = label.partition("-")
    return (prefix, rest) if rest and prefix in _PREFIXES else ("I", label)


@dataclass(frozen=True)
class Scheme:
    """A model's labels in the order of its outputs, under the names of a policy's entities."""

    labels: tuple[str, ...]
    entities: Mapping[str, str]

    @property
    def kinds(self) -> frozenset[str]:
        """The labels without their prefixes."""
        return frozenset(kind for _, kind in map(split, self.labels) if kind)

    def decode(self, text: str, tokens: Sequence[Token], probabilities: Any) -> list[Hit]:
        """Hits from an array (tokens, labels) of probabilities. A word counts if the entity is likelier than not."""
        hits: list[Hit] = []
        shares: list[float] = []
        for start, end, row in _words(tokens, probabilities):
            entity, share = self._entity(row)
            if not entity or share < 0.5:
                shares = []
                continue
            best = max((i for i in range(len(row)) if self._of(i) == entity), key=row.__getitem__)
            prefix, kind = split(self.labels[best])
            last = hits[-1] if hits and shares else None
            again = last is not None and prefix in _BEGINS and kind == last.label and text[last.end : start] != ""
            if last is not None and last.entity == entity and not again and not text[last.end : start].strip():
                shares.append(share)
                hits[-1] = last._replace(end=end, score=sum(shares) / len(shares))
            else:
                shares = [share]
                hits.append(Hit(start, end, entity, share, kind))
        return [trimmed for hit in hits if (trimmed := _trim(hit, text)) is not None]

    def _of(self, index: int) -> str:
        return self.entities.get(split(self.labels[index])[1], OUTSIDE)

    def _entity(self, row: Any) -> tuple[str, float]:
        sums: dict[str, float] = {}
        for index, share in enumerate(row):
            name = self._of(index)
            if name:
                sums[name] = sums.get(name, 0.0) + float(share)
        if not sums:
            return OUTSIDE, 0.0
        best = max(sums, key=lambda name: (sums[name], name))
        # Rather any entity than none: what is left to `O` decides whether it is one.
        return best, min(1.0, sum(sums.values()))


def softmax(logits: Any) -> Any:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _words(tokens: Sequence[Token], probabilities: Any) -> Iterator[tuple[int, int, Any]]:
    """Start, end and mean probabilities of each word."""
    first = 0
    for at in range(1, len(tokens) + 1):
        if at == len(tokens) or tokens[at].word != tokens[first].word:
            yield tokens[first].start, tokens[at - 1].end, probabilities[first:at].mean(axis=0)
            first = at


def _trim(hit: Hit, text: str) -> Hit | None:
    """Some tokenizers count the space before a word as the word's."""
    value = text[hit.start : hit.end]
    start = hit.start + len(value) - len(value.lstrip())
    end = hit.end - (len(value) - len(value.rstrip()))
    return hit._replace(start=start, end=end) if start < end else None

"""The model card of one file of weights: what it is, what from, how good by kind of text.

May import: its neighbours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from training.corpora import Corpus
from training.data import Data
from training.measure import Score, table


class Facts(NamedTuple):
    """What the card says of the run; `size` in bytes."""

    language: str
    plan: Mapping[str, Any]
    sha256: str
    size: int


_SEPARATION = """The documents that the project is evaluated on were never read, neither to learn nor to decide a
hyper-parameter; the corpora were freed beforehand of every sentence that shares eight words in a row with one of them.
Names to vary and generate text with come from public name lists, never from Faker, whose values the synthetic
evaluation documents use. Hyper-parameters were decided on the held-out slice below (one document in twelve, by the
hash of its id)."""


def card(facts: Facts, data: Data, before: Mapping[str, Score] | None, after: Mapping[str, Score]) -> str:
    """Markdown."""
    parts = [
        f"# Name model `{facts.language}`",
        f"sha256 `{facts.sha256}`, {facts.size:,} bytes. Labels PERSON, ORG, LOC, MISC.",
        f"Plan: `{json.dumps(dict(facts.plan), sort_keys=True)}`",
        "## Learned from",
        corpora_table(data.read),
        f"{len(data.train):,} documents, and generated text (rows, JSON, mail, forms, code, sentences). Not found, and "
        f"so not used: {', '.join(data.missing) or 'none'}.",
        "## Kept apart from the evaluation",
        _SEPARATION,
        "## Figures on the held-out slice, these weights",
        table(after),
    ]
    if before is not None:
        parts += ["## The packaged model on the same texts", table(before)]
    return "\n\n".join(parts) + "\n"


def corpora_table(corpora: Iterable[Corpus]) -> str:
    """Name, language, kind, licence, credit and origin of each."""
    rows = ["| corpus | language | kind | licence | credit | origin | weight |", "|---|---|---|---|---|---|---:|"]
    for c in corpora:
        rows.append(f"| {c.name} | {c.language} | {c.kind} | {c.licence} | {c.credit} | {c.origin} | {c.weight} |")
    return "\n".join(rows)

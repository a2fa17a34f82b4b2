"""Where training starts: a genuine packaged model with its last layer cut down to our labels, or nothing at all.

May import: its neighbours, recognizers.models, spacy, thinc.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import spacy
from thinc.api import NumpyOps, fix_random_seed, set_current_ops

from recognizers import models, multilingual
from recognizers.visible import visible
from training.text import FROM_MODEL, LABELS, Mark, Text, tidy

BLANK = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 64,
    "maxout_pieces": 2,
    "use_upper": True,
    "nO": None,
    "tok2vec": {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 96,
            "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "LANG"],
            "rows": [20000, 1500, 5000, 1500, 100],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": 96,
            "depth": 4,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    },
}
"""The architecture of a model that starts from nothing: the packaged one's, with more rows in place of vectors."""

_OUT = 5
_HEIRS = {"PERSON": ("PERSON", "PER"), "ORG": ("ORG",), "LOC": ("GPE", "LOC"), "MISC": ("MISC", "NORP", "WORK_OF_ART")}
"""Whose row of the packaged model's last layer each of our labels takes over; the first that is there."""


def prepare(seed: int) -> None:
    """Numpy's matrix products (as at run time), and every generator seeded."""
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(seed)
    random.seed(seed)


def genuine(language: str) -> Any:
    """The packaged pipeline of a language, verified, with `ner` only. A new one at each call."""
    source = models.SOURCES[language]
    directory = models.locate(source)
    models.check_genuine(source, directory)
    pipes = spacy.util.load_config(directory / "config.cfg")["nlp"]["pipeline"]
    return spacy.load(directory, exclude=[pipe for pipe in pipes if pipe != "ner"])


def blank(language: str) -> Any:
    """The empty pipeline that a model without a packaged one grows in."""
    return multilingual.blank() if language == "xx" else spacy.blank(language)


def begin(language: str, sample: Sequence[Text]) -> tuple[Any, dict[str, Any]]:
    """`(nlp, configuration)` with one `ner` component over `LABELS`, ready for updates.

    English and French start from their packaged models: every layer is taken over, and of the last one the rows of
    the transitions that have an heir. Other languages start from seeded random numbers.
    """
    if language in models.SOURCES:
        nlp = genuine(language)
        old = nlp.get_pipe("ner")
        config = dict(nlp.get_pipe_config("ner")["model"])
        nlp.remove_pipe("ner")
    else:
        nlp, old, config = blank(language), None, BLANK
    new = nlp.add_pipe("ner", config={"model": config})
    texts = [item for item in sample if item.marks][:50]
    new.initialize(lambda: [example(nlp, item) for item in texts], nlp=nlp, labels=_transitions())
    if old is not None:
        _inherit(old, new)
    return nlp, config


def example(nlp: Any, item: Text) -> Any:
    """The text as the model will be shown it, with its names; a mark that cuts a token takes the whole token."""
    from spacy.training import Example
    from spacy.util import filter_spans

    doc = nlp.make_doc(visible(item.text))
    spans = (doc.char_span(a, b, label=label, alignment_mode="expand") for a, b, label in item.marks)
    reference = doc.copy()
    reference.set_ents(filter_spans([kept for span in spans if span is not None and (kept := _unspaced(span))]))
    return Example(doc, reference)


def _unspaced(span: Any) -> Any:
    """Without white space at its ends, which no entity of spaCy may have; empty if nothing else is left of it."""
    while len(span) and span[0].is_space:
        span = span[1:]
    while len(span) and span[-1].is_space:
        span = span[:-1]
    return span


def marks(nlp: Any, texts: Iterable[str]) -> list[tuple[Mark, ...]]:
    """What a pipeline finds, in our labels."""
    found = []
    for text, doc in zip(texts, nlp.pipe(map(visible, texts), batch_size=64), strict=True):
        named = [Mark(e.start_char, e.end_char, FROM_MODEL[e.label_]) for e in doc.ents if e.label_ in FROM_MODEL]
        found.append(tidy(text, named))
    return found


def out_row(component: Any) -> int:
    """The last layer's row of "no name here"."""
    return next(index for index, (action, _) in enumerate(_order(component)) if action == _OUT)


def _inherit(old: Any, new: Any) -> None:
    """Copies every parameter of `old` into `new`; the last layer's rows by what their transition means."""
    last_old, last_new = old.model.get_ref("upper"), new.model.get_ref("upper")
    for a, b in zip(old.model.walk(), new.model.walk(), strict=True):
        if a is last_old:
            continue
        for name in a.param_names:
            if a.has_param(name):
                b.set_param(name, a.get_param(name).copy())
    rows = {move: index for index, move in enumerate(_order(old))}
    sources = [_row(move, rows) for move in _order(new)]
    for name in ("W", "b"):
        last_new.set_param(name, np.ascontiguousarray(last_old.get_param(name)[sources]))


def _transitions() -> dict[int, dict[str, int]]:
    """Begin, in, last and unit for each label, and spaCy's two without one (unit: blocked; out)."""
    labels = {label: 100 - index for index, label in enumerate(LABELS)}
    return {0: {}, 1: labels, 2: dict(labels), 3: dict(labels), 4: {**labels, "": 1}, 5: {"": 1}}


def _order(component: Any) -> list[tuple[int, str]]:
    """The transitions in the order of the last layer's rows: by action, then by frequency, then by label."""
    actions = sorted(component.moves.labels.items())
    return [
        (act, label) for act, freqs in actions for _, label in sorted(((f, x) for x, f in freqs.items()), reverse=True)
    ]


def _row(move: tuple[int, str], rows: dict[tuple[int, str], int]) -> int:
    action, label = move
    return next(rows[action, heir] for heir in _HEIRS.get(label, (label,)) if (action, heir) in rows)

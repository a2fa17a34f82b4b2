"""`python -m training --data FOLDER --language en,fr`: trains, measures, writes weights and model cards.

May import: its neighbours.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from recognizers import models, weights
from training import card, corpora, data, learn, measure, pack, start
from training.text import LABELS, Text

OUT = Path(__file__).resolve().parent.parent / "recognizers" / "trained"
PARTS = {"xx": ("de", "es", "it")}
"""Languages that share one model."""
DEV_GENERATED = 300
DEV_MOST = 2500


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 2 if the folder holds nothing to learn from."""
    options = _parser().parse_args(arguments)
    if options.list:
        print(card.corpora_table(corpora.CORPORA))
        return 0
    for language in options.language.split(","):
        try:
            _train(language, options)
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return 2
    return 0


def _train(language: str, options: argparse.Namespace) -> None:
    plan = replace(learn.PLANS.get(language, learn.Plan()), **json.loads(options.plan or "{}"), seed=options.seed)
    if options.words:
        plan = replace(plan, words=options.words)
    start.prepare(plan.seed)
    teacher = start.genuine(language) if language in models.SOURCES else None
    found = data.gather(options.data, PARTS.get(language, (language,)), options.share_alike, teacher)
    makers = data.default_makers()
    dev = _sample(found.dev, plan.seed) + data.generated_dev(found.pools, makers, plan.seed, DEV_GENERATED)
    before = measure.measure(lambda texts: start.marks(teacher, texts), dev) if teacher is not None else None
    nlp, config = start.begin(language, [text for text, _ in found.train])
    origin = learn.snapshot(nlp)
    learn.learn(nlp, found, makers, plan)
    learn.mix(nlp, origin, plan.keep)
    learn.lean(nlp, plan.lean)
    packed = pack.pack(nlp, LABELS, config)
    after = measure.measure(_reader(language, packed), dev)
    digest = pack.write(options.out / f"{language}.xz", packed)
    facts = card.Facts(language, asdict(plan), digest, len(packed))
    text = card.card(facts, found, before, after)
    (options.out / f"{language}.md").write_text(text, encoding="utf-8")
    print(text)


def _reader(language: str, packed: bytes) -> measure.Find:
    """The packed model as it will be loaded: what is measured is what ships."""
    nlp: Any = start.genuine(language) if language in models.SOURCES else start.blank(language)
    weights.install(nlp, weights.unpack(packed))
    return lambda texts: start.marks(nlp, texts)


def _sample(dev: Sequence[tuple[str, Text]], seed: int) -> list[tuple[str, Text]]:
    items = list(dev)
    random.Random(seed).shuffle(items)
    return items[:DEV_MOST]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("."), help="folder with the corpora and the name lists")
    parser.add_argument("--language", default="en,fr", help="en, fr, xx (German, Spanish, Italian); several by comma")
    parser.add_argument("--out", type=Path, default=OUT, help="where LANGUAGE.xz and LANGUAGE.md go")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=0, help="how many words to read; less for a quick look")
    parser.add_argument("--plan", help="other hyper-parameters, as JSON")
    parser.add_argument("--share-alike", action="store_true", help="also the corpora under CC BY-SA")
    parser.add_argument("--list", action="store_true", help="only list the corpora, with licences")
    return parser


if __name__ == "__main__":
    sys.exit(main())

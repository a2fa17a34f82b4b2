"""`python -m training.multilingual --data FOLDER`: the model of German, Spanish and Italian, in two rounds.

The first round starts from seeded random numbers; the second goes on at a lower rate with other generated documents.
`--start FILE` skips the first and goes on from its weights. Writes `xx.xz` and its card `xx.md`.

May import: its neighbours, recognizers.weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from recognizers import weights
from training import card, data, learn, measure, pack, start
from training.__main__ import DEV_GENERATED, OUT, PARTS, _reader, _sample
from training.text import LABELS

FIRST = learn.Plan(words=2_400_000, rate=0.0015, dropout=0.12, share=1.5, seed=1)
SECOND = learn.Plan(words=1_500_000, rate=0.0008, dropout=0.15, share=1.2, seed=2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Raises `FileNotFoundError` if the folder holds nothing to learn from."""
    options = _parser().parse_args(arguments)
    start.prepare(FIRST.seed)
    found = data.gather(options.data, PARTS["xx"], share_alike=False)
    makers = data.default_makers()
    nlp, config = start.begin("xx", [text for text, _ in found.train])
    if options.start:
        weights.install(nlp, weights.unpack(options.start.read_bytes()))
    else:
        learn.learn(nlp, found, makers, FIRST)
    learn.learn(nlp, found, makers, SECOND)
    packed = pack.pack(nlp, LABELS, config)
    dev = _sample(found.dev, FIRST.seed) + data.generated_dev(found.pools, makers, FIRST.seed, DEV_GENERATED)
    scores = measure.measure(_reader("xx", packed), dev)
    digest = pack.write(options.out / "xx.xz", packed)
    facts = card.Facts("xx", {"first": asdict(FIRST), "second": asdict(SECOND)}, digest, len(packed))
    (options.out / "xx.md").write_text(card.card(facts, found, None, scores), encoding="utf-8")
    print(measure.table(scores), digest, sep="\n", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.multilingual", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpora and the name lists")
    parser.add_argument("--out", type=Path, default=OUT, help="where xx.xz and xx.md go")
    parser.add_argument("--start", type=Path, help="weights of the first round")
    return parser


if __name__ == "__main__":
    main()

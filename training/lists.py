"""`python -m training.lists --data FOLDER`: the word lists that the multilingual model and the choice of language read.

Two files beside `recognizers/multilingual.py`, for their licences differ: `european_words.txt.xz` (frequent words of
five languages in order of frequency: wordfreq, CC BY-SA 4.0) and `european_names.txt.xz` (names and places by kind).
Some of the rarer names are left out on purpose: the model must not learn that every name is in a list.

May import: its neighbours, recognizers.base, recognizers.lexicon, the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

from recognizers.base import fold
from training.generate.given import GIVEN, SURNAMES
from training.generate.values import COUNTRIES, LANGUAGES, read
from training.pools import Pools

OUT = Path(__file__).resolve().parent.parent / "recognizers"
WORDS = 15_000
"""Words of each language."""
_SURE = {"given": 6_000, "surname": 16_000, "place": 4_000}
"""So many of each kind are kept whatever their name."""
_LISTS = frozenset({"de", "it", "fr", "pl", "ru", "pt"})
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def words(folder: Path) -> str:
    """One line a language: its code and its words, most frequent first."""
    lines = []
    for language in LANGUAGES:
        seen = dict.fromkeys(fold(row[0]) for row in read(folder, f"wordfreq_{language}") if row[0].isalpha())
        lines.append(" ".join([language, *list(seen)[:WORDS]]))
    return "\n".join(lines)


def names(folder: Path) -> str:
    """One line a kind: `given`, `surname`, `place`, and the folded words."""
    frequent = {word for language in LANGUAGES for word in _top(folder, language, 2_500)}
    kinds = {"given": _given(folder), "surname": _surnames(folder), "place": _places(folder, frequent)}
    return "\n".join(" ".join([kind, *_kept(kind, found)]) for kind, found in kinds.items())


def _top(folder: Path, language: str, count: int) -> list[str]:
    return [fold(row[0]) for row, _ in zip(read(folder, f"wordfreq_{language}"), range(count), strict=False)]


def _kept(kind: str, found: Iterable[str]) -> list[str]:
    ordered = [word for word in dict.fromkeys(map(fold, found)) if len(word) > 1 and word.replace("-", "").isalpha()]
    rare = (word for word in ordered[_SURE[kind] :] if hashlib.sha256(word.encode()).digest()[0] < 150)
    return sorted({*ordered[: _SURE[kind]], *rare})


def _given(folder: Path) -> list[str]:
    own = [name for sexes in GIVEN.values() for group in sexes.values() for name in group]
    spanish = [row for sex in "mf" for row in read(folder, f"es_ine_given_{sex}") if float(row[1]) > 150]
    counted = [
        *((row[0], float(row[2])) for row in read(folder, "fr_insee_given") if float(row[2]) > 400),
        *((row[0], float(row[2]) / 5) for row in read(folder, "us_ssa_given") if float(row[2]) > 2_000),
        *((part, float(row[1])) for row in spanish for part in row[0].split()),
    ]
    world = [row[3] for row in read(folder, "world_common_forenames")]
    return [*own, *world, *(name for name, _ in sorted(counted, key=lambda pair: -pair[1]))]


def _surnames(folder: Path) -> list[str]:
    own = [name for group in SURNAMES.values() for name in group]
    counted = [
        *((part, float(row[1])) for row in read(folder, "es_ine_surnames") for part in row[0].split()),
        *((row[0], float(row[1]) / 8) for row in read(folder, "us_census2010_surnames") if float(row[1]) > 3_000),
    ]
    listed = [
        row[1] for row in read(folder, "namedatabases_surnames") if row[0] in {"de", "it", "fr", "pl", "ru", "pt"}
    ]
    ordered = [name for name, _ in sorted(counted, key=lambda pair: -pair[1])][:12_000]
    return [*own, *(row[3] for row in read(folder, "world_common_surnames")), *ordered, *listed]


def _places(folder: Path, frequent: set[str]) -> list[str]:
    home = {code for codes in COUNTRIES.values() for code in codes}
    large = [
        row for row in read(folder, "geonames_cities") if float(row[2] or 0) > (8_000 if row[1] in home else 200_000)
    ]
    large.sort(key=lambda row: -float(row[2]))
    parts = [(part, row[0]) for row in large for part in row[0].replace("-", " ").split()]
    return [part for part, whole in parts if len(part) > 3 and (part == whole or fold(part) not in frequent)]


def write(path: Path, text: str) -> str:
    """Writes the packed list and returns its sha256."""
    packed = lzma.compress(text.encode(), format=lzma.FORMAT_XZ, filters=_FILTERS)
    path.write_bytes(packed)
    return hashlib.sha256(packed).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.lists", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the lists of names and words")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    folder = Pools(options.data, "de").folder
    for name, text in (("european_words", words(folder)), ("european_names", names(folder))):
        print(name, write(options.out / f"{name}.txt.xz", text))


if __name__ == "__main__":
    main()

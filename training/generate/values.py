"""Names of persons and places, drawn by frequency from public lists in a folder that the caller names.

Expects the files of INSEE, INE, US Census, SSA, GeoNames, Wiktionary and word frequencies as gzipped tables (see
`SOURCES`); none of them is part of this repository. May import: the standard library.
"""

from __future__ import annotations

import gzip
import random
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path

LANGUAGES = ("de", "en", "es", "fr", "it")
COUNTRIES = {
    "de": ("DE", "DE", "DE", "DE", "AT", "CH"),
    "en": ("US", "US", "GB", "GB", "CA", "AU", "IE"),
    "es": ("ES", "ES", "ES", "ES", "MX", "AR", "CO", "CL", "PE"),
    "fr": ("FR", "FR", "FR", "FR", "BE", "CH", "CA"),
    "it": ("IT", "IT", "IT", "IT", "IT", "CH"),
}
SOURCES = (
    *("us_ssa_given", "us_census2010_surnames", "fr_insee_given", "es_ine_given_m", "es_ine_given_f"),
    *("es_ine_surnames", "it_given_napolux", "it_surnames_napolux", "namedatabases_surnames", "wiktionary_surnames"),
    *("world_common_forenames", "world_common_surnames", "geonames_cities", "geonames_city_exonyms"),
    *(f"wordfreq_{language}" for language in LANGUAGES),
)
_EXONYMS = {
    "München": "Munich", "Nürnberg": "Nuremberg", "Wien": "Vienna", "Zürich": "Zurich", "Genf": "Geneva",
    "Roma": "Rome", "Milano": "Milan", "Napoli": "Naples", "Torino": "Turin", "Firenze": "Florence",
    "Venezia": "Venice", "Sevilla": "Seville", "Genova": "Genoa", "Padova": "Padua",
}  # fmt: skip
_NATIVE = {english: native for native, english in _EXONYMS.items()}
_REAL_NAME = 2
_RARE = 2.6


def fold(word: str) -> str:
    """Lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@dataclass(frozen=True)
class Table:
    """Values with weights. `pick` draws one by weight, and with a chance of a fifth one regardless of weight."""

    values: Sequence[str]
    sums: Sequence[float] = field(repr=False)

    @staticmethod
    def of(pairs: Iterable[tuple[str, float]]) -> Table:
        kept = [(value, weight) for value, weight in pairs if value and weight > 0]
        if not kept:
            raise ValueError("a table of no values")
        return Table([value for value, _ in kept], list(accumulate(weight for _, weight in kept)))

    def pick(self, rng: random.Random) -> str:
        if rng.random() < 0.3:
            return rng.choice(self.values)
        return self.values[bisect(self.sums, rng.random() * self.sums[-1])]


@dataclass(frozen=True)
class Names:
    """What one language's documents draw from."""

    male: Table
    female: Table
    surnames: Table
    cities: Table
    abroad: Table


def read(folder: Path, name: str) -> Iterator[list[str]]:
    """The rows of one table, without its head. Raises `FileNotFoundError`."""
    with gzip.open(folder / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")


@cache
def names(folder: Path, language: str) -> Names:
    """The tables of one language. Raises `FileNotFoundError` for a missing list."""
    male, female = _given(folder, language)
    cities, abroad = _cities(folder, language)
    return Names(male, female, _surnames(folder, language), cities, abroad)


@cache
def frequencies(folder: Path, language: str) -> dict[str, float]:
    return {fold(word): float(zipf) for word, zipf in read(folder, f"wordfreq_{language}")}


def _soften(count: float) -> float:
    """Common names must not drown the others: their weight grows with the root of their count."""
    return float(float(count) ** 0.6)


@cache
def _accents(folder: Path) -> dict[str, str]:
    """`garcia` -> `García`: how Wiktionary spells a name that a list gives without accents."""
    return {fold(name): name for (name,) in read(folder, "wiktionary_surnames") if fold(name) != name.casefold()}


def _given(folder: Path, language: str) -> tuple[Table, Table]:
    if language == "es":
        return tuple(  # type: ignore[return-value]
            Table.of((_spanish(name), _soften(float(count))) for name, count in read(folder, f"es_ine_given_{sex}"))
            for sex in "mf"
        )
    if language in ("fr", "en"):
        rows = list(read(folder, "fr_insee_given" if language == "fr" else "us_ssa_given"))
        return tuple(  # type: ignore[return-value]
            Table.of((row[0], _soften(float(row[2]))) for row in rows if row[1] == sex and float(row[2]) > 300)
            for sex in "MF"
        )
    from training.generate.given import GIVEN

    seen = frequencies(folder, language)
    tables: list[Table] = []
    for sex in "MF":
        own = [(name, 40.0) for name in GIVEN[language][sex]]
        listed = [(row[3], 15.0) for row in read(folder, "world_common_forenames") if _local(row, language, sex)]
        more = [(name, max(0.5, seen.get(fold(name), 0) - 1) ** 1.5) for name in _more_given(folder, language, sex)]
        tables.append(Table.of([*own, *listed, *more]))
    return tables[0], tables[1]


def _local(row: Sequence[str], language: str, sex: str) -> bool:
    return row[0] in COUNTRIES[language] and row[1] == sex


def _more_given(folder: Path, language: str, sex: str) -> Iterator[str]:
    """Rarer given names: Italian ones by their ending, German ones that American parents registered as well."""
    words = frequencies(folder, language)
    if language == "it":
        for (name,) in read(folder, "it_given_napolux"):
            if name.endswith("a") == (sex == "F") and words.get(fold(name), 0) < 5.2:
                yield name
        return
    for name, registered, count in read(folder, "us_ssa_given"):
        if registered == sex and float(count) > 1500 and _RARE < words.get(fold(name), 0) < 5:
            yield name


def _spanish(name: str) -> str:
    known = {
        "jose": "José", "maria": "María", "jesus": "Jesús", "angel": "Ángel", "ramon": "Ramón", "andres": "Andrés",
        "martin": "Martín", "ruben": "Rubén", "ivan": "Iván", "oscar": "Óscar", "raul": "Raúl", "sofia": "Sofía",
        "lucia": "Lucía", "monica": "Mónica", "veronica": "Verónica", "ines": "Inés", "belen": "Belén",
        "concepcion": "Concepción", "angeles": "Ángeles", "asuncion": "Asunción", "julian": "Julián", "tomas": "Tomás",
        "agustin": "Agustín", "joaquin": "Joaquín", "nicolas": "Nicolás", "alvaro": "Álvaro", "hector": "Héctor",
        "adrian": "Adrián", "sebastian": "Sebastián", "fatima": "Fátima", "rocio": "Rocío", "barbara": "Bárbara",
    }  # fmt: skip
    return " ".join(known.get(fold(part), part) for part in name.split())


def _surnames(folder: Path, language: str) -> Table:
    words = frequencies(folder, language)
    if language == "es":
        accents = _accents(folder)
        rows = read(folder, "es_ine_surnames")
        return Table.of((accents.get(fold(name), name), _soften(float(count))) for name, count in rows)
    if language == "en":
        rows = read(folder, "us_census2010_surnames")
        return Table.of((name, _soften(float(count))) for name, count in rows if float(count) > 400)
    if language == "it":
        listed = [(name, 0.5 + words.get(fold(name), 0)) for (name,) in read(folder, "it_surnames_napolux")]
    else:
        listed = [
            (name, 0.5 + words.get(fold(name), 0))
            for kind, name in read(folder, "namedatabases_surnames")
            if kind == language and name[:1].isupper()
        ]
    from training.generate.given import SURNAMES

    accents = _accents(folder)
    common = [(name, 60.0) for name in SURNAMES[language]]
    return Table.of(
        [*common, *((accents.get(fold(name), name) if language == "fr" else name, w) for name, w in listed)]
    )


def _cities(folder: Path, language: str) -> tuple[Table, Table]:
    at_home: list[tuple[str, float]] = []
    abroad: list[tuple[str, float]] = []
    local = set(COUNTRIES[language])
    share = {code: COUNTRIES[language].count(code) for code in local}
    for name, country, population in read(folder, "geonames_cities"):
        size = _soften(float(population or 0) + 500)
        if country in local:
            at_home.append((_native(name, country), size * share[country] if len(share) < 6 else size))
        elif float(population or 0) > 150_000:
            abroad.append((name, size))
    return Table.of(at_home), Table.of(abroad)


def _native(name: str, country: str) -> str:
    return _NATIVE.get(name, name) if country in {"DE", "AT", "CH", "IT", "ES"} else name

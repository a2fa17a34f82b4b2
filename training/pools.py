"""Given names, surnames, cities, firms and words to draw from, as the lists below the data folder have them.

Frequent entries are drawn more often, but by the square root of their count, so that rare names are seen too; a share
of the names comes from other countries than the language's own. No list is copied into the weights' package.

May import: the standard library.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import random
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

_GIVEN: Mapping[str, tuple[tuple[str, str, str], ...]] = MappingProxyType(
    {
        "en": (("us_ssa_given", "name", "births_1880_2024"),),
        "fr": (("fr_insee_given", "name", "births_1900_2021"),),
        "es": (("es_ine_given_f", "name", "count"), ("es_ine_given_m", "name", "count")),
    }
)
_SURNAMES: Mapping[str, tuple[tuple[str, str, str], ...]] = MappingProxyType(
    {"en": (("us_census2010_surnames", "name", "count"),), "es": (("es_ine_surnames", "name", "count"),)}
)
_COUNTRIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": ("US", "GB", "IE", "CA", "AU", "NZ", "ZA"),
        "fr": ("FR", "BE", "CH", "LU"),
        "de": ("DE", "AT", "CH"),
        "es": ("ES", "MX", "AR", "CO", "CL"),
        "it": ("IT",),
    }
)
_OTHER_LISTS = frozenset({"cn", "hi", "kr", "ne", "ru", "pl", "pt", "cz", "ie", "gk"})
_FOREIGN = 0.35
_COMMON_ZIPF = 3.2


@dataclass(frozen=True)
class Pool:
    """Strings drawn with weights. Immutable; the generator is the caller's."""

    items: tuple[str, ...]
    cumulative: tuple[float, ...]

    @classmethod
    def of(cls, weighted: Iterable[tuple[str, float]]) -> Pool:
        pairs = [(text, weight) for text, weight in weighted if text and weight > 0]
        return cls(tuple(text for text, _ in pairs), tuple(itertools.accumulate(weight for _, weight in pairs)))

    def draw(self, rng: random.Random) -> str:
        return self.items[min(bisect(self.cumulative, rng.random() * self.cumulative[-1]), len(self.items) - 1)]

    def __bool__(self) -> bool:
        return bool(self.items)


class Pools:
    """All lists for one language. Raises `FileNotFoundError` if the folder has none of them."""

    def __init__(self, folder: Path, language: str) -> None:
        self.language = language
        self.folder = _holding(folder, "world_common_forenames.tsv.gz")
        self._files = {path.name.split(".")[0]: path for path in sorted(folder.rglob("*.tsv.gz"))}
        if "world_common_forenames" not in self._files:
            raise FileNotFoundError(f"no name lists (world_common_forenames.tsv.gz ...) below {folder}")

    @cached_property
    def given(self) -> Pool:
        own = [pair for spec in _GIVEN.get(self.language, ()) for pair in self._weighted(*spec)]
        return Pool.of(own or self._world("world_common_forenames", own=True))

    @cached_property
    def surnames(self) -> Pool:
        own = [pair for spec in _SURNAMES.get(self.language, ()) for pair in self._weighted(*spec)]
        if self.language in {"fr", "de", "it"}:
            code = {"fr": "fr", "de": "de", "it": "it"}[self.language]
            own += [(_cased(r["name"]), 1.0) for r in self._rows("namedatabases_surnames") if r["list"] == code]
            own += self._world("world_common_surnames", own=True) * 5
        return Pool.of(own)

    @cached_property
    def world_given(self) -> Pool:
        return Pool.of(self._world("world_common_forenames", own=False))

    @cached_property
    def world_surnames(self) -> Pool:
        other = [r for r in self._rows("namedatabases_surnames") if r["list"] in _OTHER_LISTS and _is_latin(r["name"])]
        return Pool.of(
            [*((_cased(row["name"]), 0.3) for row in other), *self._world("world_common_surnames", own=False)]
        )

    @cached_property
    def cities(self) -> Pool:
        home = _COUNTRIES.get(self.language, ())
        return Pool.of(
            (row["name"], float(row["population"] or 1) ** 0.5 * (8 if row["country"] in home else 1))
            for row in self._rows("geonames_cities")
        )

    @cached_property
    def countries(self) -> Pool:
        return Pool.of((row["name"], 1.0) for row in self._rows("geonames_countries"))

    @cached_property
    def legal_forms(self) -> Pool:
        forms = {"en": ["Inc.", "Ltd", "LLC", "plc", "Corp.", "& Co.", "Group"], "fr": ["SA", "SARL", "SAS", "& Cie"]}
        forms |= {"de": ["GmbH", "AG", "KG", "e.V.", "UG"], "es": ["S.L.", "S.A."], "it": ["S.p.A.", "S.r.l."]}
        return Pool.of((form, 1.0) for form in forms.get(self.language, forms["en"]))

    @cached_property
    def words(self) -> Pool:
        """Frequent words that are no registered name, in lower case."""
        names = {name.lower() for pool in (self.given, self.surnames) for name in pool.items[:20_000]}
        rows = self._rows(f"wordfreq_{self.language if self.language in _COUNTRIES else 'en'}")
        return Pool.of(
            (row["word"], float(row["zipf"]) - 2)
            for row in rows
            if float(row["zipf"]) > _COMMON_ZIPF and len(row["word"]) > 2 and row["word"] not in names
            if row["word"].isalpha()
        )

    def given_name(self, rng: random.Random) -> str:
        pool = self.world_given if rng.random() < _FOREIGN or not self.given else self.given
        return pool.draw(rng)

    def surname(self, rng: random.Random) -> str:
        pool = self.world_surnames if rng.random() < _FOREIGN or not self.surnames else self.surnames
        return pool.draw(rng)

    def person(self, rng: random.Random) -> str:
        """A full name: given and family name, now and then a middle initial, two given names or a double surname."""
        given, family, kind = self.given_name(rng), self.surname(rng), rng.random()
        if kind < 0.06:
            return f"{given} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {family}"
        if kind < 0.10:
            return f"{given}-{self.given_name(rng)} {family}"
        if kind < 0.14:
            return f"{given} {family}-{self.surname(rng)}"
        if kind < 0.18:
            return f"{given} {self.given_name(rng)} {family}"
        return f"{given} {family}"

    def company(self, rng: random.Random) -> str:
        """A firm that does not exist: a surname or a word or two, and a legal form."""
        head = self.surname(rng) if rng.random() < 0.5 else self.words.draw(rng).capitalize()
        middle = f" {self.words.draw(rng).capitalize()}" if rng.random() < 0.5 else ""
        return f"{head}{middle} {self.legal_forms.draw(rng)}"

    def _rows(self, name: str) -> list[dict[str, str]]:
        if name not in self._files:
            return []
        with gzip.open(self._files[name], "rt", encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def _weighted(self, name: str, column: str, count: str) -> list[tuple[str, float]]:
        return [(_cased(row[column]), float(row[count] or 1) ** 0.5) for row in self._rows(name)]

    def _world(self, name: str, own: bool) -> list[tuple[str, float]]:
        home = _COUNTRIES.get(self.language, ())
        rows = [row for row in self._rows(name) if (row["country"] in home) == own]
        return [(_cased(row["romanized"]), 1.0) for row in rows if _is_latin(row["romanized"])]


def _holding(folder: Path, name: str) -> Path:
    """The folder at or below `folder` in which the file lies, or `folder`."""
    return next((path.parent for path in sorted(folder.rglob(name))), folder)


def _is_latin(text: str) -> bool:
    return bool(text) and all(ord(char) < 0x250 for char in text)


def _cased(name: str) -> str:
    return name.title() if name.isupper() or name.islower() else name


Draw = Callable[[random.Random], str]


def choose(rng: random.Random, *options: Draw | Sequence[str]) -> str:
    """One of the options, drawn if it is a function, chosen from if it is a sequence."""
    option = rng.choice(options)
    return option(rng) if callable(option) else rng.choice(option)

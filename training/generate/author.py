"""Fills the slots of sentence frames: people with their names, firms, addresses, mail boxes, dates and numbers.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from training.generate import values
from training.generate.frames import Draft, Frames, load, write
from training.generate.values import LANGUAGES, Names, Table, fold, names

_DOMAINS = ("net", "org", "com", "eu", "info")
_FOREIGN, _WORLD = 0.12, 0.06


@dataclass(frozen=True)
class Person:
    given: str
    surname: str
    female: bool


@cache
def _world(folder: Path) -> tuple[Table, Table]:
    """Given names and surnames of countries whose languages are not among the five, in Latin letters."""
    home = {code for codes in values.COUNTRIES.values() for code in codes}
    tables = (
        Table.of((row[3], 1.0) for row in values.read(folder, name) if row[0] not in home and _latin(row[3]))
        for name in ("world_common_forenames", "world_common_surnames")
    )
    given, family = tables
    return given, family


@cache
def frequent(folder: Path, language: str) -> Table:
    """Frequent words as they are spelled, without those that are names of the language."""
    own = names(folder, language)
    known = {fold(value) for table in (own.male, own.female, own.surnames, own.cities) for value in table.values}
    rows = ((row[0], float(row[1])) for row in values.read(folder, f"wordfreq_{language}"))
    kept = ((word, zipf) for word, zipf in rows if zipf > 3.4 and word.isalpha())
    return Table.of((word, 2 ** (zipf - 3)) for word, zipf in kept if fold(word) not in known or zipf > 5)


def _latin(word: str) -> bool:
    return word[:1].isupper() and all(char.isalpha() or char in " '-" for char in word) and word[0] < "ſ"


class Author:
    """Writes one document in one language. Deterministic: everything is drawn from `rng`."""

    def __init__(self, folder: Path, language: str, rng: random.Random) -> None:
        self.folder, self.language, self.rng = folder, language, rng
        self.frames: Frames = load(language)
        self.names: Names = names(folder, language)
        self.people = [self.person() for _ in range(3)]
        self.orgs = [self.organisation() for _ in range(3)]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def person(self, female: bool | None = None) -> Person:
        """A new person; some bear names of another country."""
        rng = self.rng
        female = rng.random() < 0.5 if female is None else female
        draw = rng.random()
        if draw < _WORLD:
            given, family = _world(self.folder)
            return Person(given.pick(rng), family.pick(rng), female)
        source = self.names
        if draw < _WORLD + _FOREIGN:
            source = names(self.folder, rng.choice([code for code in LANGUAGES if code != self.language]))
        given_table = source.female if female else source.male
        if draw > 0.985:  # A given name of one country and a family name of another.
            return Person(given_table.pick(rng), names(self.folder, rng.choice(LANGUAGES)).surnames.pick(rng), female)
        return Person(given_table.pick(rng), self._family(source), female)

    def _family(self, source: Names) -> str:
        rng, family = self.rng, source.surnames.pick(self.rng)
        if self.language == "es":
            return f"{family} {source.surnames.pick(rng)}" if self.chance(0.45) else family
        if self.chance(0.06):
            return f"{family}-{source.surnames.pick(rng)}"
        if self.chance(0.05) and "particle" in self.frames.lists:
            particle = rng.choice(self.frames.lists["particle"])
            return f"{particle}{family}" if particle.endswith("'") else f"{particle} {family}"
        return family

    def full(self, person: Person) -> str:
        """The whole name the way running text and forms write it."""
        rng, given, family = self.rng, person.given, person.surname
        style = rng.random()
        if style < 0.06:
            middle = (self.names.female if person.female else self.names.male).pick(rng)
            given = f"{given} {middle[0]}." if self.chance(0.5) else f"{given} {middle}"
        elif style < 0.11:
            given = f"{given[0]}."
        elif style < 0.14:
            family = family.upper()
        elif style < 0.16:
            return f"{given} {family}".upper()
        return f"{given} {family}"

    def reversed(self, person: Person) -> str:
        """Surname first, as registers and clinics write."""
        family = person.surname.upper() if self.chance(0.25) else person.surname
        comma = ", " if self.chance(0.65) else " "
        return f"{family}{comma}{person.given.upper() if family.isupper() and self.chance(0.4) else person.given}"

    def organisation(self) -> str:
        return self.phrase("org")

    def phrase(self, section: str) -> str:
        """A frame of a section as plain text."""
        draft = Draft()
        write(self.rng.choice(self.frames.section(section)), draft, self.slot, self.rng)
        return draft.text

    def place(self) -> str:
        table = self.names.abroad if self.chance(0.12) else self.names.cities
        return table.pick(self.rng).split(" (")[0]

    def section(self, name: str, draft: Draft) -> None:
        """Writes a random frame of a section."""
        write(self.rng.choice(self.frames.section(name)), draft, self.slot, self.rng)

    def slot(self, name: str, draft: Draft) -> None:
        """Writes the value of one slot; digits behind the name mean a person (or firm) of the document."""
        key = name.rstrip("123")
        index = int(name[len(key) :]) - 1 if len(key) < len(name) else None
        if key in _PERSON:
            who = self.people[index] if index is not None else self.person(_SEX.get(key))
            self._person(key, who, draft)
        elif key in _PLACES or key == "O":
            self._place(key, index, draft)
        elif key in _TEXTS:
            self._text(key, draft)
        elif key in ("E", "TEL"):
            who = self.people[index] if index is not None else self.person()
            draft.add(*((self.mailbox(who), "EMAIL") if key == "E" else (self.phone(), "PHONE")))
        elif key in self.frames.lists:
            draft.add(self.rng.choice(self.frames.lists[key]))
        elif key in self.frames.sections:
            self.section(key, draft)
        else:
            draft.add(self._value(key))

    def _person(self, key: str, who: Person, draft: Draft) -> None:
        if key in ("H", "HP", "HPf", "D", "hon"):
            kind = "doc" if key == "D" else ("honf" if who.female else "honm")
            draft.add(self.phrase(kind))
            if key == "hon":
                return
            draft.add(" ")
            short = key == "H" or (key == "D" and self.chance(0.4))
            draft.add(who.surname if short else self.full(who), "PERSON")
        elif key in ("P", "Pm", "Pf"):
            draft.add(self.full(who), "PERSON")
        elif key == "PR":
            draft.add(self.reversed(who), "PERSON")
        else:
            draft.add(who.given if key[0] == "G" else who.surname, "PERSON")

    def _place(self, key: str, index: int | None, draft: Draft) -> None:
        if key == "O":
            draft.add(self.orgs[index] if index is not None else self.organisation(), "ORGANIZATION")
        elif key == "L":
            draft.add(self.place(), "LOCATION")
        elif key in ("R", "C"):
            draft.add(self.rng.choice(self.frames.lists["region" if key == "R" else "country"]), "LOCATION")
        elif key == "A0":
            draft.add(self.phrase("street").rstrip("0123456789, "), "LOCATION")
        elif key == "A":
            draft.add(self.phrase("street"), "ADDRESS")
        elif key == "PL":
            draft.add(self.phrase("postline"), "ADDRESS")
        else:
            between = ", " if self.chance(0.85) else " - " if self.chance(0.3) else " "
            draft.add(f"{self.phrase('street')}{between}{self.phrase('postline')}", "ADDRESS")

    def _text(self, key: str, draft: Draft) -> None:
        if key == "body":
            for number in range(self.rng.randint(1, 3)):
                draft.add(" " if number else "")
                self.section("sent" if self.chance(0.45) else "clean", draft)
        else:
            self.section(key, draft)

    def mailbox(self, who: Person) -> str:
        given, family = (fold(part).replace(" ", "").replace("'", "").replace("ß", "ss") for part in who_parts(who))
        local = self.rng.choice([f"{given}.{family}", f"{given[:1]}.{family}", f"{given}{family}", f"{family}", given])
        word = self.rng.choice(self.frames.lists["stem"]).casefold()
        host = f"{fold(word)}-{self.rng.choice(['mail', 'web', 'post', 'net', 'group', 'line'])}"
        return f"{local}@{host}.{self.rng.choice([*_DOMAINS, self.language])}"

    def phone(self) -> str:
        rng = self.rng
        start = {"de": "+49 ", "es": "+34 ", "it": "+39 ", "fr": "+33 ", "en": "+44 "}[self.language]
        digits = "".join(rng.choice("0123456789") for _ in range(9))
        grouped = rng.choice([f"{digits[:3]} {digits[3:6]} {digits[6:]}", f"{digits[:3]}/{digits[3:]}", digits])
        return (start if self.chance(0.4) else "0" if self.chance(0.7) else "") + grouped

    def _value(self, key: str) -> str:
        rng = self.rng
        match key:
            case "n":
                return str(rng.choice([rng.randint(1, 9), rng.randint(10, 99), rng.randint(100, 900)]))
            case "hn":
                return f"{rng.randint(1, 180)}{rng.choice(['', '', '', '', 'a', 'B'])}"
            case "pc5":
                return f"{rng.randint(1000, 99999):05d}"
            case "pc4":
                return str(rng.randint(1000, 9700))
            case "year":
                return str(rng.randint(1962, 2026))
            case "time":
                return f"{rng.randint(0, 23):02d}:{rng.choice(['00', '15', '30', '45', '07'])}"
            case "date":
                return self._date()
            case "eur":
                return (
                    f"{rng.randint(2, 9999)}{rng.choice([',00', ',50', ',99', '.00', ''])} {rng.choice(['€', 'EUR'])}"
                )
            case "id":
                return self._number()
            case "Word":
                return self.word()
            case "ACR":
                return "".join(rng.choice("ABCDEFGHIKLMNOPRSTUVW") for _ in range(rng.randint(2, 4)))
            case "ltr":
                return rng.choice("ABCDE")
            case "door":
                return rng.choice(["A", "B", "izq.", "dcha.", "1.ª", "C"])
            case _:
                raise KeyError(f"no slot {key!r} in {self.language}")

    def word(self) -> str:
        """A capitalised frequent word, as firms and offices bear."""
        return frequent(self.folder, self.language).pick(self.rng).capitalize()

    def _date(self) -> str:
        rng = self.rng
        day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1935, 2026)
        word = self.frames.lists["month"][month - 1]
        written = {
            "de": f"{day}. {word} {year}",
            "es": f"{day} de {word} de {year}",
            "en": f"{word} {day}, {year}" if self.chance(0.5) else f"{day} {word} {year}",
        }.get(self.language, f"{day} {word} {year}")
        separator = "." if self.language == "de" else "/"
        return rng.choice(
            [written, f"{day:02d}{separator}{month:02d}{separator}{year}", f"{year}-{month:02d}-{day:02d}"]
        )

    def _number(self) -> str:
        rng = self.rng
        digits = str(rng.randint(10_000, 99_999_999))
        letters = "".join(rng.choice("ABCDEFGHKLMNPRSTVXZ") for _ in range(2))
        return rng.choice([digits, f"{letters}-{digits}", f"{digits[:4]}/{rng.randint(10, 26)}", f"{letters}{digits}"])


def who_parts(who: Person) -> tuple[str, str]:
    return who.given.split()[0], who.surname.split()[-1]


_SEX = {"Gf": True, "Gm": False, "Sf": True, "Sm": False, "Pf": True, "Pm": False, "HPf": True}
_PERSON = frozenset({"P", "Pm", "Pf", "PR", "G", "Gm", "Gf", "S", "Sm", "Sf", "H", "HP", "HPf", "D", "hon"})
_PLACES = frozenset({"L", "R", "C", "A", "A0", "AF", "PL"})
_TEXTS = frozenset({"body", "sent", "clean", "greet", "bye", "sig", "clinline"})

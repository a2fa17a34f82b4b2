"""Documents like those that people paste into chats, with the names in them marked. Pure: seed in, document out.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from training.generate.author import Author
from training.generate.frames import Draft
from training.generate.plain import clean
from training.generate.rows import listing, records, table
from training.generate.salad import salad
from training.generate.values import LANGUAGES


@dataclass(frozen=True)
class Document:
    """`spans` are `(start, end, type)` in code points: sorted, disjoint, without spaces at their ends."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    language: str
    kind: str


def _framed(kind: str) -> Callable[[Author, Draft], None]:
    return lambda author, draft: author.section(kind, draft)


def _prose(author: Author, draft: Draft) -> None:
    for number in range(author.rng.randint(2, 7)):
        draft.add(author.rng.choice([" ", " ", " ", "\n", "\n\n"]) if number else "")
        author.section("sent" if author.chance(0.65) else "clean", draft)


def _sentence(author: Author, draft: Draft) -> None:
    author.section("sent", draft)


def _form(author: Author, draft: Draft) -> None:
    if author.chance(0.3):
        draft.add(author.rng.choice(author.frames.lists["subject"]) + "\n")
    for number in range(author.rng.randint(2, 9)):
        draft.add(author.rng.choice(["\n", "\n", "\n", "  |  ", "; "]) if number else "")
        author.section("form", draft)


def _notes(author: Author, draft: Draft) -> None:
    """Short lines of several kinds under one another, as in a note pad."""
    for number in range(author.rng.randint(3, 8)):
        draft.add("\n" if number else "")
        draft.add(author.rng.choice(["- ", "* ", "", "", f"{number + 1}. "]))
        author.section(author.rng.choice(["sent", "clean", "form", "clinline", "chat"]), draft)


def _mixed(author: Author, draft: Draft) -> None:
    """A request in one language about a text in another."""
    author.section("clean", draft)
    draft.add("\n\n")
    others = [language for language in LANGUAGES if language != author.language]
    other = Author(author.folder, author.rng.choice(others), author.rng)
    other.section(author.rng.choice(["sent", "mail", "chat", "clinical", "contract"]), draft)


KINDS: dict[str, tuple[float, Callable[[Author, Draft], None]]] = {
    "mail": (12, _framed("mail")),
    "letter": (5, _framed("letter")),
    "contract": (5, _framed("contract")),
    "clinical": (9, _framed("clinical")),
    "legal": (6, _framed("legal")),
    "minutes": (4, _framed("minutes")),
    "invoice": (4, _framed("invoice")),
    "cv": (3, _framed("cv")),
    "ticket": (4, _framed("ticket")),
    "chat": (11, _framed("chat")),
    "form": (9, _form),
    "prose": (14, _prose),
    "sentence": (8, _sentence),
    "notes": (6, _notes),
    "table": (7, table),
    "records": (5, records),
    "listing": (4, listing),
    "mixed": (3, _mixed),
    "salad": (14, salad),
    "clean": (18, clean),
}


def document(folder: Path, language: str, seed: int) -> Document:
    """The document number `seed` of a language. Raises `FileNotFoundError` if `folder` lacks a list of names."""
    rng = random.Random(f"{language}:{seed}")
    kind = rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    author, draft = Author(folder, language, rng), Draft()
    KINDS[kind][1](author, draft)
    return Document(draft.text, tuple(sorted(draft.spans)), language, kind)

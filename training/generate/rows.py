"""Names without sentences: tables, records and lists, in the notations that programs and people use.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable

from training.generate.author import Author, Person
from training.generate.frames import Draft
from training.generate.values import fold

Cell = Callable[[Author, Person, Draft], None]


def _column(author: Author) -> tuple[str, Cell]:
    """A head and how to fill the cells under it."""
    kind = author.rng.choice(["person", "given", "surname", "place", "org", "other", "other", "mail", "phone", "id"])
    if kind in ("mail", "phone", "id"):
        return {"mail": "E-Mail", "phone": "Tel", "id": "ID"}[kind], _PLAIN[kind]
    return author.rng.choice(author.frames.section(f"column.{kind}")), _NAMED.get(kind, _other)


def _person(author: Author, who: Person, draft: Draft) -> None:
    draft.add(author.reversed(who) if author.chance(0.25) else author.full(who), "PERSON")


def _given(_author: Author, who: Person, draft: Draft) -> None:
    draft.add(who.given, "PERSON")


def _surname(author: Author, who: Person, draft: Draft) -> None:
    draft.add(who.surname.upper() if author.chance(0.15) else who.surname, "PERSON")


def _place(author: Author, _who: Person, draft: Draft) -> None:
    author.slot("L", draft)


def _org(author: Author, _who: Person, draft: Draft) -> None:
    author.slot("O", draft)


def _other(author: Author, _who: Person, draft: Draft) -> None:
    author.slot(author.rng.choice(["job", "thing", "date", "eur", "n", "subject", "ward", "id", "weekday"]), draft)


def _mail(author: Author, who: Person, draft: Draft) -> None:
    draft.add(author.mailbox(who), "EMAIL")


def _phone(author: Author, _who: Person, draft: Draft) -> None:
    draft.add(author.phone(), "PHONE")


def _id(author: Author, _who: Person, draft: Draft) -> None:
    author.slot("id", draft)


_NAMED: dict[str, Cell] = {"person": _person, "given": _given, "surname": _surname, "place": _place, "org": _org}
_PLAIN: dict[str, Cell] = {"mail": _mail, "phone": _phone, "id": _id}


def table(author: Author, draft: Draft) -> None:
    """CSV, TSV, semicolons, pipes or Markdown, with a head or without."""
    rng = author.rng
    columns = [_column(author) for _ in range(rng.randint(2, 5))]
    separator = rng.choice([",", ", ", ";", "\t", " | ", "|"])
    quote = rng.choice(["", "", '"'])
    edge = ("| ", " |") if separator == " | " and author.chance(0.6) else ("", "")
    if author.chance(0.75):
        draft.add(edge[0] + separator.join(f"{quote}{head}{quote}" for head, _ in columns) + edge[1] + "\n")
        if edge[0]:
            draft.add("|" + "---|" * len(columns) + "\n")
    for number in range(rng.randint(2, 8)):
        draft.add("\n" if number else "")
        draft.add(edge[0])
        who = author.person()
        for index, (_, fill) in enumerate(columns):
            draft.add(separator if index else "")
            draft.add(quote)
            fill(author, who, draft)
            draft.add(quote)
        draft.add(edge[1])


def records(author: Author, draft: Draft) -> None:
    """JSON, YAML, XML or `key=value`, one or several records."""
    rng = author.rng
    columns = [_column(author) for _ in range(rng.randint(2, 5))]
    notation = rng.choice(["json", "json", "yaml", "xml", "pairs"])
    keys = [fold(head).replace(" ", "_") if author.chance(0.7) else head for head, _ in columns]
    count = rng.randint(1, 4)
    draft.add("[" if notation == "json" and count > 1 else "")
    for number in range(count):
        who = author.person()
        draft.add((",\n" if notation == "json" else "\n") if number else "")
        _record(notation, keys, [fill for _, fill in columns], author, who, draft)
    draft.add("]" if notation == "json" and count > 1 else "")


def _record(notation: str, keys: list[str], cells: list[Cell], author: Author, who: Person, draft: Draft) -> None:
    opening, before, between, after, closing = {
        "json": ("{", '"{}": "', ", ", '"', "}"),
        "yaml": ("- ", "{}: ", "\n  ", "", ""),
        "xml": ("<row>", "<{}>", "", "</{}>", "</row>"),
        "pairs": ("", "{}=", " ", "", ""),
    }[notation]
    draft.add(opening)
    for index, (key, fill) in enumerate(zip(keys, cells, strict=True)):
        draft.add(between if index else "")
        draft.add(before.format(key))
        fill(author, who, draft)
        draft.add(after.format(key))
    draft.add(closing)


def listing(author: Author, draft: Draft) -> None:
    """Names under one another or in one line, with or without a number, a job or a mail box."""
    rng = author.rng
    separator = rng.choice(["\n", "\n", "\n- ", ", ", "; ", " / "])
    style = rng.choice(["full", "full", "reversed", "given", "surname"])
    extra = rng.choice(["", "", "job", "TEL", "E", "L", "O", "date"])
    for number in range(rng.randint(3, 12)):
        draft.add(separator if number else separator.lstrip("\n,;/ "))
        who = author.person()
        name = {"full": author.full, "reversed": author.reversed}.get(style, lambda p: p.given)(who)
        draft.add(who.surname if style == "surname" else name, "PERSON")
        if extra:
            draft.add(rng.choice([" - ", ", ", " (", "\t", ": "]) if separator.startswith("\n") else " ")
            author.slot(extra, draft)

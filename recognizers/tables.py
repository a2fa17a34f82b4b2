"""Tables in plain text: which header each cell stands under (CSV, TSV, semicolons, pipes, Markdown).

A table begins at a line of short cells among which are words that head columns, and goes on while lines have as
many cells. It may stand anywhere in prose. One pass over the lines, linear.

May import: recognizers.labels, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recognizers.labels import ADDRESS, HEADERS, LOCATION, ORGANIZATION, POSTCODE, normalise, person_tier
from recognizers.words import word_set

_LINE = re.compile(r"[^\n\r]+")
_DELIMITERS = "|\t;,"
_RULE = re.compile(r"[\s|:+=\-]+$")
_HEADER_CELL = re.compile(r"[^\W\d_][^\n]{0,39}$")
_PERSONAL = word_set(
    "email mail courriel phone telephone tel mobile dob naissance ddn age sex sexe gender ssn mrn "
    "ipp nir nss salary salaire surname telefon telefono handy cellulare movil geburtsdatum geschlecht gehalt "
    "correo edad sexo dni nif salario sesso stipendio importe importo betrag"
) | {"e mail", "date of birth", "birth date", "date de naissance", "first name", "last name"}
_INSERT = re.compile(
    r"(?i)\bINSERT\s{1,4}INTO\s{1,4}[\w.`\"\[\]]{1,80}\s{0,4}\(([^()]{1,2000})\)\s{0,8}VALUES\s{0,8}(?=\()"
)
_TUPLE = re.compile(r"\G?\s{0,8}\(((?:'(?:[^'\n]|'')*'|[^()'])*)\)[,;]?".replace(r"\G?", ""))
_SQL_VALUE = re.compile(r"'((?:[^'\n]|'')*)'|([^\s,'][^,']*)")
_MAX_INSERT = 100_000
_MAX_LINE = 20_000
_MAX_CELLS = 200


class Cell(NamedTuple):
    start: int
    end: int


class TableField(NamedTuple):
    label: str
    start: int
    end: int


def table_fields(text: str) -> Iterator[TableField]:
    """Every non-empty cell of every table in `text`, with the normalised header of its column."""
    header: list[str] = []
    delimiter = ""
    misses = last = 0
    for match in _LINE.finditer(text):
        start, end = match.span()
        if end - start > _MAX_LINE:
            header = []
            continue
        if text.count("\n", last, start) > 1:
            header = []
        last = end
        if header:
            if _RULE.match(text, start, end):
                continue
            cells = split(text, start, end, delimiter)
            if len(cells) == len(header):
                yield from _row(text, header, cells)
                continue
            misses += 1
            if misses < 2 and len(cells) > 1:
                continue
            header = []
        found = _header(text, start, end)
        if found:
            delimiter, header = found
            misses = 0


def sql_fields(text: str) -> Iterator[TableField]:
    """Values of `INSERT INTO t (columns) VALUES (...), (...)` with the name of their column."""
    for match in _INSERT.finditer(text):
        header = [normalise(label) for label in match.group(1).split(",")]
        for row in _TUPLE.finditer(text, match.end(), min(len(text), match.end() + _MAX_INSERT)):
            cells = [
                Cell(*cell.span(1 if cell.group(1) is not None else 2))
                for cell in _SQL_VALUE.finditer(text, *row.span(1))
            ]
            if len(cells) != len(header):
                break
            yield from _row(text, _together(header), cells)


def _row(text: str, header: Sequence[str], cells: Sequence[Cell]) -> Iterator[TableField]:
    for label, cell in zip(header, cells, strict=True):
        if label and cell.start < cell.end:
            yield TableField(label, cell.start, cell.end)


def _header(text: str, start: int, end: int) -> tuple[str, list[str]] | None:
    for delimiter in _DELIMITERS:
        if text.find(delimiter, start, end) < 0:
            continue
        cells = split(text, start, end, delimiter)
        if 2 <= len(cells) <= _MAX_CELLS:
            texts = [text[cell.start : cell.end] for cell in cells]
            labels = [normalise(part) for part in texts]
            known = sum(is_header(label) for label in labels)
            shaped = all(not part or _HEADER_CELL.match(part) for part in texts)
            if shaped and known >= 2 and known * 3 >= len(cells):
                return delimiter, _together(labels)
    return None


def _together(labels: Sequence[str]) -> list[str]:
    """Column heads that mean a person only beside one another: `first, last`, `nom, prenom`, `name, phone`."""
    all_of = frozenset(labels)
    clearer: dict[str, str] = {}
    if {"first", "last"} <= all_of:
        clearer.update({"first": "first name", "last": "last name"})
    if all_of & {"prenom", "prenoms"}:
        clearer["nom"] = "nom de famille"
    if all_of & {"vorname", "vornamen"}:
        clearer["name"] = "nachname"
    if all_of & _PERSONAL:
        clearer.update({"name": "full name", "nom": "nom de famille"})
    return [clearer.get(label, label) for label in labels]


def is_header(label: str) -> bool:
    """True if a normalised label is a usual column head."""
    return (
        label in HEADERS
        or label in ORGANIZATION
        or label in LOCATION
        or label in POSTCODE
        or label in ADDRESS
        or person_tier(label) is not None
    )


def split(text: str, start: int, end: int, delimiter: str) -> list[Cell]:
    """The cells of one line, without surrounding space and quotes; a quoted cell may hold the delimiter."""
    if delimiter == "|":
        start, end = _inside_pipes(text, start, end)
    cells: list[Cell] = []
    at = start
    while at <= end and len(cells) <= _MAX_CELLS:
        stop = _cell_end(text, at, end, delimiter)
        cells.append(_strip(text, at, stop))
        at = stop + 1
    return cells


def _cell_end(text: str, at: int, end: int, delimiter: str) -> int:
    first = at
    while first < end and text[first] == " ":
        first += 1
    if first < end and text[first] == '"':
        close = text.find('"', first + 1, end)
        if close >= 0:
            after = text.find(delimiter, close + 1, end)
            return after if after >= 0 else end
    stop = text.find(delimiter, at, end)
    return stop if stop >= 0 else end


def _inside_pipes(text: str, start: int, end: int) -> tuple[int, int]:
    cell = _strip(text, start, end)
    start, end = cell
    if text[start : start + 1] == "|":
        start += 1
    if end > start and text[end - 1] == "|":
        end -= 1
    return start, end


def _strip(text: str, start: int, end: int) -> Cell:
    while start < end and text[start] in " \t\"'*_`\u00a0":
        start += 1
    while end > start and text[end - 1] in " \t\"'*_`\u00a0":
        end -= 1
    return Cell(start, end)

"""What was decided about every field, type and event of the SDKs: `decisions.yaml`, read and written.

It says for every record of the SDKs' types which fields are read, fixed, restored and so on, for every record of a
union whether it is taken, and for every event whether the stream knows it.
"""

from __future__ import annotations

from pathlib import Path

from ruamel.yaml import YAML

DECISIONS = Path(__file__).with_name("decisions.yaml")
SECTIONS = ("request", "types", "answer", "events", "stream")
Section = dict[str, dict[str, list[str]]]
Table = dict[str, dict[str, Section]]
WIDTH = 118


def decided() -> Table:
    """What `decisions.yaml` says."""
    loaded = YAML(typ="safe").load(DECISIONS.read_text(encoding="utf-8")) or {}
    out: Table = {}
    for api, sections in loaded.items():
        out[api] = {
            section: {
                str(record): {told: [""]}
                if isinstance(told, str)
                else {kind: list(names) for kind, names in told.items()}
                for record, told in rows.items()
            }
            for section, rows in sections.items()
        }
    return out


def flat(table: Table) -> dict[tuple[str, str, str, str], str]:
    """(API, section, record, field) -> class."""
    return {
        (api, section, record, field): made
        for api, sections in table.items()
        for section, records in sections.items()
        for record, classes in records.items()
        for made, fields in classes.items()
        for field in fields
    }


HEAD = """\
# What is done with every field, type and event that the installed SDKs know; see docs/fields.md for the words.
# A test compares this with the code. After an update of an SDK: python -m tests.surface, then decide.
"""


def written(table: Table) -> str:
    """A table as `decisions.yaml` has it."""
    lines = [HEAD]
    for api, sections in table.items():
        lines.append(f"{api}:")
        for section, records in sections.items():
            lines.append(f"  {section}:")
            for record, classes in records.items():
                lines += _record(record, classes)
    return "\n".join(lines) + "\n"


def _record(record: str, classes: dict[str, list[str]]) -> list[str]:
    if all(fields == [""] for fields in classes.values()):
        return [f"    {record}: {_quoted(' | '.join(classes))}"]
    lines = [f"    {record}:"]
    for made, fields in classes.items():
        lines += _wrapped(f"      {_quoted(made)}: [", [_quoted(field) for field in fields])
    return lines


def _wrapped(head: str, words: list[str]) -> list[str]:
    lines, line = [], head
    for at, word in enumerate(words):
        piece = word + ("]" if at == len(words) - 1 else ",")
        if len(line) + len(piece) > WIDTH:
            lines.append(line.rstrip())
            line = "        "
        line += piece + ("" if piece.endswith("]") and at == len(words) - 1 else " ")
    return [*lines, line]


def _quoted(word: str) -> str:
    return word if word.replace("_", "").replace(".", "").replace(" ", "").isalnum() else f'"{word}"'

"""`python -m training.generate --names FOLDER --language de --count 1000 > de.jsonl`.

May import: its neighbours in this package, typer, the standard library.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from training.generate.documents import Document, document


def as_record(made: Document, number: int) -> dict[str, object]:
    """The document in the form of the corpora: one object a line."""
    return {
        "id": f"generated_{made.language}-{number:06d}",
        "lang": made.language,
        "text": made.text,
        "spans": [{"start": start, "end": end, "type": kind} for start, end, kind in made.spans],
        "source": "generated",
        "kind": made.kind,
    }


def main(
    names: Annotated[Path, typer.Option(help="Folder of the name lists.")],
    language: Annotated[str, typer.Option(help="de, en, es, fr or it.")],
    count: Annotated[int, typer.Option(help="How many documents.")] = 1000,
    first: Annotated[int, typer.Option(help="Number of the first document: its seed.")] = 0,
) -> None:
    """Writes generated documents with their spans, one JSON object a line."""
    for number in range(first, first + count):
        sys.stdout.write(json.dumps(as_record(document(names, language, number), number), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    typer.run(main)

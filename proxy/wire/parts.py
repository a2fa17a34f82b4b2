"""What a message may consist of: a string, or a list of typed parts.

May import: model, walk, the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.model import JSON
from proxy.wire.walk import Reader, Table, Walk, fields, identifier, text, unknown_type, wrong_type


def content(texts: Mapping[str, Table], parts: Table) -> Reader:
    """A string, or parts. Text parts that follow one another are one run: a value may be split over them.

    `texts` are the types of part that hold `text`, with their other fields; `parts` reads the remaining types. A
    bare string in the list is a text part, as some dialects have it.
    """

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None or isinstance(node, str):
            return text(walk, node, path, label)
        if not isinstance(node, list):
            raise wrong_type(path, "a string or a list of parts")
        out: list[JSON] = []
        run: int | None = None
        for at, part in enumerate(node):
            run = (walk.new_run() if run is None else run) if _is_text(part, texts) else None
            out.append(_part(walk, part, f"{path}[{at}]", run))
        return out

    def _part(walk: Walk, part: JSON, path: str, run: int | None) -> JSON:
        if isinstance(part, str):
            return walk.text(part, path, run=run)
        if not isinstance(part, dict):
            raise wrong_type(path, "a part with a type")
        kind = part.get("type")
        if not isinstance(kind, str):
            raise unknown_type(path, "a content part")
        if kind in texts:
            reader: Reader | None = fields({"type": identifier, "text": _running(run), **texts[kind]})
        else:
            reader = parts.get(kind)
        if reader is None:
            raise unknown_type(path, "a content part")
        return reader(walk, part, path, "")

    return read


def _is_text(part: JSON, texts: Mapping[str, Table]) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and str(part.get("type")) in texts)


def _running(run: int | None) -> Reader:
    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if not isinstance(node, str):
            raise wrong_type(path, "a string")
        return walk.text(node, path, label, run)

    return read

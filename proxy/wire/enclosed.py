"""Files enclosed in a request (`file`, `input_file`, Anthropic's `document` in base64), and the text in their place.

With the text in its place, an attachment is a part like any other: measured, inspected, replaced. Its name, which the
text part cannot carry, becomes a text part of its own before it. Nothing is decided here about files elsewhere: what
this does not find, the walk refuses. May import: model, errors, the standard library.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON

_HOLDERS = frozenset(("messages", "input", "content", "output"))
_DATA_URL = re.compile(r"data:[^,;]{0,127}(?:;[^,;]{1,127}){0,4};base64,", re.I)
_CHARSET = re.compile(r";\s?charset=\"?(?!utf-?8|us-ascii|ascii)", re.I)
_SPACE = re.compile(r"[\r\n]+")
_MOST = 100
"""Files in one request."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """One file: its place in the request, what it is called, and its bytes."""

    path: str
    name: str = field(repr=False)
    data: bytes = field(repr=False)


def enclosed(body: JSON) -> list[Enclosed]:
    """Every file of a body, in document order. Raises `UnsupportedByPolicy` for one that is not base64."""
    found = list(_files(body, "$"))
    if len(found) > _MOST:
        raise UnsupportedByPolicy(f"A request may hold {_MOST} files.", param=found[_MOST].path)
    return found


def with_texts(body: JSON, texts: Mapping[str, str]) -> JSON:
    """The body with the text (by path) in the place of each file. The body itself stays as it is."""
    return _with_texts(body, "$", texts) if texts else body


def _files(node: JSON, path: str) -> Iterator[Enclosed]:
    if isinstance(node, list):
        for at, value in enumerate(node):
            place = f"{path}[{at}]"
            file = _file(value, place) if isinstance(value, dict) else None
            if file is not None:
                yield file
            else:
                yield from _files(value, place)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _HOLDERS or (key == "source" and node.get("type") == "document"):
                yield from _files(value, f"{path}.{key}")


def _file(part: Mapping[str, JSON], path: str) -> Enclosed | None:
    match part:
        case {"type": "file", "file": {"file_data": str(data), **more}}:
            name = more.pop("filename", None)
            plain = not more and set(part) <= {"type", "file", "cache_control"}
        case {"type": "input_file", "file_data": str(data), **more}:
            name = more.pop("filename", None)
            plain = set(more) <= {"detail"}
        case {"type": "document", "source": {"type": "base64", "data": str(data), **more}}:
            name, plain = None, set(more) <= {"media_type"}
        case _:
            return None
    if not plain or not (name is None or isinstance(name, str)):
        return None
    return Enclosed(path, name or "", _decoded(data, path))


def _decoded(data: str, path: str) -> bytes:
    """Bytes in base64, with or without a `data:` URL around them."""
    url = _DATA_URL.match(data)
    if url is not None and _CHARSET.search(url[0]):
        raise UnsupportedByPolicy(f"{path} is a file in another charset than UTF-8.", param=path)
    written = _SPACE.sub("", data[url.end() :] if url is not None else data)
    try:
        return base64.b64decode(written, altchars=b"-_" if "-" in written or "_" in written else None, validate=True)
    except (binascii.Error, ValueError):
        raise UnsupportedByPolicy(f"{path} is not a file in base64.", param=path) from None


def _with_texts(node: JSON, path: str, texts: Mapping[str, str]) -> JSON:
    if isinstance(node, list):
        out: list[JSON] = []
        for at, value in enumerate(node):
            place = f"{path}[{at}]"
            text = texts.get(place)
            if text is not None and isinstance(value, dict):
                out += _parts(value, text)
            else:
                out.append(_with_texts(value, place, texts))
        return out
    if isinstance(node, dict):
        return {
            key: _with_texts(value, f"{path}.{key}", texts) if key in (*_HOLDERS, "source") else value
            for key, value in node.items()
        }
    return node


def _parts(part: Mapping[str, JSON], text: str) -> list[JSON]:
    """What stands in the place of a file."""
    if part["type"] == "document":
        return [{**part, "source": {"type": "text", "media_type": "text/plain", "data": text}}]
    kind = "text" if part["type"] == "file" else "input_text"
    file = part["file"] if part["type"] == "file" else part
    name = file.get("filename") if isinstance(file, dict) else None
    named: list[JSON] = [{"type": kind, "text": f"{name}:\n"}] if name else []
    return [*named, {"type": kind, "text": text}]

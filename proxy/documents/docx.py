"""The text of a DOCX: body, tables, text boxes, headers, footers, notes and comments, tracked changes included.

Everything that Word keeps as paragraphs is read, part after part of the package (ECMA-376, part 1, 11.3). Objects of
other programs, and chunks in other formats, refuse the document. May import: docx (python-docx), documents.faults, the
standard library.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from docx import Document
from docx.oxml import parse_xml

from proxy.documents.faults import UnreadableDocument

MOST_BYTES = 128 << 20
"""Bytes that all parts together may unpack to."""
MOST_PARTS = 4096

_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_READ = re.compile(
    r"/word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes|comments|glossary/document)\.xml\Z", re.I
)
_NOT_READ = re.compile(r"/word/(?:embeddings|activeX|afchunk|charts|diagrams/data|ink|media/.*\.(?:emf|wmf|svg))", re.I)
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TEXTS = frozenset((f"{_WORD}t", f"{_WORD}delText", f"{_MATH}t"))
_BREAKS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_FOREIGN = frozenset((f"{_WORD}altChunk", f"{_WORD}object", f"{_WORD}subDoc"))
_STOPS = f"{_WORD}tabs"
_ENDS = {f"{_WORD}p": "\n", f"{_WORD}tc": "\t"}


def read_docx(data: bytes) -> str:
    """Paragraphs, one a line, cells of a row with tabs between them. Raises `UnreadableDocument`, and what python-docx
    raises on a broken file."""
    _check_size(data)
    package = Document(io.BytesIO(data)).part.package
    if package is None or package.main_document_part.content_type != _MAIN:
        raise UnreadableDocument("it is an Office document of another kind")
    names = [str(part.partname) for part in package.iter_parts()]
    if any(_NOT_READ.match(name) for name in names):
        raise UnreadableDocument("something of another program is inside it")
    parts = sorted((str(part.partname), part.blob) for part in package.iter_parts() if _READ.match(str(part.partname)))
    parts.sort(key=lambda part: "document" not in part[0])
    text = "\n".join(_of_part(blob) for _, blob in parts).strip("\n")
    if not text.strip():
        raise UnreadableDocument("it has no text")
    return text


def _check_size(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            entries = package.infolist()
    except zipfile.BadZipFile:
        raise UnreadableDocument("it is no document that can be opened") from None
    if len(entries) > MOST_PARTS or sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise UnreadableDocument("it unpacks to more than is allowed")
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableDocument("it is encrypted")


def _of_part(blob: bytes) -> str:
    lines = "".join(_walk(parse_xml(blob))).split("\n")
    return "\n".join(line.rstrip("\t") for line in lines)


def _walk(root: Any) -> Iterator[str]:
    """The text of an element and those inside it, in order. Without recursion: depth is the file's choice."""
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        element, done = waiting.pop()
        tag = element.tag
        if done:
            yield _ENDS.get(tag, "")
            continue
        if tag in _FOREIGN:
            raise UnreadableDocument("something of another program is inside it")
        if tag == _FALLBACK or not isinstance(tag, str):
            continue
        if tag in _TEXTS:
            yield element.text or ""
        yield "" if element.getparent() is not None and element.getparent().tag == _STOPS else _BREAKS.get(tag, "")
        if tag in _ENDS:
            waiting.append((element, True))
        waiting += ((child, False) for child in reversed(element))

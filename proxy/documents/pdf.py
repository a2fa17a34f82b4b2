"""The text layer of a PDF, page by page, with what was filled into its forms and written into its notes.

May import: pypdf, documents.faults, the standard library.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from pypdf import PageObject, PdfReader

from proxy.documents.faults import UnreadableDocument

MOST_PAGES = 2000

_CID = re.compile(r"\(cid:\d+\)|/g\d{1,4}\b.*/g\d{1,4}\b")


def read_pdf(data: bytes) -> str:
    """Pages with a form feed between them. Raises `UnreadableDocument`, and what pypdf raises on a broken file."""
    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted:
        raise UnreadableDocument("it is encrypted")
    if len(reader.pages) > MOST_PAGES:
        raise UnreadableDocument(f"it has more than {MOST_PAGES} pages")
    if _names(reader.trailer, "/Root", "/Names", "/EmbeddedFiles") or _names(reader.trailer, "/Root", "/Collection"):
        raise UnreadableDocument("other files are inside it")
    if _names(reader.trailer, "/Root", "/AcroForm", "/XFA"):
        raise UnreadableDocument("its form is of a kind that is not read")
    pages = [_page(page) for page in reader.pages]
    fields = "\n".join(f"{name}: {value}" for name, value in _fields(reader))
    text = "\f".join(pages) + (f"\f{fields}" if fields else "")
    if not text.strip():
        raise UnreadableDocument("it has no text")
    return text


def _page(page: PageObject) -> str:
    text = page.extract_text()
    _check(text)
    notes = "\n".join(_notes(page))
    if not text.strip() and not notes and _shows_something(page):
        raise UnreadableDocument("a page has no text layer")
    return f"{text}\n{notes}" if notes else text


def _check(text: str) -> None:
    """Characters that stand for a glyph without a meaning: the text is not all of the text."""
    if _CID.search(text) or any(char == "\ufffd" or unicodedata.category(char) in ("Co", "Cn", "Cs") for char in text):
        raise UnreadableDocument("a font in it does not say which characters it draws")
    if any(unicodedata.category(char) == "Cc" and char not in "\n\r\t\f" for char in text):
        raise UnreadableDocument("a font in it does not say which characters it draws")


def _shows_something(page: PageObject) -> bool:
    contents = page.get_contents()
    return contents is not None and bool(contents.get_data().strip())


def _notes(page: PageObject) -> Iterator[str]:
    for reference in page.get("/Annots") or ():
        note = reference.get_object()
        for key in ("/Contents", "/T", "/TU"):
            if isinstance(note.get(key), str) and note.get("/Subtype") != "/Widget":
                yield str(note[key])
        address = (note.get("/A") or {}).get("/URI") if note.get("/Subtype") == "/Link" else None
        if isinstance(address, str):
            yield address


def _fields(reader: PdfReader) -> Iterator[tuple[str, str]]:
    for name, field in (reader.get_fields() or {}).items():
        value = field.get("/V")
        if isinstance(value, str) and value:
            yield name, value
        elif isinstance(value, list):
            yield name, ", ".join(map(str, value))


def _names(node: Any, *keys: str) -> bool:
    """Whether there is something at the end of these keys."""
    for key in keys:
        node = node.get(key) if hasattr(node, "get") else None
        node = node.get_object() if hasattr(node, "get_object") else node
        if node is None:
            return False
    return bool(node)

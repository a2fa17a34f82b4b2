"""The text of documents: PDF, DOCX and plain files as one text, or the reason why there is none.

Read is all the text or nothing: a page that is only a picture, a font without characters, an object of another
program refuse the document. What is no text beside text (a logo, a layout) is left out, since only the text goes on.
`read` takes bytes of strangers: call it in a process that can be killed (`extract`).

May import: its own modules, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from proxy.documents.docx import read_docx
from proxy.documents.faults import UnreadableDocument
from proxy.documents.kinds import DOCX, PDF, PLAIN, kind_of
from proxy.documents.pdf import read_pdf
from proxy.documents.plain import read_plain

__all__ = ["PLAIN", "UnreadableDocument", "kind_of", "read"]

MOST_CHARACTERS = 16 << 20
"""Code points of text that one document may give."""

_READERS: Mapping[str, Callable[[bytes], str]] = MappingProxyType({PDF: read_pdf, DOCX: read_docx, PLAIN: read_plain})


def read(kind: str, data: bytes) -> str:
    """The text of a document of a kind that `kind_of` told. Raises `UnreadableDocument`, and nothing else of its own;
    what a library raises on broken files is the caller's to expect."""
    text = _READERS[kind](data)
    if len(text) > MOST_CHARACTERS:
        raise UnreadableDocument("it has too much text")
    return text

"""What kind of document bytes are: by how they begin, never by what a name or a media type says of them.

May import: documents.faults, the standard library.
"""

from __future__ import annotations

from proxy.documents.faults import UnreadableDocument

PDF, DOCX, PLAIN = "pdf", "docx", "plain"

_ANYWHERE_AHEAD = 1024
_BINARY = (b"\xd0\xcf\x11\xe0", b"%!PS", b"\x1f\x8b", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x7fELF", b"MZ")
_WITH_ESCAPES = (b"{\\rtf",)


def kind_of(data: bytes) -> str:
    """`PDF`, `DOCX` or `PLAIN`. Raises `UnreadableDocument` for what is known to be none of them."""
    # ISO 32000-1, annex H: readers accept the header within the first 1,024 bytes.
    if b"%PDF-" in data[:_ANYWHERE_AHEAD]:
        return PDF
    if data.startswith(b"PK"):
        return DOCX
    if data.startswith((*_BINARY, *_WITH_ESCAPES)):
        raise UnreadableDocument("it is of a kind that is not read")
    return PLAIN

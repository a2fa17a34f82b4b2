"""Files that are text as they are: plain text, CSV, JSON, Markdown, HTML, XML, source code.

They are read as they are written, tags and all: what goes on is the same text. May import: documents.faults, the
standard library.
"""

from __future__ import annotations

import re

from proxy.documents.faults import UnreadableDocument

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffe\uffff]")
_TRANSFER_ENCODED = re.compile(r"^content-transfer-encoding:\s*quoted-printable", re.I | re.M)


def read_plain(data: bytes) -> str:
    """The text in UTF-8, without a byte order mark. Raises `UnreadableDocument`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableDocument("it is neither a PDF, a DOCX nor text in UTF-8") from None
    if _CONTROLS.search(text):
        raise UnreadableDocument("it holds characters that no text has")
    if _TRANSFER_ENCODED.search(text):
        raise UnreadableDocument("parts of it are quoted-printable")
    return text

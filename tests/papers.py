"""Documents made for tests: a PDF written object by object, a DOCX written by python-docx."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from docx import Document
from docx.oxml import parse_xml

_PLAIN = "<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(pages: Sequence[str | bytes], *more: bytes, root: bytes = b"") -> bytes:
    """A PDF with a page for each text (Latin-1, lines at line breaks) or content stream; `more` are further objects,
    numbered from 100 on; `root` is put into the catalogue."""
    kids = b" ".join(b"%d 0 R" % (10 + 2 * at) for at in range(len(pages)))
    objects: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R %s>>" % root,
        2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    }
    for at, page in enumerate(pages):
        content = page if isinstance(page, bytes) else drawn(page)
        objects[10 + 2 * at] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (11 + 2 * at)
        )
        objects[11 + 2 * at] = b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)
    objects.update(enumerate(more, 100))
    return _file(objects)


def drawn(text: str) -> bytes:
    """The content stream of a page."""
    lines = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in text.split("\n")]
    shown = " T* ".join(f"({line}) Tj" for line in lines)
    return f"BT /F1 12 Tf 14 TL 50 750 Td {shown} ET".encode("latin-1")


def _file(objects: dict[int, bytes]) -> bytes:
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places: dict[int, int] = {}
    for number, content in objects.items():
        places[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start, size = out.tell(), max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        used = number in places
        out.write(b"%010d 00000 n \n" % places[number] if used else b"0000000000 65535 f \n")
    out.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start))
    return out.getvalue()


def docx(*paragraphs: str, **places: str) -> bytes:
    """A DOCX. `places`: `header`, `footer`, `cell`, `comment`, `box`, `inserted`, `deleted` with a text for each, or
    `raw` with XML for the end of the body."""
    document: Any = Document()
    for text in paragraphs:
        document.add_paragraph(text)
    section = document.sections[0]
    if "header" in places:
        section.header.paragraphs[0].text = places["header"]
    if "footer" in places:
        section.footer.paragraphs[0].text = places["footer"]
    if "cell" in places:
        document.add_table(1, 2).cell(0, 1).text = places["cell"]
    if "comment" in places:
        document.add_comment(document.add_paragraph("see").runs, text=places["comment"], author="A", initials="A")
    for name, xml in (
        ("box", f"<w:p {{ns}}><w:r><w:pict><w:txbxContent>{_PLAIN}</w:txbxContent></w:pict></w:r></w:p>"),
        ("inserted", '<w:p {ns}><w:ins w:id="1" w:author="A"><w:r><w:t>{text}</w:t></w:r></w:ins></w:p>'),
        ("deleted", '<w:p {ns}><w:del w:id="2" w:author="A"><w:r><w:delText>{text}</w:delText></w:r></w:del></w:p>'),
        ("raw", "{text}"),
    ):  # fmt: skip
        if name in places:
            element = parse_xml(xml.format(ns=f'xmlns:w="{WORD}"', text=places[name]))
            document.element.body.insert(0, element)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()

"""Texts of documents, and which documents are refused."""

from __future__ import annotations

import asyncio
import io
import os
import time
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from proxy import extract
from proxy.documents import UnreadableDocument, kind_of, read
from proxy.extract import Extractor
from tests.papers import WORD, docx, pdf

NAME = "Zoë Müller"


def text_of(data: bytes) -> str:
    return read(kind_of(data), data)


def test_the_text_of_a_pdf_page_by_page() -> None:
    assert text_of(pdf([f"Dear {NAME}, (yes)\nhello", "Page two"])) == f"Dear {NAME}, (yes)\nhello\fPage two"
    assert text_of(pdf(["one", b"", "three"])).split("\f") == ["one", "", "three"]
    assert text_of(b"\n\n" + pdf(["late"])) == "late"


def test_forms_notes_and_links_of_a_pdf_are_read() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["A form"]))))
    note = b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(see Mira Tallow)>>"
    link = b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(mailto:mira@x.example)>>>>"
    field = b"<</FT/Tx/T(who)/V(Hugo Tallow)/Type/Annot/Subtype/Widget/Rect[0 0 9 9]>>"
    data = pdf(["A form"], field, root=b"/AcroForm<</Fields[100 0 R]>>")
    assert text_of(data) == "A form\fwho: Hugo Tallow"
    data = pdf(["Notes"], note, link).replace(b"/Contents 11 0 R>>", b"/Contents 11 0 R/Annots[100 0 R 101 0 R]>>")
    assert text_of(data) == "Notes\nsee Mira Tallow\nmailto:mira@x.example"
    assert len(writer.pages) == 1


def encrypted() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["secret"]))))
    writer.encrypt("", "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"\0" * (200 << 20))
    return out.getvalue()


def package(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in parts.items():
            made.writestr(name.replace("__", "/") + ".xml", text)
    return out.getvalue()


OBJECT = f'<w:p xmlns:w="{WORD}"><w:r><w:object/></w:r></w:p>'
UNREADABLE: dict[str, tuple[Any, str]] = {
    "encrypted": (encrypted, "encrypted"),
    "a page that is only drawn": (lambda: pdf(["text", b"0 0 9 9 re f"]), "no text layer"),
    "nothing on it": (lambda: pdf([b""]), "no text"),
    "a font without characters": (lambda: pdf([b"BT /F1 12 Tf (\\001\\002) Tj ET"]), "characters"),
    "files inside": (lambda: pdf(["x"], root=b"/Names<</EmbeddedFiles<</Names[(a) 3 0 R]>>>>"), "other files"),
    "an XFA form": (lambda: pdf(["x"], b"(x)", root=b"/AcroForm<</XFA 100 0 R/Fields[]>>"), "form"),
    "too many pages": (lambda: pdf([b""] * 2001), "pages"),
    "a zip bomb": (bomb, "unpacks"),
    "a zip that is no document": (lambda: package(a="<a/>"), ""),
    "half a zip": (lambda: docx("x")[:500], "opened"),
    "an object": (lambda: docx("x", raw=OBJECT), "another program"),
    "an empty DOCX": (lambda: docx(), "no text"),
    "an image": (lambda: b"\x89PNG\r\n\x1a\n", "kind"),
    "RTF": (lambda: b"{\\rtf1 Zo\\'eb}", "kind"),
    "an old Word file": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "kind"),
    "Latin-1": (lambda: NAME.encode("latin-1"), "UTF-8"),
    "UTF-16": (lambda: NAME.encode("utf-16"), "UTF-8"),
    "controls": (lambda: b"a\0b", "characters"),
    "a mail": (lambda: b"Content-Transfer-Encoding: quoted-printable\n\nzoe=40x", "quoted-printable"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_whole_is_refused(name: str) -> None:
    made, why = UNREADABLE[name]
    data = made()
    said, reason = extract._read(kind, data) if (kind := _kind(data)) else (False, "kind or UTF-8")
    assert not said
    assert why in reason


def _kind(data: bytes) -> str:
    try:
        return kind_of(data)
    except UnreadableDocument:
        return ""


def test_everything_that_a_docx_says() -> None:
    places = {
        place: f"{place} text"
        for place in ("header", "footer", "cell", "comment", "box", "inserted", "deleted")
    }  # fmt: skip
    text = text_of(docx(f"Dear {NAME},", "tab\tand\nbreak", **places))
    assert f"Dear {NAME},\n" in text
    assert "tab\tand\nbreak" in text
    assert [said for said in places.values() if said not in text] == []


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")))
def test_plain_text_is_taken_as_it_is(text: str) -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        data = mark + b"\n" + text.encode()
        if kind_of(data) == "plain":
            assert text_of(data) == "\n" + text


async def told(data: bytes, **how: Any) -> str:
    extractor = Extractor(workers=1, **how)
    try:
        return await extractor.text(data)
    finally:
        await extractor.stop()


def test_documents_are_read_in_a_process_of_their_own() -> None:
    async def several() -> list[Any]:
        extractor = Extractor(workers=1)
        try:
            files = [pdf(["one"]), docx("two"), encrypted(), b"three", b"%PDF-1.4 broken", pdf(["four"])]
            return await asyncio.gather(*map(extractor.text, files), return_exceptions=True)
        finally:
            await extractor.stop()

    one, two, refused, three, broken, four = asyncio.run(several())
    assert [one, two, three, four] == ["one", "two", "three", "four"]
    assert isinstance(refused, UnreadableDocument)
    assert isinstance(broken, UnreadableDocument)
    assert broken.reason == "it is damaged"


@pytest.mark.parametrize(("trouble", "why"), [("slow", "too long"), ("dead", "damaged"), ("big", "damaged")])
def test_a_worker_that_hangs_dies_or_grows_refuses_its_document(
    trouble: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "_read", {"slow": _hangs, "dead": _dies, "big": _grows}[trouble])
    began = time.monotonic()
    with pytest.raises(UnreadableDocument, match=why):
        asyncio.run(told(pdf(["x"]), seconds=3.0 if trouble == "slow" else 60.0))
    assert time.monotonic() - began < 100


def _hangs(kind: str, data: bytes) -> tuple[bool, str]:
    while True:
        time.sleep(1)


def _dies(kind: str, data: bytes) -> tuple[bool, str]:
    os._exit(9)


def _grows(kind: str, data: bytes) -> tuple[bool, str]:
    held = []
    while True:
        held.append(bytearray(1 << 28))

"""Uploads: `multipart/form-data` read strictly, and written anew. Sans-I/O.

Each field once, one file, nothing nested: what two readers could take apart differently is refused, and what goes on is
a form of our own. RFC 7578. May import: errors, python_multipart, the standard library.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from proxy.errors import BadRequest

_MOST_PARTS = 16
_MOST_HEADERS = 4096


@dataclass(frozen=True, slots=True)
class Form:
    """Fields by name, and the content of the part called `file`."""

    fields: Mapping[str, str] = field(repr=False)
    file: bytes = field(repr=False)


class _Reader:
    """Collects the parts that the parser reports."""

    def __init__(self) -> None:
        self.parts: list[tuple[dict[str, bytes], bytearray]] = []
        self.ended = False
        self._name = bytearray()
        self._value = bytearray()
        self._size = 0

    def on_part_begin(self) -> None:
        if len(self.parts) == _MOST_PARTS:
            raise MultipartParseError("")
        self.parts.append(({}, bytearray()))

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.parts[-1][1].extend(data[start:end])

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._grown(end - start)
        self._name += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._grown(end - start)
        self._value += data[start:end]

    def on_header_end(self) -> None:
        name = self._name.decode("latin-1").lower()
        if name in self.parts[-1][0]:
            raise MultipartParseError("")
        self.parts[-1][0][name] = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def on_end(self) -> None:
        self.ended = True

    def _grown(self, size: int) -> None:
        self._size += size
        if self._size > _MOST_HEADERS:
            raise MultipartParseError("")


def read_form(content_type: str, body: bytes) -> Form:
    """The form in a body. Raises `BadRequest`; no message holds a value."""
    reader = _Reader()
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise BadRequest("The content-type must be multipart/form-data with a boundary.")
    names = ("part_begin", "part_data", "header_field", "header_value", "header_end", "end")
    callbacks = {f"on_{name}": getattr(reader, f"on_{name}") for name in names}
    try:
        parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]
        parser.write(body)
        parser.finalize()
    except (MultipartParseError, ValueError):
        raise BadRequest("The body is not a form that can be read.") from None
    if not reader.ended:
        raise BadRequest("The body is not a form that can be read.")
    return _form(reader)


def _form(reader: _Reader) -> Form:
    fields: dict[str, str] = {}
    files: list[bytes] = []
    for headers, data in reader.parts:
        disposition, options = parse_options_header(headers.get("content-disposition"))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if disposition != b"form-data" or "content-transfer-encoding" in headers:
            raise BadRequest("The body is not a form that can be read.")
        if name == "file":
            files.append(bytes(data))
        elif name in fields or b"filename" in options:
            raise BadRequest("A field of the form may be sent only once, and only the file is one.")
        else:
            fields[name] = data.decode("utf-8", "replace")
    if len(files) != 1:
        raise BadRequest("The form must have one file.", param="file")
    return Form(fields, files[0])


def write_form(fields: Mapping[str, str], filename: str, file: bytes) -> tuple[str, bytes]:
    """The content type and the body of a form; names and values are ours: words, numbers and signs."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{filename}"\r\n'
    parts += [f"{head}content-type: application/jsonl\r\n\r\n".encode(), file, f"\r\n--{boundary}--\r\n".encode()]
    return f"multipart/form-data; boundary={boundary}", b"".join(parts)

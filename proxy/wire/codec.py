"""How a text was encoded, in enough detail to encode another one so: base64, base32, hexadecimal digits, escapes.

May import: the standard library.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from urllib.parse import quote

ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
"""One percent escape."""
_TO_URL = str.maketrans("+/", "-_")


@dataclass(frozen=True, slots=True)
class Codec:
    """How a stretch is encoded, in enough detail to encode another text so."""

    name: str
    charset: str = "utf-8"
    upper: bool = False
    prefix: str = ""
    between: str = ""
    url: bool = False
    padding: str = "="
    percent: bool = False
    width: int = 0
    line_break: str = ""

    def write(self, text: str) -> str:
        """`text` in this form. Raises `UnicodeEncodeError` only for what cannot be said in `charset`."""
        if self.name.endswith(" twice"):
            return text.replace("%", "%25") if self.name[0] == "p" else text.replace("&", "&amp;")
        if self.name == "percent word":
            quoted = quote(text, safe=self.prefix)
            return quoted if self.upper else ESCAPED.sub(lambda match: match[0].lower(), quoted)
        if self.name in ("html", "escapes"):
            return "".join(map(self._escape, text))
        data = text.encode(self.charset)
        if self.name == "percent":
            return "".join(f"%{byte:02X}" if self.upper else f"%{byte:02x}" for byte in data)
        if self.name == "base32":
            return self._base32(data)
        return self._hex(data) if self.name == "hex" else self._base64(data)

    def _escape(self, char: str) -> str:
        if self.name == "html":
            return f"&#{self.prefix}{ord(char):{'x' if self.prefix else 'd'}};"
        units = char.encode("utf-16-be")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

    def _hex(self, data: bytes) -> str:
        digits = data.hex(self.between) if self.between else data.hex()
        return self.prefix + (digits.upper() if self.upper else digits)

    def _base32(self, data: bytes) -> str:
        written = base64.b32encode(data).decode("ascii")
        cased = written if self.upper else written.lower()
        return self._lined(cased if self.padding else cased.rstrip("="))

    def _base64(self, data: bytes) -> str:
        bare = base64.b64encode(data).decode("ascii").rstrip("=")
        padding = self.padding * (-len(bare) % 4)
        return self._lined((bare.translate(_TO_URL) if self.url else bare) + padding)

    def _lined(self, written: str) -> str:
        if self.width:
            lines = [written[at : at + self.width] for at in range(0, len(written), self.width)]
            return self.line_break.join(map(self._quoted, lines))
        return self._quoted(written)

    def _quoted(self, written: str) -> str:
        return written.replace("+", "%2B").replace("/", "%2F") if self.percent else written

"""One conversation's two-way map between values and placeholders.

A vault is made for one request, passed by argument, and wiped when the request ends. Placeholders are derived with a
key, so the same value of the same conversation gets the same placeholder at every turn without anything being stored,
and a growing chat keeps an identical prefix (provider prompt caches go on working). Only where the provider keeps a
conversation are its entries kept too, sealed (`chain`, `store`).
Two conversations cannot be linked, and a placeholder that another vault issued is not known to this one.

The form `<TYPE_NNNNNN>` costs 6 tokens in o200k_base and cl100k_base. May import: the standard library.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

_DIGITS = 6
_MORE = 3
LOOKALIKE = re.compile(r"[A-Za-z](?:\\{0,2}_|%5F|[ \-])\s?([0-9]{9}|[0-9]{6})(?![0-9])", re.IGNORECASE)
"""Anything that a tolerant reader could take for the tail of a placeholder; group 1 is its number."""

JSON_BEGINS = re.compile(
    r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]0-9tfn\-]"
    r"|\"\s*(?:\\{1,15}\"\s*){0,3}[\[{]\s*\{?\s*\\{1,15}\")"
)
"""How JSON text begins, or a JSON string that holds some, as opposed to prose with a brace or a Markdown link."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One issued placeholder and what it stands for.

    `text` is the value as a person reads it. `written` is set when it was written differently inside JSON text
    (`Zo\\u00eb`): there it goes back exactly so. `is_number`: it replaced a JSON number, quotes were added.
    `spelled` is set when it was percent-encoded or held HTML entities, and so was its placeholder: where that comes
    back encoded, the value does so too, letter for letter (`written` is then `spelled` in JSON text).
    """

    entity: str
    number: str
    text: str = field(repr=False)
    written: str | None = field(default=None, repr=False)
    is_number: bool = False
    spelled: str | None = field(default=None, repr=False)

    @property
    def bare(self) -> str:
        return f"{self.entity}_{self.number}"

    @property
    def placeholder(self) -> str:
        if self.spelled is not None:
            return f"%3C{self.bare}%3E" if is_percent(self.spelled) else f"&lt;{self.bare}&gt;"
        return f"<{self.bare}>"


def tenant_key(secret: bytes, tenant: str) -> bytes:
    """The tenant's own secret, 32 bytes, from the service's secret."""
    return hmac.digest(secret, b"tenant\0" + tenant.encode(), hashlib.sha256)


def conversation_key(key: bytes, opening: str) -> bytes:
    """The scope key of the conversation that begins with `opening` (its first user message), 32 bytes."""
    return hmac.digest(key, b"conversation\0" + opening.encode("utf-8", "surrogatepass"), hashlib.sha256)


def normalise(text: str) -> str:
    """What makes two spellings the same value: NFKC, case, white space; grouping signs too where digits dominate."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if sum(char.isdigit() for char in folded) >= _DIGITS:
        return "".join(char for char in folded if char.isalnum() or char == "@")
    return " ".join(folded.split())


def lookalikes(texts: Iterable[str]) -> frozenset[str]:
    """Numbers that texts already hold in a form that could be read as a placeholder: never issued."""
    return frozenset(match[1] for text in texts for match in LOOKALIKE.finditer(text))


def is_percent(spelled: str) -> bool:
    """Whether a value was percent-encoded, and not in HTML."""
    return _PERCENT.search(spelled) is not None


_PERCENT = re.compile("%[0-9A-Fa-f]{2}")


def json_escaped(text: str) -> str:
    """`text` as it stands between the quotes of a JSON string, non-ASCII characters left as they are."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


_Form: TypeAlias = tuple[str, str, str | None, bool, str | None]


class Vault:
    """Issues placeholders and finds entries by number. Not shared between requests, not thread-safe, not printable."""

    __slots__ = ("_by_number", "_by_value", "_key", "encoded", "taken")

    def __init__(self, key: bytes, taken: frozenset[str] = frozenset()) -> None:
        self._key = key
        self.taken = taken
        self._by_value: dict[_Form, Entry] = {}
        self._by_number: dict[str, Entry] = {}
        self.encoded: dict[str, Entry] = {}
        """Encoded texts that were changed, as they left the house -> as they were."""

    def __repr__(self) -> str:
        return f"<Vault of {len(self)}>"

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_number.values())

    def __reduce__(self) -> str:
        raise TypeError("a vault does not leave its request")

    def issue(
        self,
        entity: str,
        text: str,
        *,
        written: str | None = None,
        is_number: bool = False,
        spelled: str | None = None,
    ) -> Entry:
        """The entry of a value, made on first sight.

        `written` is the value as it stands in JSON text, where it stood in JSON text; `spelled` as it stands where it
        was encoded. One value, one placeholder: forms that differ by bytes are told apart by three more digits, so
        that each comes back exactly as it was.
        """
        if written == json_escaped(text if spelled is None else spelled) and not is_number:
            written = None
        form = (entity, text, written, is_number, spelled)
        entry = self._by_value.get(form)
        if entry is None:
            entry = Entry(entity, self._free_number(form), text, written, is_number, spelled)
            self._by_value[form] = entry
            self._by_number[entry.number] = entry
        return entry

    def remember(self, sent: str, text: str, written: str | None) -> None:
        """What an encoded text with placeholders in it was before; `written` as in `issue`."""
        self.encoded.setdefault(sent, Entry("", sent, text, None if written == json_escaped(text) else written))

    def everything(self) -> tuple[Entry, ...]:
        """What `adopt` takes: all that was issued, and encoded texts, which have no entity and are their own number."""
        return *self._by_number.values(), *self.encoded.values()

    def adopt(self, entries: Iterable[Entry]) -> None:
        """Takes over what was issued earlier in the conversation. Raises `ValueError` if one number has two values."""
        for entry in entries:
            if not entry.entity:
                self.encoded.setdefault(entry.number, entry)
                continue
            if self._by_number.setdefault(entry.number, entry) != entry:
                raise ValueError("two values have one placeholder")
            self._by_value[entry.entity, entry.text, entry.written, entry.is_number, entry.spelled] = entry

    def find(self, number: str) -> Entry | None:
        return self._by_number.get(number)

    def wipe(self) -> None:
        """Forgets every value and the key."""
        self._by_value.clear()
        self._by_number.clear()
        self.encoded.clear()
        self._key = b""

    def _free_number(self, form: _Form) -> str:
        entity, text, written, is_number, spelled = form
        base = self._derive(_DIGITS, "value", entity, normalise(text))
        if base not in self._by_number and base not in self.taken:
            return base
        for attempt in range(10**_MORE):
            rest = [] if spelled is None else [spelled]
            more = self._derive(_MORE, "form", entity, text, written or "", str(is_number), str(attempt), *rest)
            if base + more not in self._by_number and base + more not in self.taken:
                return base + more
        raise OverflowError("no free placeholder number")  # 1,000 forms of one value, each taken

    def _derive(self, width: int, *parts: str) -> str:
        """`width` decimal digits of HMAC-SHA256(scope key, parts); the bias of the modulus is below 2**-44."""
        message = b"\0".join(part.encode("utf-8", "surrogatepass") for part in parts)
        value = int.from_bytes(hmac.digest(self._key, message, hashlib.sha256)[:8], "big")
        return f"{value % 10**width:0{width}d}"

"""Values to plant, the forms in which they are written, and a reader that undoes every form that it can think of."""

from __future__ import annotations

import base64
import binascii
import contextlib
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

SENTENCES: Mapping[str, str] = {
    "Eleanor Whitcombe": "Please write to Mrs {} about the contract.",
    "eleanor.whitcombe@example.org": "Write to {} today.",
    "+33 6 12 34 56 78": "Please call {} before noon.",
    "GB82 WEST 1234 5698 7654 32": "Her IBAN is {}, she says.",
    "4000 0052 6018 1590": "The card {} was declined.",
    "2 85 07 75 116 042 97": "Mon numéro de sécurité sociale est {}.",
    "MRN-00482913": "Medical record number: {}",
    "ghp_R7x2Kq9LmZ4tYv8WnB3cJd6HsF1gPa0QeU5i": "The token is {} for now.",
    "14 Rue de Rivoli, 75004 Paris": "She lives at {} with two cats.",
    "203.0.113.77": "The session came from {} this morning.",
}
"""Ten kinds of value, each in a sentence in which it is known to be found."""
VALUES = tuple(SENTENCES)
CARD_NUMBER = 4000005260181590
MARK = "Q7Q"
"""Stands in every planted text, so that the provider knows what to send back."""


def sentence(value: str) -> str:
    return SENTENCES[value].format(value)


def everything() -> str:
    """All values, each in its sentence."""
    return " \n".join(map(sentence, VALUES))


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def _references(text: str) -> str:
    return "".join(char if (char.isalnum() and char.isascii()) or char in " \n" else f"&#{ord(char)};" for char in text)


FORMS: Mapping[str, Callable[[str], str]] = {
    "plain": lambda text: f"{MARK} {text}",
    "json": lambda text: json.dumps({"mark": MARK, "note": [text]}, ensure_ascii=False),
    "escaped json": lambda text: f'{{"mark": "{MARK}", "note": ["{_escaped(text)}"]}}',
    "percent": lambda text: f"https://example.net/{MARK}?q={quote(text, safe='')}",
    "html": lambda text: f"<p>{MARK} {_references(text)}</p>",
    "base64": lambda text: f"{MARK} {base64.b64encode(text.encode()).decode()}",
}
BASE64_IS_READ = True
"""Whether what stands in base64 inside a text is found. Until then it is a documented limit, and not tried here."""
TRIED = tuple(form for form in FORMS if BASE64_IS_READ or form != "base64")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_DEEPEST = 4


def readings(node: Any, depth: int = 0) -> Iterator[str]:
    """Everything that can be read in a JSON tree: keys, strings, numbers, and what they decode to."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _text(key, depth)
            yield from readings(value, depth)
    elif isinstance(node, list):
        for value in node:
            yield from readings(value, depth)
    elif isinstance(node, str):
        yield from _text(node, depth)
    elif node is not None and not isinstance(node, bool):
        yield repr(node)


def _text(text: str, depth: int) -> Iterator[str]:
    yield text
    if depth == _DEEPEST:
        return
    for decoded in {unquote(text), unquote_plus(text), html.unescape(text)} - {text}:
        yield from _text(decoded, depth + 1)
    if text.lstrip()[:1] in ("{", "[", '"'):
        with contextlib.suppress(ValueError):
            yield from readings(json.loads(text), depth + 1)
    for run in _BASE64.findall(text):
        try:
            yield from _text(base64.b64decode(run + "=" * (-len(run) % 4), altchars=b"-_").decode(), depth + 1)
        except (ValueError, binascii.Error):
            continue


def leaked(body: bytes) -> list[str]:
    """Which values can be read in a body, in any spelling: case, white space and signs do not matter."""
    seen = "\n".join({*readings(json.loads(body)), body.decode()})
    seen = " ".join(seen.casefold().split())
    close = re.sub(r"[^\w@]", "", seen)
    return [value for value in VALUES if value.casefold() in seen or _close(value) in close]


def _close(value: str) -> str:
    return re.sub(r"[^\w@]", "", value.casefold())

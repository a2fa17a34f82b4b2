"""What a single value in a policy must be like: names, regular expressions, terms, regions.

Each check returns the value or raises pydantic's custom error, whose type is one of `faults.RULES`.
May import: pydantic_core, phonenumbers, recognizers.base, proxy.policy.{faults,frozen}.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phonenumbers import SUPPORTED_REGIONS
from pydantic_core import PydanticCustomError

from proxy.policy.faults import ask, nearest
from proxy.policy.frozen import FrozenMap
from recognizers.base import compile_re2

MAX_TOKENS = 100_000_000
"""No model holds more; a larger number is a slip of the keyboard."""

MAX_REGEX = 2000
"""Longer ones are lists in disguise."""

_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,40}")
_DIGIT_TAIL = re.compile(r"_\d+$")


def wrong(rule: str, what: str, mend: str = "") -> PydanticCustomError:
    """An error that becomes a fault of this rule. Raise it inside a validator."""
    return PydanticCustomError(rule, "{what}", {"what": what, "mend": mend})


def entity_name(name: str) -> str:
    """An entity's name as a placeholder can carry it: `<NAME_123456>`."""
    if not _NAME.fullmatch(name):
        better = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
        mend = ask(better if better != name and _NAME.fullmatch(better) else None)
        raise wrong("bad-name", f"'{name}' is no entity name: 2 to 41 of A-Z, 0-9 and _, a letter first", mend)
    if name.endswith("_") or _DIGIT_TAIL.search(name):
        better = re.sub(r"_(\d*)$", r"\1", name.rstrip("_"))
        raise wrong("bad-name", f"'{name}' ends like a placeholder's number would begin", ask(better))
    return name


_OPERATORS = (
    ("(?=", "a lookahead"),
    ("(?!", "a lookahead"),
    ("(?<=", "a lookbehind"),
    ("(?<!", "a lookbehind"),
    ("(?P=", "a backreference"),
    ("(?>", "an atomic group"),
    ("(?(", "a conditional"),
    ("(?#", "a comment"),
)
_ESCAPES = (("\\Z", "write \\z"), ("\\G", ""), ("\\K", ""), ("\\R", ""), ("\\h", "write [ \\t]"))
_PROBES = ("", "a", "a b", "1", "\n", "Ab1-9_.")
_DASHES = "‐‑‒–—―−"


def regex(pattern: str) -> str:
    """A regular expression that RE2 can search in linear time and that finds something."""
    if len(pattern) > MAX_REGEX:
        raise wrong("bad-regex", f"longer than {MAX_REGEX} characters", "'deny' takes lists of terms")
    refused = _unsupported(pattern)
    if refused:
        raise refused
    try:
        compiled = compile_re2(pattern)
    except Exception as error:  # the binding's own class is private to it
        raise wrong("bad-regex", f"RE2 does not accept this: {_reason(error)}") from None
    if any(match.start() == match.end() for probe in _PROBES for match in compiled.finditer(probe)):
        raise wrong("bad-regex", "this matches the empty string", "ask for at least one character")
    return _searchable(pattern)


def _unsupported(pattern: str) -> PydanticCustomError | None:
    """What RE2 leaves out to stay linear, with its place in the pattern (characters from 1)."""
    for at, token in _tokens(pattern):
        for operator, name in _OPERATORS:
            if token == operator:
                what = f"{name} '{operator}' at character {at + 1}: RE2, which runs in linear time, has none"
                return wrong("bad-regex", what, "'context' can say what stands near")
        if token[0] == "\\" and token[1:].isdigit() and token[1:] != "0":
            what = f"a backreference '{token}' at character {at + 1}: RE2, which runs in linear time, has none"
            return wrong("bad-regex", what)
        for escape, mend in _ESCAPES:
            if token == escape:
                return wrong("bad-regex", f"'{escape}' at character {at + 1} is not RE2 syntax", mend)
    return None


_TOKEN = re.compile(r"\\Q.*?(?:\\E|$)|\\(?:.|$)|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\(\?(?:P=|<=|<!|.)?|.", re.DOTALL)


def _tokens(pattern: str) -> list[tuple[int, str]]:
    """Escapes, classes and group openings of a pattern with their offsets."""
    return [(match.start(), match.group()) for match in _TOKEN.finditer(pattern)]


def _reason(error: Exception) -> str:
    raw: Any = error.args[0] if error.args else ""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _searchable(pattern: str) -> str:
    """Texts are searched after NFKC and with one dash and one space: other forms would never be met."""
    plain = unicodedata.normalize("NFKC", pattern)
    if plain != pattern:
        raise wrong("dead-rule", "texts are searched in normal form (NFKC), which this is not", f"write '{plain}'")
    for dash in _DASHES:
        if dash in pattern:
            what = f"the dash U+{ord(dash):04X} at character {pattern.index(dash) + 1} is a hyphen in searched text"
            raise wrong("dead-rule", what, "write '-'")
    return pattern


def term(text: str) -> str:
    """A listed term, matched whole: at least two characters, one of them a letter or digit."""
    if text != text.strip():
        raise wrong("bad-term", "a term that begins or ends with a space", "remove the space")
    if len(text) < 2:
        raise wrong("bad-term", "a term needs two characters: shorter ones stand in every text")
    if not any(char.isalnum() for char in text):
        raise wrong("bad-term", "a term needs a letter or a digit")
    return text


_COMMON = ("FR", "GB", "US", "DE", "BE", "CH", "ES", "IT", "NL", "IE", "CA")


def region(code: str) -> str:
    """A two-letter region (ISO 3166-1) whose telephone numbering plan is known."""
    if code not in SUPPORTED_REGIONS:
        raise wrong("bad-region", f"no telephone numbering plan for region '{code}'", ask(_nearest_region(code)))
    return code


def _nearest_region(code: str) -> str | None:
    """Of two letters, one wrong is half: the first letter weighs more, and common regions go first."""
    by_name = nearest(code, SUPPORTED_REGIONS, cutoff=0.9)
    if by_name or not code:
        return by_name
    first = code[:1].upper()
    return next((common for common in _COMMON if common[0] == first), None)


def tokens(value: object, otherwise: str) -> int:
    """A number of tokens; `otherwise` is what else may stand there."""
    if not isinstance(value, int) or isinstance(value, bool):
        mend = ask(whole_number(value) if isinstance(value, str) else None)
        raise wrong("wrong-type", f"must be a number of tokens, such as 128000, or {otherwise}", mend)
    if not 0 < value <= MAX_TOKENS:
        raise wrong("bad-limit", f"must be between 1 and {MAX_TOKENS}")
    return value


def whole_number(text: str) -> str | None:
    """`128k`, `128_000` and `128,000` as YAML 1.2 writes them."""
    match = re.fullmatch(r"([0-9]{1,9})(k|m)?", re.sub(r"[_,' ]", "", text.strip().lower()))
    return str(int(match[1]) * {"k": 1000, "m": 1_000_000}.get(match[2] or "", 1)) if match else None


_MAX_DEPTH = 5


def arguments(value: Any) -> Mapping[str, Any]:
    """What a constructor may be given from YAML, by name, frozen."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) and name.isidentifier() for name in value):
        raise wrong("wrong-type", "must be a mapping of names to values")
    return FrozenMap({name: _argument(inner, 0) for name, inner in value.items()})


def _argument(value: Any, depth: int) -> Any:
    if isinstance(value, str | int | float):
        return value
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return tuple(_argument(item, depth + 1) for item in value)
    if depth < _MAX_DEPTH and isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return FrozenMap({key: _argument(inner, depth + 1) for key, inner in value.items()})
    raise wrong(
        "wrong-value", "an argument is text, a number, true, false, or lists and mappings of these, five deep at most"
    )


def thawed(value: Any) -> Any:
    """An argument as JSON has it."""
    if isinstance(value, Mapping):
        return {key: thawed(inner) for key, inner in value.items()}
    return [thawed(inner) for inner in value] if isinstance(value, tuple) else value


_SHA256 = re.compile(r"[0-9a-f]{64}")


def sha256(text: str) -> str:
    """64 hexadecimal digits."""
    if not _SHA256.fullmatch(text):
        mend = "write it in lower case" if _SHA256.fullmatch(text.lower()) else "64 hexadecimal digits, see docs/own.md"
        raise wrong("wrong-value", "this is no sha256", mend)
    return text


def folder(path: str) -> str:
    """An absolute path: what a relative one means depends on where the service was started."""
    if not Path(path).is_absolute():
        raise wrong("wrong-value", "this is not an absolute path", "begin with /")
    return path


def inside(path: str) -> str:
    """A relative path that stays where it is."""
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise wrong("wrong-value", "this is not a path inside the folder")
    return path


def pipeline(source: str) -> str:
    """The name of a package, or an absolute path."""
    if not (source.isidentifier() or Path(source).is_absolute()):
        raise wrong("wrong-value", "this is neither the name of a package nor an absolute path")
    return source


def class_path(path: str) -> str:
    """`package.module.ClassName`."""
    parts = path.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise wrong("wrong-value", "this is not the path of a class", "write it as package.module.ClassName")
    return path

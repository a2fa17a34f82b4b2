"""Is this place in a text code rather than prose? Identifiers, calls, paths, file names, lines of a program.

May import: the standard library.
"""

from __future__ import annotations

import re

_FILE_END = re.compile(r"\.[a-z][a-z0-9]{1,4}(?![A-Za-z0-9])")
_IDENTIFIER = re.compile(r"[a-z]\w*[A-Z]|\w_\w|::|\(\)|->|=>|\$|\w\.\w+\(")
_CAMEL = re.compile(r"[^\W\d_][A-ZÀ-Þ]")
_CAMEL_NAME = re.compile(
    r"(?:Ma?c|O['’]?|D[ei]|L[aei]|D['’]|Du|Fitz|Van|Von|Saint|St|Ste|"
    r"[A-Z]\.)?[A-ZÀ-Þ][^\WA-ZÀ-Þ]+(?:[-'’.].*)?$|[A-Z]{2,}['’]s$"
)
_TITLE_END = re.compile(r"(?:^|[^\w.])(?:Dr|Mr|Mrs|Ms|Prof|Pr|Mme|Mlle|M)\.$")
CODE = re.compile(
    r"[{}=<>\\$]|::|\(\)|//|\w_\w|\w\.\w+\(|^\s*(?:import|from|def|class|return|const|let|var|#|\$|"
    r"SELECT|INSERT)\b|^\s*@\w"
)
"""What gives a line away as code, markup or configuration."""


def is_camel(word: str) -> bool:
    """`HTTPAdapter`, `ClassVar`; not `McDonald`, `DeShawn`, `O'Brien`, `DUPONT`."""
    return not word.isupper() and _CAMEL.search(word) is not None and not _CAMEL_NAME.match(word)


def in_code(text: str, start: int, end: int) -> bool:
    """True if the line around `text[start:end]` is code, or the place lies between backticks."""
    first = max(text.rfind("\n", max(0, start - 300), start) + 1, start - 300, 0)
    last = text.find("\n", end, end + 300)
    line = text[first : last if last >= 0 else end + 300]
    return text.count("`", first, start) % 2 == 1 or CODE.search(line) is not None


def is_code(text: str, start: int, end: int) -> bool:
    """True if `text[start:end]` is written like an identifier, a call, a path or a file name."""
    if _IDENTIFIER.search(text, start, end) and not re.match(r"[A-Z]", text[start:end]):
        return True
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    word = text[max(0, start - 100) : start]
    if "://" in word[max(map(word.rfind, " \n\t")) + 1 :]:
        return True
    if before.endswith(("::", "->", "$", "\\")) or after.startswith(("(", "::", "->")):
        return True
    if before[-1:] in {".", "_"} and before[:1].isalnum() and len(before) == 2 and not _TITLE_END.search(word):
        return True
    if after[:1] == "_" and after[1:].isalnum():
        return True
    return _FILE_END.match(text, end) is not None

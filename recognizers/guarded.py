"""Python patterns that are tried only where RE2 says that one can begin.

Python's engine tries an alternation of a hundred words at every character; RE2 reads them all in one pass, but knows
no look-around. So RE2 looks for the pattern without its look-around and word boundaries, which matches wherever the
pattern does and in more places, and Python's engine decides there.

May import: base, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recognizers.base import compile_re2

_ITEM = r"[^()\[\]\\]|\\.|\[(?:[^\]\\]|\\.)*\]"
_LOOK_AROUND = re.compile(rf"\(\?<?[=!](?:{_ITEM}|\((?:{_ITEM})*\))*\)|\\b")
"""With groups in it, if these hold none."""
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
# Letters that Python takes for an `i` where case does not matter, and RE2 does not.
_OTHER_I = re.compile("[\u0130\u0131]")


@dataclass(frozen=True)
class Guarded:
    """`pattern` matches no empty text, and outside of look-around no class in it is Python's own (`\\w`)."""

    pattern: re.Pattern[str]

    @cached_property
    def guard(self) -> Any:
        """The pattern as RE2 is to look for it."""
        return compile_re2(_ESCAPE.sub(r"\\x{\1}", _LOOK_AROUND.sub("", self.pattern.pattern)))

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """What `pattern.finditer` yields."""
        if _OTHER_I.search(text):
            yield from self.pattern.finditer(text)
            return
        done = 0
        for hint in self.guard.finditer(text):
            at, end = max(hint.start(), done), hint.end()
            while at < end:
                match = self.pattern.match(text, at)
                if match:
                    yield match
                at = done = match.end() if match else at + 1

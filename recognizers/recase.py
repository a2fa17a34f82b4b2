"""Lines typed without capitals, or in capitals only, as they would be written: models find few names in them.

May import: recognizers.lexicon, recognizers.words, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recognizers.base import fold
from recognizers.code import CODE
from recognizers.lexicon import Lexicon
from recognizers.words import CALENDAR, COMMON, DETERMINERS, FUNCTION, TECHNICAL, TITLES

_LINE = re.compile(r"[^\n\r]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_MAX_LINE = 2000


def second_looks(text: str, lexicon: Lexicon) -> Iterator[tuple[int, str]]:
    """`(offset, line)` for every line worth reading again, rewritten code point for code point."""
    for match in _LINE.finditer(text):
        line = match.group()
        if len(line) <= _MAX_LINE and not CODE.search(line):
            rewritten = _rewrite(line, lexicon)
            if rewritten is not None:
                yield match.start(), rewritten


def _rewrite(line: str, lexicon: Lexicon) -> str | None:
    words = list(_WORD.finditer(line))
    texts = [word.group() for word in words]
    if not texts:
        return None
    capitals = sum(text.isupper() and len(text) > 1 for text in texts)
    shouted = capitals >= 2 and capitals >= 0.7 * len(texts)
    if not shouted and not _worth(texts, lexicon):
        return None
    named = [_names(text, lexicon) for text in texts]
    out = list(line.lower() if shouted and len(line.lower()) == len(line) else line)
    for index, word in enumerate(words):
        beside = (index > 0 and named[index - 1]) or (index + 1 < len(words) and named[index + 1])
        if index and fold(texts[index - 1]) in DETERMINERS and not shouted:
            continue
        if named[index] or (beside and _may_be_name(texts[index], lexicon, shouted)):
            for place in [0, *(hit.end() for hit in re.finditer(r"['’\-]", texts[index]))]:
                _capitalise(out, word.start() + place)
    return "".join(out)


def _names(text: str, lexicon: Lexicon) -> bool:
    folded = fold(text)
    if len(folded) < 3 or folded in FUNCTION or folded in TECHNICAL or folded in CALENDAR or folded in TITLES:
        return False
    return not lexicon.is_common(text) and not lexicon.is_common(re.sub(r"^[dljcnstmqu]+['’]|['’]s$", "", folded))


def _may_be_name(text: str, lexicon: Lexicon, shouted: bool) -> bool:
    folded = fold(text)
    if len(folded) < 3 or folded in FUNCTION or folded in CALENDAR or folded in TITLES or folded in TECHNICAL:
        return False
    return lexicon.is_given(folded) or (folded not in COMMON and not shouted)


def _worth(texts: list[str], lexicon: Lexicon) -> bool:
    """A given name in lower case."""
    return any(text.islower() and lexicon.is_given(text) and _names(text, lexicon) for text in texts)


def _capitalise(out: list[str], place: int) -> None:
    upper = out[place].upper() if place < len(out) else ""
    if len(upper) == 1:
        out[place] = upper

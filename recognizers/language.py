"""English or French? A pure function of the text, by its grammar words and accents.

May import: recognizers.words, recognizers.base.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recognizers.base import fold
from recognizers.words import FUNCTION_EN, FUNCTION_FR

LANGUAGES = ("en", "fr")

_WORD = re.compile(r"[^\W\d_]+")
_ACCENT = re.compile(r"[éèêàùçœôîûëïÉÈÊÀÇ]")
_ENGLISH = FUNCTION_EN - FUNCTION_FR
_FRENCH = FUNCTION_FR - FUNCTION_EN - {"d", "l", "m", "n", "s", "t", "j", "y"}
_MIN_LETTERS = 40
_SAMPLE = 2000


def candidates(text: str, languages: Sequence[str] = LANGUAGES) -> tuple[str, ...]:
    """The languages to read `text` in, likeliest first; one of them when the evidence is clear.

    Evidence is counted in the first 2,000 code points: one point a grammar word, half a point a French accent.
    A short block (under 40 letters) or one with less than twice as much evidence for one language gives both.
    """
    if len(languages) < 2:
        return tuple(languages)
    words = _WORD.findall(fold(text[:_SAMPLE]))
    english = sum(word in _ENGLISH for word in words)
    french = sum(word in _FRENCH for word in words) + 0.5 * len(_ACCENT.findall(text[:_SAMPLE]))
    first, second = ("fr", "en") if french > english else ("en", "fr")
    ordered = tuple(code for code in (first, second) if code in languages)
    high, low = max(english, french), min(english, french)
    clear = sum(map(len, words)) >= _MIN_LETTERS and high >= 2 and high >= 2 * low + 1
    return ordered[:1] if clear else ordered

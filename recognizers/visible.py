"""What a name model is shown of a text: the same length, without what cannot be a name and costs time.

spaCy's tokenizer is worse than linear in the length of one token. Here no token longer than `LONGEST` is left: a
long or mostly unalphabetic token keeps only its runs of letters, each in its place, the rest becomes spaces.

May import: the standard library.
"""

from __future__ import annotations

import re

LONGEST = 60
"""Longest token, in code points, that reaches a tokenizer."""

_SUSPECT_FROM = 24
_TOKEN = re.compile(rf"\S{{{_SUSPECT_FROM},}}")
_RUN = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f]|['’\-](?=[^\W\d_]))*")
_SHORT_NOISE = re.compile(r"(?<!\S)[^\sA-Za-z\u00c0-\U0010ffff]{8,}(?!\S)")


def visible(text: str) -> str:
    """Same length as `text`; every token is at most `LONGEST` long. One pass, linear."""
    text = _SHORT_NOISE.sub(_blank, text)
    return _TOKEN.sub(_thin, text)


def _blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _thin(match: re.Match[str]) -> str:
    token = match.group()
    runs = [run.span() for run in _RUN.finditer(token)]
    letters = sum(end - start for start, end in runs)
    if len(token) <= LONGEST and len(runs) <= 4 and letters >= 0.6 * len(token):
        return token
    kept = [" "] * len(token)
    for start, end in runs:
        if 2 <= end - start <= LONGEST:
            kept[start:end] = token[start:end]
    return "".join(kept)

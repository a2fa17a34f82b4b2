"""A prompt of a given length that only somebody who has read all of it can answer.

Three words stand at its start, in its middle and at its end, between sentences about nothing; the question at the end
asks for them. They are drawn anew for every prompt, so that a word of another prompt in the answer is one too many.
May import: measure, the standard library.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from proxy.measure import Counter

PLACES = ("start", "middle", "end")
QUESTION = "Which are the words of the start, the middle and the end? Answer with the three words only."
_SYLLABLES = ("ba", "do", "fi", "ga", "ke", "lu", "mo", "ne", "pi", "ro", "su", "ta", "vi", "wo", "xa", "zu")
_THINGS = ("ladder", "kettle", "lantern", "barrel", "carpet", "mirror", "saddle", "anchor")
_COLOURS = ("red", "green", "blue", "grey", "white", "brown", "yellow")


@dataclass(frozen=True, slots=True)
class Question:
    """`tokens` is our count of `text`, `aim` the length that it was to have; `words` are to be found again."""

    text: str = field(repr=False)
    words: tuple[str, str, str]
    aim: int
    tokens: int


def word() -> str:
    """A word that nobody has seen: five syllables, 20 bits."""
    return "".join(secrets.choice(_SYLLABLES) for _ in range(5))


def question(tokens: int, counter: Counter) -> Question:
    """A prompt of at most `tokens` tokens, as near as sentences allow. Raises `ValueError` if that is too few."""
    words = (word(), word(), word())
    least = counter.count(_text(0, words))
    if least > tokens:
        raise ValueError(f"a prompt with its question has at least {least} tokens")
    each = max(1.0, (counter.count(_text(256, words)) - least) / 256)
    sentences = int((tokens - least) / each)
    while True:
        text = _text(sentences, words)
        counted = counter.count(text)
        if counted <= tokens:
            return Question(text, words, tokens, counted)
        sentences -= max(1, int((counted - tokens) / each))


def _text(sentences: int, words: tuple[str, str, str]) -> str:
    needles = [f"The word of the {place} is {found}." for place, found in zip(PLACES, words, strict=True)]
    half = sentences // 2
    filler = [_sentence(number) for number in range(sentences)]
    return " ".join([needles[0], *filler[:half], needles[1], *filler[half:], needles[2], QUESTION])


def _sentence(number: int) -> str:
    colour, thing = _COLOURS[number % len(_COLOURS)], _THINGS[number // 3 % len(_THINGS)]
    return f"The {colour} {thing} is kept in room {number % 997}."

"""Sentences without sense: frequent words in any order, names strewn in. They keep a model from learning frames.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

from training.generate.author import Author, frequent
from training.generate.frames import Draft, words

_LEADS = {
    "de": words("mit von bei für gegen und oder zu an durch über sagt Frau Herr"),
    "en": words("with by from for against and or to at through about says Mr Ms"),
    "es": words("con de por para contra y o a según ante sobre dice señor señora"),
    "fr": words("avec de par pour contre et ou à selon sur dit chez M. Mme"),
    "it": words("con di da per contro e o a secondo presso su dice il signor la signora"),
}
_PLACE_LEADS = {
    "de": words("in aus nach bei"), "en": words("in from to near"), "es": words("en de desde hacia"),
    "fr": words("à de vers en"), "it": words("a di da verso"),
}  # fmt: skip


def salad(author: Author, draft: Draft) -> None:
    """One to four such sentences."""
    for number in range(author.rng.randint(1, 4)):
        draft.add(" " if number else "")
        _sentence(author, draft)


def _sentence(author: Author, draft: Draft) -> None:
    rng, table = author.rng, frequent(author.folder, author.language)
    for position in range(rng.randint(6, 22)):
        draft.add(" " if position else "")
        draw = rng.random()
        if draw < 0.07:
            if author.chance(0.7):
                draft.add(rng.choice(_LEADS[author.language]) + " ")
            author.slot(rng.choice(["P", "P", "P", "S", "G", "HP", "H", "D", "PR"]), draft)
        elif draw < 0.10:
            if author.chance(0.7):
                draft.add(rng.choice(_PLACE_LEADS[author.language]) + " ")
            author.slot(rng.choice(["L", "L", "C", "R"]), draft)
        elif draw < 0.12:
            author.slot("O", draft)
        elif draw < 0.14:
            author.slot(rng.choice(["date", "n", "eur", "id"]), draft)
        else:
            word = table.pick(rng)
            draft.add(word.capitalize() if position == 0 or author.chance(0.04) else word)
        if author.chance(0.06):
            draft.add(",")
    draft.add(rng.choice([".", ".", ".", "?", "", ":"]))

"""Documents that hold no name: prose about things, code, configuration, numbers, word lists.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

from training.generate.author import Author
from training.generate.frames import Draft, words

_IDENTIFIERS = words(
    "count user total index result value item config client server handler parse load save update render token "
    "buffer queue order price amount status response request cache entry node width height label title"
)
_SNIPPETS = (
    "def {a}_{b}({c}, {d}=None):\n    return {c}.{a}({d})",
    "const {a} = await {b}.{c}({{ {d}: {n} }});",
    "for {a} in range({n}):\n    {b}[{a}] = {c}({a})",
    "SELECT {a}, {b} FROM {c}s WHERE {d} > {n} ORDER BY {a};",
    "class {A}{B}:\n    def __init__(self, {c}):\n        self.{c} = {c}",
    'if ({a} == {n}) {{ {b}.{c}(); }} else {{ throw new {A}Exception("{b}"); }}',
    "{a}:\n  {b}: {n}\n  {c}: true\n  {d}: [{n}, {n}]",
    '{{"{a}": {n}, "{b}": "{c}", "{d}": null}}',
    "import {a}\nfrom {b} import {A}{C}\n{c} = {A}{C}({n})",
    "ERROR {A}{B} [{c}] failed after {n} ms: {d} is not defined",
    "docker run -p {n}:{n} --name {a}-{b} {c}/{d}:latest",
    "export {a} = ({b}) => {b}.map(({c}) => {c}.{d});",
    'git commit -m "Fix {a} {b} in {c}" && git push origin main',
)


def clean(author: Author, draft: Draft) -> None:
    """A document without any name of a person, place or firm."""
    rng = author.rng
    draw = rng.random()
    if draw < 0.6:
        for number in range(rng.randint(1, 8)):
            draft.add(rng.choice([" ", " ", "\n", "\n\n", "\n- "]) if number else "")
            author.section("clean", draft)
    elif draw < 0.8:
        if author.chance(0.5):
            author.section("clean", draft)
            draft.add("\n\n")
        for number in range(rng.randint(1, 4)):
            draft.add("\n" if number else "")
            draft.add(code(author))
    elif draw < 0.9:
        _things(author, draft)
    else:
        for number in range(rng.randint(2, 6)):
            draft.add("\n" if number else "")
            author.slot(rng.choice(["subject", "thing", "disease", "drug", "symptom"]), draft)
            draft.add(rng.choice([": ", " - ", "\t", " "]))
            author.slot(rng.choice(["n", "eur", "date", "id", "time"]), draft)


def code(author: Author) -> str:
    """A few lines in no language in particular, of made-up identifiers."""
    rng = author.rng
    drawn = rng.sample(_IDENTIFIERS, 4)
    named = dict(zip("abcd", drawn, strict=True)) | {
        key.upper(): word.title() for key, word in zip("abcd", drawn, strict=True)
    }
    return rng.choice(_SNIPPETS).format(n=rng.randint(0, 9999), **named)


def _things(author: Author, draft: Draft) -> None:
    """A table or list of things: heads and cells that are no names."""
    rng = author.rng
    separator = rng.choice([",", ";", "\t", " | "])
    kinds = [
        rng.choice(["thing", "n", "eur", "date", "id", "job", "weekday", "month"]) for _ in range(rng.randint(2, 4))
    ]
    draft.add(separator.join(rng.choice(author.frames.section("column.other")) for _ in kinds))
    for _ in range(rng.randint(2, 8)):
        draft.add("\n")
        for index, kind in enumerate(kinds):
            draft.add(separator if index else "")
            author.slot(kind, draft)

"""Generated text where names stand in rows, headers, fields and code; and text that only looks as if it held names.

Sentences in five languages come from `training.generate`; here are the forms that look alike in every language.
May import: its neighbours, the standard library.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator

from training.pools import Pools
from training.text import Text, build

Part = str | tuple[str, str]


def listed(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


_DOMAINS = ("example.org", "mail.example", "example.com", "corp.example", "post.example")
_LABELS = {
    "en": ("Name", "Full name", "Patient", "Contact", "Employee", "Client", "Author", "Attending", "Signed", "Guest"),
    "fr": ("Nom", "Nom complet", "Patient", "Contact", "Salarié", "Client", "Auteur", "Médecin", "Signé", "Invité"),
    "de": ("Name", "Patient", "Kontakt", "Mitarbeiter", "Kunde", "Autor", "Arzt", "Unterschrift"),
    "es": ("Nombre", "Paciente", "Contacto", "Empleado", "Cliente", "Autor", "Médico", "Firmado"),
    "it": ("Nome", "Paziente", "Contatto", "Dipendente", "Cliente", "Autore", "Medico", "Firmato"),
}
_CITY = {"en": "City", "fr": "Ville", "de": "Ort", "es": "Ciudad", "it": "Città"}
_FIRM = {"en": "Company", "fr": "Société", "de": "Firma", "es": "Empresa", "it": "Azienda"}
_GREET = {
    "en": ("Hi", "Hello", "Dear", "Hey", "Good morning"),
    "fr": ("Bonjour", "Cher", "Chère", "Salut", "Bonsoir"),
    "de": ("Hallo", "Liebe", "Lieber", "Guten Tag"),
    "es": ("Hola", "Estimado", "Estimada", "Querido", "Buenos días"),
    "it": ("Ciao", "Caro", "Cara", "Gentile", "Buongiorno"),
}
_CLOSE = {
    "en": ("Best", "Best regards", "Thanks", "Cheers", "Sincerely", "Kind regards"),
    "fr": ("Cordialement", "Bien à vous", "Merci", "Bien cordialement", "Salutations"),
    "de": ("Viele Grüße", "Mit freundlichen Grüßen", "Danke", "LG"),
    "es": ("Saludos", "Un saludo", "Gracias", "Atentamente"),
    "it": ("Saluti", "Cordiali saluti", "Grazie", "A presto"),
}
_PLAIN_THINGS = listed(
    "basil|rosemary|sage|olive oil|ginger tea|saffron|lavender|violet ink|iris bulb|daisy chain|heather|ivy|"
    "poppy seeds|lily of the valley|Caesar salad|Earl Grey tea|Victoria sponge|Melba toast|Waldorf salad|"
    "beef Wellington|Bolognese sauce|Benedict eggs|Alfredo sauce|Fuji apple|Williams pear|Anjou pear|Conference pear|"
    "django|flask|celery|pandas|jenkins|julia|ada|ruby|crystal|elixir|jupyter|maven|gradle|cypress|mocha|jest|chai|"
    "selenium|babel|alexa|siri|cortana|gemini|claude|gpt|watson|einstein notation|Kelvin|Newton's method|Gauss filter|"
    "Bayes rule|Markov chain|Fourier transform|Euler method|Dijkstra|Turing machine|Parkinson's disease|"
    "Crohn's disease|Foley catheter|Doppler|Pap smear|Apgar score|Glasgow scale|Allen key|Phillips screw|"
    "Stanley knife|Jack plug|Bunsen burner|Petri dish|Ferris wheel|Murphy's law|Dutch oven|Martin guitar"
)
_LEADS = listed(
    "You are a helpful assistant. |Explain |Write a function that |Tu es un assistant utile. |Résume |"
    "Du bist ein Assistent. |Traduce |Spiegami |Erkläre |Rewrite this: |Fix this bug: "
)


def generate(pools: Pools, rng: random.Random, count: int) -> Iterator[Text]:
    """`count` texts; about one in three holds no name."""
    for _ in range(count):
        yield rng.choices(_MAKERS, _WEIGHTS)[0](pools, rng)


def _person(pools: Pools, rng: random.Random) -> tuple[str, str]:
    name = pools.person(rng)
    roll = rng.random()
    if roll < 0.08:
        given, _, family = name.rpartition(" ")
        name = f"{family.upper()} {given}" if roll < 0.05 else f"{family} {given}"
    elif roll < 0.13:
        name = name.upper()
    elif roll < 0.18:
        name = name.lower()
    return name, "PERSON"


def _given(pools: Pools, rng: random.Random) -> tuple[str, str]:
    name = pools.given_name(rng)
    return (name.lower() if rng.random() < 0.12 else name), "PERSON"


def _family(pools: Pools, rng: random.Random) -> tuple[str, str]:
    name = pools.surname(rng)
    return (name.upper() if rng.random() < 0.2 else name), "PERSON"


def _city(pools: Pools, rng: random.Random) -> tuple[str, str]:
    return pools.cities.draw(rng), "LOC"


def _company(pools: Pools, rng: random.Random) -> tuple[str, str]:
    return pools.company(rng), "ORG"


def _mail(pools: Pools, rng: random.Random) -> str:
    name = f"{pools.given_name(rng)}{rng.choice(['.', '_', ''])}{pools.surname(rng)}".lower().replace(" ", "")
    return f"{name}@{rng.choice(_DOMAINS)}"


def _number(rng: random.Random) -> str:
    return rng.choice(
        [
            f"{rng.randint(1, 28):02}/{rng.randint(1, 12):02}/{rng.randint(1940, 2025)}",
            f"{rng.randint(1940, 2025)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            f"0{rng.randint(1, 9)} {rng.randint(10, 99)} {rng.randint(10, 99)} {rng.randint(10, 99)}",
            str(rng.randint(1, 99_999)),
            f"{rng.randint(1, 999)}.{rng.randint(0, 99):02}",
        ]
    )


def _word(pools: Pools, rng: random.Random) -> str:
    return pools.words.draw(rng)


def _csv(pools: Pools, rng: random.Random) -> Text:
    """Rows of names, numbers, cities and words; any separator."""
    sep = rng.choice([",", ";", "\t", " | ", ", "])
    columns = rng.sample(["person", "given", "family", "city", "firm", "mail", "number", "word"], rng.randint(2, 5))
    parts: list[Part] = [sep.join(_word(pools, rng) for _ in columns) + "\n"] if rng.random() < 0.6 else []
    for _ in range(rng.randint(2, 6)):
        for index, column in enumerate(columns):
            parts.append(sep if index else "")
            parts.append(_cell(column, pools, rng))
        parts.append("\n")
    return build(parts, "own:rows")


def _cell(column: str, pools: Pools, rng: random.Random) -> Part:
    named = {"person": _person, "given": _given, "family": _family, "city": _city, "firm": _company}
    if column in named:
        return named[column](pools, rng)
    return {"mail": _mail, "word": _word}[column](pools, rng) if column != "number" else _number(rng)


def _json(pools: Pools, rng: random.Random) -> Text:
    """Objects whose values are names, and others whose values are not."""
    parts: list[Part] = ["{"]
    for index in range(rng.randint(2, 6)):
        key, column = rng.choice(
            [
                *(("name", "person"), ("firstName", "given"), ("last_name", "family"), ("author", "person")),
                *(("city", "city"), ("company", "firm"), ("email", "mail"), ("id", "number"), ("status", "word")),
                *(("owner", "person"), ("type", "word"), ("assignee", "given"), ("title", "word")),
            ]
        )
        parts += [", " if index else "", f'"{key}": "', _cell(column, pools, rng), '"']
    return build([*parts, "}"], "own:json")


def _mail_head(pools: Pools, rng: random.Random) -> Text:
    """From, To, Cc, Subject, greeting, closing."""
    lang = pools.language if pools.language in _GREET else "en"
    parts: list[Part] = []
    for field in rng.sample(["From", "To", "Cc", "De", "À", "Von", "An", "Para", "Da", "A"], rng.randint(1, 3)):
        parts += [f"{field}: ", _person(pools, rng), f" <{_mail(pools, rng)}>\n"]
    if rng.random() < 0.6:
        parts += [rng.choice(["Subject", "Objet", "Betreff", "Asunto", "Oggetto"]) + ": "]
        parts += [" ".join(_word(pools, rng) for _ in range(rng.randint(2, 5))).capitalize() + "\n"]
    parts += ["\n", rng.choice(_GREET[lang]) + " ", _given(pools, rng), ",\n"]
    parts += [" ".join(_word(pools, rng) for _ in range(rng.randint(4, 12))).capitalize() + ".\n"]
    return build([*parts, *_signature(pools, rng)], "own:mail")


def _signature(pools: Pools, rng: random.Random) -> list[Part]:
    lang = pools.language if pools.language in _CLOSE else "en"
    name = _person(pools, rng) if rng.random() < 0.6 else _given(pools, rng)
    parts: list[Part] = [rng.choice(_CLOSE[lang]) + rng.choice([",\n", "\n", ",\n\n"]), name, "\n"]
    if rng.random() < 0.5:
        parts += [_word(pools, rng).capitalize() + " " + _word(pools, rng).capitalize() + "\n"]
    if rng.random() < 0.5:
        parts += [_company(pools, rng), "\n"]
    if rng.random() < 0.4:
        parts += [_mail(pools, rng), " / ", _number(rng), "\n"]
    return parts


def _fields(pools: Pools, rng: random.Random) -> Text:
    """A form: `Label: value` lines."""
    lang = pools.language if pools.language in _LABELS else "en"
    parts: list[Part] = []
    for _ in range(rng.randint(2, 5)):
        roll, sep = rng.random(), rng.choice([": ", " : ", " - ", "\t"])
        if roll < 0.5:
            parts += [rng.choice(_LABELS[lang]) + sep, _person(pools, rng), "\n"]
        elif roll < 0.65:
            parts += [_CITY[lang] + sep, _city(pools, rng), "\n"]
        elif roll < 0.8:
            parts += [_FIRM[lang] + sep, _company(pools, rng), "\n"]
        else:
            parts += [f"{_word(pools, rng).capitalize()}{sep}{rng.choice([_number(rng), _word(pools, rng)])}\n"]
    return build(parts, "own:form")


def _roster(pools: Pools, rng: random.Random) -> Text:
    """Names one a line or comma after comma, bare or with something beside each."""
    parts: list[Part] = []
    kind = rng.choice([_person, _person, _given])
    lead, sep = rng.choice(["", "- ", "* ", "• ", "1. "]), rng.choice(["\n", "\n", ", ", " / ", "; "])
    for index in range(rng.randint(2, 7)):
        parts += [sep if index else "", lead if sep == "\n" else "", kind(pools, rng)]
        if rng.random() < 0.3:
            parts += [rng.choice([f" ({_number(rng)})", f" <{_mail(pools, rng)}>", f" - {_word(pools, rng)}"])]
    return build(parts, "own:roster")


def _git(pools: Pools, rng: random.Random) -> Text:
    """Commits, chats, transcripts: a name at the start of a line or before an address."""
    words = " ".join(_word(pools, rng) for _ in range(rng.randint(3, 9)))
    stamp = f"[{rng.randint(0, 23):02}:{rng.randint(0, 59):02}] "
    kinds: list[list[Part]] = [
        ["Author: ", _person(pools, rng), f" <{_mail(pools, rng)}>\n\n    {words}\n"],
        [stamp, _given(pools, rng), f": {words}\n", stamp, _given(pools, rng), f": {_word(pools, rng)} ?\n"],
        [_person(pools, rng), f": {words}.\n", _person(pools, rng), f": {_word(pools, rng)}!\n"],
        ["Signed-off-by: ", _person(pools, rng), f" <{_mail(pools, rng)}>\n"],
        ["# ", words, "\n__author__ = '", _person(pools, rng), "'\n"],
        ["// TODO(", _given(pools, rng), f"): {words}\n"],
        ["@", _word(pools, rng), f" {words} ", _given(pools, rng), "\n"],
    ]
    return build(rng.choice(kinds), "own:chat")


def _code(pools: Pools, rng: random.Random) -> Text:
    """Identifiers, imports, constants, logs: no name in it."""
    one, two, three = (_word(pools, rng) for _ in range(3))
    kinds = [
        f"def {one}_{two}({three}: str) -> None:\n    return {three.capitalize()}{two.capitalize()}({one})\n",
        f"import {one}\nfrom {two}.{three} import {one.capitalize()}{three.capitalize()}\n",
        f"class {one.capitalize()}{two.capitalize()}(Base{three.capitalize()}):\n    {one.upper()} = {_number(rng)}\n",
        f"SELECT {one}_id, {two}, {three} FROM {one}s WHERE {two} = '{three}' ORDER BY {one}_id;\n",
        f"{_number(rng)} INFO {one}.{two}: {three} {one} took {rng.randint(1, 999)} ms\n",
        f"const {one}{two.capitalize()} = await {three}.get('/{one}/{two}');\n",
        f"docker run -d --name {one}-{two} {three}:{rng.randint(1, 9)}.{rng.randint(0, 9)}\n",
        f"{one.upper()}_{two.upper()}={three}\nexport {three.upper()}={one}\n",
    ]
    return build([rng.choice(kinds) for _ in range(rng.randint(1, 3))], "own:code")


def _plain(pools: Pools, rng: random.Random) -> Text:
    """Headings, lists and things that bear a name without being anybody."""
    words = [_word(pools, rng) for _ in range(rng.randint(4, 14))]
    for _ in range(rng.randint(1, 3)):
        words.insert(rng.randint(0, len(words)), rng.choice(_PLAIN_THINGS))
    text = " ".join(words)
    shaped = rng.choice([text, text.capitalize() + ".", text.title(), text.upper(), "# " + text.title(), "- " + text])
    return build([shaped, rng.choice(["", "\n", ":\n"])], "own:clean")


def _results(pools: Pools, rng: random.Random) -> Text:
    """Laboratory and table lines, labels with plain values, trades: capitals and abbreviations that are no name."""
    lines = []
    for _ in range(rng.randint(2, 7)):
        short = "".join(rng.choices(string.ascii_uppercase, k=rng.randint(2, 5)))
        word, other = _word(pools, rng).capitalize(), _word(pools, rng)
        figure = f"{rng.uniform(0, 300):.1f}"
        gap, unit = rng.choice([" ", "    ", chr(9), ": "]), rng.choice(["mg/L", "mmol/l", "%", "g", ""])
        lines.append(
            rng.choice(
                [
                    f"{word}{gap}{figure} {unit}",
                    f"{short} {figure} ({rng.randint(0, 9)}-{rng.randint(10, 99)})",
                    f"{short}: {other}",
                    f"{word} {_word(pools, rng).capitalize()}",
                    f"{word}: {rng.choice([other, short, figure])}",
                    f"{short} {other} {word.lower()}",
                    f"{word} {rng.choice('ABC')}: {other}",
                ]
            )
        )
    return build(["\n".join(lines), "\n"], "own:clean")


def _prompt(pools: Pools, rng: random.Random) -> Text:
    """What a system prompt or a question looks like."""
    words = " ".join(_word(pools, rng) for _ in range(rng.randint(5, 15)))
    lead = rng.choice(_LEADS)
    return build([lead, words, rng.choice([".", "?", "", ":\n"])], "own:clean")


_MAKERS: tuple[Callable[[Pools, random.Random], Text], ...] = (
    *(_csv, _json, _mail_head, _fields, _roster, _git, _code, _plain, _prompt, _results),
)
_WEIGHTS = (2, 1.5, 2, 2, 1.5, 2, 1.5, 2, 1, 2.5)

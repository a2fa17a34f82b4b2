"""What is measured with: natural English and French, a long French contract, and text made to be slow.

Everything comes from a seed and from the sentences below, so two runs see the same letters. All persons, companies,
addresses and numbers are made up. May import: the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN = _words(
    "Mira Jonas Clara Omar Lena Victor Nadia Paul Irene Samuel Yasmine Hugo Beatrice Karim Julia Martin Sofia Daniel "
    "Camille Thomas Louise Antoine Hélène Mathieu Élodie François Chloé Nicolas Margaux Étienne"
)
FAMILY_HEADS = _words("Mar Del Bren Tal Cor Fau Wes Lan Har Vau Kel Mon Rous Ber Gar Pel Sau Hol Car Dor")
FAMILY_TAILS = _words(
    "chetti vigne nick low beau combe ley court grave mont ton sart veau din nier geron brook lier val"
)
COMPANIES = _words("Norvalis Brightwater Halden Oristal Quentara Verlane Castelis Pinemoor Sablier Travidor")
TOWNS = {
    "en": _words("London Bristol Leeds Boston Denver Toronto Dublin Glasgow Seattle Oxford"),
    "fr": _words("Paris Lyon Toulouse Nantes Lille Bordeaux Rennes Grenoble Dijon Strasbourg"),
}
MONTHS = {
    "en": _words("January February March April May June July August September October November December"),
    "fr": _words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
}
THINGS = {
    "en": _words("invoice report delivery complaint schedule budget warranty survey licence training audit repair"),
    "fr": _words("facture livraison garantie réclamation commande mission formation expertise licence maintenance"),
}
PLAIN = {
    "en": (
        "The committee met for two hours and agreed that the {thing} could wait until the new figures are in.",
        "Nobody had expected the {thing} to take this long, least of all the people who had to sign it.",
        "If the weather holds, the work on the roof will be finished before the end of {month}.",
        "We compared three offers and chose the second, because it came with a longer {thing}.",
        "A copy of the {thing} is attached, together with the notes from the last meeting.",
        "Please read the second page carefully, since the conditions have changed there.",
        "Most of the delay was caused by parts that arrived late and in the wrong size.",
        "The figures for {month} are {number} per cent higher than those of the year before.",
        "It was raining when the lorry arrived, so the boxes were left in the entrance hall.",
        "Once the {thing} is approved, the remaining steps should take no more than {number} days.",
        "There are good reasons to keep things as they are, and better ones to change them slowly.",
        "The machine stops by itself when the temperature is too high, and starts again after a while.",
        "What we need most is a clear answer, even if it turns out to be an unpleasant one.",
        "In the meantime the old rules apply, with the exceptions that were listed in {month}.",
    ),
    "fr": (
        "La commission s'est réunie pendant deux heures et a décidé d'attendre les nouveaux chiffres.",
        "Personne ne s'attendait à ce que la {thing} prenne autant de temps, surtout en {month}.",
        "Si le temps le permet, les travaux de toiture seront terminés avant la fin du mois de {month}.",
        "Nous avons comparé trois offres et retenu la deuxième, parce qu'elle prévoit une {thing} plus longue.",
        "Une copie de la {thing} est jointe à ce courrier, avec les notes de la dernière réunion.",
        "Nous vous prions de lire attentivement la deuxième page, car les conditions y ont changé.",
        "Le retard vient surtout de pièces arrivées trop tard et dans une taille qui ne convenait pas.",
        "Les chiffres du mois de {month} dépassent de {number} pour cent ceux de l'année précédente.",
        "Il pleuvait à l'arrivée du camion, et les cartons sont donc restés dans le hall d'entrée.",
        "Une fois la {thing} acceptée, les étapes suivantes ne devraient pas demander plus de {number} jours.",
        "Il y a de bonnes raisons de ne rien changer, et de meilleures encore de changer sans hâte.",
        "La machine s'arrête d'elle-même lorsque la température est trop élevée, puis elle redémarre.",
        "Ce qu'il nous faut avant tout, c'est une réponse claire, même si elle doit être désagréable.",
        "Entre-temps, les anciennes règles s'appliquent, sauf les exceptions qui figurent en annexe.",
    ),
}
PERSONAL = {
    "en": (
        "{given} {family} from {company} called about the {thing} and will come to {town} next week.",
        "Please send the {thing} to {given} {family}, who is in charge of it since {month}.",
        "Mr {family} asked whether the {thing} could be sent to {mail} instead.",
        "You can reach {given} {family} on {phone_en} in the afternoon.",
        "Ms {family} of {company} signed the {thing} in {town} on {number} {month}.",
        "The deposit was paid from the account {iban} in the name of {given} {family}.",
    ),
    "fr": (
        "{given} {family}, de la société {company}, a téléphoné au sujet de la {thing} et viendra à {town}.",
        "Merci d'envoyer la {thing} à {given} {family}, qui s'en occupe depuis le mois de {month}.",
        "M. {family} a demandé si la {thing} pouvait être adressée à {mail}.",
        "{given} {family} peut être jointe l'après-midi au {phone_fr}.",
        "Mme {family}, de la société {company}, a signé la {thing} à {town} le {number} {month}.",
        "L'acompte a été versé depuis le compte {iban} ouvert au nom de {given} {family}.",
    ),
}
CLAUSES = (
    "Le prestataire s'engage à exécuter la {thing} conformément aux règles de l'art et dans les délais convenus.",
    "Le client met à la disposition du prestataire, sans frais, les locaux et les documents nécessaires à la {thing}.",
    "Toute modification du présent contrat doit faire l'objet d'un avenant écrit, signé par les deux parties.",
    "Les factures sont payables à {number} jours fin de mois, sous réserve de la réception de la {thing}.",
    "En cas de retard imputable au prestataire, une pénalité égale à {number} pour mille par jour est appliquée.",
    "Les parties conviennent de garder confidentielles les informations échangées à l'occasion de la {thing}.",
    "Le présent article s'applique également aux personnes que le prestataire se substitue dans l'exécution.",
    "La résiliation prend effet {number} jours après la réception d'une lettre recommandée restée sans réponse.",
    "À défaut d'accord amiable dans un délai de {number} jours, le litige est porté devant le tribunal compétent.",
    "Le prestataire déclare être assuré pour les dommages qui pourraient résulter de la {thing}.",
    "Aucune des parties ne peut être tenue pour responsable d'un manquement dû à un cas de force majeure.",
    "Les pièces annexées au présent contrat en font partie intégrante et sont paraphées par les parties.",
)
SIGNED = (
    "Pour l'exécution du présent article, le client est représenté par {title} {given} {family}.",
    "{title} {given} {family} en reçoit copie à l'adresse {mail}.",
    "Toute notification est adressée à {title} {given} {family}, joignable au {phone_fr}.",
    "Le règlement est effectué sur le compte {iban}, ouvert au nom de {title} {given} {family}.",
)
Maker = Callable[[int, int], str]
"""Makes a text of so many code points from a seed."""
NAMED = 0.3
"""Share of sentences that hold something personal."""


@dataclass(frozen=True)
class Contract:
    """A text and the full names that were planted in it."""

    text: str
    names: tuple[str, ...]


def natural(language: str, size: int, seed: int = 1) -> str:
    """Paragraphs of ordinary prose, `size` code points long; one sentence in three holds something personal."""
    return _cut(_paragraphs(language, Random(f"{language}{seed}"), NAMED), size)


def plain(language: str, size: int, seed: int = 1) -> str:
    """The same prose without anything personal."""
    return _cut(_paragraphs(language, Random(f"{language}{seed}"), 0.0), size)


def crowded(language: str, size: int, seed: int = 1) -> str:
    """The same prose, something personal in every sentence."""
    return _cut(_paragraphs(language, Random(f"{language}{seed}"), 1.0), size)


def contract(words: int, seed: int = 1) -> Contract:
    """A French contract of about `words` words, with a table of contents, articles, and one party in each article."""
    random = Random(seed)
    titles = [f"Article {number} – {random.choice(THINGS['fr']).capitalize()}" for number in range(1, 201)]
    contents = [f"{title} {'.' * (70 - len(title))} {page}" for page, title in enumerate(titles, 3)]
    parts = ["CONTRAT DE PRESTATION DE SERVICES", "\n".join(contents)]
    count = sum(len(part.split()) for part in parts)
    names: set[str] = set()
    while count < words:
        title, slots = random.choice(titles), _slots("fr", random)
        names.add(f"{slots['given']} {slots['family']}")
        sentences = [_fill(random.choice(CLAUSES), "fr", random) for _ in range(5)]
        sentences.insert(random.randrange(6), random.choice(SIGNED).format(**slots))
        parts += [title, " ".join(sentences)]
        count += len(title.split()) + sum(len(sentence.split()) for sentence in sentences)
    return Contract("\n\n".join(parts), tuple(sorted(names)))


def records(size: int, seed: int = 1) -> str:
    """JSON records of made-up people, one a line."""
    random, lines, length = Random(seed), list[str](), 0
    while length < size:
        slots = _slots("en", random)
        name, day = f"{slots['given']} {slots['family']}", f"2024-03-{random.randrange(10, 29)}"
        record = {"id": random.randrange(10**6), "name": name, "email": slots["mail"], "status": "open", "updated": day}
        lines.append(json.dumps(record))
        length += len(lines[-1]) + 1
    return "\n".join(lines)[:size]


def _repeat(unit: str) -> Maker:
    return lambda size, seed: (unit * (size // len(unit) + 1))[:size]


def _base64(size: int, seed: int) -> str:
    return "".join(Random(seed).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=size))


def _leaders(size: int, seed: int) -> str:
    return "".join(f"{number} Scope {'.' * 60} {number}\n" for number in range(seed, seed + size // 70 + 1))[:size]


HOSTILE: Mapping[str, Maker] = {
    "dotted leaders": _leaders,
    "`a:a:a:`": _repeat("a:"),
    "`123-45-`": _repeat("123-45-"),
    "`@@@@`": _repeat("@"),
    '`"a": "`': _repeat('"a": "'),
    "base64": _base64,
    "spaces": _repeat(" "),
    "capitals": _repeat("ANNA SCHMIDT "),
}
"""What each kind of text is called, and how it is made."""


def _paragraphs(language: str, random: Random, named: float) -> Iterator[str]:
    while True:
        sentences = []
        for _ in range(random.randrange(3, 8)):
            made = PERSONAL if random.random() < named else PLAIN
            sentences.append(_fill(random.choice(made[language]), language, random))
        yield " ".join(sentences)


def _cut(paragraphs: Iterator[str], size: int) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(next(paragraphs))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)[:size]


def _fill(sentence: str, language: str, random: Random) -> str:
    return sentence.format(**_slots(language, random))


def _slots(language: str, random: Random) -> dict[str, str]:
    given = random.choice(GIVEN)
    family = random.choice(FAMILY_HEADS) + random.choice(FAMILY_TAILS)
    digits = f"{random.randrange(10**8):08}"
    pairs = " ".join(digits[at : at + 2] for at in range(0, 8, 2))
    return {
        "given": given,
        "family": family,
        "title": random.choice(("Madame", "Monsieur")),
        "company": random.choice(COMPANIES),
        "town": random.choice(TOWNS[language]),
        "month": random.choice(MONTHS[language]),
        "thing": random.choice(THINGS[language]),
        "number": str(random.randrange(2, 29)),
        "mail": f"{family.lower()}{digits[:3]}@example.org",
        "phone_fr": f"06 {pairs}",
        "phone_en": f"020 7946 0{digits[:3]}",
        "iban": _iban(digits),
    }


def _iban(digits: str) -> str:
    """A German IBAN of a made-up account, with its check digits (ISO 13616)."""
    account = f"37040044{digits}00"
    check = 98 - int(account + "131400") % 97
    plain = f"DE{check:02}{account}"
    return " ".join(plain[at : at + 4] for at in range(0, len(plain), 4))

"""Is the value of a field, or what follows a greeting, the name of a person? By shape, words and label tier.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import re

from recognizers.code import is_camel, is_code
from recognizers.labels import Tier, normalise, person_tier
from recognizers.lexicon import Lexicon
from recognizers.shape import LEGAL_FORMS, Token, joined, tokens
from recognizers.words import CALENDAR, COMMON, FUNCTION, OFFICES, PARTICLES, SUFFIXES, TECHNICAL, TITLES, word_set

_STOP = re.compile(r"[\n\r\t|;<>{}\[\]()\"“”«»=/\\:&,!?\u2028\u2029]| {2,}| [-–—] |\S*[@0-9]")
_LEAD = re.compile(r"[ \t\"'“«*_`>\u00a0]*")
_LABEL_END = re.compile(r"[ \u00a0]?[:=]")
_MAX_WORDS = 5
NO_VALUE = word_set(
    "none null nil nan unknown n/a na tbd string text true false yes no oui non inconnu inconnue anonyme "
    "anonymous idem neant vide empty undefined required optional todo xxx test admin root user guest "
    "default system all any everyone there male female man woman homme femme masculin feminin adult "
    "adulte stable deceased minor team folks everybody guys world sir madam madame monsieur tous toutes "
    "equipe same other others"
)


def person_at(text: str, start: int, end: int, tier: Tier, lexicon: Lexicon) -> tuple[int, int] | None:
    """The person's name at the start of `text[start:end]`, or None."""
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    stop = _STOP.search(text, start, end)
    words = tokens(text, start, stop.start() if stop else end)
    if stop and len(words) > 1 and _LABEL_END.match(text, stop.start()) and person_tier(normalise(words[-1].text)):
        words = words[:-1]  # the label of the next field in the same line
    while words and words[0].folded in TITLES and (len(words) > 1 or tier < Tier.NAME):
        words = words[1:]
    if tier >= Tier.WEAK and len(words) > 1 and words[0].text[0].islower() and words[1].text[0].isupper():
        words = words if words[0].folded in PARTICLES or not lexicon.is_common(words[0].folded) else words[1:]
    run = _run(words, text)
    alone = bool(run) and not text[run[-1].end : end].strip(" \t\u00a0\"'*_`.,")
    if not run or not _acceptable(run, text, tier, lexicon, alone):
        return None
    last = run[-1]
    return run[0].start, last.end - 2 if re.search(r"['’][sS]$", last.text) and len(last.text) > 3 else last.end


def _run(words: list[Token], text: str) -> list[Token]:
    """The words up to the first that cannot belong to the name that the first word starts."""
    run: list[Token] = []
    if len(words) > 1 and words[0].folded in PARTICLES and words[0].text[0].islower():
        lead = 1 if not words[1].text[0].islower() else 2
        if len(words) > lead and not words[lead].text[0].islower() and words[lead - 1].folded in PARTICLES:
            rest = _run(words[lead:], text)
            return [*words[:lead], *rest] if rest else []
    for word in words[: _MAX_WORDS + 2]:
        if run and not joined(text, run[-1], word):
            break
        lower = word.text[0].islower()
        cased = bool(run) and not run[0].text[0].islower()
        if lower and cased and word.folded not in PARTICLES:
            break
        if (
            word.folded in FUNCTION
            and not (cased and (word.folded in PARTICLES or not lower))
            and not (not run and not lower)
        ):
            break
        if run and word.folded in CALENDAR and word.folded not in {"may", "april", "june"}:
            break
        run.append(word)
    while run and run[-1].text[0].islower() and run[-1].folded in PARTICLES | FUNCTION:
        run.pop()
    return run


def _acceptable(run: list[Token], text: str, tier: Tier, lexicon: Lexicon, alone: bool) -> bool:
    if len(run) > _MAX_WORDS or is_code(text, run[0].start, run[-1].end):
        return False
    folded = [word.folded for word in run if word.folded not in SUFFIXES]
    if not folded or not any(len(word) > 1 for word in folded):
        return False
    if all(word in FUNCTION | NO_VALUE | TECHNICAL | CALENDAR | TITLES for word in folded):
        return tier is Tier.NAME and len(folded) == 1 and folded[0] in {"will", "may", "june", "april"}
    if tier is Tier.NAME:
        return True
    if tier is Tier.TITLE:
        return not run[0].text[0].islower() and not all(word in OFFICES for word in folded)
    if folded[0] in NO_VALUE | TECHNICAL or any(word in LEGAL_FORMS for word in folded):
        return False
    if any(is_camel(word.text) for word in run):
        return False
    return _named(run, folded, tier, lexicon, alone)


def _named(run: list[Token], folded: list[str], tier: Tier, lexicon: Lexicon, alone: bool) -> bool:
    lower = run[-1].text[0].islower()
    if run[0].text.endswith(".") and len(run[0].folded) == 1 and len(run) > 1 and run[-1].text[0].isupper():
        return True
    plain = [lexicon.is_common(word) or word in COMMON for word in folded]
    given = [lexicon.is_given(word) for word in folded]
    first_given = given[0] and not plain[0]
    if tier is Tier.GUESS:
        frequent = folded[0] in lexicon.frequent and not plain[0]
        return first_given and len(folded) <= 3 if len(folded) > 1 else frequent
    if lower:
        if tier is Tier.WEAK:
            return first_given and len(folded) <= 3
        unknown = not any(plain) and (alone or len(folded) > 1)
        return len(folded) <= 3 and (first_given or unknown or (given[0] and len(folded) == 2 and not plain[1]))
    if len(folded) == 1:
        return first_given if tier is Tier.WEAK else (not plain[0] or (given[0] and folded[0] not in FUNCTION))
    return any(given) or not all(plain) if tier is Tier.ROLE else any(given) or not any(plain)

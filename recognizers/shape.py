"""From what a model marks as a name to the name itself: where it starts and ends, and whether it can be one.

Titles, possessives, punctuation and line breaks stay outside; initials, suffixes and particles inside.
May import: recognizers.base, recognizers.lexicon, recognizers.words, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from recognizers.base import fold
from recognizers.code import in_code, is_camel, is_code
from recognizers.lexicon import Lexicon
from recognizers.words import CALENDAR, FUNCTION, PARTICLES, SUFFIXES, TECHNICAL, TITLES, word_set

_MARK = r"\u0300-\u036f"
_LETTER = rf"[^\W\d_][{_MARK}]*"
_TOKEN = re.compile(rf"(?:{_LETTER})+(?:['’\-‐‑.](?:{_LETTER})+)*\.?")
_CUT = re.compile(r"[^\n\r\t\v\f|;:,<>(){}\[\]\"“”«»/\\=•*_#@&+~^!?\u2028\u2029]+|_")
_SOFT_CUT = re.compile(r"[^\n\r\t\v\f|;<>{}\[\]\"“”«»=\u2028\u2029]+")

_LOWER = frozenset(["max", "doc", "dev", "cyan", "alias", "lint", "synth"])
_ASIDE = word_set("reach client patient contact call email text ask tell meet defendant plaintiff witness")
"""Words with a capital at the start of a sentence or form, right before a given name."""
_DASH = frozenset("-_")
_MAX_TOKENS = 7

_EPONYM_BEFORE = re.compile(
    r"(?:syndrome|maladie|signe|score|test|echelle|indice|classification|manoeuvre|loi|theoreme|canal|ligament|"
    r"cellules?|corps|reflexe|nodule) (?:de la |de |du |d['’])$"
)
_EPONYM_AFTER = re.compile(
    r"(?:['’]s)? (?:disease|syndrome|scores?|catheter|sign|test|scale|index|reflex|maneuver|manoeuvre|law|theorem|"
    r"criteria|classification|lymphoma|palsy|method|algorithm|coma)\b"
)

LEGAL_FORMS = word_set(
    "inc ltd llc llp plc corp corporation company gmbh ag sas sarl eurl bv nv spa srl group groupe "
    "holding holdings bank banque university universite college hospital hopital clinic clinique "
    "foundation fondation association societe ministry ministere department departement club team agency "
    "agence services solutions systems ventures"
)
"""Words that say that a labelled value is not a person."""

ORGANISATION_WORDS = LEGAL_FORMS | word_set(
    "co sa sci school ecole lycee institute institut centre center society church eglise museum musee "
    "council conseil committee comite party parti union league fc court cour tribunal partners associates"
    " sons brothers freres international capital media press times post news journal street road avenue "
    "ave st blvd boulevard rue place square park lake river mount mont beach city county island islands "
    "bridge bay valley hill hills airport station stadium hotel cafe restaurant prize award cup"
)
"""Last or first words that say that a capitalised phrase is not a person."""


class Token(NamedTuple):
    start: int
    end: int
    text: str
    folded: str


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The words of `text[start:end]`; a point is kept only behind an initial or a suffix."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        at = match.start()
        title, point, rest = word.partition(".")
        if point and rest and fold(title) in TITLES and len(title) > 1:
            at, word = at + len(title) + 1, rest
        bare = word[:-1] if word.endswith(".") else word
        if word != bare and not (len(bare) == 1 or fold(bare) in SUFFIXES or "." in bare):
            word = bare
        found.append(Token(at, at + len(word), word, fold(bare)))
    return found


def persons(text: str, start: int, end: int, lexicon: Lexicon, strict: bool = False) -> list[tuple[int, int]]:
    """The persons inside a hit: none if it is code, a product or a plain word. `strict`: capitals prove nothing."""
    found: list[tuple[int, int]] = []
    for match in _CUT.finditer(text, start, end):
        words = [word for word in tokens(text, *match.span()) if not _is_half(text, word)]
        for run in _runs(words, text, lexicon):
            trimmed = _trim(run, lexicon)
            if trimmed and _is_person(text, trimmed, lexicon, strict):
                found.append((trimmed[0].start, _without_possessive(trimmed[-1])))
    return found


def _is_half(text: str, word: Token) -> bool:
    """Part of a code, or of an abbreviation (`lyon w/ hassan`)."""
    return _touches_digit(text, word) or (len(word.text) == 1 and text[word.end : word.end + 1] == "/")


def _touches_digit(text: str, word: Token) -> bool:
    """`S3`, `R2D2`, `INV-2024`: part of a code."""
    before, after = text[max(0, word.start - 2) : word.start], text[word.end : word.end + 2]
    return (
        before[-1:].isdigit()
        or after[:1].isdigit()
        or (after[:1] in _DASH and after[1:].isdigit())
        or (before[-1:] in _DASH and before[:-1].isdigit())
    )


def _runs(words: list[Token], text: str, lexicon: Lexicon) -> Iterator[list[Token]]:
    """Cuts at words that cannot stand inside a name: lower-case ones beside capitalised ones, grammar words."""
    cased = any(word.text[0].isupper() for word in words)
    run: list[Token] = []
    for word in words:
        if run and not joined(text, run[-1], word):
            yield run
            run = []
        lower = word.text[0].islower()
        breaks = lower and (word.folded not in PARTICLES if cased else word.folded in FUNCTION or _elided(word))
        if breaks:
            yield run
            run = []
        else:
            run.append(word)
    yield run


def _elided(word: Token) -> bool:
    """`c'est`, `m'appelle`: a French pronoun written together with its verb."""
    head, mark, _ = word.folded.replace("’", "'").partition("'")
    return bool(mark) and head in {"c", "j", "m", "n", "s", "t", "qu"}


def joined(text: str, left: Token, right: Token) -> bool:
    """True if only space or a hyphen lies between two words, or the point of an abbreviation (`St. John`)."""
    gap = text[left.end : right.start]
    if not gap.strip(" \u00a0") or gap in {"-", "'", "’"}:
        return len(gap) <= 2
    gap = gap.strip(" \u00a0")
    return gap == "." and (left.folded in TITLES or left.folded in {"st", "ste"})


def _trim(run: list[Token], lexicon: Lexicon) -> list[Token]:
    while run and _drops_at_start(run, lexicon):
        run = run[1:]
    while run and _drops_at_end(run[-1]):
        run = run[:-1]
    return run


def _drops_at_start(run: list[Token], lexicon: Lexicon) -> bool:
    word = run[0]
    if word.folded in TITLES and (len(word.folded) > 1 or word.text.endswith(".") is False or word.folded == "m"):
        return len(run) > 1 or not lexicon.is_given(word.folded)
    if word.folded in SUFFIXES:
        return True
    if word.folded in _ASIDE and len(run) > 1 and lexicon.is_given(run[1].folded):
        return True
    if word.folded in FUNCTION or word.folded in CALENDAR:
        kept = word.text[0].isupper() and len(run) > 1 and (lexicon.is_given(word.folded) or word.folded in PARTICLES)
        initial = len(word.folded) == 1 and word.text[0].isupper() and word.text.endswith(".") and len(run) > 1
        return not (kept or initial)
    return False


def _drops_at_end(word: Token) -> bool:
    if word.folded in SUFFIXES:
        return False
    lower = word.text[0].islower() or word.text in {"A", "Y", "O"}
    return (lower and (word.folded in PARTICLES or word.folded in FUNCTION)) or word.folded in CALENDAR - {
        "may",
        "april",
        "june",
    }


def _without_possessive(word: Token) -> int:
    return word.end - 2 if re.search(r"['’][sS]$", word.text) else word.end


def _is_person(text: str, run: list[Token], lexicon: Lexicon, strict: bool) -> bool:
    if len(run) > _MAX_TOKENS or not any(len(word.folded) > 1 for word in run):
        return False
    if all(word.folded in FUNCTION | CALENDAR | TITLES | TECHNICAL | SUFFIXES for word in run):
        return False
    if run[0].folded in TECHNICAL or run[-1].folded in TECHNICAL:
        return False
    if is_code(text, run[0].start, run[-1].end):
        return False
    if len(run) == 1:
        return (
            _is_single(run[0], lexicon, strict)
            and not _is_eponym(text, run[0])
            and not _is_heading(text, run[0], lexicon)
            and (lexicon.is_name(_stem(run[0])) or not in_code(text, run[0].start, run[0].end))
        )
    whole = [word for word in run if len(word.folded) > 1 and word.folded not in FUNCTION]
    if any(is_camel(word.text) for word in run) or (
        run[0].text[0].islower() and not lexicon.is_name(whole[0].folded if whole else "")
    ):
        return False
    if strict:
        return any(lexicon.is_name(_stem(word)) for word in whole)
    if whole and lexicon.is_given(whole[0].folded) and all(word.text[0].isupper() for word in whole):
        return True
    return any(not lexicon.is_common(_stem(word)) for word in whole)


def _is_eponym(text: str, word: Token) -> bool:
    """`syndrome de Raynaud`, `Foley catheter`: a thing that bears a name."""
    before = fold(text[max(0, word.start - 24) : word.start])
    after = fold(text[word.end : word.end + 24])
    return _EPONYM_BEFORE.search(before) is not None or _EPONYM_AFTER.match(after) is not None


def _is_heading(text: str, word: Token, lexicon: Lexicon) -> bool:
    """`Bill to:`, `Author:`: a plain word that begins a line, capitalised for that reason alone."""
    line_start = not text[max(0, word.start - 1) : word.start].strip(" \t>*#-\r\n")
    return (
        line_start
        and lexicon.is_common(_stem(word))
        and re.match(r"[ \t]*(?::|[ ][a-z])", text[word.end : word.end + 4]) is not None
    )


def _stem(word: Token) -> str:
    return re.sub(r"['’]s$", "", word.folded)


def _is_single(word: Token, lexicon: Lexicon, strict: bool) -> bool:
    stem = _stem(word)
    if strict or word.text[0].islower():
        return _is_sure(stem, lexicon)
    if is_camel(word.text):
        return False
    if word.text.isupper() and len(stem) <= 4:
        return stem in lexicon.frequent
    if lexicon.is_given(stem):
        return True
    return not (lexicon.is_common(stem) or len(stem) < 3 or "." in stem)


def _is_sure(word: str, lexicon: Lexicon) -> bool:
    """A given name alone and without a capital to speak for it: frequent, or too long for an abbreviation."""
    return lexicon.is_name(word) and (len(word) >= 5 or word in lexicon.frequent) and word not in _LOWER


def phrase(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The organisations or places inside a hit, without what surrounds them."""
    found: list[tuple[int, int]] = []
    for match in _SOFT_CUT.finditer(text, start, end):
        words = list(tokens(text, *match.span()))
        while words and words[0].text[0].islower() and words[0].folded in FUNCTION:
            words = words[1:]
        while words and words[-1].text[0].islower() and words[-1].folded in FUNCTION:
            words = words[:-1]
        if words and _is_phrase(text, words):
            found.append((words[0].start, _without_possessive(words[-1])))
    return found


def _is_phrase(text: str, words: list[Token]) -> bool:
    first, last = words[0], words[-1]
    if not any(len(word.folded) > 1 for word in words) or not any(word.text[0].isupper() for word in words):
        return False
    if all(word.folded in FUNCTION | CALENDAR | TITLES | TECHNICAL for word in words):
        return False
    if len(words) == 1 and (_touches_digit(text, first) or len(first.folded) < 2):
        return False
    return not is_code(text, first.start, last.end)


def looks_personal(text: str, start: int, end: int, lexicon: Lexicon, single: bool) -> bool:
    """True if a phrase that a model took for something else begins with a given name and is shaped like a person.

    `single` allows one word: only where the model's own label is one that places and firms do not get.
    """
    words = tokens(text, start, end)
    while words and words[0].folded in TITLES:
        words = words[1:]
    if not (1 if single else 2) <= len(words) <= 3 or not all(word.text[0].isupper() for word in words):
        return False
    if any(word.folded in ORGANISATION_WORDS or word.folded in TECHNICAL for word in words):
        return False
    first, rest = words[0], words[1:]
    return first.folded not in _LOWER and (
        (lexicon.is_given(_stem(first)) if rest else _is_sure(_stem(first), lexicon))
        and not lexicon.is_common(_stem(first))
        and not any(lexicon.is_common(_stem(word)) and len(word.folded) > 1 for word in rest)
    )

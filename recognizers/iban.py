"""International bank account numbers: found by country and check digits, walked to the length of their country.

Source: ISO 13616 and the IBAN registry kept by SWIFT; check digits ISO 7064 MOD 97-10.
May import: base, stdnum, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from types import MappingProxyType

from stdnum.iso7064 import mod_97_10

from recognizers.base import Rule, RuleRecognizer, Span, label_near

_REGISTRY = """
AD 4n4n12c AE 3n16n AL 8n16c AO 21n AT 5n11n AZ 4a20c BA 3n3n8n2n BE 3n7n2n BF 2c22n BG 4a4n2n8c BH 4a14c BI 5n5n11n2n
BJ 2c22n BR 8n5n10n1a1c BY 4c4n16c CF 23n CG 23n CH 5n12c CI 2c22n CM 23n CR 4n14n CV 21n CY 3n5n16c CZ 4n6n10n DE 8n10n
DJ 5n5n11n2n DK 4n9n1n DO 4c20n DZ 22n EE 2n2n11n1n EG 4n4n17n ES 4n4n1n1n10n FI 3n11n FK 2a12n FO 4n9n1n FR 5n5n11c2n
GA 23n GB 4a6n8n GE 2a16n GI 4a15c GL 4n9n1n GQ 23n GR 3n4n16c GT 4c20c GW 2c19n HN 4a20n HR 7n10n HU 3n4n1n15n1n
IE 4a6n8n IL 3n3n13n IQ 4a3n12n IR 22n IS 4n2n6n10n IT 1a5n5n12c JO 4a4n18c KM 23n KW 4a22c KZ 3n13c LB 4n20c LC 4a24c
LI 5n12c LT 5n11n LU 3n13c LV 4a13c LY 3n3n15n MA 24n MC 5n5n11c2n MD 2c18c ME 3n13n2n MG 23n MK 3n10c2n ML 2c22n
MN 4n12n MR 5n5n11n2n MT 4a5n18c MU 4a2n2n12n3n3a MZ 21n NE 2a22n NI 4a20n NL 4a10n NO 4n6n1n OM 3n16c PK 4a16c PL 8n16n
PS 4a21c PT 4n4n11n2n QA 4a21c RO 4a16c RS 3n13n2n RU 9n5n15c SA 2n18c SC 4a2n2n16n3a SD 2n12n SE 3n16n1n SI 5n8n2n
SK 4n6n10n SM 1a5n5n12c SN 2c22n SO 4n3n12n ST 4n4n11n2n SV 4a20n TD 23n TG 2c22n TL 3n14n2n TN 2n3n13n2n TR 5n1n16c
UA 6n19c VA 3n15n VG 4a16n XK 4n10n2n YE 4a4n18c
"""


def _expand(structure: str) -> str:
    return "".join(kind * int(count) for count, kind in re.findall(r"(\d+)([nac])", structure))


COUNTRIES = MappingProxyType(
    {country: "aann" + _expand(bban) for country, bban in zip(*[iter(_REGISTRY.split())] * 2, strict=True)}
)
"""Country code to one letter for every character of its IBAN: n digit, a letter, c either."""

SHORTEST, LONGEST = 15, 34
_SEPARATOR = re.compile(r"[ \t]*(?:\r?\n[ \t]*|[-._][ \t]*)?")
_MOST_SEPARATORS = 3

_LABELS = (
    "iban", "account", "bank account", "konto", "kontonummer", "bankverbindung", "compte", "compte bancaire", "rib",
    "cuenta", "conto", "conto corrente", "coordinate bancarie", "rekening", "rekeningnummer", "conta",
    "coordonnées bancaires", "virement", "überweisung", "wire transfer", "payable to", "cte", "kto", "domiciliation",
)  # fmt: skip


def iban_recognizer() -> IbanRecognizer:
    rule = Rule(
        entity="IBAN_CODE",
        name="iban",
        regex=r"[A-Za-z]{2}[ \-_]?[0-9] ?[0-9]",
        labels=_LABELS,
        bare=0.95,
        labelled=1.0,
        wrong=0.85,
        after=0,
    )
    return IbanRecognizer("iban", [rule])


class IbanRecognizer(RuleRecognizer):
    """Walks on from every candidate; the country's length, not the next blank, says where a number ends."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        done = 0
        for match in rule.pattern.finditer(text):
            start = match.start()
            if start < done or not _begins(text, start):
                continue
            found = _judge(rule, text, start)
            if found is not None:
                done = found[0]
                yield Span(start, found[0], rule.entity, found[1], f"{self.name}:{rule.name}", found[2])


def _begins(text: str, start: int) -> bool:
    """True where an account number can begin: at a boundary, or glued to its own label (`IBANDE89...`)."""
    left = text[start - 1 : start] if start else ""
    return not (left.isascii() and left.isalnum()) or text[max(0, start - 4) : start].upper() == "IBAN"


def _judge(rule: Rule, text: str, start: int) -> tuple[int, float, str] | None:
    """`(end, score, why)` of the account number that begins at `start`, or None."""
    kinds = COUNTRIES.get((text[start] + text[start + 1]).upper())
    if kinds is None:
        return _unknown_country(rule, text, start)
    fitting = _fitting(text, _walk(text, start), kinds)
    if fitting < SHORTEST - 3:
        return None
    places = list(_walk(text, start))
    label = label_near(text, start, start + 4, rule)
    if fitting == len(kinds) and _ends(text, places[fitting - 1] + 1):
        end = places[fitting - 1] + 1
        if _valid(text, places[:fitting]):
            return end, rule.labelled if label else rule.bare, "check passed"
        if label:
            return end, rule.wrong, f"check failed, label '{label}'"
        return (end, 0.5, "check failed, usual grouping") if _in_fours(text, start, places[:fitting]) else None
    if label:
        return _token_end(text, places, fitting), rule.wrong, f"check failed, label '{label}'"
    return None


def _walk(text: str, start: int) -> Iterator[int]:
    """Where the next letters and digits stand, over at most a few separators each, LONGEST in all."""
    count, at = 0, start
    while count < LONGEST and at < len(text):
        char = text[at]
        if char.isascii() and char.isalnum():
            yield at
            count, at = count + 1, at + 1
            continue
        gap = _SEPARATOR.match(text, at, min(len(text), at + _MOST_SEPARATORS))
        if gap is None or gap.end() == at:
            break
        at = gap.end()


def _fitting(text: str, places: Iterator[int], kinds: str) -> int:
    """How many characters fit the country's structure, from the first on."""
    count = 0
    for at, kind in zip(places, kinds, strict=False):
        char = text[at]
        if (kind == "n" and not char.isdigit()) or (kind == "a" and not char.isalpha()):
            break
        count += 1
    return count


def _ends(text: str, end: int) -> bool:
    right = text[end : end + 1]
    return not (right.isascii() and right.isalnum())


def _valid(text: str, places: list[int]) -> bool:
    number = "".join(text[at] for at in places).upper()
    return bool(mod_97_10.is_valid(number[4:] + number[:4]))


def _in_fours(text: str, start: int, places: list[int]) -> bool:
    """True if written in groups of four, the usual way on paper."""
    gaps = [index for index, (one, two) in enumerate(pairwise(places), 1) if two != one + 1]
    return gaps == list(range(4, len(places), 4))


def _token_end(text: str, places: list[int], count: int) -> int:
    """Behind the last fitting character, and behind what is glued to it."""
    end = places[count - 1] + 1
    while count < len(places) and places[count] == end:
        end += 1
        count += 1
    return end


def _unknown_country(rule: Rule, text: str, start: int) -> tuple[int, float, str] | None:
    """A country that the table does not know yet counts when the check digits are right, in capitals, at any length."""
    if not text[start : start + 2].isupper():
        return None
    places = list(_walk(text, start))
    if len(places) < SHORTEST or places[3] != start + 3:
        return None
    for count in range(len(places), SHORTEST - 1, -1):
        value = [text[at] for at in places[:count]]
        whole = _ends(text, places[count - 1] + 1) and sum(char.isdigit() for char in value) >= count * 0.6
        if whole and not any(char.islower() for char in value) and _valid(text, places[:count]):
            regular = places[count - 1] == start + count - 1 or _in_fours(text, start, places[:count])
            if regular or label_near(text, start, start + 4, rule):
                return places[count - 1] + 1, rule.bare - 0.15, "check passed, unknown country"
    return None

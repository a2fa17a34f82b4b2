"""Payment card numbers, found in chains of digit groups.

Source: ISO/IEC 7812 (length, Luhn check digit), issuer ranges as published by the card schemes.
May import: base, stdnum, the standard library.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from stdnum import luhn

from recognizers.base import Rule, RuleRecognizer, Span, digits, fold, label_near, no_fraction

SHORTEST, LONGEST = 12, 19

# First prefix, last prefix, lengths. Where ranges overlap, the longer prefixes come first within one first digit.
_ISSUERS: tuple[tuple[str, str, frozenset[int]], ...] = tuple(
    (first, last, frozenset(lengths))
    for first, last, lengths in (
        ("1800", "1800", (15,)),  # JCB, old
        ("2131", "2131", (15,)),
        ("2200", "2204", range(16, 20)),  # Mir
        ("2221", "2720", (16,)),  # Mastercard 2-series
        ("300", "305", range(14, 20)),  # Diners Club
        ("3095", "3095", range(14, 20)),
        ("34", "34", (15,)),  # American Express
        ("3528", "3589", range(16, 20)),  # JCB
        ("36", "36", range(14, 20)),
        ("37", "37", (15,)),
        ("38", "39", range(14, 20)),
        ("4", "4", (13, 16, 18, 19)),  # Visa
        ("5018", "5018", range(12, 20)),  # Maestro
        ("5020", "5020", range(12, 20)),
        ("5038", "5038", range(12, 20)),
        ("5061", "5061", range(16, 20)),  # Verve
        ("508", "508", (16,)),  # RuPay
        ("51", "55", (16,)),  # Mastercard
        ("56", "58", range(12, 20)),
        ("6011", "6011", range(16, 20)),  # Discover
        ("62", "62", range(16, 20)),  # UnionPay
        ("6304", "6304", range(12, 20)),
        ("636", "639", range(16, 20)),  # InterPayment, InstaPayment
        ("644", "649", range(16, 20)),
        ("65", "65", range(16, 20)),
        ("6759", "6759", range(12, 20)),
        ("6761", "6763", range(12, 20)),
        ("81", "82", range(16, 20)),  # UnionPay, RuPay
        ("9792", "9792", (16,)),  # Troy
    )
)
_STARTS = [first for first, _, _ in _ISSUERS]

_USUAL_GROUPS = """
4-4-4-4 4-4-4-4-1 4-4-4-4-2 4-4-4-4-3 4-6-5 4-6-4 4-4-4-3 4-4-4-1 4-4-4 4-4-5 6-13 6-10 8-8
"""
_USUAL = frozenset(tuple(map(int, sizes.split("-"))) for sizes in _USUAL_GROUPS.split())
_MOST_GROUPS = 6

_LABELS = (
    "card", "cards", "credit card", "debit card", "card number", "creditcard", "card no", "cc", "ccn", "pan", "visa",
    "mastercard", "amex", "american express", "diners", "discover", "maestro", "unionpay", "jcb", "carte", "cartes",
    "carte bancaire", "carte bleue", "cb", "numéro de carte", "karte", "kreditkarte", "kartennummer", "kartennr",
    "tarjeta", "carta", "carta di credito", "numero carta", "creditcardnummer", "cartão", "payment method",
)  # fmt: skip
_OTHER_NUMBER = re.compile(
    r"(?<![a-z0-9])(?:trace|span|order|request|req|transaction|tracking|ticket|invoice|ref|reference|id|ids|uid|serial|sku|ean"
    r"|gtin|imei"
    r"|iccid|isbn|timestamp|time|ts|epoch|nonce|seed|hash|commande|facture|suivi|numero de serie|bestellung|rechnung"
    r"|auftrag|sendung|pedido|factura|ordine|fattura|build|revision|version|offset|run|job|case)s?"
    r"(?:[\s_\-]*(?:id|no|nr|number|numero|nummer|num|key|n))?[\s\"'_.:=#°\-]*$"
)


class _Group(NamedTuple):
    start: int
    end: int
    gap: str
    """What stands between this group and the one before it in the chain."""


def card_recognizer() -> CardRecognizer:
    rule = Rule(
        entity="CREDIT_CARD",
        name="card",
        regex=r"[0-9]+(?:(?: ?[\-._/] ?| {1,2}|[ \t]?\r?\n)[0-9]+)*",
        check=luhn_and_issuer,
        labels=_LABELS,
        bare=0.8,
        grouped=0.95,
        labelled=1.0,
        wrong=0.75,
        after=25,
    )
    return CardRecognizer("card", [rule])


def luhn_and_issuer(value: str) -> bool:
    number = digits(value)
    return issuer(number) and bool(luhn.is_valid(number)) and len(set(number)) > 1


def issuer(number: str) -> bool:
    """True if a known scheme issues numbers with this beginning and length."""
    for first, last, lengths in _ISSUERS[max(0, bisect_right(_STARTS, number) - 3) : bisect_right(_STARTS, number)]:
        if first <= number[: len(first)] and number[: len(last)] <= last and len(number) in lengths:
            return True
    return False


class CardRecognizer(RuleRecognizer):
    """Looks at runs of neighbouring digit groups that together have the length of a card number."""

    def spans(self, rule: Rule, text: str) -> Iterator[Span]:
        for chain in rule.pattern.finditer(text):
            if chain.end() - chain.start() < SHORTEST:
                continue
            groups = _groups(text, chain.start(), chain.end())
            if sum(group.end - group.start for group in groups) < SHORTEST:
                continue
            index = 0
            while index < len(groups):
                count, score, why = self._best(rule, text, groups, index)
                if count:
                    start, end = groups[index].start, groups[index + count - 1].end
                    yield Span(start, end, rule.entity, score, f"{self.name}:{rule.name}", why)
                index += max(count, 1)

    def _best(self, rule: Rule, text: str, groups: list[_Group], index: int) -> tuple[int, float, str]:
        """How many groups from `index` on make a card number (0: none), with score and reason; the longest wins."""
        found = (0, 0.0, "")
        for count, total in _windows(groups, index):
            window = groups[index : index + count]
            value = text[window[0].start : window[-1].end]
            sizes = tuple(group.end - group.start for group in window)
            usual = sizes in _USUAL or len(sizes) == 1
            valid = luhn_and_issuer(value)
            lined = _lined(window) and valid and usual
            if not (valid or usual) or not (_uniform(window) or lined) or (_slashed(window) and not usual):
                continue
            score, why = _score(rule, text, groups, index, count, valid=valid, usual=usual, total=total)
            if lined and not why.endswith("'"):  # a column of numbers, unless a label says what they are
                continue
            if score and score >= found[1]:
                found = (count, score, why)
        return found


def _groups(text: str, start: int, end: int) -> list[_Group]:
    groups, before = [], start
    for match in _DIGITS.finditer(text, start, end):
        groups.append(_Group(match.start(), match.end(), text[before : match.start()]))
        before = match.end()
    return groups


_DIGITS = re.compile(r"[0-9]+")


def _windows(groups: list[_Group], index: int) -> Iterator[tuple[int, int]]:
    """Counts of groups whose digits add up to the length of a card, with the number of digits."""
    total = 0
    for count, group in enumerate(groups[index : index + _MOST_GROUPS], 1):
        size = group.end - group.start
        total += size
        if total > LONGEST or (size == 1 and total < SHORTEST):
            return
        if total >= SHORTEST:
            yield count, total


def _uniform(window: list[_Group]) -> bool:
    """One kind of separator throughout; a line may have been wrapped once."""
    kinds = [group.gap.strip() or " " for group in window[1:] if "\n" not in group.gap]
    return len(set(kinds)) <= 1 and len(window) - 1 - len(kinds) <= 1


def _lined(window: list[_Group]) -> bool:
    """Every group on a line of its own."""
    return len(window) > 2 and all("\n" in group.gap for group in window[1:])


def _slashed(window: list[_Group]) -> bool:
    return any("/" in group.gap for group in window[1:])


def _score(
    rule: Rule, text: str, groups: list[_Group], index: int, count: int, *, valid: bool, usual: bool, total: int
) -> tuple[float, str]:
    start, end = groups[index].start, groups[index + count - 1].end
    if not _stands_alone(text, start, end):
        return 0.0, ""
    label = label_near(text, start, end, rule)
    checked = "check passed" if valid else "check failed"
    if label:
        if valid:
            return rule.labelled, f"{checked}, label '{label}'"
        near = _directly_labelled(rule, text, start)
        plausible = usual and total >= 13 and near and text[start : start + 1] in "23456"
        return (rule.wrong if plausible else 0.0), f"{checked}, label '{label}'"
    if not valid or _glued(text, start):
        return 0.0, ""
    if not (usual and count > 1) and _OTHER_NUMBER.search(fold(text[max(0, start - 30) : start])):
        return 0.0, ""  # nobody writes another number in a card's groups
    if count > 1:
        window = groups[index : index + count]
        if _in_table(groups, index, count):
            return 0.0, ""
        if any("\n" in group.gap for group in window[1:]):
            broken = window[0].end - window[0].start == 4 and all(group.end - group.start >= 3 for group in window)
            return (0.5 if usual or broken else 0.0), checked
        return (rule.grouped or 0.0) if usual else 0.4, f"{checked}, usual grouping" if usual else checked
    return (rule.bare if total > 13 else 0.0), checked


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not a piece of a longer word, UUID, decimal fraction or dotted number, and not a phone number."""
    before, left = text[max(0, start - 2) : start - 1 if start else 0], text[start - 1 : start] if start else ""
    right, after = text[end : end + 1], text[end + 1 : end + 2]
    if _alnum(left) or _alnum(right) or left == "+" or before + left == "+ ":
        return False
    if left in ("-", ".", "_") and before.isdigit():
        return False
    if right == "." and no_fraction(text, end):
        return True
    return not (right in ("-", ".") and _alnum(after) and (right == "-" or after.isdigit()))


def _alnum(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _glued(text: str, start: int) -> bool:
    """Behind `call_`, `id-` or in the path of a URL a number belongs to an identifier."""
    left = text[start - 1 : start] if start else ""
    return left in ("_", "-", "/") and text[max(0, start - 2) : start - 1].isalnum()


def _directly_labelled(rule: Rule, text: str, start: int) -> bool:
    """A wrong check digit needs the label right before the number, with only filler words between."""
    pattern = rule.label_pattern
    lead = fold(text[max(0, start - 40) : start])
    found = list(pattern.finditer(lead)) if pattern else []
    return bool(found) and _FILLER.fullmatch(lead[found[-1].end() :]) is not None


_FILLER = re.compile(
    r"(?:[\s:=#\"'().\-]|number|no|nr|num|numero|nummer|n°|is|est|ist|es|e|de|my|the|card|carte|bancaire)*"
)


def _in_table(groups: list[_Group], index: int, count: int) -> bool:
    """Groups of four that go on to the left or right are a table of numbers."""
    left = index > 0 and groups[index].gap.strip() == "" and groups[index - 1].end - groups[index - 1].start == 4
    after = groups[index + count] if index + count < len(groups) else None
    return left or (after is not None and after.gap.strip() == "" and after.end - after.start == 4)

"""Searching excerpts, and only where a pattern can begin, finds what searching everything finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import texts
from recognizers import address, streets
from recognizers.analyzer import Settings, built_in
from recognizers.base import RuleRecognizer, Span, compile_re2
from recognizers.excerpt import DigitPlaces, Excerpt, around
from recognizers.extent import Extent, extent
from recognizers.guarded import Guarded
from recognizers.patterns import DENSE, Patterns
from recognizers.salutations import _RULES as SPOKEN
from recognizers.salutations import _SEARCHES as SEARCHED

ROOT = Path(__file__).parent.parent
OWNERS = [
    made
    for made in built_in(Settings())
    if isinstance(made, RuleRecognizer) and type(made).spans is RuleRecognizer.spans and made.name != "address"
]
PATTERNS = Patterns(OWNERS, frozenset(rule.entity for owner in OWNERS for rule in owner.rules))
ADDRESSES = address.AddressRecognizer("address", address.RULES)
EXAMPLES = [
    *(entity.example for module in (address,) for entity in module.ENTITIES),
    *"""999 Nowhere Rest Suite 381, Fort Test, HI 99998|12 Acacia Road, London SW1A 1AA|NIR 1 85 05 78 006 084 91
SSN: 536-90-4399|IBAN FR76 3000 6000 0112 3456 7890 189|12 bis, rue de la République, 69003 Lyon
Steuer-ID 65 929 970 489
Rose Cottage, Church Lane, Testbridge, BT1 2AB|Lieu-dit Le Test, 24200 Essai-sur-Rien|née le 3.4.1975|PESEL 44051401359
Kungsgatan 12, 111 43 Stockholm|I live at 4 Privet Drive, Little Whinging|Address: 12 High Street, Leeds
sort code 20-00-00
Calle Mayor 3, 28013 Madrid|Rua Augusta 12, 1100-053 Lisboa|account no. 12345678|IPP 800123456
numéro SIRET 732 829 320 00074
the office is at 44 Long Walk, 2031 Bergen|domiciliée au 3 place du 8 Mai 1945, 44000 Essaiville""".replace(
        "\n", "|"
    ).split("|"),
]
PIECES = st.one_of(
    st.sampled_from(EXAMPLES),
    st.sampled_from(["\n", "\n\n", " ", ", ", ".", " the ", "2024 ", " 12 March ", "x" * 200, "é" * 90, "\0"]),
    st.text("0123456789 -./,:ABCabcéß\n", max_size=40),
    st.integers(0, 400).map(lambda count: "word " * count),
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def naive(text: str) -> list[Span]:
    return [span for owner in OWNERS for rule in owner.rules for span in owner.spans(rule, text)]


def addresses(text: str) -> list[Span]:
    spans = (span for rule in ADDRESSES.rules for span in ADDRESSES.spans(rule, text))
    best = address._best([kept for span in spans if (kept := address._trimmed(span, text))])
    return address._best([address._whole(span, text) for span in best])


@given(TEXTS)
@settings(max_examples=60)
def test_rules_find_in_excerpts_what_they_find_in_the_text(text: str) -> None:
    assert sorted(PATTERNS._match(text)) == sorted(naive(text))


@given(TEXTS)
@settings(max_examples=40)
def test_addresses_are_found_near_their_needs(text: str) -> None:
    found = ADDRESSES.analyze(text, ["ADDRESS"])
    assert [(hit.start, hit.end, hit.score) for hit in found] == [(*span[:2], span.score) for span in addresses(text)]


@pytest.mark.parametrize("kind", ["en", "fr", "records"])
def test_pages_of_text_are_read_alike(kind: str) -> None:
    page = texts.records(8_000, 3) if kind == "records" else texts.natural(kind, 8_000, 3)
    text = page + "\n\n" + "\n".join(EXAMPLES) + "\n\n" + page
    assert sorted(PATTERNS._match(text)) == sorted(naive(text))
    found = ADDRESSES.analyze(text, ["ADDRESS"])
    assert found
    assert [(hit.start, hit.end) for hit in found] == [span[:2] for span in addresses(text)]


def test_most_rules_say_where_they_can_match() -> None:
    known = [dense for rule in (rule for owner in OWNERS for rule in owner.rules) if (dense := _dense(rule.regex))]
    assert len(known) > 100


def _dense(regex: str) -> bool:
    digits, width = extent(regex)
    return width is not None and any(digits >= least and width <= most for least, most in DENSE)


@pytest.mark.parametrize("name", [*streets.NEEDS, *streets.LEADS])
def test_what_a_pattern_needs_looks_at_itself_only(name: str) -> None:
    assert {name} <= {rule.name for rule in ADDRESSES.rules}
    need = streets.LEADS.get(name) or streets.NEEDS[name]
    assert not re.search(r"\\[bBAz]|\^(?!\])|\$", re.sub(r"\[[^\]]*\]", "", need))
    assert extent(next(rule.regex for rule in ADDRESSES.rules if rule.name == name)).width is not None


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r"\d{3}-\d{2}", Extent(5, 6)),
        (r"(?i:label) ?(?P<v>[0-9]{6,8})\b", Extent(6, 14)),
        (r"\p{Lu}\pL{0,3}|[\pL\d]{2}", Extent(0, 4)),
        (r"(?i)[\x{a0} ]?1+", Extent(1, None)),
        (r"[^\d]\d?", Extent(0, 2)),
        (r"(?:12|345)\z", Extent(2, 3)),
        (r"(", Extent(0, None)),
    ],
)
def test_an_extent_is_read_off_the_pattern(regex: str, expected: Extent) -> None:
    assert extent(regex) == expected


@given(st.lists(st.sampled_from(["7", "x", "ab", "\n", "é", "yz" * 20]), max_size=60).map("".join))
def test_an_excerpt_hides_nothing_and_invents_nothing(text: str) -> None:
    pattern = compile_re2(r"(?m)(?:\A|\b|^)x?(?:7[a-z\n]{0,2}){2}(?P<v>[^7]?)$|\b77")
    everywhere = [match.span() for match in pattern.finditer(text)]
    assert list(DigitPlaces(text).close(2, 8).spans(pattern)) == everywhere
    sevens = [match.span() for match in re.finditer("7", text)]
    assert list(around(text, sevens, 8, before=8).spans(pattern)) == everywhere
    assert list(Excerpt(text).spans(pattern)) == everywhere


def test_an_excerpt_is_shorter_than_its_text() -> None:
    text = "word " * 400 + "id 123456 " + "word " * 400
    assert len(DigitPlaces(text).close(6, 40).text) < 200
    assert DigitPlaces("no number").close(6, 40).text == ""
    assert around(text, [], 40, before=0).text == ""


def test_a_group_without_a_part_has_no_place() -> None:
    pattern = compile_re2(r"1(?P<v>a)?")
    assert list(around("." * 99 + "1", [(99, 100)], 3, before=3).spans(pattern, 1)) == [(-1, -1)]


HEADS = (
    "my name is|I'm|im|this is|It is|ici|je suis|client|Frau|son|yo soy|Dr.|Mr|M.|Prof.ssa|Señora|épouse|"
    "\u017fon|KUNDE|\u0130ci|\u0131t is"
)


@pytest.mark.parametrize(("guarded", "plain"), [(a, b) for (a, *_), (b, *_) in zip(SEARCHED, SPOKEN, strict=True)])
@given(
    text=st.lists(
        st.sampled_from([*HEADS.split("|"), " ", "  ", "\u00a0", "\n", "é", "x", ".", "'", "Mira", "a", "_"]),
        max_size=24,
    ).map("".join)
)
@settings(max_examples=40)
def test_a_guarded_pattern_matches_as_the_pattern_does(guarded: Guarded, plain: re.Pattern[str], text: str) -> None:
    assert [match.span() for match in guarded.finditer(text)] == [match.span() for match in plain.finditer(text)]
    assert isinstance(guarded, Guarded) or not plain.pattern.startswith(("(?i)\\b", "\\b"))

"""The analyzer as a whole: windows, labels, cells, names, one verdict on overlaps, nothing kept between calls."""

from __future__ import annotations

import itertools
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers import ENTITIES
from recognizers.analyzer import Analyzer, Item, Settings
from recognizers.base import Span
from recognizers.blocks import MOST, blocks
from recognizers.overlap import evidence, resolve

DEFAULT = frozenset(ENTITIES) - {"ORGANIZATION", "LOCATION", "DATE_TIME", "COMPANY_ID", "ICD_CODE"}


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    built = Analyzer(Settings(entities=DEFAULT))
    built.load()
    return built


@pytest.fixture(scope="module")
def patterns() -> Analyzer:
    return Analyzer(Settings(entities=DEFAULT))


def redacted(analyzer: Analyzer, text: str, label: str = "", names: bool = True) -> str:
    for span in reversed(analyzer.analyze([Item(text, label, names)])[0]):
        text = text[: span.start] + f"<{span.entity}>" + text[span.end :]
    return text


def test_every_built_in_example_is_found(analyzer: Analyzer) -> None:
    rows = [row for row in ENTITIES.values() if row.name in DEFAULT]
    results = analyzer.analyze([Item(row.example) for row in rows])
    missed = [
        row.name
        for row, spans in zip(rows, results, strict=True)
        if not any(
            s.entity == row.name
            and s.start <= row.example.index(row.value)
            and row.example.index(row.value) + len(row.value) <= s.end
            for s in spans
        )
    ]
    assert missed == []


def test_structured_text(analyzer: Analyzer) -> None:
    text = (
        'Clean this record: {"first_name": "Mira", "last_name": "Tallow"}\nid,first,last\n7,Mira,Tallow\n'
        "8,Omar,Benhaddou\nKind regards,\nmira tallow"
    )
    assert redacted(analyzer, text) == (
        'Clean this record: {"first_name": "<PERSON>", "last_name": "<PERSON>"}\nid,first,last\n7,<PERSON>,<PERSON>\n'
        "8,<PERSON>,<PERSON>\nKind regards,\n<PERSON>"
    )


def test_layout_outside_spans_survives(analyzer: Analyzer) -> None:
    text = "Thanks!\nMira\n\nMira Tallow | Marketing | see you"
    assert redacted(analyzer, text) == "Thanks!\n<PERSON>\n\n<PERSON> | Marketing | see you"
    assert redacted(analyzer, "Use Erika's laptop. Erika said Erika’s file is gone.") == (
        "Use <PERSON>'s laptop. <PERSON> said <PERSON>’s file is gone."
    )


def test_offsets_in_text_that_had_to_be_normalised(analyzer: Analyzer) -> None:
    text = "👩‍⚕️👨‍👩‍👧 Dr. Mira Tallow 👍🏽 saw Ju\u0308rgen O\u0308stermann"
    assert redacted(analyzer, text) == "👩‍⚕️👨‍👩‍👧 <TITLE> <PERSON> 👍🏽 saw <PERSON>"


def test_a_label_above_the_text_counts_and_is_not_part_of_it(analyzer: Analyzer) -> None:
    assert redacted(analyzer, "rose", label="first name") == "<PERSON>"
    assert redacted(analyzer, "rose") == "rose"
    assert redacted(analyzer, "00517733", label="medical record number") == "<MEDICAL_RECORD>"
    assert redacted(analyzer, "00517733") == "00517733"


def test_a_column_head_labels_its_cells(analyzer: Analyzer) -> None:
    text = "| MRN | Name | Qty |\n|---|---|---|\n| 00517733 | Mira Tallow | 00517734 |"
    assert redacted(analyzer, text) == "| MRN | Name | Qty |\n|---|---|---|\n| <MEDICAL_RECORD> | <PERSON> | 00517734 |"


def test_names_are_not_looked_for_where_they_cannot_be(analyzer: Analyzer) -> None:
    text = "Mira Tallow mira@example.com"
    assert redacted(analyzer, text, names=False) == "Mira Tallow <EMAIL_ADDRESS>"


def test_only_wanted_entities_are_reported_and_others_enlarge_nothing() -> None:
    text = "Write to mira@example.com, card 4000005260181590"
    only = Analyzer(Settings(entities=frozenset({"CREDIT_CARD"})))
    only.load()
    assert redacted(only, text) == "Write to mira@example.com, card <CREDIT_CARD>"


def test_spans_say_who_found_them_and_why(analyzer: Analyzer) -> None:
    text = "Patient: Mira Tallow. Please ask Omar Benhaddou, mira@example.com, card 4000005260181590"
    spans = analyzer.analyze([Item(text)])[0]
    assert len(spans) == 4
    assert all(span.recognizer and span.why for span in spans)
    assert not any(text[span.start : span.end] in span.why + span.recognizer for span in spans)


def test_equal_items_give_equal_spans_whatever_came_before(analyzer: Analyzer) -> None:
    texts = [
        "Ask Mira Tallow (mira@example.com).",
        "Bonjour Madame Lefort,\n06 12 34 56 78",
        "x",
        "",
        "name: Omar\n" * 30,
    ]
    alone = [analyzer.analyze([Item(text)])[0] for text in texts]
    shuffled = list(range(len(texts))) * 3
    random.Random(7).shuffle(shuffled)
    together = analyzer.analyze([Item(texts[index]) for index in shuffled])
    assert together == [alone[index] for index in shuffled]


def test_a_name_behind_a_long_text_is_found(analyzer: Analyzer) -> None:
    text = "This is neutral filler text. " * 400 + "Meeting with Mira Tallow tomorrow."
    assert redacted(analyzer, text).endswith("Meeting with <PERSON> tomorrow.")


@pytest.mark.parametrize(
    "unit", ["a:", "123-45-", "a.", "@a", '"a": "', "nom : ", "1,2\n", "\u0301", "Dr. ", "| a ", "<a>", "'"]
)
def test_hostile_text_hides_nothing_behind_it(analyzer: Analyzer, unit: str) -> None:
    text = unit * 3000 + "\n\nWrite to omar.b@example.org, please."
    assert "omar.b@" not in redacted(analyzer, text)


SAMPLE = (
    "Card 4000 0052 6018 1590, IBAN DE83 7099 9999 0123 4567 89, mail mira.tallow@example.com, call +44 20 7946 0123. "
    "Born on 14 March 1988. MRN: 00517733. Some more words to fill the line, nothing in them.\n"
)


@pytest.mark.parametrize("shift", range(0, 2000, 131))
def test_a_value_is_found_wherever_the_seam_falls(patterns: Analyzer, shift: int) -> None:
    text = (
        "word " * ((2000 - shift) // 5)
        + "x" * (shift % 5)
        + " mira.tallow@example.com 4000005260181590"
        + " word" * 400
    )
    seamed = {s for s in patterns.patterns(text, window=2000) if s.entity in {"EMAIL_ADDRESS", "CREDIT_CARD"}}
    assert {text[s.start : s.end] for s in seamed} == {"mira.tallow@example.com", "4000005260181590"}


@pytest.mark.parametrize("window", [97, 500, 1000, 4999])
def test_the_same_spans_for_any_cut(patterns: Analyzer, window: int) -> None:
    text = SAMPLE * 12
    assert sorted(patterns.patterns(text, window=window)) == sorted(patterns.patterns(text))


@pytest.mark.parametrize(("ending", "proven"), [("19", True), ("91", False)])
def test_what_is_proven_is_judged_beside_every_other_number(ending: str, proven: bool, patterns: Analyzer) -> None:
    text = f"Pay GB29 NWBK 6016 1331 9268 {ending}\nAlso +33 6 12 34 56 78"
    found = [(span.entity, text[span.start : span.end]) for span in patterns.proven([text, "", text[40:]])[0]]
    assert found == ([("IBAN_CODE", text[4:31]), ("PHONE_NUMBER", "+33 6 12 34 56 78")] if proven else [])


def test_settings_travel_to_workers() -> None:
    settings = Settings(entities=DEFAULT)
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301


@given(st.text(alphabet="ab .\n", max_size=60).map(lambda part: part * 200))
def test_blocks_cover_the_text_in_order(text: str) -> None:
    cut = list(blocks(text))
    assert "".join(text[start:end] for start, end in cut) == text
    assert all(0 < end - start <= MOST + 4 for start, end in cut)


WHYS = ["check passed", "pattern", "label 'x'", "model PER"]
SPANS = st.builds(
    lambda start, size, entity, score, recognizer, why: Span(start, start + size, entity, score, recognizer, why),
    st.integers(0, 40),
    st.integers(1, 15),
    st.sampled_from(["PERSON", "EMAIL_ADDRESS", "CREDIT_CARD", "ADDRESS"]),
    st.sampled_from([0.4, 0.85, 1.0]),
    st.sampled_from(["cards", "names:en", "structure", "known", "contact:mail"]),
    st.sampled_from(WHYS),
)
TEXT = "abc de fg-hi " * 5


def test_evidence_of_every_kind_is_kept_beside_what_decided() -> None:
    card = Span(0, 9, "CREDIT_CARD", 1.0, "cards:card", "check passed")
    spans = [
        card,
        Span(0, 9, "CREDIT_CARD", 0.9, "structure:field", "label 'card'"),
        Span(2, 9, "CREDIT_CARD", 0.7, "onnx:net", "model CARD"),
        Span(3, 6, "PERSON", 0.85, "names:en", "model PERSON"),
    ]
    (found,) = resolve(spans, TEXT)
    assert found[:6] == card[:6]
    assert found.also == (
        "model onnx:net 0.70 model CARD",
        "structure structure:field 0.90 label 'card'",
    )
    assert resolve([found, *spans], TEXT) == [found]
    assert evidence("known", 0.55, "known value") == "known"
    assert evidence("contact:mail", 0.9, "pattern") == "pattern"


@given(st.lists(SPANS, max_size=12))
def test_resolved_spans_are_disjoint_and_cover_every_hit_and_only_hits(spans: list[Span]) -> None:
    found = resolve(spans, TEXT)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    hit = {at for span in spans for at in range(span.start, span.end)}
    covered = {at for span in found for at in range(span.start, span.end)}
    assert hit <= covered
    assert all(TEXT[at] == " " for at in covered - hit)


@given(st.lists(SPANS, max_size=12), st.randoms())
def test_resolving_does_not_depend_on_order_and_is_stable(spans: list[Span], rng: random.Random) -> None:
    found = resolve(spans, TEXT)
    rng.shuffle(spans)
    assert resolve(spans, TEXT) == found
    assert resolve(found, TEXT) == found


@given(st.lists(SPANS, min_size=1, max_size=12))
def test_no_hit_is_divided_between_two_findings(spans: list[Span]) -> None:
    found = resolve(spans, TEXT)
    assert all(sum(f.start <= span.start and span.end <= f.end for f in found) == 1 for span in spans)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 30, "EMAIL_ADDRESS", "contact"), (4, 20, "CREDIT_CARD", "checked")], [(0, 30, "EMAIL_ADDRESS")]),
        ([(6, 18, "PERSON", "names:en"), (11, 22, "PERSON", "names:fr")], [(6, 22, "PERSON")]),
        ([(0, 20, "ADDRESS", "address"), (2, 8, "PERSON", "names:en")], [(0, 20, "ADDRESS")]),
        ([(0, 24, "PERSON", "names:en"), (4, 20, "CREDIT_CARD", "checked")], [(0, 24, "CREDIT_CARD")]),
        ([(0, 12, "PHONE_NUMBER", "phone"), (0, 12, "UK_NHS", "checked")], [(0, 12, "UK_NHS")]),
        ([(0, 3, "PERSON", "names:en"), (4, 6, "PERSON", "names:en")], [(0, 6, "PERSON")]),
        ([(0, 3, "PERSON", "names:en"), (4, 6, "ADDRESS", "address")], [(0, 3, "PERSON"), (4, 6, "ADDRESS")]),
        ([(0, 3, "ADDRESS", "address"), (4, 6, "LOCATION", "names:en")], [(0, 6, "ADDRESS")]),
        ([(0, 3, "LOCATION", "names:en"), (4, 6, "ADDRESS", "address")], [(0, 3, "LOCATION"), (4, 6, "ADDRESS")]),
        ([(3, 3, "PERSON", "names:en")], []),
    ],
)
def test_who_names_a_union(spans: list[tuple[int, int, str, str]], expected: list[tuple[int, int, str]]) -> None:
    hits = [
        Span(*hit, 0.9, found_by, "check passed" if found_by == "checked" else "pattern") for *hit, found_by in spans
    ]
    assert [(s.start, s.end, s.entity) for s in resolve(hits, TEXT)] == expected

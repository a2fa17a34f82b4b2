"""Agreement of spans, counted by hand on small documents; and the tables that `make eval` prints."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.eval import documents, figures, measure, scheme, tables
from benchmarks.score import Document, Result, Span, score

TYPES = {
    "types": {
        "PERSON": {"required": True, "presidio": ["PERSON"]},
        "EMAIL": {"required": True, "presidio": ["EMAIL_ADDRESS"]},
        "DATE": {"required": False, "presidio": ["DATE_TIME"]},
    },
    "compatible": {"_doc": "-", "DATE": ["PERSON"]},
}
TEXT = "Mira Tallow wrote."


def one(*predicted: Span, spans: tuple[Span, ...] = (Span(0, 11, "PERSON"),), text: str = TEXT) -> Result:
    return score(Document("1", text, spans), predicted, {})


def test_a_span_is_masked_when_all_but_its_spaces_is_covered() -> None:
    whole = one(Span(0, 4, "PERSON"), Span(5, 11, "EMAIL")).whole
    assert (whole.masked, whole.leak, whole.overmasked, whole.precision) == (1.0, 0.0, 0.0, 0.5)


def test_a_part_leaks_its_characters() -> None:
    whole = one(Span(0, 4, "PERSON")).whole
    assert (whole.masked, whole.leak) == (0.0, 0.6)


def test_what_lies_outside_is_over() -> None:
    assert one(Span(0, 17, "PERSON")).whole.overmasked == 5 / 6


def test_an_unrequired_span_is_neither_asked_for_nor_punished() -> None:
    whole = one(Span(0, 11, "DATE"), spans=(Span(0, 11, "PERSON", required=False),)).whole
    assert (whole.masked, whole.leak, whole.overmasked, whole.predicted) == (None, None, 0.0, 0)


def test_a_clean_document_is_touched_or_not() -> None:
    assert one(Span(0, 4, "PERSON"), spans=()).whole.touched == 1.0
    assert one(spans=()).whole.touched == 0.0


def test_a_scope_excuses_other_kinds() -> None:
    document = Document("1", TEXT, (), scope=frozenset({"EMAIL"}))
    assert score(document, [Span(0, 4, "PERSON")], {}).whole.over == 0


def test_our_names_become_types() -> None:
    types = scheme(TYPES)
    assert [types.kind(name) for name in ("EMAIL_ADDRESS", "PERSON", "MEDICAL_RECORD", "NEW")] == [
        "EMAIL",
        "PERSON",
        "MRN",
        "OTHER_QUASI",
    ]


def test_the_tables_of_a_set(tmp_path: Path) -> None:
    types = scheme(TYPES)
    rows = [
        {
            "id": "a",
            "lang": "en",
            "text": "To mira@example.org now.",
            "spans": [{"start": 3, "end": 19, "type": "EMAIL"}],
        },
        {"id": "b", "lang": "en", "text": "Nothing to see.", "spans": []},
    ]
    path = tmp_path / "small.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = list(documents([path], types, core=False))
    groups, entities = measure(found, {"a": [(3, 19, "EMAIL_ADDRESS")], "b": [(0, 7, "PERSON")]}, types)
    by_set, by_kind = tables("strict", groups)
    assert "| small | 2 | 100.0 | 0.0 | 36.8 | 100.0 |" in by_set.markdown()
    assert "| EMAIL | 1 | 100.0 | 0.0 | 1 | 100.0 |" in by_kind.markdown()
    assert "mira" not in by_set.markdown() + by_kind.markdown()
    row = {"spans": 1, "recall": 1.0, "found": 1, "precision": 1.0}
    assert figures(types, groups, entities)["entities"]["EMAIL_ADDRESS"] == row

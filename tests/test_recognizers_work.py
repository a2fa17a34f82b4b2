from __future__ import annotations

import pytest

from recognizers import work
from recognizers.analyzer import Analyzer, Item, Settings

ENTITIES = frozenset({"STAFF_ID", "LICENSE_PLATE", "VIN"})
FOUND = [
    ("Payroll ref: E24917, matricule : 246464", [("STAFF_ID", "E24917"), ("STAFF_ID", "246464")]),
    ("Employee ID EMP-00417", [("STAFF_ID", "EMP-00417")]),
    ("Véhicule A : FG-417-RT, conducteur", [("LICENSE_PLATE", "FG-417-RT")]),
    ("Registration: KX21 NMP\nThird party", [("LICENSE_PLATE", "KX21 NMP")]),
    ("Kennzeichen: M-AB 1234, targa AB123CD", [("LICENSE_PLATE", "M-AB 1234"), ("LICENSE_PLATE", "AB123CD")]),
    ("VIN 1M8GDM9AXKP042788", [("VIN", "1M8GDM9AXKP042788")]),
    ("châssis 1M8GDM9A1KP042788", [("VIN", "1M8GDM9A1KP042788")]),
    ("found 1M8GDM9AXKP042788 there", [("VIN", "1M8GDM9AXKP042788")]),
    ("ABCDEFGHJKLMNPRST 1M8GDM9A1KP042788 A1-4 H1-4 S3 EKS", []),
    ("Registration: open until 12 May. employee number of the month", []),
    ("see section AB-12-CD and ISO-639-1", []),
]


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    made = Analyzer(Settings(entities=ENTITIES, least=tuple((entity, 0.5) for entity in sorted(ENTITIES))))
    made.load()
    return made


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_numbers_of_staff_and_vehicles(analyzer: Analyzer, text: str, expected: list[tuple[str, str]]) -> None:
    (spans,) = analyzer.analyze([Item(text, names=False)])
    assert [(span.entity, text[span.start : span.end]) for span in spans] == expected


@pytest.mark.parametrize("entity", work.ENTITIES, ids=lambda entity: entity.name)
def test_every_example_is_found(analyzer: Analyzer, entity: work.Entity) -> None:
    (spans,) = analyzer.analyze([Item(entity.example, names=False)])
    assert [(span.entity, entity.example[span.start : span.end]) for span in spans] == [(entity.name, entity.value)]

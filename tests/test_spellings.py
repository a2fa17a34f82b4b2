"""Entity by spelling: values as copy and paste, formats and evasion write them, found where they stand."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from recognizers import ENTITIES
from recognizers.analyzer import Analyzer, Item, Settings

VALUES = {
    "IBAN_CODE": "DE83 7099 9999 0123 4567 89",
    "CREDIT_CARD": "4000 0052 6018 1590",
    "EMAIL_ADDRESS": "mira.tallow@example.com",
    "PHONE_NUMBER": "+44 20 7946 0123",
    "US_SSN": "899-99-9998",
    "FR_NIR": "2 99 02 99 999 999 45",
    "IT_FISCAL_CODE": "ZZZXXX90A01Z999G",
    "BR_CPF": "999.999.980-89",
}
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ARABIC = {0x30 + digit: 0x0660 + digit for digit in range(10)}
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda v: v,
    "zero width": lambda v: "\u200b".join(v),
    "soft hyphens": lambda v: v[:6] + "\u00ad" + v[6:],
    "full width": lambda v: v.translate(_WIDE),
    "other digits": lambda v: v.translate(_ARABIC),
    "no-break spaces": lambda v: v.replace(" ", "\u00a0"),
    "thin spaces": lambda v: v.replace(" ", "\u2009"),
    "narrow no-break spaces": lambda v: v.replace(" ", "\u202f"),
    "no-break hyphens": lambda v: v.replace("-", "\u2011"),
    "bold": lambda v: f"**{v}**",
    "code": lambda v: f"`{v}`",
    "html digits": lambda v: "".join(f"&#{ord(c)};" if c.isdigit() else c for c in v),
    "percent": lambda v: quote(v, safe=""),
    "json escapes": lambda v: "".join(f"\\u{ord(c):04x}" if c in "@+-" else c for c in v),
}


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    made = Analyzer(Settings(entities=frozenset(ENTITIES) - {"PERSON", "ORGANIZATION", "LOCATION", "DATE_TIME"}))
    made.load()
    return made


CELLS = [(entity, spelling) for entity in VALUES for spelling in SPELLINGS]


@pytest.mark.parametrize(("entity", "spelling"), CELLS, ids=[f"{e}-{s}" for e, s in CELLS])
def test_a_spelling_hides_nothing(analyzer: Analyzer, entity: str, spelling: str) -> None:
    written = SPELLINGS[spelling](VALUES[entity])
    text = f"value {written} end"
    start, end = text.index(written), text.index(written) + len(written)
    while text[start] in "*`":
        start, end = start + 1, end - 1
    (spans,) = analyzer.analyze([Item(text)])
    assert any(span.start <= start and end <= span.end for span in spans), [(s.entity, s.start, s.end) for s in spans]

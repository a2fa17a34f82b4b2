from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.restore import Tally
from proxy.strangers import Strangers, is_slip, pattern
from proxy.vault import Vault
from recognizers import ENTITIES

PATTERN = pattern(ENTITIES)
FOREIGN = [
    "<PERSON_123456>",
    "<PERSON_123456789>",
    "&lt;PERSON_123456&gt;",
    "%3CIBAN_CODE_123456%3E",
    "\\u003cEMAIL_ADDRESS_123456\\u003e",
    "\\<PHONE\\_NUMBER\\_123456\\>",
    "< person_123456 >",
    "<Person 123456>",
    "EMAIL_ADDRESS_123456",
    "<ANYTHING_ELSE_123456>",
]
OURS = [
    "order_123456",
    "ORDER_123456",
    "<div id=123456>",
    "<PERSON_12345>",
    "PERSON_1234567",
    "XPERSON_123456",
    "_123456",
]


def read(text: str, cuts: list[int], vault: Vault) -> Tally:
    tally = Tally()
    strangers = Strangers(vault, PATTERN, tally)
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        strangers.feed(text[start:end])
    strangers.finish()
    return tally


@pytest.mark.parametrize("text", FOREIGN)
def test_every_decoration_of_a_placeholder_counts_once_at_every_cut(text: str) -> None:
    around = f"He said {text}, twice."
    for at in range(len(around) + 1):
        tally = read(around, [at], Vault(b"k"))
        assert (tally.foreign, tally.mangled) == (1, 0)
    assert read(text, list(range(len(text))), Vault(b"k")).foreign == 1


@pytest.mark.parametrize("text", OURS)
def test_what_is_no_placeholder_does_not_count(text: str) -> None:
    assert read(f"{text} and more", list(range(len(text))), Vault(b"k")).foreign == 0


def test_issued_and_written_numbers_do_not_count() -> None:
    vault = Vault(b"k", frozenset({"777777"}))
    entry = vault.issue("PERSON", "Zoë Müller")
    text = f"{entry.placeholder} {entry.bare} <PERSON_777777> person_777777"
    assert read(text, [5, 30], vault).foreign == 0


def test_one_slip_is_a_mangled_one_of_ours_under_its_own_type_only() -> None:
    vault = Vault(b"k")
    number = vault.issue("PERSON", "Zoë Müller").number
    wrong = f"{number[:5]}{(int(number[5]) + 1) % 10}"
    tally = read(f"<PERSON_{wrong}> &lt;PERSON_{wrong}&gt; <IBAN_CODE_{wrong}>", [], vault)
    assert (tally.foreign, tally.mangled) == (1, 2)


@given(st.integers(0, 999_999), st.integers(0, 5), st.integers(1, 9))
def test_slips(number: int, at: int, shift: int) -> None:
    issued = f"{number:06d}"
    wrong = f"{issued[:at]}{(int(issued[at]) + shift) % 10}{issued[at + 1 :]}"
    assert is_slip(wrong, issued)
    assert is_slip(issued + "123", issued)
    if at < 5:
        assert is_slip(f"{issued[:at]}{issued[at + 1]}{issued[at]}{issued[at + 2 :]}", issued)
    other = "".join(str((int(digit) + 1 + index % 2) % 10) for index, digit in enumerate(issued))
    assert not is_slip(other, issued)


@given(st.text(alphabet="<>&lt;gt%3CEPERSON_ 0123456789\\u", max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_cuts_change_nothing(text: str, cuts: list[int]) -> None:
    places = sorted(cut for cut in cuts if cut <= len(text))
    whole, cut = read(text, [], Vault(b"k")), read(text, places, Vault(b"k"))
    assert (whole.foreign, whole.mangled) == (cut.foreign, cut.mangled)

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.vault import Vault, conversation_key, lookalikes, normalise, tenant_key

TYPES = st.sampled_from(["PERSON", "IBAN_CODE", "US_SSN"])
VALUES = st.lists(st.tuples(TYPES, st.text(min_size=1, max_size=20)), max_size=30)


def test_form_of_a_placeholder() -> None:
    entry = Vault(b"k").issue("IBAN_CODE", "DE89370400440532013000")
    assert re.fullmatch(r"<IBAN_CODE_[0-9]{6}>", entry.placeholder)


@given(VALUES)
def test_one_form_one_placeholder_and_back(values: list[tuple[str, str]]) -> None:
    vault = Vault(b"k")
    entries = {value: vault.issue(*value) for value in values}
    assert len({entry.number for entry in entries.values()}) == len(entries)
    for (entity, text), entry in entries.items():
        assert vault.issue(entity, text) is entry
        found = vault.find(entry.number)
        assert found is entry
        assert (found.entity, found.text) == (entity, text)


@given(VALUES)
def test_same_key_same_placeholders(values: list[tuple[str, str]]) -> None:
    one, two = Vault(b"k"), Vault(b"k")
    assert [one.issue(*v).placeholder for v in values] == [two.issue(*v).placeholder for v in values]


def test_a_longer_conversation_keeps_the_placeholders_of_its_beginning() -> None:
    values = [("PERSON", f"Person {i}") for i in range(200)]
    short, long = Vault(b"k"), Vault(b"k")
    first = [short.issue(*v).placeholder for v in values[:50]]
    assert [long.issue(*v).placeholder for v in values][:50] == first


def test_other_tenant_other_conversation_other_number() -> None:
    keys = [conversation_key(tenant_key(b"s", tenant), opening) for tenant in "ab" for opening in ("hello", "bye")]
    assert len({Vault(key).issue("PERSON", "Mira Tallow").number for key in keys}) == 4


def test_spellings_of_one_value_share_six_digits_and_come_back_as_they_were() -> None:
    vault = Vault(b"k")
    compact, spaced = (
        vault.issue("IBAN_CODE", "DE89370400440532013000"),
        vault.issue("IBAN_CODE", "DE89 3704 0044 0532 0130 00"),
    )
    assert spaced.number[:6] == compact.number
    assert len(spaced.number) == 9
    assert vault.find(spaced.number) is spaced


def test_a_number_that_the_text_already_holds_is_not_issued() -> None:
    free = Vault(b"k").issue("PERSON", "Mira").number
    texts = [f"the docs say <PERSON_{free}> is a placeholder"]
    vault = Vault(b"k", lookalikes(texts))
    assert vault.issue("PERSON", "Mira").number not in texts[0]


@pytest.mark.parametrize(
    "text",
    [
        "<PERSON_123456>",
        "person_123456",
        "PERSON\\_123456",
        "&lt;US_SSN_123456&gt;",
        "PERSON 123456",
        "PERSON%5F123456",
        "X-123456",
    ],
)
def test_lookalikes_in_any_dress(text: str) -> None:
    assert lookalikes([text]) == {"123456"}


def test_lookalikes_of_other_lengths_are_not() -> None:
    assert lookalikes(["<PERSON_1> PERSON_12345 PERSON_1234567 PERSON_1234567890"]) == frozenset()


def test_a_vault_tells_nothing_and_stays_where_it_is() -> None:
    vault = Vault(b"key material")
    entry = vault.issue("PERSON", "Mira Tallow")
    assert "Mira" not in repr(vault) + str(vault) + repr(entry) + str(entry)
    with pytest.raises(TypeError):
        pickle.dumps(vault)


def test_wipe_forgets() -> None:
    vault = Vault(b"k")
    number = vault.issue("PERSON", "Mira Tallow").number
    vault.wipe()
    assert len(vault) == 0
    assert vault.find(number) is None


@given(st.text())
def test_normalise_is_stable(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)

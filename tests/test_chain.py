"""What a stored conversation needs at its next turn, as it is written down and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.chain import OTHER_TOKENIZER, Chain, read, written
from proxy.vault import Entry, Vault

SCOPE = b"k" * 32
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
VALUES = st.lists(st.tuples(st.sampled_from(["PERSON", "CARD"]), TEXTS, st.booleans()), max_size=8)


def vault_of(values: list[tuple[str, str, bool]], vault: Vault | None = None) -> Vault:
    vault = vault or Vault(SCOPE, frozenset({"123456"}))
    for entity, text, is_number in values:
        vault.issue(entity, text, written=f"\\{text}", is_number=is_number)
    return vault


@given(VALUES, VALUES, st.none() | st.integers(0, 10**6))
def test_a_chain_read_again_is_the_same_and_goes_on_with_the_same_placeholders(
    first: list[tuple[str, str, bool]], more: list[tuple[str, str, bool]], answer: int | None
) -> None:
    vault = vault_of(first)
    chain = Chain(SCOPE, tokens=7, answer=answer, texts=3, tokenizer="o200k_base", factor=1.5).after(vault)
    again = read([written(chain)])
    assert again == chain
    later = again.vault(frozenset({"654321"}))
    assert later.taken == {"123456", "654321"}
    assert list(later) == list(vault)
    assert [entry.number for entry in vault_of(first, later)] == [entry.number for entry in vault]
    together, alone = vault_of(more, later), vault_of([*first, *more])
    assert list(together) == list(alone)


@given(VALUES, VALUES)
def test_fragments_written_at_one_time_are_one_chain(
    one: list[tuple[str, str, bool]], other: list[tuple[str, str, bool]]
) -> None:
    start = Chain(SCOPE)
    chains = [start.after(vault_of(values)) for values in (one, other)]
    fragments = [written(chain) for chain in chains]
    entries = {entry.number: entry for chain in chains for entry in chain.entries}
    conflict = any(entries[entry.number] != entry for chain in chains for entry in chain.entries)
    if conflict:  # two forms of one value, each the first where it was written: neither may be guessed
        with pytest.raises(ValueError, match="two values have one placeholder"):
            read(fragments).vault(frozenset())
    else:
        assert {entry.number: entry for entry in read(fragments).vault(frozenset())} == entries


def test_a_conflict_names_no_value() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Vault(SCOPE).adopt([Entry("PERSON", "123456", "Mira"), Entry("PERSON", "123456", "Zoe")])
    assert "Mira" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'["zz", [], [], [1,2,3,"a",1]]', b'["", [[1]], [], [1,2,3,"",1]]']
)
def test_anything_else_is_no_chain(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        read([content])


def test_another_tokenizer_counts_more_never_less() -> None:
    chain = Chain(SCOPE, tokens=10, answer=5, texts=4, tokenizer="o200k_base", factor=1.0)
    assert chain.counted("o200k_base", 1.0) == chain
    more = chain.counted("o200k_base", 1.4)
    assert (more.tokens, more.answer, more.texts) == (14, 7, 4)
    other = chain.counted("cl100k_base", 1.0)
    assert (other.tokens, other.answer, other.texts) == (10 * OTHER_TOKENIZER, 5 * OTHER_TOKENIZER, 0)
    assert Chain(SCOPE, tokens=10, answer=None).counted("bytes", 1.0).answer is None
    assert "Mira" not in repr(Chain(SCOPE, (Entry("PERSON", "123456", "Mira"),)))

"""Weights of our own: only the pinned file is loaded, nothing is unpickled, and what ships finds what it is for."""

from __future__ import annotations

import dataclasses
import hashlib
import lzma
from pathlib import Path

import pytest

from recognizers import models, weights
from recognizers.base import Span
from recognizers.titles import titles

FILES = sorted(weights.FOLDER.glob("*.xz"))
LIMIT = 30_000_000


def test_every_pin_is_the_file_that_ships() -> None:
    for source in models.SOURCES.values():
        if source.own:
            path = weights.FOLDER / f"{source.language}.xz"
            assert hashlib.sha256(path.read_bytes()).hexdigest() == source.own


def test_weights_stay_small_and_have_a_card_that_names_their_hash() -> None:
    assert FILES
    assert sum(path.stat().st_size for path in FILES) <= LIMIT
    for path in FILES:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in path.with_suffix(".md").read_text(encoding="utf-8")


@pytest.mark.parametrize("at", [0, 1_000, -1])
def test_one_changed_byte_is_refused(tmp_path: Path, at: int) -> None:
    content = bytearray(FILES[0].read_bytes())
    pin = hashlib.sha256(content).hexdigest()
    content[at] ^= 1
    path = tmp_path / "en.xz"
    path.write_bytes(content)
    with pytest.raises(weights.WeightsRefused, match="not the pinned file"):
        weights.read(path, pin)


def test_a_missing_file_and_another_format_are_refused(tmp_path: Path) -> None:
    import srsly

    with pytest.raises(weights.WeightsRefused, match="missing"):
        weights.read(tmp_path / "en.xz", "0" * 64)
    with pytest.raises(weights.WeightsRefused, match="format 99"):
        weights.unpack(lzma.compress(srsly.msgpack_dumps({"format": 99})))


def test_a_process_does_not_start_with_other_weights() -> None:
    other = dataclasses.replace(models.SOURCES["fr"], own="0" * 64)
    with pytest.raises(models.ModelUnavailable, match=r"fr\.xz is not the pinned file"):
        models.load(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The file was sent to Dr. Mira Tallow and Mrs Lefort.", ["Dr.", "Mrs"]),
        ("M. le Pr Paul Martin", ["M. le Pr"]),
        ("Mira Tallow, Paul Martin", []),
        ("PM Mira Tallow", []),
    ],
)
def test_a_form_of_address_before_a_person_is_its_own_entity(text: str, expected: list[str]) -> None:
    names = ("Mira Tallow", "Lefort", "Paul Martin")
    spans = sorted(Span(text.index(n), text.index(n) + len(n), "PERSON", 0.9, "names:en") for n in names if n in text)
    assert [text[span.start : span.end] for span in titles(text, spans)] == expected
    assert {span.entity for span in titles(text, spans)} <= {"TITLE"}

"""What hides behind a backslash, a mark or a character without a glyph is read; what only looks so is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers.shadow import shadow

CARD = "4000005260181590"


def octal(text: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in text.encode())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"mira.tallow\100example.org", "mira.tallow@example.org"),
        (r"mira.tallow\40 example.org", "mira.tallow@example.org"),
        (r"mira.tallow\000040example.org", "mira.tallow@example.org"),
        (r"mira\_tallow\@example\.org", "mira_tallow@example.org"),
        (r"Mira\ Tallow", "Mira Tallow"),
        (r"4000\,0052\,6018\,1590", "4000 0052 6018 1590"),
        (r"Zo\303\253 M\303\274ller", "Zoë Müller"),
        (r"\34 \30 \30 \30 \30 \30 ", "400000"),
        ("4\u0336" + "0\u0301\u0302" * 3, "4000"),
        ("".join(chr(0xE0000 + ord(char)) for char in CARD), CARD),
        ("".join(chr(0xE0100 + ord(char) - 16) for char in CARD), CARD),
    ],
)
def test_a_value_is_read_through_it(written: str, read: str) -> None:
    seen = shadow(f"so {written}!")
    assert seen.text == f"so {read}!"
    assert seen.original(3, 3 + len(read)) == (3, 3 + len(written))


@pytest.mark.parametrize(
    "text",
    [
        r"s/(a)(b)/\1\2\100/",
        r"C:\100\200\40 files",
        r"\40 is a space",
        r"line\nline\tend",
        r"\frac{1}{2}\,x",
        r"\377\100",
    ],
)
def test_what_is_no_escape_is_left_alone(text: str) -> None:
    assert shadow(text).text == text


def test_a_flag_stays_a_flag() -> None:
    scotland = "\U0001f3f4" + "".join(chr(0xE0000 + ord(char)) for char in "gbsct") + "\U000e007f"
    assert shadow(f"in {scotland} now").text == "in \U0001f3f4 now"


@given(st.text(alphabet="aZ09@.- äëß€王", min_size=4, max_size=30), st.text(alphabet="x ", max_size=5))
def test_octal_bytes_say_their_text_wherever_they_stand(text: str, around: str) -> None:
    seen = shadow(f"{around}{octal(text)}{around}")
    assert seen.text == f"{around}{shadow(text).text}{around}"


@given(st.text(alphabet="a0\\134 @._,;", max_size=40))
def test_whatever_is_written_every_place_leads_back_into_the_text(text: str) -> None:
    seen = shadow(text)
    places = [seen.original(at, at + 1) for at in range(len(seen.text))]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)

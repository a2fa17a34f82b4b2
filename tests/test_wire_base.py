"""JSON in and out: what is refused, and that no digit changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest
from proxy.wire.base import parse_answer, parse_strict, serialise

NUMBERS = ("-0", "0", "-0.0", "-0E-00000000000", "-0e1", "1E5", "1.10", "12345678901234567890123", "-7")


@pytest.mark.parametrize("digits", NUMBERS)
def test_no_digit_of_a_number_changes(digits: str) -> None:
    for text in (f'{{"a":{digits},"-0":["-0 \\" -0",{digits}]}}', f"[{digits}]"):
        expected = text.replace("-0E-00000000000", "-0")
        assert serialise(parse_strict(text.encode())).decode() == expected
        assert serialise(parse_answer(text.encode())).decode() == expected


@given(st.recursive(st.text('-0"\\ ae', max_size=6), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_strings_with_minus_zeros_stay(tree: Any) -> None:
    data = json.dumps({"a": tree}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    try:
        got = serialise(parse_strict(data))
    except BadRequest:
        return
    assert json.loads(got) == json.loads(data)


@pytest.mark.parametrize("text", ["-0-0", "[--0]", "[-01]", '{"a":-0,"a":1}', '{"a":1,"A":1}', '"-0', "[1-0]"])
def test_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse_strict(text.encode())


def test_keys_that_differ_in_case_are_two_keys_below_the_top() -> None:
    text = '{"metadata":{"a":"1","A":"2"}}'
    assert serialise(parse_strict(text.encode())).decode() == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1,\n "b" Nightjar}', "line 2, byte 6 of it"),
        ('{"\u00e9": Nightjar}', "line 1, byte 8 of it"),
        ('{"Nightjar": 1, "Nightjar": 2}', "line 1, byte 28 of it"),
        ('{"a": -0,\n "b": Nightjar}', "line 2"),
        ("", "line 1, byte 0 of it"),
    ],
)
def test_where_a_body_stops_to_be_json_is_told_and_nothing_of_it(text: str, place: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_strict(text.encode())
    assert f" ({place}): " in refused.value.message
    assert "Nightjar" not in refused.value.message

"""JSON text inside strings: found exactly when the standard library reads it, and spliced without touching the rest."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import UnsupportedByPolicy
from proxy.model import Kind, Leaf
from proxy.wire.base import inspected_number
from proxy.wire.jsontext import DEEPEST, MOST_LEVELS, decode, escape, offsets, rewrite

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
CONTAINERS = st.lists(VALUES) | st.dictionaries(st.text(), VALUES)


def as_is(leaf: Leaf) -> str:
    assert leaf.raw is not None
    return leaf.raw


def collect(text: str) -> list[Leaf]:
    leaves: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        leaves.append(leaf)
        return as_is(leaf)

    assert rewrite(text, "$", "", visit) == text
    return leaves


def wrapped(value: Any, times: int) -> str:
    text = json.dumps(value)
    for _ in range(times):
        text = json.dumps({"in": text})
    return text


@given(CONTAINERS, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_unchanged_leaves_leave_every_byte(value: Any, ascii_only: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert rewrite(text, "$", "", as_is) == text


@given(CONTAINERS)
def test_every_string_key_and_number_is_a_leaf(value: Any) -> None:
    expected: list[str] = []

    def gather(node: Any) -> None:
        if isinstance(node, dict):
            for key, inner in node.items():
                expected.append(key)
                gather(inner)
        elif isinstance(node, list):
            for inner in node:
                gather(inner)
        elif node is not None and not isinstance(node, bool):
            expected.append(node if isinstance(node, str) else inspected_number(json.dumps(node)))

    gather(value)
    found = [leaf.text for leaf in collect(json.dumps(value))]
    if not any(leaf.path.count("#") > 1 for leaf in collect(json.dumps(value))):
        assert found == [text for text in expected if text and text.strip() not in {"{}", "[]"}]


@given(st.text('{}[]",:\\ntrue0129.eE-+ ub', max_size=24))
def test_taken_apart_exactly_when_it_is_json(text: str) -> None:
    try:
        value = json.loads(text, parse_constant=lambda _: 1 / 0, strict=True)
    except (ValueError, ZeroDivisionError):
        value = None
    got = rewrite(text, "$", "", as_is)
    assert got in (None, text)
    if not isinstance(value, str):
        assert (got is not None) == isinstance(value, dict | list)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_offsets_follow_every_code_point(text: str, ascii_only: bool) -> None:
    raw = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    at = offsets(raw)
    assert decode(raw) == text
    assert len(at) == len(text) + 1
    assert [decode(raw[a:b]) for a, b in itertools.pairwise(at)] == list(text)


@given(st.text())
def test_escape_is_the_inverse_of_decode(text: str) -> None:
    assert decode(escape(text)) == text


def test_lone_surrogates_and_escaped_solidus() -> None:
    assert decode(r"\ud83d\ude00\/\u00E9\ud83d!\ude00") == "😀/é\ufffd!\ufffd"
    assert offsets(r"\ud83d\ude00x") == [0, 12, 13]
    assert collect(r'{"a":"\ud83d"}')[1].text == "\ufffd"


@given(CONTAINERS, st.integers(0, 3), st.text(max_size=8), st.booleans())
def test_any_replacement_leaves_valid_json(value: Any, times: int, new: str, ascii_only: bool) -> None:
    def replace(leaf: Leaf) -> str:
        return '"<N_1>"' if leaf.kind is Kind.NUMBER else escape(f"{new}{leaf.text}")

    text = wrapped({"v": value, "s": "x"}, times)
    result = rewrite(text, "$", "", replace)
    assert result is not None
    inner = json.loads(result)
    for _ in range(times):
        inner = json.loads(inner[f"{new}in"])
    assert inner[f"{new}s"] == f"{new}x"


def test_paths_labels_kinds_and_raw() -> None:
    leaves = collect(r'{"firstName": "Zo\u00eb", "cards": [4000005260181590], "in": "{\"iban\": {\"value\": \"x\"}}"}')
    values = [leaf for leaf in leaves if leaf.kind is not Kind.KEY]
    assert [(leaf.path, leaf.text, leaf.kind, leaf.label, leaf.raw) for leaf in values] == [
        ("$#$.firstName", "Zoë", Kind.TEXT, "first name", r"Zo\u00eb"),
        ("$#$.cards[0]", "4000005260181590", Kind.NUMBER, "cards", "4000005260181590"),
        ("$#$.in#$.iban.value", "x", Kind.TEXT, "iban", "x"),
    ]
    assert [leaf.text for leaf in leaves if leaf.kind is Kind.KEY] == ["firstName", "cards", "in", "iban", "value"]


def test_a_key_that_was_replaced_shows_in_no_path() -> None:
    paths: list[str] = []

    def visit(leaf: Leaf) -> str:
        paths.append(leaf.path)
        return "<PERSON_1>" if leaf.text in {"mira", "zoe@x.org"} else as_is(leaf)

    result = rewrite('{"mira": {"a": "b"}, "zoe@x.org": ["c"]}', "$", "", visit)
    assert result == '{"<PERSON_1>": {"a": "b"}, "<PERSON_1>": ["c"]}'
    assert paths == ["$#${0}", "$#${0}{0}", "$#${0}.a", "$#${1}", "$#${1}[0]"]


def test_duplicate_keys_are_leaves_of_their_own() -> None:
    assert [leaf.text for leaf in collect('{"a": "x", "a": "y"}')] == ["a", "x", "a", "y"]


def test_json_written_as_a_json_string_is_taken_apart_too() -> None:
    text = json.dumps(json.dumps({"a": "Zoë"}))
    assert [leaf.text for leaf in collect(text)] == ["a", "Zoë"]
    assert rewrite('"plain words"', "$", "", as_is) is None


def test_nesting_is_followed_and_then_refused() -> None:
    assert [leaf.text for leaf in collect(wrapped(["deep"], DEEPEST - 1))][-1] == "deep"
    with pytest.raises(UnsupportedByPolicy):
        rewrite(wrapped(["deep"], DEEPEST), "$", "", as_is)


def test_levels_are_bounded_only_where_it_is_json() -> None:
    deep = "[" * MOST_LEVELS + '"x"' + "]" * MOST_LEVELS
    assert rewrite(deep, "$", "", lambda _: escape('"')) == deep.replace("x", '\\"')
    with pytest.raises(UnsupportedByPolicy):
        rewrite(f"[{deep}]", "$", "", as_is)
    assert rewrite("[" * 50_000, "$", "", as_is) is None


def test_a_long_string_that_never_ends_is_not_json() -> None:
    assert rewrite('["' + "\\n" * 200_000 + "'", "$", "", as_is) is None


LINES = '{"who": "Zoë", "card": 4000005260181590}\r\n\n [1, {"a": "x"}]\n{"in": "{\\"a\\": 1}\\n{\\"b\\": 2}"}\n'


def test_json_lines_are_taken_apart_line_by_line() -> None:
    assert [(leaf.path, leaf.text) for leaf in collect(LINES) if leaf.kind is not Kind.KEY] == [
        ("$#0$.who", "Zoë"),
        ("$#0$.card", "4000005260181590"),
        ("$#1$[0]", "1"),
        ("$#1$[1].a", "x"),
        ("$#2$.in#0$.a", "1"),
        ("$#2$.in#1$.b", "2"),
    ]
    assert rewrite(LINES, "$", "", as_is) == LINES
    replaced = rewrite(LINES, "$", "", lambda leaf: '"<N_1>"' if leaf.kind is Kind.NUMBER else as_is(leaf))
    assert replaced is not None
    assert [json.loads(line) for line in replaced.splitlines() if line] == [
        {"who": "Zoë", "card": "<N_1>"},
        ["<N_1>", {"a": "x"}],
        {"in": '{"a": "<N_1>"}\n{"b": "<N_1>"}'},
    ]


@pytest.mark.parametrize(
    "text", ['{"a": 1}\nand {"b": 2}', '{"a": 1}\n"b"', '{"a":\n1}\n{', "{}", "[]\n\n1", '{"a": 1} {"b": 2}']
)
def test_what_only_has_some_json_lines_is_text(text: str) -> None:
    assert rewrite(text, "$", "", as_is) in (None, "{}")


def test_many_json_lines_are_read() -> None:
    assert rewrite('{"a": 1}\n' * 50_000, "$", "", as_is) == '{"a": 1}\n' * 50_000
    assert rewrite("[\n" * 100_000, "$", "", as_is) is None

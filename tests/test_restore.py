from __future__ import annotations

import json
import re
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.model import Context
from proxy.restore import Restoration
from proxy.vault import Entry, Vault, json_escaped

VALUES = [
    ("PERSON", "Mira Tallow", None, False),
    ("IBAN_CODE", "DE89 3704 0044 0532 0130 00", None, False),
    ("PROJECT", 'Kern "Süd" \\ Ost\n', None, False),
    ("PERSON", "Zoë", "Zo\\u00eb", False),
    ("CREDIT_CARD", "4111111111111111", "4111111111111111", True),
]


def filled() -> tuple[Vault, list[Entry]]:
    vault = Vault(b"k", frozenset({"424242"}))
    return vault, [vault.issue(e, t, written=w, is_number=n) for e, t, w, n in VALUES]


def restore(text: str, context: Context = Context.PLAIN) -> str:
    return Restoration(filled()[0]).whole(text, context)[0]


def in_pieces(text: str, cuts: list[int], context: Context) -> str:
    restorer = Restoration(filled()[0]).growing(context)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    out = "".join(restorer.feed(text[a:b]) for a, b in pairwise(edges)) + restorer.finish()
    assert not restorer.pending
    return out


ENTRIES = filled()[1]
MIRA, IBAN, KERN, ZOE, CARD = ENTRIES
DRESSES = [
    "<{}>",
    "&lt;{}&gt;",
    "%3C{}%3E",
    "\\<{}\\>",
    "\\u003c{}\\u003e",
    "< {} >",
    "{}",
    "<{}",
    '"<{}>"',
    "**<{}>**",
    "<{}>'s",
    '\\"<{}>\\"',
    '\\"<{}>',
    '{{"a": "{{\\"b\\": \\"<{}>\\"}}"}}',
]
PIECES = st.one_of(
    st.sampled_from([dress.format(entry.bare) for dress in DRESSES for entry in ENTRIES]),
    st.sampled_from(
        [
            "<PER",
            "<PERSON_",
            "<PERSON_99",
            "<div>",
            '"',
            "\\",
            "{",
            "[",
            "<PERSON_424242>",
            "a < b",
            "&lt;",
            "%3C",
            " ",
            "P",
            "IBAN",
            '{"a": "',
        ]
    ),
    st.text(max_size=8),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


@given(TEXTS, st.lists(st.integers(0, 500), max_size=12), st.sampled_from(list(Context)))
@example(f"&lt;{MIRA.bare}&gt;", [3, 8, 20, 21, 23], Context.PLAIN)
def test_any_split_gives_the_same(text: str, cuts: list[int], context: Context) -> None:
    assert in_pieces(text, cuts, context) == Restoration(filled()[0]).whole(text, context)[0]


@given(TEXTS, st.sampled_from(list(Context)))
def test_one_character_at_a_time_gives_the_same(text: str, context: Context) -> None:
    assert in_pieces(text, list(range(len(text))), context) == Restoration(filled()[0]).whole(text, context)[0]


@pytest.mark.parametrize("dress", ["<{}>", "\\<{}\\>", "< {} >", "{}", "<{}", "&lt;{}&gt;"])
@pytest.mark.parametrize("change", [str, str.lower, lambda s: s.replace("_", "\\_"), lambda s: s.replace("_", " ")])
def test_what_models_do_to_placeholders(dress: str, change: object) -> None:
    assert callable(change)
    assert restore("Dear " + dress.format(change(MIRA.bare)) + ", hello") == "Dear Mira Tallow, hello"


def test_a_backslash_before_a_value_is_not_an_escaped_bracket() -> None:
    assert restore(f"C:\\Users\\{MIRA.placeholder}\\docs") == "C:\\Users\\Mira Tallow\\docs"
    path = json.dumps({"path": f"C:\\{MIRA.placeholder}\\x"})
    assert json.loads(restore(path, Context.JSON)) == {"path": "C:\\Mira Tallow\\x"}


@pytest.mark.parametrize(
    "text", ["<PERSON_7>", "<PERSON>", "<person_1>", "&lt;PERSON_1&gt;", "<PERSON_424242>", "<div>", "a[[0]] <n;"]
)
def test_what_is_not_ours_stays(text: str) -> None:
    assert restore(text) == text


@given(st.integers(0, 999_999_999))
def test_never_of_a_wrong_number(number: int) -> None:
    for width in (6, 9):
        digits = f"{number:09d}"[-width:]
        text = f"<PERSON_{digits}>"
        if digits not in {entry.number for entry in ENTRIES}:
            assert restore(text) == text


def test_a_number_under_another_types_name_is_not_ours() -> None:
    assert restore(f"<IBAN_CODE_{MIRA.number}>") == f"<IBAN_CODE_{MIRA.number}>"


@pytest.mark.parametrize("more", ["0", "123", "9999"])
def test_a_longer_number_is_another_number(more: str) -> None:
    text = f"<{MIRA.bare}{more}>"
    assert restore(text) == text


def test_restored_text_is_not_scanned_again() -> None:
    vault = Vault(b"k")
    inner = vault.issue("PERSON", "Mira")
    outer = vault.issue("PROJECT", f"code {inner.placeholder}")
    assert Restoration(vault).whole(outer.placeholder, Context.PLAIN)[0] == f"code {inner.placeholder}"


def test_in_json_strings_values_are_escaped() -> None:
    text = json.dumps({"a": KERN.placeholder, MIRA.placeholder: [f"x {IBAN.placeholder} y"], "n": CARD.placeholder})
    for context in (Context.JSON, Context.PLAIN):
        assert json.loads(restore(text, context)) == {
            "a": KERN.text,
            "Mira Tallow": [f"x {IBAN.text} y"],
            "n": 4111111111111111,
        }


def test_what_was_written_with_escapes_goes_back_so_in_json_and_read_in_prose() -> None:
    assert restore(f'{{"who": "{ZOE.placeholder}"}}') == '{"who": "Zo\\u00eb"}'
    assert restore(f"Hello {ZOE.placeholder}") == "Hello Zoë"


def test_markdown_that_begins_with_a_bracket_is_prose() -> None:
    assert restore(f'[{KERN.placeholder}](x) "{KERN.placeholder}"') == f'[{KERN.text}](x) "{KERN.text}"'


def test_percent_and_html_forms_are_written_in_their_own_encoding() -> None:
    assert restore(f"https://x.example/?q=%3C{KERN.bare}%3E") == "https://x.example/?q=" + quote(KERN.text, safe="")
    assert restore(f"https://x.example/?q={IBAN.placeholder}", Context.URL) == "https://x.example/?q=" + quote(
        IBAN.text, safe=""
    )
    vault = Vault(b"k")
    amp = vault.issue("ORGANIZATION", "Tallow & <Sons>")
    assert Restoration(vault).whole(f"&lt;{amp.bare}&gt;", Context.PLAIN)[0] == "Tallow &amp; &lt;Sons&gt;"


def test_moved_tells_where_values_stand() -> None:
    text = f"Dear {MIRA.placeholder}, {IBAN.placeholder}."
    restored, moved = Restoration(filled()[0]).whole(text, Context.PLAIN)
    assert [text[m.start : m.end] for m in moved] == [MIRA.placeholder, IBAN.placeholder]
    assert [restored[m.new_start : m.new_end] for m in moved] == [MIRA.text, IBAN.text]


@pytest.mark.parametrize(
    "text", ["for (i=0;i<n;i++) a[[0]] <div> ", "2 < 3 and 5 > 4. ", "plain words, nothing else. ", "Xylophone "]
)
def test_ordinary_text_is_not_held(text: str) -> None:
    restorer = Restoration(filled()[0]).growing(Context.PLAIN)
    released = ""
    for char in text:
        released += restorer.feed(char)
    assert released.rstrip() == text.rstrip()


def test_at_most_a_placeholder_is_held() -> None:
    restorer = Restoration(filled()[0]).growing(Context.PLAIN)
    released = restorer.feed("text before <PERSON_12")
    assert released == "text before "
    assert restorer.feed("x") == "<PERSON_12x"


@given(TEXTS, st.lists(st.integers(0, 500), max_size=12))
def test_foreign_placeholders_are_counted_however_they_are_cut(text: str, cuts: list[int]) -> None:
    text += "<PERSON_777777> and <ORG_UNIT_888888888> but not <PERSON_424242> "
    known = {entry.number for entry in ENTRIES} | {"424242"}
    expected = [n for _, n in re.findall(r"<([A-Z][A-Z0-9_]*)_([0-9]{9}|[0-9]{6})>", text) if n not in known]
    restoration = Restoration(filled()[0])
    restorer = restoration.growing(Context.PLAIN)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for a, b in pairwise(edges):
        restorer.feed(text[a:b])
    assert restoration.tally.foreign == len(expected)
    assert restoration.tally.foreign_numbers == set(expected)


def test_tools_that_the_policy_excludes_get_placeholders() -> None:
    restoration = Restoration(filled()[0], in_tools=lambda tool: tool != "web_fetch")
    assert restoration.whole(MIRA.placeholder, Context.JSON, "web_fetch")[0] == MIRA.placeholder
    assert restoration.whole(f'"{MIRA.placeholder}"', Context.JSON, "save")[0] == '"Mira Tallow"'


def test_an_empty_vault_is_idle() -> None:
    restoration = Restoration(Vault(b"k"))
    assert restoration.idle
    assert restoration.whole("any <PERSON_123456>", Context.PLAIN)[0] == "any <PERSON_123456>"
    assert restoration.tally.foreign == 1


def test_json_escaped_is_what_json_reads_back() -> None:
    assert json.loads(f'"{json_escaped(KERN.text)}"') == KERN.text

"""The shadow text: what it writes out plainly, what it leaves alone, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recognizers.shadow import Shadow, shadow

PLAIN = [
    ("a\u200bb\ufeffc\u00add", "abcd"),
    ("\u202emira\u202c", "mira"),
    ("４０００ ٤٥٦ ९", "4000 456 9"),
    ("2019–2020 — x − y", "2019-2020 - x - y"),
    ("DE83\u00a07099\u202f9999", "DE83 7099 9999"),
    ("“a” ‘b’ « c »", '"a" \'b\' " c "'),
    ("e\u0301te\u0301", "été"),
    ("M\u0337i\u0337ra", "Mira"),
    ("ｍｉｒａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "mira@example.com"),
    ("mira&#64;example.com &#x40; &amp; &eacute;", "mira@example.com @ & é"),
    ("mira%40example.com", "mira@example.com"),
    ("q=M%C3%BCller&x=1", "q=Müller&x=1"),
    ("**Sophy** _Marlowe_ ***x***", "Sophy Marlowe x"),
    ("**0123 4567 89**, `code` __bold__", "0123 4567 89, code bold"),
    ("Sop**hy** and *M*ira", "Sophy and Mira"),
    ("4\ufe0f\u20e32\ufe0f\u20e3", "42"),
    ("a\u2028b", "a\nb"),
    ('Result: {"e":"zoe.mueller\\u0040example.com"}', 'Result: {"e":"zoe.mueller@example.com"}'),
    ('{"n":"M\\u00FCller"}\n{"n":"Zo\\u00eb"}', '{"n":"Müller"}\n{"n":"Zoë"}'),
    ('```json\n{"p":"\\u002B33612345678"}\n```', '```json\n{"p":"+33612345678"}\n```'),
    (r"{'e': 'zoe\\u0040x.example', 'f': 'zoe\\\\u0040x'}", "{'e': 'zoe@x.example', 'f': 'zoe@x'}"),
    (r"\ud83d\ude00 \\uD83D\\uDE00 \U0001f600 \u{1F600}", "😀 😀 😀 😀"),
    (r"b'M\xfcller\x40' a\u000ab a\u200bb a\u007Fb e\u0301", "b'Müller@' a b ab a b e"),
    (r"\uff14\u0660\u2019\u00a0\ufb01\u3316", "40' fi㌖"),
    ("%2B33612345678", "+33612345678"),
    (' "%2B33612345678" (%2b44)', ' "+33612345678" (+44)'),
    ("061234567%30", "0612345670"),
    ("zoe.mueller%40", "zoe.mueller@"),
    ("%7A%6F%65%40%78%2E%64%65", "zoe@x.de"),
    ("M%C3%BC %C3%BC", "Mü ü"),
    ("%C3%BC%FF%2B33 a%0Ab", "ü%FF+33 a b"),
    ("z\0o\0e\0@\0x\0", "zoe@x"),
    ("zoe\0@x.de\0\0mira@x.de", "zoe@x.de\0\0mira@x.de"),
    ("\x1b[1;31mDE83\x1b[0m 70\x0899\x7f", "DE83 7099"),
    ("Zo=C3=AB M=C3=BCller <zoe=40example.com>", "Zoë Müller <zoe@example.com>"),
    ("a=3D1, Zo=C3=\n=AB M=FCl=\r\nler", "a=1, Zoë Müller"),
    ("x" * 70 + " FR=\r\n76 30=\n00", "x" * 70 + " FR76 3000"),
    ("=?utf-8?Q?Zo=C3=AB?= =?utf-8?B?Wm/DqyBNw7xsbGVy?=", "=?utf-8?Q?Zoë?= =?utf-8?B?Wm/DqyBNw7xsbGVy?="),
    ("a = b\nZo=C3=AB =3D=FF=00.\nc=20", "a = b\nZoë =ÿ .\nc=20"),
    ("zoe&#x0000040;x &#00000000064; &#10;&#0;", "zoe@x @   "),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_written_out_plainly(text: str, expected: str) -> None:
    assert shadow(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "page=20, ?x=20&y=40, token=FCabcdef, size=40x30\nuser=\nname=",
        f"key: {'QUJD' * 15}Rg=\nand so on; {'x ' * 30}=\ny = z",
        "Zo=C3=AB = x",
        "a\0b\tc\nd\x0ce\x1ff",
        "plain ASCII, with a 100% share (and 5 * 3 = 15)",
        "Über déjà ñandú 中文 Привет",
        "snake_case, __init, _x and a_b_c",
        "2*3*4, a*b, 2**3 + 4**5, f(*args)",
        "100%25 of 50% 40, a %41 b, 5%FFab %d %s %2 %GG",
        r"C:\users\Udata \u12 \u{} \u{110000} \U00110000 \ud83d \ude00 \uE000 \x4 \d+ \n",
        "&#xD800; &#x110000; &#12345678; &#; &#x;",
        "password: *** and 4000 **** **** 1590",
        "width: 50%; 10%20 of %s and %d",
        "AT&T &bogus; & co",
        "👩\u200d⚕ 👨\u200d👩\u200d👧",
        "m² ½ ① x³",
        "- * item\n- * item",
        "",
    ],
)
def test_nothing_to_do(text: str) -> None:
    seen = shadow(text)
    assert seen.identical
    assert seen.text is text


def test_joiner_inside_a_word_goes() -> None:
    assert shadow("mi\u200dra 👩\u200d⚕").text == "mira 👩\u200d⚕"


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("to mira@\u200bexample.com now", "mira@example.com", "mira@\u200bexample.com"),
        ("\u200bmira@example.com\u200b", "mira@example.com", "mira@example.com"),
        ("**mira@example.com**", "mira@example.com", "mira@example.com"),
        ("DE83 **7099** 9999", "DE83 7099 9999", "DE83 **7099** 9999"),
        ("a %2B44%2020 b".replace("a ", "a="), "+44 20", "%2B44%2020"),
        ("x&#64;y.example!", "x@y.example", "x&#64;y.example"),
        (r"to zoe\\u0040x.example!", "zoe@x.example", r"zoe\\u0040x.example"),
        (r"\u002b33 6\u0030", "+33 60", r"\u002b33 6\u0030"),
        (r"x \ud83d\ude00 y", "😀", r"\ud83d\ude00"),
        (r"x\u200b\u3316y", "㌖", r"\u3316"),
        ("%2B336%30", "+3360", "%2B336%30"),
        ("zoe&#x0000000040;x", "zoe@x", "zoe&#x0000000040;x"),
        ("to \x1b[1mzoe\0@x.example\x1b[0m!", "zoe@x.example", "zoe\0@x.example"),
        ("to zoe=40exam=\nple.com =3D", "zoe@example.com", "zoe=40exam=\nple.com"),
        ("=3D\n M=C3=BCl=\nler=\n.", "Müller", "M=C3=BCl=\nler"),
        ("Ste\u0301phane", "Stéphane", "Ste\u0301phane"),
        ("ﬁn…", "fin", "ﬁn"),
    ],
)
def test_way_back(text: str, value: str, written: str) -> None:
    seen = shadow(text)
    start = seen.text.index(value)
    low, high = seen.original(start, start + len(value))
    assert text[low:high] == written


ESCAPES = [
    r"\u0040", r"\ud83d", r"\ude00", r"\\u0301", r"\u200b", r"\ufdfa", r"\x41", r"\U0001f600", "\\", "a", " ",
    "%2B", "%C3", "%BC", "=C3", "=BC", "=40x.de", "=\n", "=3D", "&#x0040;", "&#0;",
]  # fmt: skip
HOSTILE = st.text(
    st.sampled_from("ab1 \n*_`%40&#64;amp\\ux{}\u200b\u200d\u0301é中👩４—’\u00a0ﬁ…\ufe0f\u1112\u1161\u11ab"),
    max_size=80,
) | st.lists(st.sampled_from(ESCAPES)).map("".join)


@given(HOSTILE | st.text(max_size=60))
def test_every_span_maps_into_the_original_in_order(text: str) -> None:
    seen = shadow(text)
    places = [seen.original(at, at + 1) for at in range(len(seen.text))]
    assert all(0 <= low < high <= len(text) for low, high in places)
    assert places == sorted(places)
    if places:
        assert seen.original(0, len(seen.text)) == (places[0][0], places[-1][1])


@given(HOSTILE, HOSTILE)
def test_a_value_is_found_whole_whatever_stands_around(before: str, after: str) -> None:
    value = "Mira-Tallow 4000"
    text = f"{before}\n\n|{value}|\n\n{after}"
    seen = shadow(text)
    start = seen.text.index(f"|{value}|") + 1
    low, high = seen.original(start, start + len(value))
    assert text[low:high] == value


@given(st.text(max_size=60))
def test_what_is_kept_is_kept_in_place(text: str) -> None:
    seen = shadow(text)
    for at, char in enumerate(seen.text):
        low, high = seen.original(at, at + 1)
        if char.isascii() and char.isalnum() and high - low == 1 and text[low].isascii():
            assert text[low] == char


def test_an_empty_span_has_a_place() -> None:
    seen = shadow("a\u200bb")
    assert seen.original(1, 1) == (2, 2)
    assert seen.original(2, 2) == (3, 3)
    assert Shadow("ab").original(1, 1) == (1, 1)


HOSTILE_UNITS = [
    "*a", "_ a ", "**a", "`a", "%41", "a%41 ", "&#64;", "👩\u200d", "\u0301\u0316", "\u200b", "é", "中，",
    "\\", "\\u", "\\u0040", "\\ud83d", "\\" * 99 + "u", "\\x", "%C3", "%", "=\n", "\0", "a\0", "\x1b[", "\x1b[0m",
    "=C3", "=40a", "a=", "=3D ", "=C3=\n", "&#0", "&#x" + "0" * 99, "0",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_long_hostile_text_is_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    seen = shadow(text)
    assert seen.original(0, len(seen.text))[1] <= len(text)

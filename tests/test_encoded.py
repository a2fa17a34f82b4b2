"""Values in base64, base32 and hexadecimal digits: found, replaced in their own encoding, and given back exactly."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import UnsupportedByPolicy
from proxy.model import Context, Finding, Kind, Leaf
from proxy.restore import Restoration
from proxy.substitute import Substituting
from proxy.vault import Vault, lookalikes
from proxy.wire import jsontext
from proxy.wire.codecs import runs
from proxy.wire.encoded import DEEPEST, seeing

MAIL = "zoe.mueller@example.com"
NAME = "Zoë Müller"
SECRET = re.compile(f"{MAIL}|{quote(MAIL)}|{NAME}")


def findings(text: str, action: str = "replace") -> list[Finding]:
    return [Finding(*match.span(), "PERSON", action, 1.0) for match in SECRET.finditer(text)]


def sent(text: str, action: str = "replace") -> tuple[str, Restoration]:
    """The text as it leaves the house, as the pipeline does it, and what restores it."""

    def through(visit: Callable[[Leaf], str]) -> str:
        new = jsontext.rewrite(text, "$", "", seeing(visit))
        return seeing(visit)(Leaf("$", text)) if new is None else new

    leaves: list[Leaf] = []

    def collect(leaf: Leaf) -> str:
        leaves.append(leaf)
        return leaf.text if leaf.raw is None else leaf.raw

    assert through(collect) == text
    vault = Vault(b"k", lookalikes(leaf.text for leaf in leaves))
    work = Substituting([findings(leaf.text, action) for leaf in leaves], vault, b"salt")
    out = through(work.sends())
    if work.encoded:
        through(work.keeps())
        work.remember()
    return out, Restoration(vault)


def shown(leaf: Leaf) -> list[Leaf]:
    """What a visitor is shown of a leaf."""
    leaves: list[Leaf] = []

    def collect(seen: Leaf) -> str:
        leaves.append(seen)
        return seen.text

    seeing(collect)(leaf)
    return leaves


def in_pieces(restoration: Restoration, text: str, cuts: list[int], context: Context = Context.PLAIN) -> str:
    restorer = restoration.growing(context)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    out = "".join(restorer.feed(text[a:b]) for a, b in pairwise(edges)) + restorer.finish()
    assert not restorer.pending
    return out


def b64(text: str, charset: str = "utf-8") -> str:
    return base64.b64encode(text.encode(charset)).decode()


def url64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def b32(text: str) -> str:
    return base64.b32encode(text.encode()).decode()


def mime(text: str, line_break: str = "\n", width: int = 76) -> str:
    written = b64(text)
    return line_break.join(written[at : at + width] for at in range(0, len(written), width))


def hexed(text: str, between: str = "") -> str:
    return text.encode().hex(between) if between else text.encode().hex()


def percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def entities(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def escapes(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


LONG = f"Dear {NAME},\n" + "the sky is blue, and so on. " * 9 + f"\nWrite to {MAIL}!"
WRITTEN: dict[str, tuple[str, Callable[[str], str]]] = {
    "base64": (b64(MAIL), lambda s: base64.b64decode(s).decode()),
    "base64 of a name": (b64(NAME), lambda s: base64.b64decode(s).decode()),
    "base64 without padding": (b64(NAME).rstrip("="), lambda s: base64.b64decode(s + "=" * (-len(s) % 4)).decode()),
    "base64 of a long text": (b64(LONG), lambda s: base64.b64decode(s).decode()),
    "for URLs": (url64(f"??>>~~ {MAIL}"), lambda s: base64.urlsafe_b64decode(s + "=" * (-len(s) % 4)).decode()),
    "with percent signs": (
        b64(f"??>>~~ {MAIL}").replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        lambda s: base64.b64decode(s.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=")).decode(),
    ),
    "lines": (mime(LONG), lambda s: base64.b64decode(s).decode()),
    "a short last line": (mime(MAIL + "." * 36), lambda s: base64.b64decode(s).decode()),
    "CRLF lines": (mime(LONG, "\r\n", 64), lambda s: base64.b64decode(s).decode()),
    "UTF-16": (b64(MAIL, "utf-16-le"), lambda s: base64.b64decode(s).decode("utf-16-le")),
    "Latin-1": (b64(f"Dear {NAME}", "latin-1"), lambda s: base64.b64decode(s).decode("latin-1")),
    "base32": (b32(MAIL), lambda s: base64.b32decode(s).decode()),
    "base32 in small letters": (b32(NAME).lower(), lambda s: base64.b32decode(s.upper()).decode()),
    "base32 without padding": (
        b32(NAME).rstrip("="),
        lambda s: base64.b32decode(s + "=" * (-len(s) % 8)).decode(),
    ),
    "base32 in lines": (
        "\n".join(re.findall("(?s).{1,64}", b32(LONG))),
        lambda s: base64.b32decode(s.replace("\n", "")).decode(),
    ),
    "base32 with a short last line": (
        "\n".join(re.findall("(?s).{1,72}", b32(MAIL + "." * 24))),
        lambda s: base64.b32decode(s.replace("\n", "")).decode(),
    ),
    "hex": (hexed(MAIL), lambda s: bytes.fromhex(s).decode()),
    "HEX": (hexed(NAME).upper(), lambda s: bytes.fromhex(s).decode()),
    "0x": ("0x" + hexed(MAIL), lambda s: bytes.fromhex(s[2:]).decode()),
    "hex with spaces": (hexed(MAIL, " "), lambda s: bytes.fromhex(s).decode()),
    "hex with colons": (hexed(MAIL, ":"), lambda s: bytes.fromhex(s.replace(":", "")).decode()),
    "data URL": (f"data:text/plain;charset=UTF-8;base64,{b64(MAIL)}", lambda s: base64.b64decode(s[36:]).decode()),
    "percent twice": (
        f"/?q={quote(quote(MAIL))}&b={quote(quote('a b'))}",
        lambda s: unquote(unquote(s)),
    ),
    "a path": (f"/u/{url64(MAIL)}/x", lambda s: base64.urlsafe_b64decode(s[3:-2] + "==").decode()),
    "not canonical": (b64(MAIL)[:-2] + "1=", lambda s: base64.b64decode(s).decode()),
}  # fmt: skip


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("see: ", " and so on"), ("x=", "&y"), ('("', '")')])
def test_found_and_replaced_in_its_own_encoding(form: str, before: str, after: str) -> None:
    written, read = WRITTEN[form]
    text = before + written + after
    out, restoration = sent(text)
    assert written not in out
    assert (out.startswith(before), out.endswith(after)) == (True, True)
    inner = read(out[len(before) : len(out) - len(after)])
    assert "<PERSON_" in inner
    assert not SECRET.search(inner)
    assert restoration.whole(out, Context.PLAIN)[0] == text
    assert restoration.whole(inner, Context.PLAIN)[0] == read(written)


@pytest.mark.parametrize("form", WRITTEN)
def test_wherever_a_stream_is_cut_it_comes_back(form: str) -> None:
    text = f"Well: {WRITTEN[form][0]}, {WRITTEN[form][0]}."
    out, restoration = sent(text)
    for cut in range(len(out)):
        assert in_pieces(restoration, out, [cut]) == text
    assert in_pieces(restoration, out, list(range(len(out)))) == text


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("times", [1, 2])
def test_in_json_text_the_spelling_comes_back_too(form: str, times: int) -> None:
    text = WRITTEN[form][0]
    for _ in range(times):
        text = json.dumps({"card": text, "n": 1.50})
    if times == 1:
        text = text.replace("/", "\\/")
    out, restoration = sent(text)
    assert WRITTEN[form][0] not in out
    json.loads(out)
    assert restoration.whole(out, Context.JSON)[0] == text
    assert in_pieces(restoration, out, list(range(len(out))), Context.JSON) == text


@pytest.mark.parametrize("outer", [b64, b32, hexed, percent, entities, escapes, lambda text: json.dumps({"a": text})])
@pytest.mark.parametrize("inner", [b64, b32, hexed, lambda text: json.dumps({"a": text, "card": 1})])
def test_one_encoding_inside_another(outer: Callable[[str], str], inner: Callable[[str], str]) -> None:
    text = f"This: {outer(inner(MAIL))} is it."
    out, restoration = sent(text)
    assert out != text
    assert [form for form in (MAIL, inner(MAIL), outer(inner(MAIL))) if form in out] == []
    assert in_pieces(restoration, out, list(range(0, len(out), 3))) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("See http://x.example/?q=zoe%2540x.example&a=%2520 now", "http://x.example/?q=zoe%40x.example&a=%20"),
        ("<a href='zoe&amp;#64;x.example'>", "zoe&#64;x.example"),
        ("q=%252525", "q=%2525"),
        (entities("zoe%40x.example"), "zoe%40x.example"),
        (percent("zoe&#64;x.example"), "zoe&#64;x.example"),
        ("100%25 and AT&amp;T, %2540%20", "%40 "),
    ],
)
def test_escapes_that_are_escaped_once_more(text: str, says: str | None) -> None:
    found = runs(text)
    assert [run.says for run in found] == ([] if says is None else [says])
    assert [run.codec.write(run.says) for run in found] == [text[run.start : run.end] for run in found]
    assert sent(text)[0] == text


def test_too_deep_is_refused() -> None:
    text = "the sky is blue"
    for _ in range(DEEPEST):
        text = b64(text)
    assert sent(text)[0] == text
    with pytest.raises(UnsupportedByPolicy):
        sent(b64(text))


@pytest.mark.parametrize(
    "text",
    [
        b64("the sky is blue, nobody is named"),
        base64.b64encode(bytes(range(256))).decode(),
        hexed("nothing to be seen"),
        "internationalization of the/usr/local/lib/python3 and a_long_identifier-with-dashes",
        "d41d8cd98f00b204e9800998ecf8427e 550e8400-e29b-41d4-a716-446655440000 +33612345678 20261201T120000",
        b32("the sky is blue, nobody is named"),
        "ORUGKIDTNN4SA2LTEBRGY5LF ORUGKIDTNN4SA2LTEBRGY5LF== ORUGKIDTNN4SA2LTEBRGY5LFFQ== INTERNATIONALIZATION",
        f"{b64('the sky is blue')}== {b64('the sky is blue!')}====",
        "QUJDREVGR0g QUJD===== =QUJDREVGR0g A== %2B%2F%2B%2F%2B%2F%2B",
        "12 34 56 78 90 12, 0xdeadbeef 00:11:22:33:44:55:66",
        mime("the sky is blue. " * 20),
        "",
    ],
)
def test_without_findings_not_a_letter_changes(text: str) -> None:
    assert sent(text)[0] == text


ALPHABET = 'ABCPEVNabz019+/_-=% \n"\\:{}%2B<>é'


@given(st.text(ALPHABET, max_size=80) | st.text(max_size=40), st.sampled_from(sorted(WRITTEN)), st.data())
def test_any_text_around_comes_back(around: str, form: str, data: st.DataObject) -> None:
    text = f"{around} {WRITTEN[form][0]} {around} {MAIL}"
    out, restoration = sent(text)
    assert MAIL not in out
    assert WRITTEN[form][0] not in out
    cuts = data.draw(st.lists(st.integers(0, 4000), max_size=20))
    assert in_pieces(restoration, out, cuts) == text


@given(st.text(max_size=60), st.sampled_from(["utf-8", "utf-16-le"]), st.booleans())
def test_what_is_decoded_is_encoded_again_to_the_letter(text: str, charset: str, as_hex: bool) -> None:
    data = text.encode(charset, "replace")
    written = data.hex() if as_hex else base64.b64encode(data).decode()
    for run in runs(written):
        assert run.codec.write(run.says) == written[run.start : run.end]


def test_what_is_masked_does_not_come_back_with_its_encoding() -> None:
    text = f"{b64(MAIL)} here"
    out, restoration = sent(text, "mask")
    assert base64.b64decode(out.split()[0]).decode() == "*" * len(MAIL)
    assert restoration.whole(out, Context.PLAIN)[0] == out


def test_a_finding_over_the_encoded_text_takes_all_of_it() -> None:
    text = f"key {b64(MAIL)} end"
    for start, end in ((4, 4 + len(b64(MAIL))), (8, 12), (0, 9)):
        leaf = Leaf("$", text)
        leaves = shown(leaf)
        vault = Vault(b"k")
        over = [Finding(start, end, "SECRET", "replace", 1.0)]
        work = Substituting([findings(leaves[0].text), over], vault, b"salt")
        out = seeing(work.sends())(leaf)
        seeing(work.keeps())(leaf)
        work.remember()
        assert re.fullmatch(r"(?:key )?<SECRET_[0-9]+> end", out)
        assert Restoration(vault).whole(out, Context.PLAIN)[0] == text


@pytest.mark.parametrize("kind", [Kind.FIXED, Kind.ID])
def test_where_nothing_may_be_replaced_an_encoded_value_refuses(kind: Kind) -> None:
    leaf = Leaf("$.a", b64(MAIL), kind)
    leaves = shown(leaf)
    assert [seen.text for seen in leaves] == [MAIL, b64(MAIL)]
    assert leaves[0].kind is kind
    with pytest.raises(UnsupportedByPolicy):
        seeing(Substituting([findings(MAIL), []], Vault(b"k"), b"s").sends())(leaf)


@pytest.mark.parametrize(
    "text",
    [
        "data:text/plain;charset=utf-16;base64,AAAAAAAA",
        "x data:text/html;charset=ISO-8859-1,zo%EB",
        "data:text/plain;base64," + binascii.b2a_base64(bytes(range(200, 250)), newline=False).decode(),
    ],
)
def test_a_data_url_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedByPolicy):
        sent(text)


@pytest.mark.parametrize(
    "unit", ["QUJD" * 20 + "\n", "QUJDRA==", "A", "ab ", "%2B", "a-", "ab:cd:", "Zm9v\n", "data:text/plain;", "a/b_"]
)
def test_long_hostile_text_is_read(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    for run in runs(text):
        assert 0 <= run.start < run.end <= len(text)

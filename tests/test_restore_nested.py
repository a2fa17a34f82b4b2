"""Values inside JSON text inside JSON strings: out and back, byte for byte, at every depth and every split."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Context, Finding, Kind, Leaf
from proxy.restore import Restoration
from proxy.substitute import substitute
from proxy.vault import Vault, lookalikes
from proxy.wire import jsontext

TEXTS = ('Kern "Süd" \\ Ost', "line one\nline two", '"Zoe M"@example.com', "Zoë Müller", "plain value")
CARD = 4000005260181590


def findings(leaf: Leaf) -> list[Finding]:
    if leaf.kind is Kind.NUMBER:
        return [Finding(0, len(leaf.text), "CREDIT_CARD", "replace", 1.0)] if leaf.text == str(CARD) else []
    found = [(leaf.text.find(value), value) for value in TEXTS if value in leaf.text]
    return [Finding(at, at + len(value), "SECRET", "replace", 1.0) for at, value in sorted(found)[:1]]


def sent(text: str) -> tuple[str, Vault]:
    """What the upstream gets for JSON text in a string, and the way back."""
    vault = Vault(b"k", lookalikes([text]))
    out = jsontext.rewrite(text, "$", "", lambda leaf: substitute(leaf, findings(leaf), vault, b"s"))
    assert out is not None
    return out, vault


SCALARS = st.sampled_from([*TEXTS, CARD, 17, None, True, "", "other", f"so {TEXTS[0]} it is", TEXTS[1] + "!"])


def trees(ascii_only: st.SearchStrategy[bool]) -> st.SearchStrategy[Any]:
    def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        keys = st.sampled_from(["a", "b", *TEXTS[3:]])
        plain = st.lists(children, max_size=3) | st.dictionaries(keys, children, max_size=3)
        return plain | st.tuples(plain, ascii_only).map(lambda pair: json.dumps(pair[0], ensure_ascii=pair[1]))

    return st.recursive(SCALARS, nested, max_leaves=12)


def deep(text: str) -> Any:
    """JSON text read at every depth."""

    def read(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: read(value) for key, value in node.items()}
        if isinstance(node, list):
            return [read(value) for value in node]
        return deep(node) if isinstance(node, str) and node[:1] in ("{", "[") else node

    return read(json.loads(text))


CONTEXTS = st.sampled_from([Context.PLAIN, Context.JSON])


def echoed(out: str, vault: Vault, context: Context, step: int) -> str:
    """The same whole and in pieces."""
    restorer = Restoration(vault).growing(context)
    pieces = [restorer.feed(out[at : at + step]) for at in range(0, len(out), step)]
    whole, _ = Restoration(vault).whole(out, context)
    assert "".join(pieces) + restorer.finish() == whole
    return whole


@given(trees(st.just(False)), CONTEXTS, st.integers(1, 7))
def test_an_echo_comes_back_byte_for_byte(tree: Any, context: Context, step: int) -> None:
    text = json.dumps({"top": tree}, ensure_ascii=False)
    assert echoed(*sent(text), context, step) == text


@given(trees(st.booleans()), st.booleans(), CONTEXTS, st.integers(1, 7))
def test_an_echo_says_the_same_at_every_depth(tree: Any, ascii_only: bool, context: Context, step: int) -> None:
    """Where an outer string wrote `\\u00fc` for what an inner one did not, the outer one may write the letter."""
    text = json.dumps({"top": tree}, ensure_ascii=ascii_only)
    assert deep(echoed(*sent(text), context, step)) == deep(text)


@pytest.mark.parametrize(
    "tree",
    [
        [CARD, TEXTS[2]],
        {"zoe": {"n": CARD}, "k": TEXTS[1]},
        {"a": json.dumps({"k": TEXTS[1], "n": CARD})},
        {"a": json.dumps({"b": json.dumps([CARD, TEXTS[0]])})},
        [CARD],
    ],
)
def test_what_broke_out_once(tree: Any) -> None:
    text = json.dumps(tree)
    out, vault = sent(text)
    for context in (Context.PLAIN, Context.JSON):
        assert Restoration(vault).whole(out, context)[0] == text


@pytest.mark.parametrize("tree", [{"a": TEXTS[0]}, [{"a": TEXTS[3]}], [TEXTS[1], TEXTS[3]], {"a": [TEXTS[3], CARD]}])
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("step", [1, 2, 3, 99])
def test_a_json_string_that_holds_json_text_comes_back_as_it_was(tree: Any, times: int, step: int) -> None:
    text = json.dumps(tree)
    for _ in range(times):
        text = json.dumps(text)
    assert echoed(*sent(text), Context.PLAIN, step) == text


@pytest.mark.parametrize("depth", range(4))
def test_a_value_from_prose_cannot_break_out_of_any_depth(depth: int) -> None:
    vault = Vault(b"k")
    entry = vault.issue("SECRET", 'x", "admin": "yes')
    tree: Any = {"who": entry.placeholder, "admin": "no"}
    for _ in range(depth):
        tree = {"inner": json.dumps(tree)}
    told = json.loads(Restoration(vault).whole(json.dumps(tree), Context.JSON)[0])
    for _ in range(depth):
        told = json.loads(told["inner"])
    assert told == {"who": entry.text, "admin": "no"}

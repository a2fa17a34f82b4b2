"""Text that begins like JSON and goes on as something else: values in its strings come back as they were escaped."""

from __future__ import annotations

import base64
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxy.model import Context, Finding, Hidden, Kind, Leaf
from proxy.restore import Restoration
from proxy.substitute import Substituting, substitute
from proxy.vault import Vault, lookalikes
from proxy.wire import jsontext
from tests.test_restore_nested import TEXTS, echoed

ESCAPED = tuple(json.dumps(value)[1:-1] for value in TEXTS)


def found(leaf: Leaf) -> list[Finding]:
    """The first value in a leaf, as it is or as a JSON string has it."""
    places = ((leaf.text.find(value), value) for value in (*ESCAPED, *TEXTS))
    first = next(((at, value) for at, value in places if at >= 0), None)
    return [] if first is None else [Finding(first[0], first[0] + len(first[1]), "SECRET", "replace", 1.0)]


@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3),
    st.sampled_from([" and so on", "\nDone.", "]", " {", '"']),
    st.integers(0, 2),
    st.integers(1, 7),
)
@example([TEXTS[3]], "\nDone.", 1, 3)
@settings(max_examples=60, deadline=None)
def test_json_that_goes_on_as_prose_says_the_same_at_every_depth(
    values: list[str], tail: str, depth: int, step: int
) -> None:
    tree = f'{{"k": {json.dumps(values[0])}}}{tail}'
    for _ in range(depth):
        tree = json.dumps({"inner": tree})
    text = json.dumps({"top": [tree, values[1:]]})
    vault = Vault(b"k", lookalikes([text]))
    out = jsontext.rewrite(text, "$", "", lambda leaf: substitute(leaf, found(leaf), vault, b"s"))
    assert out is not None
    assert json.loads(echoed(out, vault, Context.JSON, step)) == json.loads(text)


def test_encoded_lines_behind_what_begins_like_json_keep_their_line_breaks() -> None:
    lines = base64.encodebytes(b"card 4000005260181590, " * 4).decode()
    sent = base64.encodebytes(b"card <CREDIT_CARD_123456>, " * 4).decode()
    text = f'{{"k": "{lines}'
    hidden = (Hidden(7, len(text), sent), Hidden(7, len(text), lines))
    vault = Vault(b"k")
    vault.issue("CREDIT_CARD", "4000005260181590")
    visits = Substituting([[]], vault, b"s")
    out = visits.sends()(Leaf("$", text, Kind.TEXT, hidden=hidden[:1]))
    assert visits.keeps()(Leaf("$", text, Kind.TEXT, hidden=hidden[1:])) == text
    visits.remember()
    assert Restoration(vault).whole(out, Context.PLAIN)[0] == text

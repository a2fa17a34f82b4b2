from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.errors import UnsupportedByPolicy
from proxy.model import Context, Finding, Kind, Leaf
from proxy.restore import Restoration
from proxy.substitute import substitute
from proxy.vault import Vault, lookalikes

SALT = b"salt"


def find(text: str, value: str, entity: str = "PERSON", action: str = "replace") -> Finding:
    start = text.index(value)
    return Finding(start, start + len(value), entity, action, 0.9)


@given(st.text() | st.sampled_from(['{"', '{"a": "', '["', "[", "```json\n{"]), st.text(min_size=1), st.text())
@example('{"', '"\\', "")
def test_outside_findings_nothing_changes_and_the_round_trip_is_the_identity(
    before: str, value: str, after: str
) -> None:
    text = before + value + after
    vault = Vault(b"k", lookalikes([text]))
    sent = substitute(
        Leaf("$.a", text), [Finding(len(before), len(before) + len(value), "PERSON", "replace", 1.0)], vault, SALT
    )
    (entry,) = vault
    assert sent == before + entry.placeholder + after
    assert Restoration(vault).whole(sent, Context.PLAIN)[0] == text


def test_in_json_text_the_raw_form_is_spliced_and_comes_back_byte_for_byte() -> None:
    raw = r"Dear Zo\u00eb \"Z\" M\u00fcller,\n"
    leaf = Leaf("$.x#$.a", json.loads(f'"{raw}"'), raw=raw)
    vault = Vault(b"k")
    sent = substitute(leaf, [find(leaf.text, 'Zoë "Z" Müller')], vault, SALT)
    (entry,) = vault
    assert sent == f"Dear {entry.placeholder},\\n"
    assert Restoration(vault).whole(f'{{"a": "{sent}"}}', Context.JSON)[0] == f'{{"a": "{raw}"}}'
    assert Restoration(vault).whole(f"Hello {entry.placeholder}", Context.PLAIN)[0] == 'Hello Zoë "Z" Müller'


def test_a_number_becomes_a_quoted_placeholder_and_a_number_again() -> None:
    vault = Vault(b"k")
    leaf = Leaf("$.x#$.card", "4000005260181590", Kind.NUMBER, raw="4000005260181590")
    sent = substitute(leaf, [find(leaf.text, leaf.text, "CREDIT_CARD")], vault, SALT)
    assert json.loads(sent).startswith("<CREDIT_CARD_")
    assert Restoration(vault).whole(f'{{"card":{sent}}}', Context.JSON)[0] == '{"card":4000005260181590}'


def test_a_name_field_gets_no_brackets() -> None:
    vault = Vault(b"k")
    sent = substitute(Leaf("$.name", "mira_tallow", Kind.NAME), [find("mira_tallow", "mira_tallow")], vault, SALT)
    (entry,) = vault
    assert sent == entry.bare
    assert "<" not in sent


@pytest.mark.parametrize("kind", [Kind.FIXED, Kind.SIGNED, Kind.ID])
def test_what_must_stay_refuses_and_names_the_path_only(kind: Kind) -> None:
    leaf = Leaf("$.tools[0].function.name", "mira@x.example", kind)
    with pytest.raises(UnsupportedByPolicy) as refused:
        substitute(leaf, [find(leaf.text, leaf.text, "EMAIL_ADDRESS")], Vault(b"k"), SALT)
    assert refused.value.param == leaf.path
    assert "EMAIL_ADDRESS" in refused.value.message
    assert "mira" not in json.dumps(refused.value.body())


def test_mask_hash_and_redact_do_not_come_back() -> None:
    text = "call Mira Tallow"
    vault = Vault(b"k")
    masked = substitute(Leaf("$", text), [find(text, "Mira Tallow", action="mask")], vault, SALT)
    assert masked == "call " + "*" * len("Mira Tallow")
    assert substitute(Leaf("$", text), [find(text, "Mira Tallow", action="redact")], vault, SALT) == "call "
    hashed = substitute(Leaf("$", text), [find(text, "Mira Tallow", action="hash")], vault, SALT)
    assert hashed == substitute(Leaf("$", text), [find(text, "Mira Tallow", action="hash")], vault, SALT)
    assert hashed != substitute(Leaf("$", text), [find(text, "Mira Tallow", action="hash")], vault, b"other")
    assert "Mira" not in hashed
    assert len(vault) == 0


def test_an_unknown_action_is_an_error_not_a_pass() -> None:
    with pytest.raises(ValueError, match="no operator"):
        substitute(Leaf("$", "Mira"), [find("Mira", "Mira", action="shrug")], Vault(b"k"), SALT)


def test_a_participants_name_gets_brackets_only_where_a_placeholder_could_not_be_told_without() -> None:
    vault = Vault(b"k")
    sent = substitute(Leaf("$.name", "q%20mira", Kind.NAME), [find("q%20mira", "mira")], vault, SALT)
    assert sent == f"q%20{next(iter(vault)).placeholder}"
    assert Restoration(vault).whole(sent, Context.PLAIN)[0] == "q%20mira"


@pytest.mark.parametrize(
    ("spelled", "plain", "opening"),
    [
        ("mira%40x.example", "mira@x.example", "%3C"),
        ("Zo%C3%AB%20M%C3%BCller", "Zoë Müller", "%3C"),
        ("mira&#64;x.example", "mira@x.example", "&lt;"),
        ("Zo&euml; M&#xFC;ller", "Zoë Müller", "&lt;"),
        ("Zo%EB", "Zo%EB", "<"),
        ("mira%40x&#46;example", "mira%40x&#46;example", "<"),
    ],
)
def test_an_encoded_value_comes_back_encoded_where_its_placeholder_does(spelled: str, plain: str, opening: str) -> None:
    vault = Vault(b"k")
    sent = substitute(Leaf("$", f"to {spelled}!"), [find(f"to {spelled}!", spelled)], vault, SALT)
    (entry,) = vault
    assert sent == f"to {opening}{entry.bare}{ {'%3C': '%3E', '&lt;': '&gt;', '<': '>'}[opening] }!"
    restoration = Restoration(vault)
    assert restoration.whole(sent, Context.PLAIN)[0] == f"to {spelled}!"
    assert restoration.whole(f"to <{entry.bare}>!", Context.PLAIN)[0] == f"to {plain}!"
    assert json.loads(restoration.whole(json.dumps([sent, f"<{entry.bare}>"]), Context.JSON)[0]) == [
        f"to {spelled}!",
        plain,
    ]


@given(st.text(min_size=1), st.booleans())
def test_whatever_is_encoded_comes_back_to_the_letter(value: str, percent: bool) -> None:
    spelled = "".join(f"%{byte:02x}" for byte in value.encode("utf-8", "replace")) if percent else f"&#64;{value}&amp;"
    raw = json.dumps(spelled)[1:-1]
    vault = Vault(b"k", lookalikes([spelled]))
    leaf = Leaf("$#$.a", spelled, raw=raw)
    sent = substitute(leaf, [Finding(0, len(spelled), "PERSON", "replace", 1.0)], vault, SALT)
    assert Restoration(vault).whole(json.dumps({"a": json.loads(f'"{sent}"')}), Context.JSON)[0] == f'{{"a": "{raw}"}}'

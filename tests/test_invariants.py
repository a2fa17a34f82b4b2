"""What holds for every request, checked with requests that nobody thought of.

1. The upstream receives no planted value, wherever in the body it stands and however it is written, or nothing at all.
2. Without findings the upstream receives what the client sent: order, nulls, digits, every letter.
3. With an echo behind it, the client gets back what it sent, wherever the stream is cut.
6. Time that grows with the input is measured by the benchmarks; tenants (4) and faults (5) have files of their own.
"""

from __future__ import annotations

import base64
import copy
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inprocess import Result, World, world
from tests.provider import spellings


@pytest.fixture(scope="module")
def here() -> World:
    return world()


PLANTED = (
    ("eleanor.whitcombe@example.org", "Write to {} today."),
    ("GB82 WEST 1234 5698 7654 32", "Her IBAN is {}, she says."),
    ("FR7630006000011234567890189", "Voici mon IBAN : {}."),
    ("4000 0052 6018 1590", "The card {} was declined."),
    ("2 85 07 75 116 042 97", "Mon numéro de sécurité sociale est {}."),
    ("943 476 5919", "Patient NHS number: {}"),
    ("+33 6 12 34 56 78", "Please call {} before noon."),
    ("Eleanor Whitcombe", "Please write to Mrs {} about the contract."),
    ("Camille Delaunay", "Bonjour, je m'appelle {} et j'ai une question."),
)
"""Values with a sentence in which each is known to be found."""

FILLER = ("", "the sky is blue", 'line\nbreak \\ "quoted"', "\U0001f600 e\u0301 \u2028", '{"a": [1, 2]}', "0.10")
planted = st.sampled_from(PLANTED)
filler = st.sampled_from(FILLER)


@st.composite
def sentences(draw: st.DrawFn, values: list[str]) -> str:
    """Some filler, and maybe a sentence with a value, which is noted in `values`."""
    before, after = draw(filler), draw(filler)
    if not draw(st.booleans()):
        return before
    value, sentence = draw(planted)
    values.append(value)
    return f"{before}\n\n{sentence.format(value)}\n\n{after}"


def nested(draw: st.DrawFn, values: list[str]) -> str:
    """JSON text inside a string, at one of three depths, escaped or not."""
    text: str = draw(sentences(values))
    ascii_only = draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        text = json.dumps({"note": text, "n": 1, "more": [text]}, ensure_ascii=ascii_only)
    return text


def content(draw: st.DrawFn, values: list[str]) -> Any:
    if draw(st.booleans()):
        return draw(sentences(values))
    return [{"type": "text", "text": draw(sentences(values))} for _ in range(draw(st.integers(1, 3)))]


def turns(draw: st.DrawFn, values: list[str]) -> list[Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "save", "arguments": nested(draw, values)}}
    messages: list[Any] = [
        {"role": draw(st.sampled_from(("system", "developer"))), "content": content(draw, values)},
        {"role": "user", "content": content(draw, values)},
        {"role": "assistant", "content": None, "refusal": draw(sentences(values)), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": nested(draw, values)},
        {"role": "assistant", "content": content(draw, values), "reasoning_content": draw(sentences(values))},
        {"role": "user", "content": content(draw, values), "unheard_of": {"deep": [draw(sentences(values))]}},
    ]
    return [message for message in messages if draw(st.booleans())] or [messages[1]]


def schema(draw: st.DrawFn, values: list[str]) -> Any:
    who = {"type": "string", "description": draw(sentences(values)), "enum": [draw(sentences(values)), "other"]}
    return {"type": "object", "properties": {"who": who}, "examples": [{"who": draw(sentences(values))}]}


def others(draw: st.DrawFn, values: list[str]) -> dict[str, Any]:
    tool = {"name": "save", "description": draw(sentences(values)), "parameters": schema(draw, values)}
    shape = {"name": "shape", "description": draw(sentences(values)), "schema": schema(draw, values)}
    found = {
        "tools": [{"type": "function", "function": tool}],
        "response_format": {"type": "json_schema", "json_schema": shape},
        "metadata": {"note": draw(sentences(values))},
        "user": draw(sentences(values)),
        "stop": [draw(sentences(values))],
        "prediction": {"type": "content", "content": content(draw, values)},
        "unheard_of": {"a": [None, {"b": draw(sentences(values))}]},
        "temperature": 0.1,
    }
    return {key: value for key, value in found.items() if draw(st.integers(0, 3)) == 0}


@st.composite
def bodies(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """A body, and the values that may stand in it."""
    values: list[str] = []
    body = {"model": "gpt-4o", "messages": turns(draw, values), **others(draw, values)}
    return body, values


@given(st.data(), st.booleans())
def test_no_planted_value_reaches_the_upstream(here: World, data: st.DataObject, ascii_only: bool) -> None:
    body, values = data.draw(bodies())
    result = here.send(json.dumps(body, ensure_ascii=ascii_only).encode())
    assert (result.status == 200) == (result.sent is not None), result.answer
    seen = result.seen()
    assert [value for value in values if any(spelt in seen for spelt in spellings(value))] == []


FIXED_PLACES: tuple[Any, ...] = (
    lambda value: {"tools": [{"type": "function", "function": {"name": value}}]},
    lambda value: {
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {value: {}}}}}]
    },
    lambda value: {"tool_choice": {"type": "function", "function": {"name": value}}},
    lambda value: {"metadata": {value: "x"}},
    lambda value: {"unheard_of": {"deep": [{value: 1}]}},
    lambda value: {value: 1},
    lambda value: {"model": value},
    lambda value: {"service_tier": value},
)


@pytest.mark.parametrize("place", range(len(FIXED_PLACES)))
@pytest.mark.parametrize("value", ["eleanor.whitcombe@example.org", "FR7630006000011234567890189"])
def test_a_value_where_nothing_may_be_replaced_stops_the_request(here: World, place: int, value: str) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], **FIXED_PLACES[place](value)}
    result = here.send(json.dumps(body).encode())
    assert (result.status, result.sent) == (400, None)
    assert value not in result.answer.decode()


@pytest.mark.parametrize(
    "number", ["4000005260181590", "4000005260181590.0", "4000005260181590e0", "400000526018159E1"]
)
def test_a_number_can_be_a_value_too(here: World, number: str) -> None:
    body = f'{{"model":"gpt-4o","messages":[],"unheard_of":{{"card":{number}}}}}'
    assert here.send(body.encode()).sent is None
    text = f'{{"card": {number}, "n": [1.50, 12345.5]}}'
    for stream in (False, True):
        asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], "stream": stream}
        result = here.send(json.dumps(asked).encode())
        assert "40000052601815" not in result.seen()
        assert "1.50, 12345.5" in result.seen()
        assert result.text() == text


# --- what is not a finding ------------------------------------------------------------------------------------------

plain = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
numbers = st.sampled_from(("0", "-0.0", "1", "1.10", "1E5", "0.1000", "1e-7", "-12", "123", "3.14159"))


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


def written(node: Any) -> str:
    """JSON text with white space, in which a `Digits` is a number."""
    if isinstance(node, Digits):
        return node
    if isinstance(node, dict):
        return "{ " + " , ".join(f"{json.dumps(key)} : {written(value)}" for key, value in node.items()) + " }"
    if isinstance(node, list):
        return "[ " + " , ".join(map(written, node)) + " ]"
    return json.dumps(node)


def exactly(text: bytes | str) -> Any:
    """The tree with the order of keys and the digits of numbers."""
    return json.loads(text, object_pairs_hook=lambda pairs: pairs, parse_float=Digits, parse_int=Digits)


trees = st.recursive(
    st.none() | st.booleans() | numbers.map(Digits) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcdefgh"), inner, max_size=4),
    max_leaves=8,
)


@given(
    st.lists(plain, min_size=1, max_size=4), st.dictionaries(st.sampled_from(("x1", "x2", "x3")), trees), st.booleans()
)
def test_what_holds_no_finding_goes_through_unchanged(
    here: World, texts: list[str], more: dict[str, Any], null: bool
) -> None:
    messages = [{"role": "user", "content": text, **({"name": None} if null else {})} for text in texts]
    body = {**more, "model": "gpt-4o", "messages": messages, "temperature": Digits("0.70"), "seed": Digits("7")}
    text = written(body)
    result = here.send(text.encode())
    if result.status == 200 and not result.entities:
        assert result.sent is not None
        assert exactly(result.sent) == exactly(text)
        assert result.text() == texts[-1]
    else:
        assert result.entities or result.code in ("unsupported_by_policy", "invalid_json")


def test_most_of_that_went_through(here: World) -> None:
    body = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "plain words \\ \u2028 \U0001f600"}],
        "x": Digits("1.10"),
    }
    result = here.send(written(body).encode())
    assert (result.status, result.entities) == (200, "")
    assert result.sent is not None
    assert exactly(result.sent) == exactly(written(body))


# --- the round trip -------------------------------------------------------------------------------------------------

LONG = "\n".join(sentence.format(value) for value, sentence in PLANTED) + ' {"k": "Eleanor Whitcombe \\"\u2028'
TOOLS = [{"type": "function", "function": {"name": "save", "parameters": {"type": "object"}}}]


ENCODINGS: tuple[Any, ...] = (
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    lambda text: base64.encodebytes(text.encode()).decode().strip(),
    lambda text: text.encode().hex(),
    lambda text: quote(text, safe=""),
    lambda text: "".join(f"&#{ord(char)};" for char in text),
    lambda text: json.dumps({"note": text}),
)


@settings(max_examples=10, derandomize=True)
@given(
    st.lists(planted, min_size=1, max_size=3),
    st.lists(st.sampled_from(ENCODINGS), min_size=1, max_size=3),
    st.sampled_from(("", "See ", '{"a": "b"} ', "http://x.example/?q=")),
    st.booleans(),
    st.integers(1, 60),
)
def test_encoded_values_do_not_leave_and_come_back(
    here: World, parts: list[tuple[str, str]], encodings: list[Any], before: str, tools: bool, piece: int
) -> None:
    text = "\n".join(sentence.format(value) for value, sentence in parts)
    forms = [text]
    for encode in encodings:
        forms.append(encode(forms[-1]))
    # An encoded text is held whole until it is known, and no more events than `hold` keeps can wait.
    piece = max(piece, len(forms[-1]) // 3_000 + 1)
    result = ask(unmetered(here), before + forms[-1], tools, piece=piece)
    if result.status != 200:
        assert (result.code, result.sent) == ("unsupported_by_policy", None)
        return
    assert [form for form in forms if form in result.seen()] == []
    assert [value for value, _ in parts if any(spelt in result.seen() for spelt in spellings(value))] == []
    assert back(result, tools) == before + forms[-1]


def unmetered(here: World) -> World:
    """The same without a look at usage: the echo only guesses the tokens of encoded text."""
    other = copy.copy(here)
    answers = here.policy.answers.model_copy(update={"usage_mismatch": "off"})
    other.policy = here.policy.model_copy(update={"answers": answers})
    return other


def ask(here: World, text: str, tools: bool = False, **how: Any) -> Result:
    body: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], "stream": True}
    return here.send(json.dumps({**body, "tools": TOOLS} if tools else body).encode(), **how)


def back(result: Result, tools: bool) -> str:
    return str(json.loads(result.text())["text"]) if tools else result.text()


@pytest.mark.parametrize("tools", [False, True])
def test_wherever_the_text_is_cut_it_comes_back(here: World, tools: bool) -> None:
    for piece in (*range(1, 40), 10_000):
        result = ask(here, LONG, tools, piece=piece)
        assert [value for value, _ in PLANTED if value in result.seen()] == []
        assert back(result, tools) == LONG


@pytest.mark.parametrize("tools", [False, True])
def test_wherever_the_bytes_are_cut_they_come_back(here: World, tools: bool) -> None:
    text = "Write to eleanor.whitcombe@example.org \U0001f600 \u2028 today."
    for cut in range(0, 2600, 3):
        assert back(ask(here, text, tools, cuts=(cut,), piece=9), tools) == text
    assert back(ask(here, text, tools, cuts=range(4000)), tools) == text


@given(st.lists(planted | plain.map(lambda text: ("", text.replace("{", "").replace("}", ""))), max_size=6), st.data())
def test_any_text_comes_back(here: World, parts: list[tuple[str, str]], data: st.DataObject) -> None:
    text = "\n".join(sentence.format(value) for value, sentence in parts)
    tools = data.draw(st.booleans())
    cuts = data.draw(st.lists(st.integers(0, 5000), max_size=30))
    result = ask(here, text, tools, cuts=cuts, piece=data.draw(st.integers(1, 20)))
    assert result.status == 200
    assert back(result, tools) == text


@settings(max_examples=30)
@given(st.text(alphabet='{}[]"\\:,<>_ 0123456789PERSONaé\n', max_size=60), st.integers(1, 9))
def test_text_that_looks_like_json_or_like_placeholders_comes_back(here: World, text: str, piece: int) -> None:
    whole = f"{text} Write to eleanor.whitcombe@example.org {text}"
    for tools in (False, True):
        result = ask(here, whole, tools, piece=piece)
        assert "whitcombe" not in result.seen()
        assert back(result, tools) == whole


@pytest.mark.parametrize("kind", ["", "text/plain; charset=utf-8", "application/octet-stream"])
def test_a_stream_without_its_content_type_is_a_stream(here: World, kind: str) -> None:
    result = ask(here, LONG, kind=kind, piece=7)
    assert (result.status, back(result, tools=False)) == (200, LONG)


@pytest.mark.parametrize("asked", [False, True])
def test_an_upstream_that_does_not_do_as_it_was_asked(here: World, asked: bool) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": LONG}], "stream": asked}
    result = here.send(json.dumps(body).encode(), streams=not asked)
    assert (result.status, result.text()) == (200, LONG)
    assert [value for value, _ in PLANTED if value in result.seen()] == []

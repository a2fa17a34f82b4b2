"""Citations of earlier answers: their offsets follow what is replaced in a request, and come back as they were."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Seen
from proxy.wire import chat, responses
from tests.wire import MAIL, NAME, redacted, values_in

words = st.lists(st.sampled_from(["see", "é", "😀", NAME, MAIL, "the page", "\n"]), min_size=1, max_size=6)
framed = st.booleans()


def said(pieces: list[str], is_json: bool) -> tuple[str, list[tuple[int, int]]]:
    """A text of these pieces, and where each stands in it."""
    if is_json:
        pieces = [json.dumps(piece, ensure_ascii=False)[1:-1] for piece in pieces]
    text, places = '{"a": "' if is_json else "", []
    for piece in pieces:
        places.append((len(text), len(text) + len(piece)))
        text += piece + " "
    return text + ('"}' if is_json else ""), places


def check(before: str, places: list[tuple[int, int]], after: str, moved: list[Any]) -> None:
    for (start, end), citation in zip(places, moved, strict=True):
        old, new = before[start:end], after[citation["start_index"] : citation["end_index"]]
        assert new == old or (new.startswith("<") and new.endswith(">")), (old, new)


def notes(places: list[tuple[int, int]]) -> list[Any]:
    return [{"type": "url_citation", "start_index": a, "end_index": b, "title": "t", "url": "u"} for a, b in places]


@given(words, framed)
def test_of_a_response(pieces: list[str], is_json: bool) -> None:
    text, places = said(pieces, is_json)
    part = {"annotations": notes(places), "type": "output_text", "text": text}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    sent, restoration = redacted(responses.rewrite_request, {"model": "m", "input": [item]})
    assert values_in(sent) == []
    new = sent["input"][0]["content"][0]
    check(text, places, new["text"], new["annotations"])
    back = responses.restore_answer({"status": "completed", "output": sent["input"]}, restoration, Seen())
    assert isinstance(back, dict)
    assert back["output"] == [item]


@given(words, framed)
def test_of_a_chat(pieces: list[str], is_json: bool) -> None:
    text, places = said(pieces, is_json)
    nested = [{"type": "url_citation", "url_citation": note} for note in notes(places)]
    message = {"role": "assistant", "content": text, "annotations": nested}
    sent, restoration = redacted(chat.rewrite_request, {"model": "m", "messages": [message]})
    new = sent["messages"][0]
    check(text, places, new["content"], [note["url_citation"] for note in new["annotations"]])
    back = chat.restore_answer({"choices": [{"index": 0, "message": new}]}, restoration, Seen())
    assert isinstance(back, dict)
    assert back["choices"] == [{"index": 0, "message": message}]

"""Citations of earlier answers: their offsets follow what is replaced in a request, and come back as they were."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Seen
from proxy.wire import chat, messages, responses
from proxy.wire.pointers import as_written, documents
from tests.wire import MAIL, NAME, events_of, redacted, values_in

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


def located(places: list[tuple[int, int]], text: str, index: int) -> list[Any]:
    return [
        {
            "type": "char_location",
            "cited_text": text[start:end],
            "document_index": index,
            "document_title": None,
            "start_char_index": start,
            "end_char_index": end,
        }
        for start, end in places
    ]


def document(source: dict[str, Any]) -> dict[str, Any]:
    return {"type": "document", "source": source, "citations": {"enabled": True}}


def plain(text: str) -> dict[str, Any]:
    return document({"type": "text", "media_type": "text/plain", "data": text})


def messages_of(texts: list[str], earlier: list[Any]) -> list[Any]:
    """Two documents with text, in two messages, and others that have offsets of their own, before and between them."""
    pieces = document({"type": "content", "content": [{"type": "text", "text": f"By {NAME}."}]})
    returned = {"type": "tool_result", "tool_use_id": "t", "content": [plain(texts[1])]}
    block = {"type": "text", "text": "As it says.", "citations": earlier}
    return [
        {"role": "user", "content": [pieces, plain(texts[0]), {"type": "text", "text": "What does it say?"}]},
        {"role": "assistant", "content": [block]},
        {"role": "user", "content": [returned]},
    ]


def streamed(message: dict[str, Any]) -> bytes:
    (block,) = message["content"]
    started = {**block, "text": "", "citations": []}
    told = [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": started},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}}
            for citation in block["citations"]
        ),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": block["text"]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in told)


@given(words, words, framed)
def test_of_a_message_in_the_documents_of_its_request(first: list[str], second: list[str], is_json: bool) -> None:
    """What is cited is what stands there, in the document that the client has; and again when it comes back."""
    cut = [said(first, is_json), said(second, is_json)]
    texts = [text for text, _ in cut]
    known = [note for at, (text, places) in enumerate(cut, 1) for note in located(places, text, at)]
    body = {"model": "m", "max_tokens": 9, "messages": messages_of(texts, known)}
    sent, restoration = redacted(messages.rewrite_request, body)
    assert values_in(sent) == []
    moved = as_written(documents(sent))
    inner = sent["messages"][0]["content"][1], sent["messages"][2]["content"][0]["content"][0]
    for note in sent["messages"][1]["content"][0]["citations"]:
        there = inner[note["document_index"] - 1]["source"]["data"]
        cited = there[note["start_char_index"] : note["end_char_index"]]
        assert cited == note["cited_text"] or (is_json and cited.startswith("<PERSON_"))
    answer = {"type": "message", "id": "msg_1", "role": "assistant", "content": sent["messages"][1]["content"]}
    back = messages.restore_answer(answer, restoration, Seen(), None, moved)
    assert isinstance(back, dict)
    assert back["content"] == body["messages"][1]["content"]
    stream = messages.MessagesStream(restoration, Seen(), None, moved)
    raw = stream.feed(streamed(answer)) + stream.finish()
    told = [event["delta"]["citation"] for _, event in events_of(raw) if "citation" in event.get("delta", {})]
    assert told == known


def test_a_citation_of_something_else_stays_as_it_is() -> None:
    """Pages, blocks, documents that were not sent, and offsets that are none."""
    odd: list[Any] = [
        {"type": "page_location", "document_index": 1, "start_page_number": 100, "end_page_number": 101},
        {"type": "char_location", "document_index": 7, "start_char_index": 90, "end_char_index": 99},
        {"type": "char_location", "document_index": -1, "start_char_index": 90, "end_char_index": 99},
        {"type": "char_location", "document_index": True, "start_char_index": True, "end_char_index": None},
        {"type": "content_block_location", "document_index": 0, "start_block_index": 90, "end_block_index": 91},
    ]
    body = {"model": "m", "messages": messages_of([f"See {NAME} there.", "x"], odd)}
    sent, restoration = redacted(messages.rewrite_request, body)
    assert sent["messages"][1]["content"][0]["citations"] == odd
    answer = {"type": "message", "content": sent["messages"][1]["content"]}
    back = messages.restore_answer(answer, restoration, Seen(), None, as_written(documents(sent)))
    assert isinstance(back, dict)
    assert back["content"] == body["messages"][1]["content"]

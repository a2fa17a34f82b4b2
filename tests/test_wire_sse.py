"""The SSE reader against every framing the standard allows, and the writer against the official client's reader."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from proxy.errors import BadAnswer
from proxy.wire.sse import KEEP_ALIVE, Event, SSEParser, written


def read(stream: bytes, cuts: list[int] | None = None) -> list[Event]:
    parser = SSEParser()
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts or [])})
    events = [event for a, b in itertools.pairwise(edges) for event in parser.feed(stream[a:b])]
    return events + parser.finish()


FRAMINGS = [
    (b"data: a\n\ndata: b\n\n", [Event("a"), Event("b")]),
    (b"data: a\r\n\r\ndata: b\r\n\r\n", [Event("a"), Event("b")]),
    (b"data: a\r\rdata: b\r\r", [Event("a"), Event("b")]),
    (b"data:a\n\n", [Event("a")]),
    (b"data:  a\n\n", [Event(" a")]),
    (b"data: a\ndata: b\n\n", [Event("a\nb")]),
    (b"\xef\xbb\xbfdata: a\n\n", [Event("a")]),
    (b"event: x\nid: 7\nretry: 10\ndata: a\n\n", [Event("a", "x")]),
    (b": ping\n\ndata: a\n\n", [Event(comment=True), Event("a")]),
    (b"data: a\n: inside\ndata: b\n\n", [Event("a\nb")]),
    (b"data:\n\ndata: a\n\n", [Event(comment=True), Event("a")]),
    (b"event: x\n\ndata: a\n\n", [Event(comment=True), Event("a")]),
    (b"retry: 3000\n\ndata: a\n\n", [Event(comment=True), Event("a")]),
    (b"\n\n\ndata: a\n\n", [Event("a")]),
    (b"data: a\n", [Event("a")]),
    (b"data: a", [Event("a")]),
    ("data: é\u2028\u0085😀\n\n".encode(), [Event("é\u2028\u0085😀")]),
    (b"", []),
]


@pytest.mark.parametrize(("stream", "events"), FRAMINGS)
def test_framings(stream: bytes, events: list[Event]) -> None:
    assert read(stream) == events


@pytest.mark.parametrize(("stream", "events"), FRAMINGS)
def test_every_single_cut_and_single_bytes(stream: bytes, events: list[Event]) -> None:
    for cut in range(len(stream)):
        assert read(stream, [cut]) == events
    assert read(stream, list(range(len(stream)))) == events


@given(st.binary(max_size=60) | st.text("dat:\r\n xé", max_size=40).map(str.encode), st.lists(st.integers(0, 1000)))
def test_any_bytes_any_cuts(stream: bytes, cuts: list[int]) -> None:
    def outcome(where: list[int]) -> list[Event] | str:
        try:
            return read(stream, where)
        except BadAnswer as error:
            return error.code

    assert outcome(cuts) == outcome([])


def test_bytes_that_are_no_utf8_are_an_error() -> None:
    with pytest.raises(BadAnswer):
        read(b"data: \xff\n\n")


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 100, b"data: x\n" * 20, b"data: x\n" + b": y\n" * 30])
def test_an_event_is_capped_however_it_arrives(stream: bytes) -> None:
    parser = SSEParser(largest=64)
    with pytest.raises(BadAnswer, match="too large"):
        _ = [parser.feed(bytes([byte])) for byte in stream]


def test_comments_between_events_do_not_add_up_to_the_cap() -> None:
    parser = SSEParser(largest=64)
    assert len(parser.feed(b": ping\n\n" * 100)) == 100


def test_what_is_written_is_read_by_the_official_client() -> None:
    data = json.dumps({"text": "a\u2028b é"}, ensure_ascii=False)
    stream = KEEP_ALIVE + written(data) + KEEP_ALIVE + written(data, "response.done") + written("[DONE]")
    events = list(SSEDecoder().iter_bytes(iter([stream])))
    assert [(event.event, event.data) for event in events] == [(None, data), ("response.done", data), (None, "[DONE]")]


def test_an_event_name_cannot_smuggle_a_line() -> None:
    with pytest.raises(BadAnswer):
        written("{}", "x\ndata: y")

"""Answers that belong to another prompt, through the whole pipeline: streamed and whole, blocked, flagged and off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from proxy.audit import Audit, AuditEvent
from proxy.forward import Upstream, UpstreamSettings
from proxy.pipeline import Pipeline
from proxy.policy import Policy
from proxy.trip import Inbound, StreamBroken
from tests.inprocess import HEADERS, SECRET, Pieces, world

LONG = "the sky is blue " * 1_000
STRANGERS_IBAN = "FR76 3000 4000 0312 3456 7890 143"
PATHS = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}


class Scripted(httpx2.AsyncBaseTransport):
    """Answers with these pieces; keeps the body that it was sent."""

    def __init__(self, pieces: Sequence[bytes], kind: str) -> None:
        self.sent: dict[str, Any] = {}
        self._pieces, self._kind = pieces, kind

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent = json.loads(await request.aread())
        return httpx2.Response(200, headers={"content-type": self._kind}, stream=Pieces(self._pieces))


@dataclass
class Got:
    """`pieces` is the body as it came, `broken` whether the stream was cut."""

    status: int
    headers: dict[str, str]
    pieces: list[bytes]
    broken: bool
    sent: dict[str, Any]
    event: AuditEvent

    @property
    def text(self) -> str:
        return b"".join(self.pieces).decode()

    @property
    def code(self) -> str:
        return str(json.loads(self.text)["error"]["code"])


def policy(**answers: Any) -> Policy:
    made = world().policy
    return made.model_copy(update={"answers": made.answers.model_copy(update=answers)})


def ask(pieces: Sequence[bytes], body: dict[str, Any], chosen: Policy, path: str = PATHS["chat"]) -> Got:
    """The answer to `body` of an upstream that answers with `pieces`."""
    return asyncio.run(_ask(pieces, body, chosen, path))


async def _ask(pieces: Sequence[bytes], body: dict[str, Any], chosen: Policy, path: str) -> Got:
    here = world()
    upstream = Scripted(pieces, "text/event-stream" if body.get("stream") else "application/json")
    transport = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=upstream)
    events: list[AuditEvent] = []
    pipeline = Pipeline(chosen, here.detector, here.counters, transport, Audit([events.append]), SECRET)
    answer = await pipeline.handle(Inbound("r1", "t", "POST", path, "", HEADERS, json.dumps(body).encode()))
    out: list[bytes] = []
    broken = False
    if isinstance(answer.body, bytes):
        out.append(answer.body)
    else:
        try:
            async for piece in answer.body:
                out.append(piece)
        except StreamBroken:
            broken = True
    assert transport.in_use == 0
    *_, event = events
    assert len(events) <= 2
    return Got(answer.status, dict(answer.headers), out, broken, upstream.sent, event)


def request(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}


def chunk(content: str | None = None, end: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [choice], **more}


def usage(prompt: int) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt, "completion_tokens": 4, "total_tokens": prompt + 4}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [], "usage": counts}


def sse(*events: dict[str, Any]) -> list[bytes]:
    return [*(f"data: {json.dumps(event)}\n\n".encode() for event in events), b"data: [DONE]\n\n"]


def stream(*words: str, prompt: int | None = None) -> list[bytes]:
    told = [usage(prompt)] if prompt is not None else []
    nothing = {"usage": None} if told else {}
    return sse(*(chunk(word, **nothing) for word in words), chunk(end="stop", **nothing), *told)


def whole(text: str, prompt: int | None = 4_000, **more: Any) -> list[bytes]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body: dict[str, Any] = {"id": "c1", "object": "chat.completion", "model": "gpt-4o", "choices": [choice]}
    if prompt is not None:
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": 3}
    return [json.dumps({**body, **more}).encode()]


# --- usage ----------------------------------------------------------------------------------------------------------


def test_streams_are_asked_for_usage_and_the_client_does_not_see_the_answer() -> None:
    got = ask(stream("Hel", "lo", prompt=9), request(stream=True), policy())
    assert got.sent["stream_options"] == {"include_usage": True}
    assert "usage" not in got.text
    assert got.text.endswith("data: [DONE]\n\n")
    assert [json.loads(event[6:])["choices"] for event in got.text.split("\n\n")[:-2]] == [
        [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": None}],
        [{"index": 0, "delta": {"content": "lo"}, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    ]
    assert (got.event.usage_prompt, got.event.verdict) == (9, "release")


@pytest.mark.parametrize("options", [{"include_usage": True}, {"include_usage": True, "include_obfuscation": False}])
def test_who_asks_for_usage_gets_it(options: dict[str, Any]) -> None:
    pieces = stream("Hello", prompt=9)
    got = ask(pieces, request(stream=True, stream_options=options), policy())
    assert got.sent["stream_options"] == options
    assert json.loads(got.text.split("\n\n")[-3][6:])["usage"]["prompt_tokens"] == 9
    assert '"usage":null' in got.text


def test_other_stream_options_stay() -> None:
    options = {"include_obfuscation": False, "include_usage": False}
    got = ask(stream("Hello", prompt=9), request(stream=True, stream_options=options), policy())
    assert got.sent["stream_options"] == {"include_obfuscation": False, "include_usage": True}
    assert "usage" not in got.text


def test_nobody_is_asked_where_the_policy_says_so_or_there_is_no_stream() -> None:
    assert "stream_options" not in ask(stream("Hello"), request(stream=True), policy(ask_usage=False)).sent
    assert "stream_options" not in ask(whole("Hello", 9), request(), policy()).sent


def test_usage_beside_text_stays_where_it_is() -> None:
    """Some providers put it on the last chunk of text, asked or not."""
    counts = {"prompt_tokens": 9, "completion_tokens": 1}
    got = ask(sse(chunk("Hello", "stop", usage=counts)), request(stream=True), policy())
    assert '"usage":{"prompt_tokens":9' in got.text


def test_one_token_for_a_long_prompt_ends_the_stream() -> None:
    got = ask(stream("Your", " IBAN", prompt=1), request(LONG, stream=True), policy())
    assert (got.status, got.broken, got.event.reason) == (200, True, "usage_mismatch")
    assert not got.text.endswith("data: [DONE]\n\n")


def test_above_a_size_nothing_of_a_stream_leaves_before_the_count_is_in() -> None:
    held = policy(hold_above=3_000)
    got = ask(stream("Your", " IBAN", prompt=1), request(LONG, stream=True), held)
    assert (got.status, got.broken, got.code) == (502, False, "usage_mismatch")
    assert "IBAN" not in got.text
    assert (got.event.verdict, got.event.status) == ("block", 502)
    good = ask(stream("Your", " answer", prompt=4_010), request(LONG, stream=True), held)
    assert (good.status, good.event.verdict) == (200, "release")
    assert good.text.endswith("data: [DONE]\n\n")
    early = sse(chunk("Your", usage={"prompt_tokens": 4_010}), chunk(" answer"), chunk(end="stop"))
    assert len(ask(early, request(LONG, stream=True), held).pieces) == 4


def test_a_held_stream_that_breaks_is_an_error_of_its_own() -> None:
    got = ask(stream("Your", " IBAN")[:2], request(LONG, stream=True), policy(hold_above=3_000))
    assert (got.status, got.code) == (502, "upstream_stream_broken")
    assert "IBAN" not in got.text


@pytest.mark.parametrize("streamed", [True, False])
def test_a_missing_count_is_flagged_or_blocked(streamed: bool) -> None:
    pieces = stream("Hello") if streamed else whole("Hello", None)
    got = ask(pieces, request(LONG, stream=streamed), policy())
    assert (got.event.verdict, got.event.alarms) == ("release", ("usage_missing",))
    blocked = ask(pieces, request(LONG, stream=streamed), policy(usage_missing="block"))
    assert blocked.event.reason == "usage_missing"
    assert ask(pieces, request("short", stream=streamed), policy()).event.alarms == ()


def test_too_many_tokens_are_flagged() -> None:
    got = ask(whole("Hello", 90_000), request(LONG), policy())
    assert got.event.alarms == ("usage_excess",)
    assert got.headers["x-caviardage-alarms"] == "usage_excess"


# --- what nobody asked for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
def test_a_strangers_account_is_flagged_or_blocked(streamed: bool) -> None:
    text = f"Pay to {STRANGERS_IBAN}, please."
    pieces = stream(*text, prompt=9) if streamed else whole(text, 9)
    got = ask(pieces, request("Where to?", stream=streamed), policy())
    assert (got.event.verdict, got.event.alarms) == ("release", ("unsolicited_data",))
    blocked = ask(pieces, request("Where to?", stream=streamed), policy(unsolicited="block"))
    assert (blocked.status, blocked.code) == (502, "unsolicited_data")
    assert "3000" not in blocked.text
    off = ask(pieces, request("Where to?", stream=streamed), policy(unsolicited="off"))
    assert off.event.alarms == ()


@pytest.mark.parametrize("written", [STRANGERS_IBAN, STRANGERS_IBAN.replace(" ", ""), STRANGERS_IBAN.replace(" ", "-")])
def test_what_the_request_holds_in_any_form_is_no_surprise(written: str) -> None:
    got = ask(whole(f"Pay to {STRANGERS_IBAN}.", 9), request(f"My account is {written}"), policy(unsolicited="block"))
    assert got.status == 200


@pytest.mark.parametrize("known", ["4242 4242 4242 4242", "GB29 NWBK 6016 1331 9268 19", "DE89370400440532013000"])
def test_examples_of_manuals_are_no_surprise(known: str) -> None:
    got = ask(whole(f"Test with {known}.", 9), request("Which test number?"), policy(unsolicited="block"))
    assert got.status == 200


# --- another answer -------------------------------------------------------------------------------------------------

MIXED = {
    "mixed_ids": sse(chunk("a"), chunk("b", "stop", id="c2")),
    "mixed_models": sse(chunk("a"), chunk("b", "stop", model="gpt-4o-mini")),
    "after_end": sse(chunk("a", "stop"), chunk("b", "stop")),
    "stray_choice": sse(chunk("a", "stop"), {**chunk(), "choices": [{"index": 3, "delta": {"content": "x"}}]}),
    "unbilled_text": sse(chunk("a", "stop", usage={"prompt_tokens": 9, "completion_tokens": 0})),
}


@pytest.mark.parametrize("odd", MIXED)
def test_pieces_that_do_not_belong_together(odd: str) -> None:
    got = ask(MIXED[odd], request(stream=True), policy())
    assert "misplaced_answer" in got.event.alarms
    blocked = ask(MIXED[odd], request(stream=True), policy(misplaced="block"))
    assert (blocked.event.reason, blocked.broken) == ("misplaced_answer", True)
    assert odd in blocked.text


def test_several_choices_that_were_asked_for() -> None:
    choices = [{"index": at, "delta": {"content": "x"}, "finish_reason": "stop"} for at in range(3)]
    assert ask(sse({**chunk(), "choices": choices}), request(stream=True, n=3), policy()).event.alarms == ()
    got = ask(sse({**chunk(), "choices": choices}), request(stream=True, n=2), policy())
    assert got.event.alarms == ("misplaced_answer",)


def test_another_model() -> None:
    got = ask(whole("Hello", 9, model="glm-5.3"), request(), policy())
    assert got.event.alarms == ("other_model",)
    assert ask(whole("Hello", 9, model="gpt-4o-2024-11-20"), request(), policy()).event.alarms == ()


def test_a_mangled_placeholder_of_ours_is_told_apart() -> None:
    body = request("My name is Zoë Müller.")
    sent = str(ask(whole("Hello", 9), body, policy()).sent["messages"][0]["content"])
    ours = sent.removeprefix("My name is ").removesuffix(".")
    digit = (int(ours[-2]) + 1) % 10
    got = ask(whole(f"Hello {ours[:-2]}{digit}>", 9), body, policy())
    assert (got.status, got.event.alarms, got.event.foreign) == (200, ("mangled_placeholder",), 0)


def test_a_field_that_a_provider_may_ignore_need_not_be_in_its_count() -> None:
    ignored = ask(whole("Hello", 12), request(notes=LONG), policy())
    assert (ignored.status, list(ignored.event.alarms)) == (200, [])
    tools = [{"type": "function", "function": {"name": "f", "description": LONG}}]
    unread = ask(whole("Hello", 12), request(tools=tools), policy())
    assert (unread.status, unread.code) == (502, "usage_mismatch")


class Endless(Scripted):
    """Answers with these pieces, and then with nothing."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__(pieces, "text/event-stream")
        self.waits = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = await super().handle_async_request(request)
        return httpx2.Response(200, headers=answer.headers, stream=self._then_nothing())

    def _then_nothing(self) -> Pieces:
        waits, pieces = self.waits, self._pieces

        class Hanging(Pieces):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                for piece in pieces:
                    yield piece
                waits.set()
                await asyncio.Event().wait()

        return Hanging(pieces)


def test_a_held_stream_that_is_given_up_has_one_last_line() -> None:
    async def given_up() -> list[str]:
        here, upstream = world(), Endless([b"data: " + json.dumps(chunk("Hello")).encode() + b"\n\n"])
        transport = Upstream("http://127.0.0.1:1/v1", UpstreamSettings(), transport=upstream)
        events: list[AuditEvent] = []
        chosen = policy(unsolicited="block")
        pipeline = Pipeline(chosen, here.detector, here.counters, transport, Audit([events.append]), SECRET)
        body = json.dumps(request(stream=True)).encode()
        asking = asyncio.create_task(pipeline.handle(Inbound("r1", "t", "POST", PATHS["chat"], "", HEADERS, body)))
        await upstream.waits.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return [event.verdict for event in events]

    assert asyncio.run(given_up()) == ["forward", "cancelled"]

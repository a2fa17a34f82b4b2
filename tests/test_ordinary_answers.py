"""No alarm about an answer that is what it should be: streamed and whole, with and without usage, cached or not."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.tokens.ranks import load_encoding
from tests.test_taste import ask, policy

O200K = load_encoding("o200k_base")
MESSAGES = "/v1/messages"
IBAN = "DE89 3704 0044 0532 0130 00"
WORDS = (
    *("the", "of", "patient", "invoice", "we", "pay", "sky", "is", "blue", "rendez-vous", "été", "naïve", "straße"),
    *("return", "def", "{}", "();", "->", "1.5", "2026-03-12", "€1,250.00", "42", "10:30", "v2.14.0", "#4711", "\n"),
    *("患者", "ありがとう", "спасибо", "😀", "**bold**", "| a | b |", "$x^2$", "https://example.org/a?b=c#d"),
    *("<think>", "<br/>", "NULL", "AB12", "99.9 %", "tel.", "Order-ID", "f3a9c1d0", "192.0.2.7"),
)
prose = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)
prompts = st.tuples(prose, st.sampled_from([1, 1, 1, 1, 25]), st.booleans()).map(
    lambda drawn: drawn[0] * drawn[1] + (f" IBAN {IBAN}" if drawn[2] else "")
)
models = st.sampled_from([("gpt-4o", "gpt-4o"), ("gpt-4o", "gpt-4o-2024-08-06"), ("gpt-4.1", "openai/gpt-4.1")])
shares = st.sampled_from([None, 0.0, 0.5, 1.0])
"""How much of the prompt came from the provider's cache; None: it tells no usage at all."""


def counted(texts: list[str]) -> int:
    """OpenAI's published formula: what the provider reports."""
    return 3 + sum(3 + 1 + len(O200K.encode_ordinary(text)) for text in texts)


def check(event: Any, told: bool) -> None:
    assert event.verdict == "release"
    assert set(event.alarms) <= (set() if told else {"usage_missing"})


@given(turns=st.lists(prompts, min_size=1, max_size=2), answer=prose, model=models, cached=shares, more=st.data())
@settings(deadline=None)
def test_chat(turns: list[str], answer: str, model: tuple[str, str], cached: float | None, more: st.DataObject) -> None:
    streamed, choices = more.draw(st.booleans()), more.draw(st.sampled_from([1, 1, 2]))
    if more.draw(st.booleans()):
        answer = f"{answer} {turns[0]}"[:400]  # what was asked comes back
    asked, answers = model
    body: dict[str, Any] = {
        "model": asked,
        "messages": [{"role": "user", "content": text} for text in turns],
        **({"n": choices} if choices > 1 else {}),
        **({"stream": True} if streamed else {}),
    }
    prompt = counted(turns)
    usage = (
        None
        if cached is None
        else {
            "prompt_tokens": prompt,
            "completion_tokens": 9,
            "total_tokens": prompt + 9,
            "prompt_tokens_details": {"cached_tokens": int(prompt * cached), "audio_tokens": 0},
        }
    )
    head = {"id": "chatcmpl-1", "model": answers, "created": 1, "system_fingerprint": "fp_1"}
    end = more.draw(st.sampled_from(["stop", "length"]))
    if not streamed:
        message = {"role": "assistant", "content": answer, "refusal": None}
        said = [{"index": at, "message": message, "finish_reason": end} for at in range(choices)]
        whole = {**head, "object": "chat.completion", "choices": said, **({"usage": usage} if usage else {})}
        check(ask([json.dumps(whole).encode()], body, policy()).event, usage is not None)
        return
    head["object"] = "chat.completion.chunk"
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": answer[at : at + 31]} for at in range(0, len(answer), 31)]
    events = [
        {**head, "choices": [{"index": at, "delta": delta, "finish_reason": None}]}
        for delta in deltas
        for at in range(choices)
    ]
    events += [{**head, "choices": [{"index": at, "delta": {}, "finish_reason": end}]} for at in range(choices)]
    if usage:
        events.append({**head, "choices": [], "usage": usage})
    pieces = [*(f"data: {json.dumps(event)}\n\n".encode() for event in events), b"data: [DONE]\n\n"]
    check(ask(pieces, body, policy()).event, usage is not None)


@given(
    turns=st.lists(prompts, min_size=1, max_size=2),
    answer=prose,
    cached=st.sampled_from([0.0, 0.5, 1.0]),
    written=st.booleans(),
    denser=st.sampled_from([1.0, 1.3, 1.9]),
    streamed=st.booleans(),
)
@settings(deadline=None)
def test_messages(turns: list[str], answer: str, cached: float, written: bool, denser: float, streamed: bool) -> None:
    """Anthropic counts what came from its cache apart from the rest, and with a tokenizer that nobody else has."""
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": text} for at, text in enumerate(turns)]
    body: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": said}
    prompt = int(counted(turns) * denser)
    usage = {
        "input_tokens": prompt - int(prompt * cached),
        "cache_read_input_tokens": 0 if written else int(prompt * cached),
        "cache_creation_input_tokens": int(prompt * cached) if written else 0,
        "output_tokens": 9,
    }
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929"}
    if not streamed:
        content = [{"type": "text", "text": answer}]
        whole = {**message, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
        check(ask([json.dumps(whole).encode()], body, policy(), MESSAGES).event, True)
        return
    started = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": answer[at : at + 31]}}
            for at in range(0, len(answer), 31)
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    pieces = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    check(ask(pieces, {**body, "stream": True}, policy(), MESSAGES).event, True)

"""Failures that other gateways were reported for, each against the running service: none of them here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e import CARD, EMAIL, IBAN, NAME, Service

PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]*_[0-9]{6,9}>")


def post(service: Service, body: dict[str, Any] | bytes, key: str = "one", **headers: str) -> httpx2.Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"content-type": "application/json", "authorization": f"Bearer {key}", **headers}
    return httpx2.post(f"{service.base_url}/chat/completions", content=raw, headers=sent, timeout=120, trust_env=False)


def read(service: Service, body: dict[str, Any]) -> tuple[int, str]:
    """Status and text of an answer, also of one whose connection is broken off."""
    text = ""
    url, headers = f"{service.base_url}/chat/completions", {"authorization": "Bearer one"}
    with httpx2.stream("POST", url, json=body, headers=headers, timeout=120, trust_env=False) as answer:
        with contextlib.suppress(httpx2.RemoteProtocolError):
            for piece in answer.iter_text():
                text += piece
        return answer.status_code, text


def chat(*texts: str, model: str = "gpt-4o", **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    return {"model": model, "messages": messages, **more}


def sent(service: Service) -> list[str]:
    return [message["content"] for message in service.provider.last.json["messages"]]


def test_placeholders_are_the_same_at_every_turn_and_differ_between_tenants(service: Service) -> None:
    first = f"My name is {NAME}, mail {EMAIL}."
    assert post(service, chat(first)).status_code == 200
    (opening,) = sent(service)
    answer = post(service, chat(first, first, f"And {NAME} again, with {IBAN}."))
    assert answer.json()["choices"][0]["message"]["content"] == f"And {NAME} again, with {IBAN}."
    assert sent(service)[0] == sent(service)[1] == opening
    person = PLACEHOLDER.search(opening)
    assert person is not None
    assert person[0] in sent(service)[2]
    assert post(service, chat(first), key="two").status_code == 200
    assert not set(PLACEHOLDER.findall(sent(service)[0])) & set(PLACEHOLDER.findall(opening))
    assert post(service, chat("Another opening.", "Yes?", first)).status_code == 200
    assert not set(PLACEHOLDER.findall(sent(service)[2])) & set(PLACEHOLDER.findall(opening))


def test_the_same_request_is_the_same_bytes(service: Service) -> None:
    body = chat(f"{NAME}, {EMAIL}, {IBAN}, {CARD} " + "and so on " * 200)
    assert {post(service, body).status_code for _ in range(3)} == {200}
    assert len({received.body for received in service.provider.received}) == 1


def test_literal_look_alikes_stay_literal(service: Service) -> None:
    text = f"The docs say <PERSON_1> and <PERSON_123456> are placeholders. My name is {NAME}."
    assert post(service, chat(text)).json()["choices"][0]["message"]["content"] == text
    assert "<PERSON_123456>" in sent(service)[0]


@pytest.mark.parametrize("stream", [False, True])
def test_a_placeholder_of_somebody_else_blocks_the_answer(service: Service, stream: bool) -> None:
    status, text = read(service, chat("plain words", model="gpt-4o;extra=PERSON.999999", stream=stream))
    assert "foreign_placeholder" in text
    assert "<PERSON_999999>" not in text
    assert status == (200 if stream else 502)
    assert "[DONE]" not in text


@pytest.mark.parametrize("stream", [False, True])
def test_a_usage_figure_that_cannot_be_blocks_the_answer(service: Service, stream: bool) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    status, text = read(service, chat("many words " * 2_000, model="gpt-4o;prompt_tokens=1", **options))
    assert "usage_mismatch" in text
    assert status == (200 if stream else 502)
    assert "[DONE]" not in text


def test_prompt_and_completion_over_the_limit_names_the_three_numbers(service: Service) -> None:
    answer = post(service, chat("word " * 6_000, model="gpt-4", max_tokens=4_000))
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "context_length_exceeded"
    numbers = [int(number) for number in re.findall(r"[0-9]+", error["message"])]
    limit, total, prompt, completion, cut = numbers
    assert (limit, completion, total, cut) == (8_192, 4_000, prompt + 4_000, total - limit)
    assert 6_000 <= prompt <= 6_050
    assert service.provider.received == []
    assert answer.headers["x-should-retry"] == "false"


def test_special_tokens_count_as_text(service: Service) -> None:
    answer = post(service, chat("<|endoftext|>" * 2_000, model="gpt-4"))
    assert answer.json()["error"]["code"] == "context_length_exceeded"


def test_a_million_of_one_character_is_refused_and_the_service_lives(service: Service) -> None:
    assert post(service, chat("^" * 1_000_000, model="gpt-4")).json()["error"]["code"] == "context_length_exceeded"
    assert post(service, chat("still there?")).status_code == 200


def test_text_that_recognizers_choke_on_elsewhere(service: Service) -> None:
    dots = f"Contact {EMAIL}. Log: " + "a." * 6_000 + f" end. Other: {NAME} at {EMAIL}"
    for text in (dots, "a:" * 16_000, "123-45-" * 4_000):
        answer = post(service, chat(text))
        assert answer.json()["choices"][0]["message"]["content"] == text
        assert EMAIL not in sent(service)[0]


def test_health_is_answered_while_long_prompts_are_analysed(service: Service) -> None:
    text = f"Le contrat lie {NAME} et la société. " * 2_500
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(post(service, chat(text)).status_code)) for _ in range(4)]
    for thread in threads:
        thread.start()
    healthy = 0
    while any(thread.is_alive() for thread in threads):
        assert httpx2.get(f"{service.url}/healthz", timeout=30, trust_env=False).status_code == 200
        healthy += 1
    for thread in threads:
        thread.join()
    assert answers == [200] * 4
    assert healthy > 4


def test_request_ids_are_echoed_if_they_are_plain(service: Service) -> None:
    assert post(service, chat("hi"), **{"x-request-id": "abc-1"}).headers["x-caviardage-request-id"] == "abc-1"
    told = post(service, chat("hi"), **{"x-request-id": "a b <script>"}).headers["x-caviardage-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", told)


def test_keys_are_passed_on_and_never_written(service: Service) -> None:
    key = "sk-test-CANARY0123456789"
    for model in ("gpt-4o", "gpt-4o;status=401", "gpt-4o;status=500"):
        post(service, chat("hi", model=model), key=key)
        assert dict(service.provider.last.headers)["authorization"] == f"Bearer {key}"
    assert "CANARY" not in service.written


def test_nothing_is_written_to_disk(service: Service) -> None:
    assert post(service, chat(f"My name is {NAME}.")).status_code == 200
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
    for pid in [str(service.process.pid), *children]:
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{number}")
                flags = int(re.search(r"flags:\s*([0-7]+)", Path(f"/proc/{pid}/fdinfo/{number}").read_text())[1], 8)  # type: ignore[index]
            except FileNotFoundError:
                continue
            writable = flags & (os.O_WRONLY | os.O_RDWR)
            assert not (writable and target.startswith("/") and not target.startswith("/dev/")), (
                "a file open for writing"
            )


def test_model_names_cannot_carry_values_into_the_audit(service: Service) -> None:
    answer = post(service, chat("hi", model=EMAIL))
    assert answer.status_code == 400
    assert EMAIL not in answer.text
    assert service.provider.received == []

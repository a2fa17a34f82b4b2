"""Files in requests: the text in their place, what is forwarded, what is refused, and what real clients get back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import UnsupportedByPolicy
from proxy.wire.enclosed import enclosed, with_texts
from tests.e2e import EMAIL, IBAN, NAME, ROOT, VALUES, Service, found_in, serving
from tests.papers import docx, pdf
from tests.provider import Provider


def b64(data: bytes, kind: str = "") -> str:
    written = base64.b64encode(data).decode()
    return f"data:{kind};base64,{written}" if kind else written


def chat(data: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_data": data, **more}}]}]}


def test_where_files_stand_and_what_stands_in_their_place() -> None:
    file = {"type": "file", "file": {"file_data": b64(b"one", "text/plain"), "filename": "a.txt"}}
    asked = {"type": "input_file", "file_data": b64(b"two"), "detail": "high"}
    paper = {"type": "document", "title": "t", "source": {"type": "base64", "media_type": "x/y", "data": b64(b"three")}}
    body = {
        "messages": [{"content": [{"type": "text", "text": "x"}, file, {"type": "tool_result", "content": [paper]}]}],
        "input": [{"role": "user", "content": [asked]}, {"type": "function_call_output", "output": [asked]}],
        "metadata": {"content": [file]},
        "content": "text",
    }  # fmt: skip
    before = json.dumps(body)
    found = enclosed(body)
    assert [(one.path, one.name, one.data) for one in found] == [
        ("$.messages[0].content[1]", "a.txt", b"one"),
        ("$.messages[0].content[2].content[0]", "", b"three"),
        ("$.input[0].content[0]", "", b"two"),
        ("$.input[1].output[0]", "", b"two"),
    ]
    replaced: Any = with_texts(body, {one.path: one.data.decode().upper() for one in found})
    assert json.dumps(body) == before
    assert replaced["messages"][0]["content"] == [
        {"type": "text", "text": "x"},
        {"type": "text", "text": "a.txt:\n"},
        {"type": "text", "text": "ONE"},
        {
            "type": "tool_result",
            "content": [
                {
                    "type": "document",
                    "title": "t",
                    "source": {"type": "text", "media_type": "text/plain", "data": "THREE"},
                }
            ],
        },
    ]
    assert replaced["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "TWO"}]},
        {"type": "function_call_output", "output": [{"type": "input_text", "text": "TWO"}]},
    ]
    assert replaced["metadata"] == body["metadata"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_data": "QQ==", "file_id": "file-1"}},
        {"type": "file", "file": {"file_data": "QQ==", "filename": 1}},
        {"type": "input_file", "file_url": "https://x.example"},
        {"type": "input_file", "file_data": "QQ==", "file_url": "https://x.example"},
        {"type": "document", "source": {"type": "file", "file_id": "x"}},
    ],
)
def test_other_files_are_left_for_the_walk_to_refuse(part: Any) -> None:
    body = {"messages": [{"role": "user", "content": [part]}]}
    assert enclosed(body) == []
    assert with_texts(body, {}) is body


@pytest.mark.parametrize(
    "data", ["data:text/plain,abc", "QUJ", "QUJ!", "data:text/plain;charset=utf-16;base64,QUJD", "Ä"]
)
def test_what_is_no_base64_is_refused(data: str) -> None:
    with pytest.raises(UnsupportedByPolicy):
        enclosed(chat(data))


@given(st.binary())
def test_any_bytes_are_taken_as_they_are(data: bytes) -> None:
    for written in (b64(data), b64(data, "application/pdf"), base64.urlsafe_b64encode(data).decode()):
        (found,) = enclosed(chat(written))
        assert found.data == data


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service with `files: text`; at the end of the module its log and audit trail are searched for values."""
    policy = tmp_path_factory.mktemp("policy") / "files.yaml"
    default = (ROOT / "policies" / "default.yaml").read_text(encoding="utf-8")
    policy.write_text(default.replace("files: refuse", "files: text"), encoding="utf-8")
    with Provider() as provider, serving(provider, "--policy", str(policy)) as service:
        yield service
        assert found_in(service.written, VALUES) == []


LETTER = f"Please write to {EMAIL} today.\nHer IBAN is {IBAN}, she says."
FILES = {
    "pdf": ("application/pdf", pdf([LETTER])),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", docx(*LETTER.split("\n"))),
    "txt": ("text/plain", LETTER.encode()),
    "csv": ("text/csv", f"email,iban\n{EMAIL},{IBAN}\n".encode()),
    "json": ("application/json", json.dumps({"email": EMAIL, "iban": IBAN}).encode()),
    "html": ("text/html", f"<p>Write to <a href='mailto:{EMAIL}'>her</a>, IBAN {IBAN}".encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_the_openai_client_gets_the_text_back_and_the_provider_no_value(service: Service, name: str) -> None:
    kind, data = FILES[name]
    service.provider.reset()
    client = openai.OpenAI(base_url=service.base_url, api_key="k", max_retries=0)
    part: Any = {"type": "file", "file": {"file_data": b64(data, kind), "filename": f"letter of {NAME}.{name}"}}
    answer = client.chat.completions.create(model="echo", messages=[{"role": "user", "content": [part]}])
    said = answer.choices[0].message.content or ""
    assert EMAIL in said
    assert IBAN in said
    sent = service.provider.last.json["messages"][0]["content"]
    assert [piece["type"] for piece in sent] == ["text", "text"]
    assert service.provider.leaks(EMAIL, IBAN) == []
    assert "<EMAIL_ADDRESS_" in sent[1]["text"]


def test_the_responses_and_anthropic_forms(service: Service) -> None:
    service.provider.reset()
    client = openai.OpenAI(base_url=service.base_url, api_key="k", max_retries=0)
    part: Any = {"type": "input_file", "file_data": b64(FILES["pdf"][1], "application/pdf"), "filename": "a.pdf"}
    answer = client.responses.create(model="echo", input=[{"role": "user", "content": [part]}])
    assert EMAIL in answer.output_text
    assert service.provider.leaks(EMAIL, IBAN) == []
    other = anthropic.Anthropic(base_url=service.url, api_key="k", max_retries=0)
    source: Any = {"type": "base64", "media_type": "application/pdf", "data": b64(FILES["pdf"][1])}
    block: Any = {"type": "document", "source": source, "title": "a.pdf"}
    other.messages.create(model="echo", max_tokens=9, messages=[{"role": "user", "content": [block]}])
    (sent,) = service.provider.last.json["messages"][0]["content"]
    assert sent["source"]["type"] == "text"
    assert "<IBAN_CODE_" in sent["source"]["data"]
    assert service.provider.leaks(EMAIL, IBAN) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [(pdf([b"0 0 9 9 re f"]), "no text layer"), (b"\xff\xfe\0", "UTF-8"), (b"%PDF-1.7 x", "damaged")],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(service: Service, data: bytes, why: str) -> None:
    service.provider.reset()
    client = openai.OpenAI(base_url=service.base_url, api_key="k", max_retries=0)
    part: Any = {"type": "file", "file": {"file_data": b64(data, "application/pdf"), "filename": NAME}}
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="echo", messages=[{"role": "user", "content": [part]}])
    assert (refused.value.code, refused.value.param) == ("unsupported_by_policy", "$.messages[0].content[0]")
    assert why in str(refused.value)
    assert service.provider.received == []

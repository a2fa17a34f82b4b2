"""Batches with the official client, in front of a provider that keeps files and answers a line with its own text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import echo
from proxy.echo import Loopback
from proxy.errors import Refusal
from proxy.wire.batches import read_batch
from proxy.wire.multipart import read_form, write_form
from tests.e2e import EMAIL, IBAN, ROOT, VALUES, Service, found_in, serving
from tests.provider import _body


class Keeper:
    """Files by id, and the batches made of them. `received` are the bodies and headers as they came."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.received: list[tuple[str, str, bytes]] = []
        self._loopback = Loopback(self._app)

    @property
    def url(self) -> str:
        return f"{self._loopback.url}/v1"

    def __enter__(self) -> Keeper:
        self._loopback.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loopback.__exit__()

    def seen(self) -> str:
        return "\n".join(body.decode("utf-8", "replace") for _, _, body in self.received)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        raw, _ = await _body(receive)
        kind = dict(scope["headers"]).get(b"content-type", b"").decode()
        self.received.append((scope["method"], scope["path"], raw))
        body = self._answer(scope["method"], scope["path"].removeprefix("/v1"), kind, raw)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, method: str, path: str, kind: str, raw: bytes) -> bytes:
        if path == "/files":
            form = read_form(kind, raw)
            name = f"file-{len(self.files)}"
            self.files[name] = form.file
            return json.dumps(_file(name, form.fields["purpose"], len(form.file))).encode()
        if path == "/batches":
            return json.dumps(self._batch(json.loads(raw))).encode()
        if path.startswith("/batches/"):
            return json.dumps(self.batches[path.split("/")[2]]).encode()
        name = path.split("/")[2]
        if path.endswith("/content"):
            return self.files[name]
        if method == "DELETE":
            return json.dumps({"id": name, "object": "file", "deleted": True}).encode()
        return json.dumps(_file(name, "batch", len(self.files[name]))).encode()

    def _batch(self, asked: dict[str, Any]) -> dict[str, Any]:
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        answers = [
            {
                "id": f"r{at}",
                "custom_id": line["custom_id"],
                "response": {"status_code": 200, "request_id": f"q{at}", "body": echo.completion(line["body"])},
                "error": None,
            }
            for at, line in enumerate(lines)
        ]
        self.files["file-out"] = b"\n".join(json.dumps(answer).encode() for answer in answers) + b"\n"
        said = f"cannot read {echo.last_user_text(lines[0]['body'])}"
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "status": "completed",
            "created_at": 1,
            "output_file_id": "file-out",
            "errors": {"object": "list", "data": [{"code": "x", "message": said, "line": 1}]},
            **asked,
        }
        self.batches[batch["id"]] = batch
        return batch


def _file(name: str, purpose: str, size: int) -> dict[str, Any]:
    about = {"object": "file", "filename": "batch.jsonl", "created_at": 1, "status": "processed"}
    return {"id": name, "purpose": purpose, "bytes": size, **about}


@pytest.fixture(scope="module")
def keeper() -> Iterator[Keeper]:
    with Keeper() as keeper:
        yield keeper


@pytest.fixture(scope="module")
def service(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    policy = tmp_path_factory.mktemp("policy") / "batches.yaml"
    default = (ROOT / "policies" / "default.yaml").read_text(encoding="utf-8")
    allowing = default.replace("unknown_tokens: 4096}", "unknown_tokens: 4096, batches: allow}")
    allowing = re.sub(
        "(?m)^limits:\n", "limits:\n  budgets: {tokens_per_minute: 1000, tokens_per_day: 10000}\n", allowing
    )
    policy.write_text(allowing, encoding="utf-8")
    with serving(keeper, "--policy", str(policy)) as service:  # type: ignore[arg-type]
        yield service
        assert found_in(service.written, VALUES) == []


@pytest.fixture
def client(service: Service) -> Iterator[Callable[..., openai.OpenAI]]:
    """Makes clients, each with a key, and closes them."""
    with ExitStack() as stack:
        yield lambda key="k": stack.enter_context(openai.OpenAI(base_url=service.base_url, api_key=key, max_retries=0))


TEXTS = [f"Please write to {EMAIL} today.", f"Her IBAN is {IBAN}, she says. {EMAIL}", "The sky is blue."]


def requests(texts: list[str]) -> bytes:
    return "\n".join(
        json.dumps({"custom_id": f"c{at}", "method": "POST", "url": "/v1/chat/completions", "body": body(text)})
        for at, text in enumerate(texts)
    ).encode()


def body(text: str) -> dict[str, Any]:
    return {"model": "echo", "messages": [{"role": "user", "content": text}]}


def test_a_batch_from_its_file_to_its_results(client: Any, keeper: Keeper) -> None:
    keeper.received.clear()
    made = client()
    file = made.files.create(file=("of Zoë.jsonl", requests(TEXTS)), purpose="batch")
    assert found_in(keeper.seen(), (EMAIL, IBAN)) == []
    assert len(re.findall("<EMAIL_ADDRESS_", keeper.seen())) == 2
    assert "Zo" not in keeper.seen()
    assert made.files.retrieve(file.id).bytes > 0
    assert [json.loads(line)["body"] for line in made.files.content(file.id).text.splitlines()] == [*map(body, TEXTS)]
    batch = made.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"kind": "test"}
    )
    assert batch.errors is not None
    assert batch.errors.data is not None
    assert batch.errors.data[0].message == f"cannot read {TEXTS[0]}"
    again = made.batches.retrieve(batch.id)
    assert again.output_file_id
    results = [json.loads(line) for line in made.files.content(again.output_file_id).text.splitlines()]
    assert [one["response"]["body"]["choices"][0]["message"]["content"] for one in results] == TEXTS
    assert [one["custom_id"] for one in results] == ["c0", "c1", "c2"]
    assert made.batches.cancel(batch.id).id == batch.id
    assert found_in(keeper.seen(), (EMAIL, IBAN)) == []


def test_a_batch_takes_all_of_its_tokens_from_the_budget_of_the_day(client: Any, keeper: Keeper) -> None:
    """More than a minute's budget goes, once; a second batch of the same file has no room left in the day."""
    made = client("spends")
    lines = [json.loads(line) for line in requests(TEXTS).splitlines()]
    asking = b"\n".join(json.dumps({**line, "body": {**line["body"], "max_tokens": 2000}}).encode() for line in lines)
    file = made.files.create(file=("a.jsonl", asking), purpose="batch")
    wanted: Any = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    made.batches.create(**wanted)
    keeper.received.clear()
    with pytest.raises(openai.RateLimitError) as refused:
        made.batches.create(**wanted)
    assert refused.value.code == "token_budget_exceeded"
    assert keeper.received == []


def test_nobody_else_has_files_and_batches(client: Any, keeper: Keeper) -> None:
    mine, other = client(), client("other")
    file = mine.files.create(file=("a.jsonl", requests(TEXTS)), purpose="batch")
    batch = mine.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
    before = len(keeper.received)
    for call in (
        lambda: other.files.retrieve(file.id),
        lambda: other.files.content(file.id),
        lambda: other.files.delete(file.id),
        lambda: other.batches.retrieve(batch.id),
        lambda: other.batches.cancel(batch.id),
        lambda: other.files.content("file-out"),
        lambda: other.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"),
        lambda: mine.files.retrieve("file-unknown"),
    ):
        with pytest.raises(openai.NotFoundError):
            call()
    assert len(keeper.received) == before
    assert mine.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError):
        mine.files.retrieve(file.id)


@pytest.mark.parametrize(
    ("data", "purpose", "why"),
    [
        (requests(TEXTS), "user_data", "purpose"),
        (b"{}", "batch", "line 1"),
        (b"not json", "batch", "line 1"),
        (b"", "batch", "one endpoint"),
        (requests(["x"]) + b"\n" + requests(["x"]).replace(b'"echo"', b'"e","tools":[{"type":"x"}]'), "batch", " 2"),
        (requests(["x"]).replace(b"/v1/chat/completions", b"/v1/images/generations"), "batch", "line 1"),
        (requests(["x"]).replace(b'"c0"', b'"zoe@x.example"'), "batch", "line 1"),
        (requests(["x"]).replace(b'"c0"', b'"FR7630006000011234567890189"'), "batch", "line 1"),
        (requests(["x"]).replace(b'"echo"', b'"FR7630006000011234567890189"'), "batch", "line 1"),
    ],
)  # fmt: skip
def test_what_is_no_inspected_batch_is_refused(
    client: Any, keeper: Keeper, data: bytes, purpose: Any, why: str
) -> None:
    before = len(keeper.received)
    with pytest.raises(openai.BadRequestError) as refused:
        client().files.create(file=("a.jsonl", data or b"\n"), purpose=purpose)
    assert why in f"{refused.value} {refused.value.param}"
    assert len(keeper.received) == before


def test_a_value_where_nothing_may_be_replaced_stops_a_batch(client: Any, keeper: Keeper) -> None:
    made = client()
    file = made.files.create(file=("a.jsonl", requests(TEXTS)), purpose="batch")
    before = len(keeper.received)
    for more in ({"metadata": {"to": EMAIL}}, {"endpoint": "/v1/embeddings"}):
        asked: Any = {"endpoint": "/v1/chat/completions", "completion_window": "24h", **more}
        with pytest.raises(openai.BadRequestError):
            made.batches.create(input_file_id=file.id, **asked)
    assert len(keeper.received) == before


def test_batches_need_their_switch() -> None:
    with Keeper() as keeper, serving(keeper) as service:  # type: ignore[arg-type]
        made = openai.OpenAI(base_url=service.base_url, api_key="k", max_retries=0)
        with made, pytest.raises(openai.BadRequestError, match=r"state\.batches"):
            made.files.create(file=("a.jsonl", requests(TEXTS)), purpose="batch")
        answer = httpx2.post(f"{service.base_url}/files", content=b"x", headers={"content-type": "text/plain"})
        assert answer.status_code == 400
        assert keeper.received == []


@given(st.binary(max_size=200), st.text("abc-_.019", min_size=1, max_size=20))
def test_a_form_that_is_written_reads_the_same(data: bytes, value: str) -> None:
    kind, raw = write_form({"purpose": value}, "a.jsonl", data)
    form = read_form(kind, raw)
    assert (dict(form.fields), form.file) == ({"purpose": value}, data)


PART = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"--b--\r\n",
        PART,
        PART + PART + b"--b--\r\n",
        PART.replace(b"\r\n\r\nx", b"\r\ncontent-transfer-encoding: base64\r\n\r\nx") + b"--b--\r\n",
        PART.replace(b"form-data", b"attachment") + b"--b--\r\n",
        PART + PART.replace(b'"file"', b'"more"') + b"--b--\r\n",
        PART.replace(b"\r\n\r\nx", b"\r\nx: " + b"y" * 5000 + b"\r\n\r\nx") + b"--b--\r\n",
    ],
)
def test_forms_that_two_readers_could_read_differently_are_refused(raw: bytes) -> None:
    with pytest.raises(Refusal):
        read_form("multipart/form-data; boundary=b", raw)


@given(st.binary(max_size=300) | st.text('{}[]":,customidurlbodymethodPOST\n', max_size=80).map(str.encode))
def test_any_file_is_read_or_refused(data: bytes) -> None:
    try:
        batch = read_batch(data)
    except Refusal:
        return
    assert batch.lines

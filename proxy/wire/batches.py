"""Batches: the requests in an uploaded file, the batch itself, and the answers in a file of results.

A line of an input file is a request of an endpoint that is served, and its body goes the same way; lines of one file
are for one endpoint. Source: the OpenAI API reference (batch). May import: model, errors, base, answers, endpoints,
walk, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.model import JSON, Context, Leaf, Restoring, Seen, Visit
from proxy.wire.answers import restore_answer
from proxy.wire.base import parse_answer, parse_strict, serialise
from proxy.wire.endpoints import ENDPOINTS, Aids, Endpoint
from proxy.wire.walk import fields, fixed, identifier, mapping, walk

URLS = ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/moderations", "/v1/responses")
MOST_LINES = 50_000
"""Requests in one file, as the OpenAI API has it."""
_ID = re.compile(r"[A-Za-z0-9_.:\-]{1,128}")


@dataclass(frozen=True, slots=True)
class Line:
    """One request of a file: its number, from 1 on, its id, and its body."""

    number: int
    id: str
    body: dict[str, JSON] = field(repr=False)

    def written(self, url: str, body: Mapping[str, JSON]) -> bytes:
        """The line that goes on, with its body replaced."""
        return serialise({"custom_id": self.id, "method": "POST", "url": url, "body": {**body}})


@dataclass(frozen=True, slots=True)
class Batch:
    """An input file: the endpoint that all its lines are for."""

    url: str
    endpoint: Endpoint
    lines: tuple[Line, ...] = field(repr=False)


def read_batch(data: bytes) -> Batch:
    """The requests of a JSONL file. Raises `BadRequest`, `UnsupportedByPolicy`, naming the line by its number."""
    lines: list[Line] = []
    urls: set[str] = set()
    for number, raw in enumerate(data.split(b"\n"), 1):
        if raw.strip():
            line, url = _line(number, raw)
            lines.append(line)
            urls.add(url)
        if len(lines) > MOST_LINES:
            raise BadRequest(f"A batch may have {MOST_LINES} requests.", param="file")
    if len(urls) != 1:
        raise BadRequest("The file must hold requests, all for one endpoint.", param="file")
    (url,) = urls
    return Batch(url, ENDPOINTS[url], tuple(lines))


def _line(number: int, raw: bytes) -> tuple[Line, str]:
    where = f"line {number}"
    try:
        node = parse_strict(raw)
    except BadRequest:
        raise BadRequest(f"{where} of the file is not strict JSON.", param=where) from None
    match node:
        case {"custom_id": str(id), "method": "POST", "url": str(url), "body": dict(body), **more} if not more:
            pass
        case _:
            raise BadRequest(f"{where} of the file is not a request.", param=where)
    if url not in URLS:
        raise UnsupportedByPolicy(f"{where} is for an endpoint that is not inspected in batches.", param=where)
    if not _ID.fullmatch(id):
        raise UnsupportedByPolicy(f"The custom_id of {where} does not look like an identifier.", param=where)
    if body.get("stream"):
        raise BadRequest(f"{where} asks for a stream.", param=where)
    return Line(number, id, body), url


_BODY = fields(
    {
        "input_file_id": identifier,
        "endpoint": identifier,
        "completion_window": identifier,
        "metadata": mapping(fixed),
        "output_expires_after": fields({"anchor": identifier}),
    },
    fixed,
)


def batch_leaves(body: JSON) -> list[Leaf]:
    """Everything in the request for a batch: nothing in it may be replaced."""
    found: list[Leaf] = []

    def visit(leaf: Leaf) -> str:
        found.append(leaf)
        return leaf.text

    walk(body, "$", visit, _BODY)
    return found


def told(raw: bytes) -> JSON:
    """An answer's tree, or None if it is none."""
    try:
        return parse_answer(raw)
    except BadRequest:
        return None


def restored_object(node: JSON, restoring: Restoring) -> JSON:
    """A batch or a file as the client may see it: messages of errors may quote what was sent."""
    return restore_answer(node, restoring, Seen())


def restored_lines(data: bytes, restoring: Restoring, url: str, aids: Aids) -> Iterator[bytes]:
    """A file line by line: results get their values back as the endpoint's answers do, requests as JSON text."""
    for raw in data.split(b"\n"):
        node = told(raw) if raw.strip() else None
        if isinstance(node, dict) and "response" in node:
            yield serialise(_result(node, restoring, ENDPOINTS[url], aids))
        else:
            text = raw.decode("utf-8", "replace")
            yield restoring.whole(text, Context.JSON)[0].encode() if raw.strip() else raw


def _result(node: dict[str, JSON], restoring: Restoring, endpoint: Endpoint, aids: Aids) -> JSON:
    response = node["response"]
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        body = endpoint.restore_answer(response["body"], restoring, Seen(), aids)
        response = {**response, "body": body}
    rest = {key: value for key, value in node.items() if key != "response"}
    restored = restore_answer(rest, restoring, Seen())
    kept = restored if isinstance(restored, dict) else rest
    return {key: response if key == "response" else kept.get(key) for key in node}


def rewritten(batch: Batch, line: Line, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
    """A line's body with every leaf visited; what it raises names the line."""
    return batch.endpoint.rewrite(line.body, visit, allowed, aids)

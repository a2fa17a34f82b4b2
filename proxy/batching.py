"""Batches through the proxy: files of requests go out inspected, files of results come back restored.

A file's requests share one vault, which is written down, sealed, before the client hears of the file's id. A batch is
known by the file that it was made of, and so are the files that it writes. What was not uploaded here by this tenant
does not exist. May import: the stages, budgets, chain, store, trip, vault, wire, policy, model, errors.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

import regex

from proxy import chain as chains
from proxy import measure
from proxy.budgets import Spending
from proxy.chain import Chain
from proxy.detect import Detector
from proxy.errors import BadAnswer, BadRequest, Refusal, UnknownState, UnsupportedByPolicy
from proxy.forward import Upstream, UpstreamAnswer
from proxy.model import JSON, Finding, Kind, Leaf
from proxy.policy.model import Policy
from proxy.restore import Restoration
from proxy.store import Place, Store
from proxy.substitute import Substituting
from proxy.trip import Trip
from proxy.vault import Vault, conversation_key, lookalikes
from proxy.wire.base import parse_strict, serialise
from proxy.wire.batches import Batch, Line, batch_leaves, read_batch, restored_lines, restored_object, rewritten, told
from proxy.wire.endpoints import Aids
from proxy.wire.multipart import read_form, write_form
from proxy.wire.seals import NoSeals

SECONDS = 20.0
_ID = r"(?P<id>[A-Za-z0-9_\-]{1,200})"
_FILE, _CONTENT = re.compile(rf"/v1/files/{_ID}"), re.compile(rf"/v1/files/{_ID}/content")
_BATCH = re.compile(rf"/v1/batches/{_ID}(?:/cancel)?")
_MADE = ("output_file_id", "error_file_id")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the upstream's as the client may have it."""

    answer: UpstreamAnswer
    body: bytes


@dataclass(frozen=True, slots=True)
class _Known:
    """An input file: the endpoint of its lines, what its placeholders stand for, and the tokens that it asks for."""

    url: str
    chain: Chain
    tokens: int


class Batching:
    """The endpoints of files and batches. Holds no request's data. All methods raise refusals."""

    def __init__(
        self,
        detector: Detector,
        counters: measure.Counters,
        upstream: Upstream,
        store: Store,
        strays: regex.Pattern[str],
        going_out: Callable[[Trip], Awaitable[None]],
        spending: Spending,
    ) -> None:
        """`going_out` is waited for before anything is sent; what it raises refuses the request."""
        self._spending = spending
        self._detector = detector
        self._counters = counters
        self._upstream = upstream
        self._store = store
        self._strays = strays
        self._going_out = going_out

    def serves(self, path: str) -> bool:
        return path in ("/v1/files", "/v1/batches") or path.startswith(("/v1/files/", "/v1/batches/"))

    async def reply(self, trip: Trip, tenant: bytes) -> Reply:
        """The answer to one request."""
        if trip.policy.state.batches != "allow":
            raise UnsupportedByPolicy("Files and batches are refused. The policy switch state.batches decides.")
        inbound = trip.inbound
        if inbound.path == "/v1/files":
            return await self._upload(trip, tenant)
        if inbound.path == "/v1/batches":
            return await self._create(trip, tenant)
        if content := _CONTENT.fullmatch(inbound.path):
            return await self._content(trip, tenant, content["id"])
        if batch := _BATCH.fullmatch(inbound.path):
            return await self._batch(trip, tenant, batch["id"])
        file = _FILE.fullmatch(inbound.path)
        return await self._file(trip, tenant, file["id"] if file else "")

    async def _upload(self, trip: Trip, tenant: bytes) -> Reply:
        """An input file: every line inspected, then all of it sent on as a form of our own."""
        kind = next((value for name, value in trip.inbound.headers if name == "content-type"), "")
        form = read_form(kind, trip.inbound.body)
        if form.fields.get("purpose") != "batch" or set(form.fields) != {"purpose"}:
            raise UnsupportedByPolicy("Only files of the purpose batch are inspected, without other fields.")
        batch = read_batch(form.file)
        measured = {line.number: self._measured(trip.policy, batch, line) for line in batch.lines}
        aids = {number: aid for number, (aid, _) in measured.items()}
        tokens = sum(tokens for _, tokens in measured.values())
        allowed = _passed(trip.policy)
        leaves = {line.number: _leaves(batch, line, allowed, aids[line.number]) for line in batch.lines}
        found = await self._detected(trip, tenant, leaves)
        scope = batch.endpoint.opening(batch.lines[0].body) if batch.url.endswith("embeddings") else _digest(form.file)
        taken = lookalikes(text for some in leaves.values() for leaf in some for text in (leaf.text, leaf.raw) if text)
        vault = trip.vault = Vault(conversation_key(tenant, scope), taken)
        out: list[bytes] = []
        for line in batch.lines:
            body = _substituted(batch, line, found[line.number], vault, tenant, allowed, aids[line.number])
            out.append(line.written(batch.url, body))
        content_type, payload = write_form({"purpose": "batch"}, "batch.jsonl", b"\n".join(out) + b"\n")
        trip.record.bytes_out = len(payload)
        answer, raw = await self._sent(trip, payload, content_type)
        node = told(raw)
        if answer.status < 400 and isinstance(node, dict):
            chain = Chain(conversation_key(tenant, scope), vault.everything(), vault.taken)
            about = f"{batch.url} {tokens}\n".encode()
            await self._store.put(Place(tenant, "file", _id(node)), about + chains.written(chain))
        return Reply(answer, self._shown(trip, raw, Restoration(vault)))

    def _measured(self, policy: Policy, batch: Batch, line: Line) -> tuple[Aids, int]:
        """What the line's walk needs, once it is known to fit into the served limit, and the tokens it asks for."""
        where = f"line {line.number}"
        model = line.body.get("model", "")
        limit = policy.limit_for(model) if isinstance(model, str) else None
        if limit is None or (batch.endpoint.model and not model):
            raise UnsupportedByPolicy("The policy states no served limit for the model of this line.", param=where)
        measured = measure.measure(
            line.body,
            counter=self._counters.of(limit.tokenizer, limit.factor),
            limit=limit.served,
            size=len(serialise(line.body)),
            deadline=time.monotonic() + SECONDS,
            charging=batch.endpoint.charging,
        )
        measure.check_limit(measured, limit.served, param=where)
        aids = Aids(self._counters.decoder(limit.tokenizer, limit.factor), NoSeals())
        return aids, measured.prompt + (measured.completion or 0)

    async def _detected(
        self, trip: Trip, tenant: bytes, leaves: Mapping[int, list[Leaf]]
    ) -> Mapping[int, list[list[Finding]]]:
        found: dict[int, list[list[Finding]]] = {}
        with trip.record.stage("detect"):
            for number, some in leaves.items():
                with _at(number), trip.record.blocked():
                    found[number] = await self._detector.detect(some, trip.policy, trip.inbound.tenant)
        every = [findings for line in found.values() for findings in line]
        trip.record.found(Counter(finding.entity for findings in every for finding in findings))
        if trip.policy.mode == "monitor":
            return {number: [[] for _ in line] for number, line in found.items()}
        return found

    async def _create(self, trip: Trip, tenant: bytes) -> Reply:
        """A batch of a file that was uploaded here. The provider takes its time: only the day's budget holds for it."""
        body = parse_strict(trip.inbound.body)
        if not isinstance(body, dict):
            raise BadRequest("The body must be a JSON object.")
        with trip.record.blocked():
            found = await self._detector.detect(batch_leaves(body), trip.policy, trip.inbound.tenant)
        if any(found):
            raise UnsupportedByPolicy("Something in this request may not be forwarded, and cannot be replaced.")
        file = body.get("input_file_id")
        known = await self._known(tenant, file if isinstance(file, str) else "")
        if body.get("endpoint") != known.url:
            raise BadRequest("The endpoint is not the one that the file's requests are for.", param="$.endpoint")
        await self._spending.spend(trip.inbound.tenant, known.tokens, trip.policy.limits.budgets, later=True)
        answer, raw = await self._sent(trip, serialise(body), "application/json")
        node = told(raw)
        if answer.status < 400 and isinstance(node, dict):
            await self._store.put(Place(tenant, "batch", _id(node)), str(file).encode())
        return Reply(answer, await self._linked(trip, tenant, str(file), known, raw))

    async def _batch(self, trip: Trip, tenant: bytes, id: str) -> Reply:
        """A batch as it is now, or its end."""
        file = (await self._store.get(Place(tenant, "batch", id)))[-1].decode()
        known = await self._known(tenant, file)
        answer, raw = await self._sent(trip, None)
        return Reply(answer, await self._linked(trip, tenant, file, known, raw))

    async def _linked(self, trip: Trip, tenant: bytes, file: str, known: _Known, raw: bytes) -> bytes:
        """A batch as the client may see it; the files that it wrote are known from now on."""
        node = told(raw)
        for name in _MADE if isinstance(node, dict) else ():
            made = node.get(name) if isinstance(node, dict) else None
            if isinstance(made, str) and re.fullmatch(_ID, made):
                await self._store.put(Place(tenant, "file", made), b"of\n" + file.encode())
        return self._shown(trip, raw, self._restoration(trip, known))

    async def _file(self, trip: Trip, tenant: bytes, id: str) -> Reply:
        known = await self._known(tenant, id)
        answer, raw = await self._sent(trip, None)
        if trip.inbound.method == "DELETE" and answer.status < 400:
            await self._store.delete(Place(tenant, "file", id))
        return Reply(answer, self._shown(trip, raw, self._restoration(trip, known)))

    async def _content(self, trip: Trip, tenant: bytes, id: str) -> Reply:
        known = await self._known(tenant, id)
        answer, raw = await self._sent(trip, None)
        restoration = self._restoration(trip, known)
        if answer.status >= 400:
            return Reply(answer, self._shown(trip, raw, restoration))
        restored = b"\n".join(restored_lines(raw, restoration, known.url, Aids(None, NoSeals())))
        if restoration.tally.foreign and trip.policy.answers.foreign_placeholder == "block":
            raise BadAnswer("The file holds placeholders that were not issued for it.", code="foreign_placeholder")
        return Reply(answer, restored)

    async def _known(self, tenant: bytes, id: str) -> _Known:
        """The input file that a file belongs to. Raises `UnknownState`, `ExpiredState`."""
        if not re.fullmatch(_ID, id):
            raise UnknownState
        kind, _, rest = (await self._store.get(Place(tenant, "file", id)))[-1].partition(b"\n")
        if kind == b"of":
            kind, _, rest = (await self._store.get(Place(tenant, "file", rest.decode())))[-1].partition(b"\n")
        url, _, tokens = kind.decode().partition(" ")
        return _Known(url, chains.read([rest]), int(tokens or 0))

    def _restoration(self, trip: Trip, known: _Known) -> Restoration:
        trip.vault = known.chain.vault(frozenset())
        trip.restoration = Restoration(trip.vault, in_tools=trip.policy.answers.restores_in, strays=self._strays)
        return trip.restoration

    def _shown(self, trip: Trip, raw: bytes, restoration: Restoration) -> bytes:
        node = told(raw)
        if node is None:
            raise BadAnswer("The upstream's answer is not JSON that can be read.", code="unreadable_answer")
        return serialise(restored_object(node, restoration))

    async def _sent(
        self, trip: Trip, payload: bytes | None, content_type: str = "application/json"
    ) -> tuple[UpstreamAnswer, bytes]:
        inbound = trip.inbound
        await self._going_out(trip)
        with trip.record.stage("forward"):
            answer = await self._upstream.send(
                inbound.method, inbound.path, inbound.headers, payload, content_type=content_type
            )
        async with contextlib.aclosing(answer):
            return answer, await answer.read()


@contextlib.contextmanager
def _at(number: int) -> Iterator[None]:
    """Refusals say which line they are about."""
    try:
        yield
    except Refusal as refusal:
        refusal.param = f"line {number}" if refusal.param is None else f"line {number}: {refusal.param}"
        raise


def _leaves(batch: Batch, line: Line, allowed: frozenset[str], aids: Aids) -> list[Leaf]:
    with _at(line.number):
        return [Leaf("$.custom_id", line.id, Kind.ID), *batch.endpoint.leaves(line.body, allowed, aids)]


def _substituted(
    batch: Batch,
    line: Line,
    found: list[list[Finding]],
    vault: Vault,
    tenant: bytes,
    allowed: frozenset[str],
    aids: Aids,
) -> dict[str, JSON]:
    with _at(line.number):
        if found[0]:
            raise UnsupportedByPolicy("A custom_id may not be replaced, but holds something that was found.")
        work = Substituting(found[1:], vault, tenant)
        out = rewritten(batch, line, work.sends(), allowed, aids)
        if work.encoded:
            rewritten(batch, line, work.keeps(), allowed, aids)
            work.remember()
        return out


def _passed(policy: Policy) -> frozenset[str]:
    """As for a request that comes alone."""
    kinds = {kind for kind, verdict in policy.attachments if verdict == "pass"}
    return frozenset(kinds | {f"identities.{policy.identities}"} if policy.mode == "enforce" else kinds)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _id(node: dict[str, JSON]) -> str:
    """The id that the provider gave. Raises `BadAnswer` if it is none."""
    id = node.get("id")
    if not isinstance(id, str) or not re.fullmatch(_ID, id):
        raise BadAnswer("The upstream's answer has no id.", code="unreadable_answer")
    return id

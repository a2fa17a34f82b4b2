"""The path of a request, top to bottom.

    measure -> detect -> substitute -> measure again -> forward -> verify -> restore -> audit

This module and `answering`, its way back, alone catch errors of the stages, and they catch to refuse: whatever goes
wrong before the upstream has answered, nothing (more) is forwarded; whatever goes wrong afterwards, the answer stops.

May import: the stages, prompt, answering, closing, batching, policy, vault, wire, offloop, model, errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from proxy import audit, measure, strangers, verify
from proxy.answering import Answering
from proxy.batching import Batching
from proxy.budgets import Spending
from proxy.closing import Closing, answer_headers
from proxy.detect import Detector
from proxy.errors import BadAnswer, BadRequest, BlockedEntity, Refusal, UnsupportedByPolicy, UpstreamUnreachable
from proxy.extract import Extractor
from proxy.forward import Upstream
from proxy.headers import OPTIONAL, Headers, header_leaves, upstream_headers
from proxy.keeping import Keeping
from proxy.model import JSON, Finding, Kind, Leaf
from proxy.offloop import off_loop
from proxy.policy.limits import ModelLimit
from proxy.policy.model import Policy
from proxy.prompt import carried, limit_of, measured
from proxy.restore import Restoration
from proxy.store import Store
from proxy.store.memory import in_memory
from proxy.substitute import Substituting, substitute
from proxy.trip import Inbound, Outbound, Trip, Unsent
from proxy.vault import Vault, conversation_key, lookalikes, tenant_key
from proxy.wire.asking import with_usage
from proxy.wire.base import parse_strict, serialise
from proxy.wire.dialects import USUAL, Dialects
from proxy.wire.encoded import shown
from proxy.wire.endpoints import Aids, Endpoint
from proxy.wire.identity import asked_choices
from proxy.wire.seals import NoSeals
from proxy.wire.state import Reference, item_references, references
from proxy.wire.stored import Asked, asked, find
from recognizers import ENTITIES

_GONE = frozenset({200, 202, 204, 404, 410})
"""Answers to a deletion after which there is nothing left."""


class Pipeline:
    """The stages in their order. Holds what outlives a request; a request's own state is in its `Trip`."""

    def __init__(
        self,
        policy: Policy,
        detector: Detector,
        counters: measure.Counters,
        upstream: Upstream,
        log: audit.Audit,
        secret: bytes,
        on_fault: Callable[[Exception], None] = lambda _: None,
        store: Store | None = None,
        dialects: Dialects = USUAL,
        extractor: Extractor | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.policy = policy
        self._spending = spending or Spending()
        self._dialects = dialects
        self._detector = detector
        self._counters = counters
        self._upstream = upstream
        self._secret = secret
        self._store = store or in_memory(secret)
        self._strays = strangers.pattern({*ENTITIES, *policy.declared})
        self._extractor = extractor or Extractor()
        self._closing = Closing(log, dialects, on_fault)
        self._answering = Answering(detector, counters, self._closing)
        self._batching = Batching(
            detector, counters, upstream, self._store, self._strays, self._closing.going_out, self._spending
        )

    async def handle(self, inbound: Inbound) -> Outbound:
        """Answers a request. Raises nothing but CancelledError."""
        keeping = Keeping(self._store, tenant_key(self._secret, inbound.tenant), self.policy.state)
        record = audit.Record(inbound.request_id, inbound.tenant, inbound.path)
        trip = Trip(inbound, self.policy, record, keeping)
        try:
            if self._batching.serves(inbound.path):
                return await self._batch(trip)
            stored = find(inbound.method, inbound.path)
            if stored is not None:
                return await self._stored(trip, asked(*stored, inbound.path, inbound.query))
            if inbound.method == "GET":
                return await self._pass_through(trip)
            endpoint = self._dialects.endpoint(inbound.path)
            if endpoint is None:
                raise UnsupportedByPolicy("This endpoint is not inspected, so it is not forwarded.")
            return await self._complete(trip, endpoint)
        except Unsent as unsent:  # audited where it happened
            return self._closing.refusal(trip, unsent.refusal)
        except Refusal as refusal:
            if refusal.retry or not isinstance(refusal, BadAnswer | UpstreamUnreachable):
                await keeping.undo()
            return self._closing.refuse(trip, refusal)
        except asyncio.CancelledError:
            self._closing.close(trip, "cancelled", inbound.leaving.reason, 499)
            raise
        except Exception as error:
            return self._closing.refuse(trip, self._closing.fault(error))

    async def _complete(self, trip: Trip, endpoint: Endpoint, query: str | None = None) -> Outbound:
        inbound, policy, record, keeping = trip.inbound, trip.policy, trip.record, trip.keeping
        with record.stage("parse"):
            body = await off_loop(parse_strict, inbound.body, size=len(inbound.body))
            if not isinstance(body, dict):
                raise BadRequest("The body must be a JSON object.")
        record.request(model=None, stream=body.get("stream") is True, bytes_in=len(inbound.body))
        if policy.attachments.files == "text":
            with record.stage("read_files"):
                body = await self._extractor.in_place(body)

        limit = limit_of(body, policy, endpoint)
        trip.counter = self._counters.of(limit.tokenizer, limit.factor, tenant_key(self._secret, inbound.tenant))
        with record.stage("recall"):
            already = await self._recalled(trip, endpoint, body, limit)
        with record.stage("measure"):
            await measured(body, trip, endpoint, limit, already)

        tenant = tenant_key(self._secret, inbound.tenant)
        ledger = await keeping.blocks(endpoint.blocks(tenant, body) if endpoint.blocks else [])
        asks = policy.answers.ask_usage and endpoint.asks_usage(body)
        aids = Aids(self._counters.decoder(limit.tokenizer, limit.factor), ledger, hides_usage=asks)
        allowed = _passed(policy) | keeping.allowed()
        with record.stage("walk"):
            leaves = await off_loop(endpoint.leaves, body, allowed, aids, size=len(inbound.body))
        with record.stage("detect"), _named(trip, endpoint, body, leaves):
            headers, findings = await self._searched(trip, leaves)
        record.found(Counter(finding.entity for found in findings for finding in found))
        record.model = _model(endpoint, body, leaves, findings)

        with record.stage("substitute"):
            work = functools.partial(self._substituted, trip, endpoint, aids, body, leaves, findings)
            outgoing, payload, restoration = await off_loop(work, size=len(inbound.body))
        with record.stage("measure_again"):
            record.tokens_after = await measured(outgoing, trip, endpoint, limit, already)

        self._closing.check()  # what cannot be audited is not forwarded, and costs nothing
        if endpoint.generates and record.tokens_after is not None:
            tokens = record.tokens_after + (record.completion or 0)
            await self._spending.spend(inbound.tenant, tokens, policy.limits.budgets)
        record.bytes_out = len(payload)
        if keeping.keeps and trip.vault is not None:
            answer_bound = record.completion or None if endpoint.measured else keeping.awaited
            await keeping.ahead(trip.vault, already, await carried(outgoing, trip, limit), limit, answer_bound)
        await self._closing.going_out(trip)
        with record.stage("forward"):
            query = inbound.query if query is None else query
            answer = await self._upstream.send("POST", inbound.path, headers, payload, query)
        return await self._answering.answered(trip, endpoint, aids.citing(outgoing), restoration, answer)

    async def _stored(self, trip: Trip, ask: Asked) -> Outbound:
        """A request for something that the provider keeps: known here for this tenant, or refused."""
        inbound, keeping, stored = trip.inbound, trip.keeping, ask.stored
        with trip.record.stage("recall"):
            keeping.permit(stored.kind or "conversation")
            if stored.kind:
                await keeping.recall([Reference(stored.kind, ask.id, "")], into=stored.body)
        with trip.record.stage("detect"):
            headers, found = await self._searched(trip, [part for leaf in ask.leaves for part in shown(leaf)])
            if any(found):
                raise UnsupportedByPolicy("An id in this request holds something that may not be forwarded.")
        endpoint = ask.endpoint()
        if stored.body:
            return await self._complete(trip, endpoint, ask.query)
        if stored.whole:
            keeping.expects(ask.id)
        trip.vault = keeping.vault(b"", frozenset())
        trip.restoration = Restoration(trip.vault, in_tools=trip.policy.answers.restores_in, strays=self._strays)
        chain = keeping.chain
        if stored.whole and chain is not None and chain.tokenizer:
            trip.sent = verify.Sent(chain.texts, share=verify.share_of(chain.tokenizer, chain.factor), reports=False)
        await self._closing.going_out(trip)
        with trip.record.stage("forward"):
            answer = await self._upstream.send(inbound.method, inbound.path, headers, None, ask.query)
        if stored.forgets and answer.status in _GONE:
            await keeping.forget(stored.kind, ask.id)
        return await self._answering.answered(trip, endpoint, Aids(None, NoSeals()), trip.restoration, answer)

    async def _recalled(self, trip: Trip, endpoint: Endpoint, body: dict[str, JSON], limit: ModelLimit) -> int:
        """Reads what the request goes on from; the tokens that the provider will put before its prompt."""
        keeping = trip.keeping
        if endpoint.prompt == "input":
            await keeping.recall(references(body))
            await keeping.recall_items(item_references(body))
        await keeping.begin(endpoint.keeps, body)
        keeping.count_as(limit)
        if endpoint.measured:
            return keeping.already()
        return 0 if keeping.chain is None else keeping.chain.tokens

    def _substituted(
        self,
        trip: Trip,
        endpoint: Endpoint,
        aids: Aids,
        body: dict[str, JSON],
        leaves: list[Leaf],
        findings: list[list[Finding]],
    ) -> tuple[dict[str, JSON], bytes, Restoration]:
        """The body that leaves the house, everything outside findings as it was; its bytes; and the way back."""
        policy, tenant = trip.policy, tenant_key(self._secret, trip.inbound.tenant)
        texts = _texts(leaves)
        goes_on = trip.keeping.chain is not None
        vault = trip.keeping.vault(conversation_key(tenant, endpoint.opening(body)), lookalikes(texts))
        trip.vault = vault
        if policy.answers.unsolicited != "off" and not goes_on:  # what was said before is not here to compare with
            trip.texts = tuple(texts)
        if policy.mode == "monitor":
            findings = [[] for _ in findings]
        allowed = _passed(policy) | trip.keeping.allowed()
        substituting = Substituting(findings, vault, tenant)
        outgoing = endpoint.rewrite(body, substituting.sends(), allowed, aids)
        if substituting.encoded:
            endpoint.rewrite(body, substituting.keeps(), allowed, aids)
            substituting.remember()
        if aids.hides_usage:
            outgoing = with_usage(outgoing)
        trip.seen.choices = asked_choices(body)
        trip.restoration = Restoration(
            vault, in_tools=policy.answers.restores_in, strays=self._strays, keeps=bool(trip.texts)
        )
        return outgoing, serialise(outgoing), trip.restoration

    async def _searched(self, trip: Trip, leaves: list[Leaf]) -> tuple[Headers, list[list[Finding]]]:
        """The headers that go on, and the findings of each leaf.

        A header in which something is found is left out if a request can be without it, else the request is refused.
        """
        passed = upstream_headers(trip.inbound.headers)
        carried = header_leaves(passed)
        inside = [(name, leaf) for name, whole in carried.items() for leaf in shown(whole)]
        looked_at = [*leaves, *(leaf for _, leaf in inside)]
        with trip.record.blocked():
            findings = await self._detector.detect(looked_at, trip.policy, trip.inbound.tenant)
        found = {name: some for (name, _), some in zip(inside, findings[len(leaves) :], strict=True) if some}
        if trip.policy.mode == "enforce":
            for name in [name for name in carried if name in found and name not in OPTIONAL]:
                substitute(carried[name], found[name], Vault(b""), b"")  # raises: it is an identifier
            passed = [(name, value) for name, value in passed if not found.get(name)]
        return passed, findings[: len(leaves)]

    async def _batch(self, trip: Trip) -> Outbound:
        """A file of requests, a batch, or a file of results."""
        trip.record.request(model=None, stream=False, bytes_in=len(trip.inbound.body))
        reply = await self._batching.reply(trip, tenant_key(self._secret, trip.inbound.tenant))
        status = reply.answer.status
        self._closing.close(trip, "release" if status < 400 else "upstream_error", "", status)
        return Outbound(status, answer_headers(trip, reply.answer), reply.body)

    async def _pass_through(self, trip: Trip) -> Outbound:
        """`GET /v1/models` and the like: nothing found in it goes out, the answer comes back as it is."""
        inbound = trip.inbound
        named = shown(Leaf("$.model", inbound.path.rpartition("/")[2], Kind.ID))
        headers, found = await self._searched(trip, named)
        if trip.policy.mode == "enforce":
            for leaf, some in zip(named, found, strict=True):
                substitute(leaf, some, Vault(b""), b"")
        await self._closing.going_out(trip)
        answer = await self._upstream.send("GET", inbound.path, headers, None, inbound.query)
        async with contextlib.aclosing(answer):
            raw = await answer.read()
        self._closing.close(trip, "release" if answer.status < 400 else "upstream_error", "", answer.status)
        return Outbound(answer.status, answer_headers(trip, answer), raw)


def _passed(policy: Policy) -> frozenset[str]:
    """Kinds of attachment that the policy lets through unseen, and what it says about who a request is from."""
    kinds = {kind for kind, verdict in policy.attachments if verdict == "pass"}
    return frozenset(kinds | {f"identities.{policy.identities}"} if policy.mode == "enforce" else kinds)


@contextlib.contextmanager
def _named(trip: Trip, endpoint: Endpoint, body: dict[str, JSON], leaves: list[Leaf]) -> Iterator[None]:
    """Takes down the model also where what is found ends the request."""
    try:
        yield
    except BlockedEntity as refusal:
        trip.record.model = _model(endpoint, body, leaves, refusal.findings)
        raise


def _model(
    endpoint: Endpoint, body: dict[str, JSON], leaves: list[Leaf], findings: Sequence[Sequence[Finding]]
) -> str | None:
    """The model, once it was looked at, and not where something is found in it (which monitoring lets pass): it could
    be anything. Findings of headers may follow those of the leaves."""
    suspect = any(found for leaf, found in zip(leaves, findings, strict=False) if leaf.path == "$.model")
    model = endpoint.model_of(body)
    return model if isinstance(model, str) and not suspect else None


def _texts(leaves: list[Leaf]) -> list[str]:
    return [text for leaf in leaves for text in (leaf.text, leaf.raw) if text]

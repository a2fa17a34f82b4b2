"""The path of a request, top to bottom.

    measure -> detect -> substitute -> measure again -> forward -> verify -> restore -> audit

This module alone catches errors of the stages, and it catches to refuse: whatever goes wrong before the upstream
has answered, nothing (more) is forwarded; whatever goes wrong afterwards, the answer stops.

May import: the stages, policy, vault, wire, documents, model, errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, TypeVar

from proxy import audit, measure, strangers, verify
from proxy.batching import Batching
from proxy.budgets import Spending
from proxy.detect import Detector
from proxy.documents import UnreadableDocument
from proxy.errors import BadAnswer, BadRequest, Refusal, Unavailable, UnsupportedByPolicy, UpstreamUnreachable
from proxy.extract import Extractor
from proxy.forward import Upstream, UpstreamAnswer, client_headers
from proxy.headers import OPTIONAL, Headers, header_leaves, upstream_headers
from proxy.keeping import Carried, Keeping
from proxy.model import JSON, Context, Finding, Kind, Leaf, Seen
from proxy.policy.limits import ModelLimit
from proxy.policy.model import Policy
from proxy.restore import Restoration
from proxy.store import Store
from proxy.store.memory import in_memory
from proxy.substitute import Substituting, substitute
from proxy.trip import Inbound, Outbound, StreamBroken, Trip, Unsent
from proxy.unsolicited import unsolicited, worth_a_look
from proxy.vault import Vault, conversation_key, lookalikes, tenant_key
from proxy.wire.asking import with_usage
from proxy.wire.base import parse_answer, parse_strict, serialise
from proxy.wire.dialects import USUAL, Dialects
from proxy.wire.enclosed import enclosed, with_texts
from proxy.wire.endpoints import Aids, AnswerStream, Endpoint
from proxy.wire.identity import asked_choices
from proxy.wire.seals import Ledger, NoSeals
from proxy.wire.state import Reference, references
from proxy.wire.stored import Asked, asked, find
from recognizers import ENTITIES

T = TypeVar("T")
MEASURE_SECONDS = 20.0
"""Longest time that counting one prompt may take; the slowest text known needs 0.3 s a MB."""
_INLINE = 16_384
"""Bodies up to this many bytes are parsed and rebuilt on the event loop; longer ones in a thread."""
_NO_PROMPT = ModelLimit(1 << 53, "o200k_base", 1.0)
"""How what is stored without a model is counted."""
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
        self._on_fault = on_fault
        self._dialects = dialects
        self._detector = detector
        self._counters = counters
        self._upstream = upstream
        self._log = log
        self._secret = secret
        self._store = store or in_memory(secret)
        self._strays = strangers.pattern({*ENTITIES, *policy.declared})
        self._extractor = extractor or Extractor()
        self._batching = Batching(detector, counters, upstream, self._store, self._strays, self._going_out)

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
            return self._refusal(trip, unsent.refusal)
        except Refusal as refusal:
            if refusal.retry or not isinstance(refusal, BadAnswer | UpstreamUnreachable):
                await keeping.undo()
            return self._refuse(trip, refusal)
        except asyncio.CancelledError:
            self._close(trip, "cancelled", inbound.leaving.reason, 499)
            raise
        except Exception as error:
            return self._refuse(trip, self._fault(error))

    async def _complete(self, trip: Trip, endpoint: Endpoint, query: str | None = None) -> Outbound:
        inbound, policy, record, keeping = trip.inbound, trip.policy, trip.record, trip.keeping
        with record.stage("parse"):
            body = await _off_loop(parse_strict, inbound.body, size=len(inbound.body))
            if not isinstance(body, dict):
                raise BadRequest("The body must be a JSON object.")
        record.request(model=None, stream=body.get("stream") is True, bytes_in=len(inbound.body))
        if policy.attachments.files == "text":
            with record.stage("read_files"):
                body = await self._with_texts(body)

        limit = self._limit(body, policy, endpoint)
        trip.counter = self._counters.of(limit.tokenizer, limit.factor, tenant_key(self._secret, inbound.tenant))
        with record.stage("recall"):
            already = await self._recalled(trip, endpoint, body, limit)
        with record.stage("measure"):
            await self._measure(body, trip, endpoint, limit, already)

        tenant = tenant_key(self._secret, inbound.tenant)
        ledger = await keeping.blocks(endpoint.blocks(tenant, body) if endpoint.blocks else [])
        asks = policy.answers.ask_usage and endpoint.asks_usage(body)
        aids = Aids(self._counters.decoder(limit.tokenizer, limit.factor), ledger, hides_usage=asks)
        allowed = _passed(policy) | keeping.allowed()
        with record.stage("walk"):
            leaves = await _off_loop(endpoint.leaves, body, allowed, aids, size=len(inbound.body))
        with record.stage("detect"):
            headers, findings = await self._searched(trip, leaves)
        record.found(Counter(finding.entity for found in findings for finding in found))

        with record.stage("substitute"):
            work = functools.partial(self._substituted, trip, endpoint, aids, body, leaves, findings)
            outgoing, payload, restoration = await _off_loop(work, size=len(inbound.body))
        # Only now, and not where something is found in it (which monitoring lets pass): it could be anything.
        suspect = any(found for leaf, found in zip(leaves, findings, strict=True) if leaf.path == "$.model")
        model = endpoint.model_of(body)
        record.model = model if isinstance(model, str) and not suspect else None
        with record.stage("measure_again"):
            record.tokens_after = await self._measure(outgoing, trip, endpoint, limit, already)

        self._log.check()  # what cannot be audited is not forwarded, and costs nothing
        if endpoint.generates and record.tokens_after is not None:
            tokens = record.tokens_after + (record.completion or 0)
            await self._spending.spend(inbound.tenant, tokens, policy.limits.budgets)
        record.bytes_out = len(payload)
        if keeping.keeps and trip.vault is not None:
            answer_bound = record.completion or None if endpoint.measured else keeping.awaited
            await keeping.ahead(trip.vault, already, await self._carried(outgoing, trip, limit), limit, answer_bound)
        await self._going_out(trip)
        with record.stage("forward"):
            query = inbound.query if query is None else query
            answer = await self._upstream.send("POST", inbound.path, headers, payload, query)
        return await self._answered(trip, endpoint, aids, restoration, answer)

    async def _stored(self, trip: Trip, ask: Asked) -> Outbound:
        """A request for something that the provider keeps: known here for this tenant, or refused."""
        inbound, keeping, stored = trip.inbound, trip.keeping, ask.stored
        with trip.record.stage("recall"):
            keeping.permit(stored.kind or "conversation")
            if stored.kind:
                await keeping.recall([Reference(stored.kind, ask.id, "")], into=stored.body)
        with trip.record.stage("detect"):
            headers, found = await self._searched(trip, list(ask.leaves))
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
        await self._going_out(trip)
        with trip.record.stage("forward"):
            answer = await self._upstream.send(inbound.method, inbound.path, headers, None, ask.query)
        if stored.forgets and answer.status in _GONE:
            await keeping.forget(stored.kind, ask.id)
        return await self._answered(trip, endpoint, Aids(None, NoSeals()), trip.restoration, answer)

    async def _recalled(self, trip: Trip, endpoint: Endpoint, body: dict[str, JSON], limit: ModelLimit) -> int:
        """Reads what the request goes on from; the tokens that the provider will put before its prompt."""
        keeping = trip.keeping
        if endpoint.prompt == "input":
            await keeping.recall(references(body))
        await keeping.begin(endpoint.keeps, body)
        keeping.count_as(limit)
        if endpoint.measured:
            return keeping.already()
        return 0 if keeping.chain is None else keeping.chain.tokens

    async def _carried(self, outgoing: dict[str, JSON], trip: Trip, limit: ModelLimit) -> Carried:
        """What of a request the provider keeps: not its instructions and tools, which each request brings again."""
        said = outgoing.get("input", outgoing.get("items"))
        if said is None or trip.counter is None:
            return Carried()
        count = functools.partial(measure.measure, {"input": said}, trip.counter, None, size=0)
        measured = await _off_loop(count, size=len(trip.inbound.body))
        steered = outgoing.get("context_management")  # the provider may then leave out what was said
        return Carried(measured.prompt, 0 if steered else int(measured.texts / limit.factor))

    async def _keep(self, trip: Trip, aids: Aids) -> None:
        """Writes down what the client may come back with, before it can."""
        keeping, counter = trip.keeping, trip.counter
        await keeping.saw(trip.seen)
        if isinstance(aids.seals, Ledger):
            await keeping.seal(aids.seals)

        async def count(output: JSON) -> int:
            chosen = counter or self._counters.of("o200k_base", 1.0)
            return await _off_loop(measure.count_output, output, chosen, size=_INLINE + 1)

        await keeping.done(trip.seen, count)
        if keeping.failed:
            trip.record.alarm("state_not_kept")

    async def _answered(
        self, trip: Trip, endpoint: Endpoint, aids: Aids, restoration: Restoration, answer: UpstreamAnswer
    ) -> Outbound:
        """What the upstream said, as it grows or whole."""
        kind = endpoint.streamed_as
        streams = answer.media_type == kind or (answer.is_untyped and trip.record.stream)
        if endpoint.stream and answer.status == 200 and streams:
            stream = endpoint.stream(restoration, trip.seen, aids)
            growing = self._stream(trip, restoration, answer, stream, aids)
            if trip.holds:
                growing = await _begun(growing)
            headers = [(name, value) for name, value in self._headers(trip, answer) if name != "content-type"]
            return Outbound(200, [*headers, ("content-type", kind)], growing)
        async with contextlib.aclosing(answer):
            raw = await answer.read()
        return await self._whole(trip, functools.partial(_restored, endpoint, aids), restoration, answer, raw, aids)

    async def _with_texts(self, body: dict[str, JSON]) -> dict[str, JSON]:
        """The body with the text of each enclosed file in its place; raises for one that cannot be read whole."""
        texts: dict[str, str] = {}
        for file in enclosed(body):
            try:
                texts[file.path] = await self._extractor.text(file.data)
            except UnreadableDocument as fault:
                raise UnsupportedByPolicy(
                    f"{file.path} is a file whose text cannot be read: {fault.reason}.", param=file.path
                ) from None
        replaced = with_texts(body, texts)
        assert isinstance(replaced, dict)  # noqa: S101  (an object stays one)
        return replaced

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

    async def _whole(
        self,
        trip: Trip,
        restored: Callable[..., bytes],
        restoration: Restoration,
        answer: UpstreamAnswer,
        raw: bytes,
        aids: Aids,
    ) -> Outbound:
        """A complete answer, or an error of the upstream's: verified and restored, status and retry headers kept."""
        with trip.record.stage("restore"):
            raw = await _off_loop(restored, raw, answer.status, restoration, trip.seen, size=len(raw))
        await self._taste(trip, restoration, refused=answer.status >= 400)
        if answer.status < 400:
            await self._keep(trip, aids)
        else:
            await trip.keeping.undo()
        self._close(trip, "release" if answer.status < 400 else "upstream_error", "", answer.status)
        return Outbound(answer.status, self._headers(trip, answer), raw)

    async def _stream(
        self, trip: Trip, restoration: Restoration, answer: UpstreamAnswer, stream: AnswerStream, aids: Aids
    ) -> AsyncGenerator[bytes]:
        """The answer as it grows. Ends cleanly only when the upstream did, and nothing was wrong with it."""
        verdict, reason, status = "cancelled", "", 200
        held: list[bytes] = []
        waits = trip.holds
        try:
            async for chunk in answer.chunks():
                held.append(stream.feed(chunk))
                self._verify(trip, restoration)
                await self._keep(trip, aids)
                if waits:
                    trip.record.held = sum(map(len, held))
                if waits and not trip.may_go_on(held):
                    continue
                waits = False
                for out in filter(None, held):
                    yield out
                held.clear()
            last = stream.finish()
            await self._taste(trip, restoration)
            await self._keep(trip, aids)
            ends = trip.seen.done or trip.seen.upstream_error
            if ends or not waits:
                waits = False
                for out in filter(None, [*held, last]):
                    yield out
            if not ends:
                raise BadAnswer("The upstream's stream broke off.", code="upstream_stream_broken")
            verdict, reason = "release", ""
        except Refusal as refusal:
            verdict, reason = "block", refusal.code
            if waits:
                status = refusal.status
                raise Unsent(refusal) from None
            yield stream.broken(refusal)
            raise StreamBroken from None
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except Exception as error:
            verdict, reason = "block", "internal_fault"
            yield stream.broken(self._fault(error))
            raise StreamBroken from None
        finally:
            try:
                await answer.aclose()
            finally:
                with contextlib.suppress(Unavailable):  # an audit that fails now refuses the next request
                    given_up = verdict == "cancelled"
                    self._close(trip, verdict, trip.inbound.leaving.reason if given_up else reason, status)

    async def _searched(self, trip: Trip, leaves: list[Leaf]) -> tuple[Headers, list[list[Finding]]]:
        """The headers that go on, and the findings of each leaf.

        A header in which something is found is left out if a request can be without it, else the request is refused.
        """
        passed = upstream_headers(trip.inbound.headers)
        carried = header_leaves(passed)
        findings = await self._detector.detect([*leaves, *carried.values()], trip.policy, trip.inbound.tenant)
        found = dict(zip(carried, findings[len(leaves) :], strict=True))
        if trip.policy.mode == "enforce":
            for name in [name for name in carried if found[name] and name not in OPTIONAL]:
                substitute(carried[name], found[name], Vault(b""), b"")  # raises: it is an identifier
            passed = [(name, value) for name, value in passed if not found.get(name)]
        return passed, findings[: len(leaves)]

    async def _going_out(self, trip: Trip) -> None:
        """What is forwarded is written down first; what cannot be written down is not forwarded."""
        await self._log.forward(trip.record.close(trip.policy, "forward", "", 0))

    async def _batch(self, trip: Trip) -> Outbound:
        """A file of requests, a batch, or a file of results."""
        trip.record.request(model=None, stream=False, bytes_in=len(trip.inbound.body))
        reply = await self._batching.reply(trip, tenant_key(self._secret, trip.inbound.tenant))
        status = reply.answer.status
        self._close(trip, "release" if status < 400 else "upstream_error", "", status)
        return Outbound(status, self._headers(trip, reply.answer), reply.body)

    async def _pass_through(self, trip: Trip) -> Outbound:
        """`GET /v1/models` and the like: nothing found in it goes out, the answer comes back as it is."""
        inbound = trip.inbound
        named = Leaf("$.model", inbound.path.rpartition("/")[2], Kind.ID)
        headers, (found,) = await self._searched(trip, [named])
        if trip.policy.mode == "enforce":
            substitute(named, found, Vault(b""), b"")
        await self._going_out(trip)
        answer = await self._upstream.send("GET", inbound.path, headers, None, inbound.query)
        async with contextlib.aclosing(answer):
            raw = await answer.read()
        self._close(trip, "release" if answer.status < 400 else "upstream_error", "", answer.status)
        return Outbound(answer.status, self._headers(trip, answer), raw)

    def _limit(self, body: Mapping[str, JSON], policy: Policy, endpoint: Endpoint) -> ModelLimit:
        """What the policy says the model may be sent; raises where it says nothing."""
        if not endpoint.measured:
            return _NO_PROMPT
        model = endpoint.model_of(body)
        model = "" if model is None and not endpoint.model else model
        if not isinstance(model, str) or (endpoint.model and not model):
            raise BadRequest("The field model must be a non-empty string.", param="$.model")
        limit = policy.limit_for(model)
        if limit is None:
            raise UnsupportedByPolicy(
                "The policy states no served limit for this model, and none by default.", param="$.model"
            )
        return limit

    async def _measure(
        self, body: Mapping[str, JSON], trip: Trip, endpoint: Endpoint, limit: ModelLimit, already: int
    ) -> int | None:
        """Tokens of the prompt, with those that the provider puts before it; raises `ContextLengthExceeded` when prompt
        and requested completion do not fit. None where there is no prompt."""
        if not endpoint.measured or trip.counter is None:
            return None
        size = len(trip.inbound.body)
        count = functools.partial(
            measure.measure,
            counter=trip.counter,
            limit=max(0, limit.served - already),
            size=size,
            deadline=time.monotonic() + MEASURE_SECONDS,
            charging=endpoint.charging,
        )
        alone = await _off_loop(count, endpoint.counted(body), size=size)
        measured = dataclasses.replace(alone, prompt=alone.prompt + already)
        trip.record.completion, trip.record.limit = measured.completion, limit.served
        trip.record.tokens_bound = measured.bounded
        if trip.record.tokens_before is None:
            trip.record.tokens_before = measured.prompt  # also for the audit of a request that does not fit
        measure.check_limit(measured, limit.served, param=endpoint.prompt)
        chain = trip.keeping.chain
        before = 0 if chain is None or body.get("context_management") else chain.texts
        trip.sent = verify.Sent(
            texts=int(measured.texts / limit.factor) + before,
            bound=measured.prompt,
            share=verify.share_of(limit.tokenizer, limit.factor),
            # A prompt that is stored at the provider adds what cannot be counted here.
            exact=limit.factor == 1 and limit.tokenizer != "bytes" and not isinstance(body.get("prompt"), dict),
            reports=endpoint.usage and body.get("background") is not True,
            model=str(body.get("model", "")) if endpoint.names_model else "",
        )
        return measured.prompt

    def _verify(self, trip: Trip, restoration: Restoration, *, complete: bool = False, refused: bool = False) -> None:
        """Raises `BadAnswer` where the policy says block; else notes the alarm once."""
        tally = restoration.tally
        for alarm in verify.alarms(
            trip.seen, trip.sent, foreign=tally.foreign, mangled=tally.mangled, complete=complete, refused=refused
        ):
            self._judge(trip, alarm)

    async def _taste(self, trip: Trip, restoration: Restoration, *, refused: bool = False) -> None:
        """The last look at an answer that is complete, before its end goes to the client."""
        self._verify(trip, restoration, complete=True, refused=refused)
        read = ["".join(pieces) for pieces in restoration.tally.read]
        if any(map(worth_a_look, read)):
            with trip.record.stage("taste"):
                values = await self._detector.proven(read, trip.policy)
            found = await _off_loop(unsolicited, values, trip.texts, size=len(trip.inbound.body))
            for alarm in filter(None, [verify.check_unsolicited(found)]):
                self._judge(trip, alarm)
        if restoration.tally.unread:
            self._judge(trip, verify.UNREAD)

    def _judge(self, trip: Trip, alarm: verify.Alarm) -> None:
        action = getattr(trip.policy.answers, alarm.check)
        if action == "off":
            return
        trip.record.alarm(alarm.code)
        if action == "block" and trip.policy.mode == "enforce":
            raise BadAnswer(alarm.message, code=alarm.code)

    def _fault(self, error: Exception) -> Unavailable:
        """A fault of our own: its type and place go to the log, its text (which may quote a prompt) nowhere."""
        self._on_fault(error)
        return Unavailable(f"Internal fault ({type(error).__name__}).", code="internal_fault")

    def _refuse(self, trip: Trip, refusal: Refusal) -> Outbound:
        try:
            self._close(trip, "refuse", refusal.code, refusal.status)
        except Refusal as unlogged:
            refusal = unlogged
        return self._refusal(trip, refusal)

    def _refusal(self, trip: Trip, refusal: Refusal) -> Outbound:
        headers = [("content-type", "application/json"), *refusal.headers().items(), *self._own_headers(trip)]
        return Outbound(refusal.status, headers, serialise(self._error(trip.inbound)(refusal)))

    def _error(self, inbound: Inbound) -> Callable[[Refusal], JSON]:
        return self._dialects.error_for(inbound.path, inbound.headers)

    def _close(self, trip: Trip, verdict: str, reason: str, status: int) -> None:
        """The last thing that happens to a request: its audit line is written and its values are forgotten."""
        if trip.restoration is not None:
            trip.record.restored = trip.restoration.tally.restored
            trip.record.foreign = trip.restoration.tally.foreign
        trip.record.usage(trip.seen.usage)
        if trip.vault is not None:
            trip.vault.wipe()
        self._log.write(trip.record.close(trip.policy, verdict, reason, status))

    def _headers(self, trip: Trip, answer: UpstreamAnswer) -> list[tuple[str, str]]:
        return [*client_headers(answer.headers), *self._own_headers(trip)]

    def _own_headers(self, trip: Trip) -> list[tuple[str, str]]:
        record = trip.record
        entities = ",".join(f"{entity}={count}" for entity, count in sorted(record.entities.items()))
        own = [
            ("x-caviardage-request-id", trip.inbound.request_id),
            ("x-caviardage-policy", f"{trip.policy.name}@{trip.policy.digest}"),
            ("x-caviardage-entities", entities),
        ]
        if record.tokens_before is not None:
            own.append(("x-caviardage-prompt-tokens", str(record.tokens_before)))
        if record.alarms:
            own.append(("x-caviardage-alarms", ",".join(record.alarms)))
        return own


def _passed(policy: Policy) -> frozenset[str]:
    """Kinds of attachment that the policy lets through unseen, and what it says about who a request is from."""
    kinds = {kind for kind, verdict in policy.attachments if verdict == "pass"}
    return frozenset(kinds | {f"identities.{policy.identities}"} if policy.mode == "enforce" else kinds)


def _restored(endpoint: Endpoint, aids: Aids, raw: bytes, status: int, restoration: Restoration, seen: Seen) -> bytes:
    """A complete answer with its values back; an error of the upstream's may also be plain text."""
    try:
        return serialise(endpoint.restore_answer(parse_answer(raw), restoration, seen, aids))
    except BadRequest:
        if status < 400:
            raise BadAnswer("The upstream's answer is not JSON that can be read.", code="unreadable_answer") from None
        text, _ = restoration.whole(raw.decode("utf-8", "replace"), Context.PLAIN)
        return text.encode()


def _texts(leaves: list[Leaf]) -> list[str]:
    return [text for leaf in leaves for text in (leaf.text, leaf.raw) if text]


async def _begun(stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """A held stream, once its first bytes may leave: until then a bad answer can still be a status of its own."""
    first = await anext(stream, None)

    async def whole() -> AsyncGenerator[bytes]:
        async with contextlib.aclosing(stream):
            if first is not None:
                yield first
            async for chunk in stream:
                yield chunk

    return whole()


async def _off_loop(function: Callable[..., T], *arguments: Any, size: int) -> T:
    """Runs a pure function, in a thread if its input is long, so that the event loop goes on answering."""
    if size <= _INLINE:
        return function(*arguments)
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(function, *arguments))

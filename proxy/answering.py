"""The way back: an answer is verified and restored, whole or as it grows, and what it leaves behind is kept.

May import: closing, verify, restore, detect, keeping, trip, unsolicited, measure, forward, wire, offloop, errors,
model.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, Callable

from proxy import measure, verify
from proxy.closing import Closing, answer_headers
from proxy.detect import Detector
from proxy.errors import BadAnswer, BadRequest, Refusal, Unavailable
from proxy.forward import UpstreamAnswer
from proxy.model import JSON, Context, Seen
from proxy.offloop import INLINE, off_loop
from proxy.restore import Restoration
from proxy.trip import Outbound, StreamBroken, Trip, Unsent
from proxy.unsolicited import unsolicited, worth_a_look
from proxy.wire.base import parse_answer, serialise
from proxy.wire.endpoints import Aids, AnswerStream, Endpoint
from proxy.wire.seals import Ledger


class Answering:
    """What the upstream said, on its way to the client. Holds no request's data."""

    def __init__(self, detector: Detector, counters: measure.Counters, closing: Closing) -> None:
        self._detector = detector
        self._counters = counters
        self._closing = closing

    async def answered(
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
            headers = [(name, value) for name, value in answer_headers(trip, answer) if name != "content-type"]
            return Outbound(200, [*headers, ("content-type", kind)], growing)
        async with contextlib.aclosing(answer):
            raw = await answer.read()
        return await self._whole(trip, functools.partial(_restored, endpoint, aids), restoration, answer, raw, aids)

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
            raw = await off_loop(restored, raw, answer.status, restoration, trip.seen, size=len(raw))
        await self._taste(trip, restoration, refused=answer.status >= 400)
        if answer.status < 400:
            await self._keep(trip, aids)
        else:
            await trip.keeping.undo()
        self._closing.close(trip, "release" if answer.status < 400 else "upstream_error", "", answer.status)
        return Outbound(answer.status, answer_headers(trip, answer), raw)

    async def _stream(
        self, trip: Trip, restoration: Restoration, answer: UpstreamAnswer, stream: AnswerStream, aids: Aids
    ) -> AsyncGenerator[bytes]:
        """The answer as it grows. Ends cleanly only when the upstream did, and nothing was wrong with it."""
        verdict, reason, status = "cancelled", "", 200
        held: list[bytes] = []
        waits, tasted = trip.holds, False
        try:
            async for chunk in answer.chunks():
                held.append(stream.feed(chunk))
                _verify(trip, restoration)
                if trip.seen.done:  # and whatever an upstream says behind its end
                    tasted = True
                    await self._taste(trip, restoration)
                await self._keep(trip, aids)
                if waits:
                    trip.record.held = sum(map(len, held))
                if waits and not trip.may_go_on(held):
                    continue
                waits = False
                for out in filter(None, held[:-1]):
                    yield out
                if _ended(trip):  # many clients close once they have the end, and do not wait for the connection's
                    verdict = "release"
                if held[-1]:
                    yield held[-1]
                held.clear()
            held.append(stream.finish())
            if not tasted:
                await self._taste(trip, restoration)
            await self._keep(trip, aids)
            ends = _ended(trip)
            if ends or not waits:
                waits = False
                for out in filter(None, held[:-1]):
                    yield out
                if ends:
                    verdict = "release"
                if held[-1]:
                    yield held[-1]
            if not ends:
                raise BadAnswer("The upstream's stream broke off.", code="upstream_stream_broken")
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
            yield stream.broken(self._closing.fault(error))
            raise StreamBroken from None
        finally:
            try:
                await answer.aclose()
            finally:
                with contextlib.suppress(Unavailable):  # an audit that fails now refuses the next request
                    given_up = verdict == "cancelled"
                    self._closing.close(trip, verdict, trip.inbound.leaving.reason if given_up else reason, status)

    async def _keep(self, trip: Trip, aids: Aids) -> None:
        """Writes down what the client may come back with, before it can."""
        keeping, counter = trip.keeping, trip.counter
        await keeping.saw(trip.seen)
        if isinstance(aids.seals, Ledger):
            await keeping.seal(aids.seals)

        async def count(output: JSON) -> int:
            chosen = counter or self._counters.of("o200k_base", 1.0)
            return await off_loop(measure.count_output, output, chosen, size=INLINE + 1)

        await keeping.done(trip.seen, count)
        if keeping.failed:
            trip.record.alarm("state_not_kept")

    async def _taste(self, trip: Trip, restoration: Restoration, *, refused: bool = False) -> None:
        """The last look at an answer that is complete, before its end goes to the client."""
        _verify(trip, restoration, complete=True, refused=refused)
        read = ["".join(pieces) for pieces in restoration.tally.read]
        if trip.policy.answers.unsolicited != "off" and any(map(worth_a_look, read)):
            with trip.record.stage("taste"):
                values = await self._detector.proven(read, trip.policy)
            found = await off_loop(unsolicited, values, trip.texts, size=len(trip.inbound.body))
            for alarm in filter(None, [verify.check_unsolicited(found)]):
                _judge(trip, alarm)
        if restoration.tally.unread:
            _judge(trip, verify.UNREAD)


def _ended(trip: Trip) -> bool:
    """Whether the provider has said its last word, be it an error."""
    return trip.seen.done or trip.seen.upstream_error


def _verify(trip: Trip, restoration: Restoration, *, complete: bool = False, refused: bool = False) -> None:
    """Raises `BadAnswer` where the policy says block; else notes the alarm once."""
    tally = restoration.tally
    for alarm in verify.alarms(
        trip.seen, trip.sent, foreign=tally.foreign, mangled=tally.mangled, complete=complete, refused=refused
    ):
        _judge(trip, alarm)


def _judge(trip: Trip, alarm: verify.Alarm) -> None:
    action = getattr(trip.policy.answers, alarm.check)
    if action == "off":
        return
    trip.record.alarm(alarm.code)
    if action == "block" and trip.policy.mode == "enforce":
        raise BadAnswer(alarm.message, code=alarm.code)


def _restored(endpoint: Endpoint, aids: Aids, raw: bytes, status: int, restoration: Restoration, seen: Seen) -> bytes:
    """A complete answer with its values back; an error of the upstream's may also be plain text."""
    try:
        return serialise(endpoint.restore_answer(parse_answer(raw), restoration, seen, aids))
    except BadRequest:
        if status < 400:
            raise BadAnswer("The upstream's answer is not JSON that can be read.", code="unreadable_answer") from None
        text, _ = restoration.whole(raw.decode("utf-8", "replace"), Context.PLAIN)
        return text.encode()


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

"""How long a request's prompt is, and whether it may be: the measure of a trip.

May import: measure, verify, trip, keeping, wire, policy, offloop, errors, model.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Mapping

from proxy import measure, verify
from proxy.errors import BadRequest, UnsupportedByPolicy
from proxy.keeping import Carried
from proxy.model import JSON
from proxy.offloop import off_loop
from proxy.policy.limits import ModelLimit
from proxy.policy.model import Policy
from proxy.trip import Trip
from proxy.wire.endpoints import Endpoint

MEASURE_SECONDS = 20.0
"""Longest time that counting one prompt may take; the slowest text known needs 0.3 s a MB."""
_NO_PROMPT = ModelLimit(1 << 53, "o200k_base", 1.0)
"""How what is stored without a model is counted."""


def limit_of(body: Mapping[str, JSON], policy: Policy, endpoint: Endpoint) -> ModelLimit:
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


async def measured(
    body: Mapping[str, JSON], trip: Trip, endpoint: Endpoint, limit: ModelLimit, already: int
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
    alone = await off_loop(count, endpoint.counted(body), size=size)
    whole = dataclasses.replace(alone, prompt=alone.prompt + already)
    trip.record.completion, trip.record.limit = whole.completion, limit.served
    trip.record.tokens_bound = whole.bounded
    if trip.record.tokens_before is None:
        trip.record.tokens_before = whole.prompt  # also for the audit of a request that does not fit
    measure.check_limit(whole, limit.served, param=endpoint.prompt)
    trip.sent = _sent(body, trip, endpoint, limit, whole)
    return whole.prompt


def _sent(
    body: Mapping[str, JSON], trip: Trip, endpoint: Endpoint, limit: ModelLimit, whole: measure.Measured
) -> verify.Sent:
    """What the answer's usage will be held against."""
    chain = trip.keeping.chain
    before = 0 if chain is None or body.get("context_management") else chain.texts
    return verify.Sent(
        texts=int(whole.texts / limit.factor) + before,
        bound=whole.prompt,
        share=verify.share_of(limit.tokenizer, limit.factor),
        # A prompt that is stored at the provider adds what cannot be counted here.
        exact=limit.factor == 1 and limit.tokenizer != "bytes" and not isinstance(body.get("prompt"), dict),
        reports=endpoint.usage and body.get("background") is not True,
        model=str(body.get("model", "")) if endpoint.names_model else "",
    )


async def carried(outgoing: Mapping[str, JSON], trip: Trip, limit: ModelLimit) -> Carried:
    """What of a request the provider keeps: not its instructions and tools, which each request brings again."""
    said = outgoing.get("input", outgoing.get("items"))
    if said is None or trip.counter is None:
        return Carried()
    count = functools.partial(measure.measure, {"input": said}, trip.counter, None, size=0)
    kept = await off_loop(count, size=len(trip.inbound.body))
    steered = outgoing.get("context_management")  # the provider may then leave out what was said
    return Carried(kept.prompt, 0 if steered else int(kept.texts / limit.factor))

"""The tests of a policy, run with an engine of their own. May import: app, engine, measure, policy, rehearsal."""

from __future__ import annotations

import asyncio

from proxy import measure
from proxy.app import TOKENIZERS
from proxy.commands.engine import detecting
from proxy.policy import Outcome, Policy
from proxy.rehearsal import patient, rehearse


def rehearsed(policy: Policy) -> list[Outcome]:
    """An outcome for every test of the policy, in the order of the file."""
    return asyncio.run(_rehearsed(policy))


async def _rehearsed(policy: Policy) -> list[Outcome]:
    async with detecting(patient(policy)) as detector:
        return await rehearse(policy, detector, measure.Counters(TOKENIZERS, policy.tokenizers))

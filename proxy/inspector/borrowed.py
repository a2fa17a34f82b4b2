"""The service's detection, lent to one inspection. May import: detect, model, policy, errors, recognizers.

The workers are the service's, with their deadline; what they find is kept here and forgotten with this object, not
put into the service's cache. Under an edited policy a worker puts an analyzer together from what it has loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from proxy.detect import Detector
from proxy.errors import BlockedEntity
from proxy.model import Finding, Leaf
from proxy.policy import Policy
from recognizers import worker
from recognizers.analyzer import Settings


class Borrowed(Detector):
    """A detector for one request, which remembers what it was shown (`leaves`) and what was found there."""

    def __init__(self, lender: Detector, deadline: float, under: Settings | None = None) -> None:
        """`deadline` is the live policy's: an edited one can only shorten it."""
        super().__init__(lender.settings, workers=lender.workers, deadline=deadline)
        self.leaves: list[Leaf] = []
        self.findings: list[list[Finding]] = []
        self._lender = lender
        self._under = under

    async def detect(
        self,
        leaves: Sequence[Leaf],
        policy: Policy,
        tenant: str,
        progress: Callable[[int], None] = lambda _: None,
    ) -> list[list[Finding]]:
        """As for a request; but findings that block it are remembered before they do."""
        looking = policy.model_copy(update={"mode": "monitor"})
        findings = await super().detect(leaves, looking, tenant, progress)
        self.leaves += leaves
        self.findings += findings
        blocked = Counter(finding.entity for found in findings for finding in found if finding.action == "block")
        if blocked and policy.mode == "enforce":
            raise BlockedEntity(blocked, findings)
        return findings

    async def _run(self, function: Callable[..., Any], deadline: float, *arguments: Any) -> Any:
        if self._under is None:
            return await self._lender._run(function, deadline, *arguments)
        return await self._lender._run(worker.under, deadline, self._under, function.__name__, *arguments)

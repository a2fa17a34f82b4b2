"""Hypothesis profiles: `fast` for every run, `deep` (HYPOTHESIS_PROFILE=deep) for a night."""

from __future__ import annotations

import os

# As in a detection worker. Must stand before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

from tests.e2e import running, service  # noqa: F401 - fixtures

settings.register_profile("fast", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

"""`python -m examples.incident`: the replay on the terminal."""

from __future__ import annotations

import sys

from examples.incident.replay import run

sys.exit(run())

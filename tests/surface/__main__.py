"""`python -m tests.surface [--decide]`: what the SDKs have that nobody has decided about."""

from __future__ import annotations

import sys

from tests.surface.tables import main

raise SystemExit(main("--decide" in sys.argv[1:]))

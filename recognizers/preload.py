"""Imported once by the process that detection workers are forked from, so that each starts with everything loaded.

Loads the models and compiles every built-in pattern; what a policy adds is built by the worker itself.
May import: its own package, the standard library.
"""

from __future__ import annotations

import gc

from recognizers import ENTITIES
from recognizers.analyzer import Analyzer, Settings

Analyzer(Settings(entities=frozenset(ENTITIES))).load()
gc.freeze()  # the collector of a worker must not touch, and so copy, the pages that all workers share

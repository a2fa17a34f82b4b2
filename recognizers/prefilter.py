"""Which rules can match a text at all: one pass of one automaton for all of them.

May import: recognizers.base, re2, the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence

import re2

from recognizers.base import Rule

_MEMORY = 256 << 20


class Prefilter:
    """All patterns of `rules` as one RE2 set. Says which may match; what matches is for the rule itself to find."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        self._set = re2.Set.SearchSet(options)
        self._rules = tuple(rules)
        for rule in self._rules:
            self._set.Add(rule.regex)
        # The empty pattern matches any text: if it is not reported, the automaton gave up, and all rules must run.
        self._always = self._set.Add("")
        self._set.Compile()

    def possible(self, text: str) -> list[Rule]:
        """The rules that match somewhere in `text`, in their order."""
        hits = self._set.Match(text) or []
        if self._always not in hits:
            return list(self._rules)
        return [self._rules[index] for index in sorted(hits) if index != self._always]

"""A national number in one row: its form, its check, its labels; the rules and the entity follow from it.

May import: recognizers.base, recognizers.national.common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recognizers.base import Entity, Rule
from recognizers.national.common import full, stated


@dataclass(frozen=True)
class Number:
    """One number.

    `form` is the RE2 syntax of a value as it is usually written, `loose` the same behind its label, where groups and
    case may be any; `grouped` (Python syntax, the whole value) is a writing that needs no label, with `sure` as its
    score. `bare` is the score of a value without label, its check passed: 0 where other numbers look alike.
    """

    entity: str
    title: str
    labels: tuple[str, ...]
    form: str
    loose: str
    check: Callable[[str], bool] | None
    example: str
    value: str
    decides: str
    source: str
    bare: float = 0.0
    grouped: str = ""
    sure: float = 0.75
    stated_check: Callable[[str], bool] | None = None

    def rules(self) -> tuple[Rule, ...]:
        """The number by its form and check, and the number behind its label whatever its check digit."""
        return (
            Rule(
                self.entity,
                self.title,
                self.form,
                check=self.check,
                labels=self.labels,
                bare=self.bare,
                labelled=0.95,
                grouped=self.sure if self.grouped else None,
                is_grouped=full(self.grouped) if self.grouped else None,
            ),
            stated(self.entity, f"stated {self.title}", self.labels, self.loose, 0.86, self.stated_check),
        )

    def row(self) -> Entity:
        """The line of the entity table."""
        return Entity(self.entity, self.title, self.example, self.value, self.decides, self.source)

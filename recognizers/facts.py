"""What is known about the built-in recognizers without running them: how sure they can be, what they read.

For whoever judges a policy before it is live. May import: its own package, presidio_analyzer, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from presidio_analyzer import EntityRecognizer

from recognizers import CHECKED, ENTITIES, multilingual, names
from recognizers.analyzer import Settings, built_in
from recognizers.base import RuleRecognizer
from recognizers.models import SOURCES
from recognizers.words import CALENDAR, FUNCTION


@dataclass(frozen=True, slots=True)
class Facts:
    """`reach` is the best score, 0 to 1, that anything built in gives an entity; `bare` the best without a label.

    `guessed` are the entities that a statistical model finds, `models` the languages whose model is installed,
    `words` plain words of those languages, `proven` names the entity of a text whose check digit is right.
    """

    reach: Mapping[str, float]
    bare: Mapping[str, float]
    guessed: frozenset[str]
    models: frozenset[str]
    words: frozenset[str]
    proven: Callable[[str], str | None]


@cache
def facts() -> Facts:
    """The facts of this installation. Nothing is loaded; the same for the life of the process."""
    reach = {**dict.fromkeys(ENTITIES, 0.0), **dict.fromkeys(names.LABELS, names.SCORE)}
    bare = dict(reach)
    for rule in (rule for made in _built_in() if isinstance(made, RuleRecognizer) for rule in made.rules):
        alone = max(rule.bare, rule.grouped or 0.0)
        bare[rule.entity] = max(bare.get(rule.entity, 0.0), alone)
        reach[rule.entity] = max(reach.get(rule.entity, 0.0), alone, rule.labelled, rule.wrong)
    packaged = (language for language, source in SOURCES.items() if find_spec(source.package))
    installed = frozenset((*packaged, *multilingual.LANGUAGES))  # the latter lie inside this package
    return Facts(MappingProxyType(reach), MappingProxyType(bare), names.LABELS, installed, FUNCTION | CALENDAR, _proven)


_NOTHING: Any = None
"""What the recognizers here need of Presidio's language models."""


@cache
def _built_in() -> tuple[EntityRecognizer, ...]:
    """Every pattern recognizer of the table; regions matter only to numbers that no check here asks for."""
    return tuple(built_in(Settings()))


def _proven(text: str) -> str | None:
    """The entity whose check digit is right for all of `text`, or None."""
    for made in _built_in():
        wanted = CHECKED.intersection(made.supported_entities)
        for found in made.analyze(text, sorted(wanted), _NOTHING) if wanted else ():
            why = (found.analysis_explanation and found.analysis_explanation.textual_explanation) or ""
            if (found.start, found.end) == (0, len(text)) and "check passed" in why:
                return str(found.entity_type)
    return None

"""The values that stages hand to one another: leaves, findings, and what a text restorer must offer.

May import: recognizers (for `Span`), the standard library. Holds no behaviour beyond construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


class Kind(Enum):
    """What may be done with a leaf in which something is found."""

    TEXT = "text"
    """Free text: a span is replaced by a placeholder."""
    NUMBER = "number"
    """A JSON number inside JSON text: replaced as a whole by a quoted placeholder."""
    KEY = "key"
    """An object key inside JSON text: a span is replaced like text."""
    NAME = "name"
    """A field whose alphabet excludes `<` and `>` (a participant's name): placeholder without brackets."""
    FIXED = "fixed"
    """Something the protocol needs unchanged (function names, property names, numbers): a finding refuses."""
    IDENTITY = "identity"
    """Whose request it is, where the policy hides that: replaced as a whole by a keyed hash."""
    SIGNED = "signed"
    """What the provider signed, and wants back as it was: a finding refuses; names are not looked for."""
    ID = "id"
    """An opaque identifier: must match `ID_ALPHABET`; a finding that covers it whole refuses."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """An encoded stretch of a leaf, `[start, end)` in code points of `Leaf.text`, that says a text of its own.

    What it says was visited before the leaf, as a leaf of its own; `new` is that text, replaced, encoded as it was.
    """

    start: int
    end: int
    new: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One piece of text with its place.

    `text` is what is inspected: decoded, in code points. `raw` is set when the leaf sits in JSON text inside
    a string (tool-call arguments, tool results): the leaf exactly as written there, between its quotes for
    strings and keys. Replacements then happen in `raw`. `label` is what the fields above the leaf say it is
    (`first name`), `""` if nothing. Leaves that a reader would read as one text, part after part, share a
    `run` number. `hidden` are its encoded stretches, in order.
    """

    path: str = field(repr=False)
    text: str = field(repr=False)
    kind: Kind = Kind.TEXT
    label: str = field(default="", repr=False)
    raw: str | None = field(default=None, repr=False)
    run: int | None = None
    hidden: tuple[Hidden, ...] = ()


Visit: TypeAlias = Callable[[Leaf], str]
"""Called for every leaf in document order; returns what stands in its place, in the form it is written in."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A span that the policy acts on: `[start, end)` in code points of `Leaf.text`."""

    start: int
    end: int
    entity: str
    action: str
    score: float
    recognizer: str = ""
    why: str = ""
    also: tuple[str, ...] = ()
    """Evidence of the same entity beside that which decided, in words of `recognizers`."""


class Context(Enum):
    """How the text around a placeholder is written, hence how a restored value must be."""

    PLAIN = "plain"
    """Prose. Text that begins like JSON (`{` or `[`) is treated as JSON from there on."""
    JSON = "json"
    """JSON text, such as tool-call arguments: values are escaped for the string that they land in."""
    URL = "url"
    """A URL: values are percent-encoded."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One restored placeholder (or replaced value): `[start, end)` of a text became `[new_start, new_end)`."""

    start: int
    end: int
    new_start: int
    new_end: int


class Rewritten(str):
    """A text in which something was replaced; `moved` says where: the old text's spans, and the new one's."""

    __slots__ = ("moved",)

    moved: tuple[Moved, ...]

    def __new__(cls, text: str, moved: Iterable[Moved] = ()) -> Rewritten:
        made = super().__new__(cls, text)
        made.moved = tuple(moved)
        return made


class TextRestorer(Protocol):
    """Restores one growing text. Sans-I/O: what `feed` and `finish` return, in order, is the restored text."""

    @property
    def pending(self) -> bool:
        """True while text is held back because it could still become a placeholder."""
        ...

    @property
    def moved(self) -> list[Moved]:
        """What was restored so far, in order."""
        ...

    def feed(self, text: str) -> str: ...

    def finish(self) -> str: ...


class Restoring(Protocol):
    """What the wire needs to restore an answer; built by the pipeline around one request's vault."""

    @property
    def idle(self) -> bool:
        """True when nothing was substituted, so no answer text can change."""
        ...

    def whole(self, text: str, context: Context, tool: str | None = None) -> tuple[str, list[Moved]]:
        """A complete text restored; `tool` is whose arguments it belongs to, which the policy may exclude."""
        ...

    def growing(self, context: Context, tool: str | None = None) -> TextRestorer: ...


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reports them for one answer; None where it says nothing."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


@dataclass(slots=True)
class Seen:
    """What passed by while an answer was read, for verify and audit. One per request, never shared."""

    usage: Usage | None = None
    model: str | None = None
    finish_reasons: list[str] = field(default_factory=list)
    upstream_error: bool = False
    done: bool = False
    choices: int | None = None
    """How many choices the request asks for; None where that is not known."""
    odd: set[str] = field(default_factory=set)
    """Codes of what does not belong together in the answer (`wire.identity`)."""
    id: str | None = field(default=None, compare=False)
    """What the provider calls the answer, where it can be asked for it again."""
    output: JSON = field(default=None, repr=False, compare=False)
    """The whole answer as it was received, once it is complete and where the provider keeps it."""

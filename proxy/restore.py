"""Placeholders in an answer -> the original values, in one pass, over texts that may still be growing.

Only placeholders that this request's vault issued are restored; what they stand for is never scanned again.
Models bend what they copy, so the match is tolerant of case, `\\_`, `\\<`, `&lt;...&gt;`, `%3C...%3E`, `\\u003c`,
missing brackets and inner spaces, but never of a wrong number. How a value is written depends on where it lands:
escaped inside a JSON string, percent-encoded in a percent-encoded placeholder, as itself in prose.

Theory of operation. A growing text is cut at the first place that is still undecided: either a complete
placeholder that the next character could lengthen, or a beginning of one (`regex` reports both as partial
matches). Everything before that place is released at once; the rest waits for the next piece or for `finish`.

Encoded texts that were sent with placeholders inside are recognised whole (`recall`).

May import: model, place, recall, strangers, vault, regex, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import regex

from proxy import strangers
from proxy.model import Context, Moved, TextRestorer
from proxy.place import Place
from proxy.recall import Recall
from proxy.vault import Entry, Vault

_MOST_READ = 4_000_000
"""Code points of an answer that are kept to be looked at when it is complete."""


@dataclass(slots=True)
class Tally:
    """What restoring met, for verify and audit: counts, and the texts as they came, for as long as the answer lasts.

    `read` holds one list of pieces per text, `unread` is True once they were too many to keep.
    """

    restored: int = 0
    foreign: int = 0
    mangled: int = 0
    foreign_numbers: set[str] = field(default_factory=set)
    read: list[list[str]] = field(default_factory=list, repr=False)
    unread: bool = False
    size: int = 0

    def keep(self, pieces: list[str], text: str) -> None:
        """Keeps a piece of a text of the answer, up to `_MOST_READ` code points in all."""
        self.size += len(text)
        if self.size > _MOST_READ:
            self.unread = True
        else:
            pieces.append(text)


def pattern_for(entries: Iterable[Entry], heads: Sequence[str] = ()) -> regex.Pattern[str] | None:
    """The tolerant form of every placeholder type that was issued; None if none was.

    Groups: `q` and `p` the quotes around a number's placeholder, `o` the opening, `n` the number, `c` the close; `e`
    one of `heads`, with which something else begins.
    """
    entries = list(entries)
    if not entries:
        return None
    types = sorted({entry.entity for entry in entries}, key=lambda name: (-len(name), name))
    names = "|".join(regex.escape(name).replace("_", r"(?:\\{0,2}_|%5F|[ \-])") for name in types)
    quoted = any(entry.is_number for entry in entries)
    return regex.compile(
        (r'(?P<q>\\{0,15}")?' if quoted else r"(?P<q>(?!))?")
        + r"(?:(?P<o>\\{0,2}<|&lt;|%3C|\\{1,2}u003c)\s{0,2}|(?<![A-Za-z0-9_]))"
        + rf"(?:{names})(?:\\{{0,2}}_|%5F|[ \-])\s?(?P<n>[0-9]{{9}}|[0-9]{{6}})(?![0-9])"
        + r"(?(o)(?:\s{0,2}(?P<c>\\{0,2}>|&gt;|%3E|\\{1,2}u003e))?)"
        + r'(?(q)(?P<p>\\{0,15}")?)'
        + (f"|(?P<e>(?-i:{'|'.join(map(regex.escape, heads))}))" if heads else "|(?P<e>(?!))"),
        regex.IGNORECASE,
    )


class Restoration:
    """Everything needed to restore the answer to one request: its vault, the patterns, a tally.

    `strays` is the pattern of everybody's placeholders (`strangers.pattern`); `keeps` whether the tally keeps the
    texts of the answer.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        in_tools: Callable[[str], bool] = lambda _: True,
        strays: regex.Pattern[str] | None = None,
        keeps: bool = False,
    ) -> None:
        self.vault = vault
        self.tally = Tally()
        self._recall = Recall(vault.encoded)
        self._pattern = pattern_for(vault, self._recall.heads)
        self._in_tools = in_tools
        self._strays = strays or strangers.pattern(())
        self._keeps = keeps

    @property
    def idle(self) -> bool:
        return self._pattern is None

    def whole(self, text: str, context: Context, tool: str | None = None) -> tuple[str, list[Moved]]:
        """A complete text restored, and where each restored value now stands."""
        restorer = self._restorer(context, tool)
        restored = restorer.feed(text) + restorer.finish()
        return restored, restorer.moved

    def growing(self, context: Context, tool: str | None = None) -> TextRestorer:
        return self._restorer(context, tool)

    def _restorer(self, context: Context, tool: str | None) -> Restorer:
        pattern = self._pattern if tool is None or self._in_tools(tool) else None
        stranger = strangers.Strangers(self.vault, self._strays, self.tally)
        return Restorer(self.vault, pattern, context, self.tally, self._recall, stranger, keeps=self._keeps)


class Restorer:
    """Restores one growing text (`TextRestorer`)."""

    def __init__(
        self,
        vault: Vault,
        pattern: regex.Pattern[str] | None,
        context: Context,
        tally: Tally,
        recall: Recall,
        stranger: strangers.Strangers,
        *,
        keeps: bool,
    ) -> None:
        self._vault = vault
        self._recall = recall
        self._pattern = pattern
        self._place = Place(context)
        self._tally = tally
        self._held = ""
        self._before = ""
        self._stranger = stranger
        self._read: list[str] | None = None
        if keeps:
            self._read = []
            tally.read.append(self._read)
        self._received = 0
        self._released = 0
        self._moved: list[Moved] = []

    @property
    def pending(self) -> bool:
        return bool(self._held)

    @property
    def moved(self) -> list[Moved]:
        return self._moved

    def feed(self, text: str) -> str:
        self._stranger.feed(text)
        if self._read is not None:
            self._tally.keep(self._read, text)
        return self._release(text, final=False)

    def finish(self) -> str:
        self._stranger.finish()
        return self._release("", final=True)

    def _release(self, text: str, *, final: bool) -> str:
        window = self._before + self._held + text
        at = len(self._before)
        out: list[str] = []
        if self._pattern is None:
            out.append(self._literal(window[at:]))
            at = len(window)
        while at < len(window):
            match = self._pattern.search(window, at, partial=not final) if self._pattern else None
            if match is None or match.start() == len(window):
                out.append(self._literal(window[at:]))
                at = len(window)
                break
            out.append(self._literal(window[at : match.start()]))
            at = match.start()
            if match.partial or (not final and _may_grow(match, window)):
                break
            if match["e"] is None:
                out.append(self._value(match))
                at = match.end()
                continue
            repeated = self._recall.at(window, at, final=final)
            if repeated is None:
                out.append(self._literal(window[at : at + 1]))
                at += 1
            elif repeated.entry is None:
                break
            else:
                out.append(self._placed(self._place.write_encoded(repeated.entry), repeated.end - at))
                at = repeated.end
        self._before, self._held = window[max(0, at - 1) : at], window[at:]
        return "".join(out)

    def _literal(self, literal: str) -> str:
        self._place.passed(literal)
        self._received += len(literal)
        self._released += len(literal)
        return literal

    def _value(self, match: regex.Match[str]) -> str:
        entry = self._vault.find(match["n"])
        if entry is None or not _same_type(match, entry):
            return self._literal(match[0])
        lead, trail = match["q"] or "", match["p"] or ""
        opening, close = match["o"] or "", match["c"] or ""
        # Not an escaped bracket but a backslash that stood before the value (`C:\\Users\\...`).
        slashes = opening[:-1] if opening[:1] == "\\" and opening[-1] == "<" and close[:1] != "\\" else ""
        if entry.is_number and lead and lead == trail and self._place.at_a_value(lead):
            self._place.passed(lead + trail)
            value = entry.text
        else:
            self._place.passed(lead + slashes)
            value = lead + slashes + self._place.write(entry, opening) + trail
            self._place.passed(trail)
        return self._placed(value, len(match[0]))

    def _placed(self, value: str, received: int) -> str:
        """Takes note of a value that stands for the next `received` characters."""
        end = self._received + received
        self._moved.append(Moved(self._received, end, self._released, self._released + len(value)))
        self._received = end
        self._released += len(value)
        self._tally.restored += 1
        return value


_CLOSE = regex.compile(r'\s{0,2}(?:\\{0,2}>|&gt;|%3E|\\{1,2}u003e)(?:\\{0,15}")?', regex.IGNORECASE)


_QUOTE = regex.compile(r'\\{0,15}"')


def _may_grow(match: regex.Match[str], window: str) -> bool:
    """True if characters still to come could make a complete match longer."""
    if match["e"] is not None:
        return False
    if match["q"] is not None and match["p"] is None and (match["c"] is not None or match["o"] is None):
        rest = _QUOTE.fullmatch(window, match.end(), partial=True)
        return rest is not None and rest.partial
    if match.end() == len(window):
        return match["c"] is None
    if match["o"] is None or match["c"] is not None:
        return False
    rest = _CLOSE.fullmatch(window, match.end("n"), partial=True)
    return rest is not None and rest.partial


def _same_type(match: regex.Match[str], entry: Entry) -> bool:
    """The number decides, but a number under another type's name is somebody else's."""
    letters = re.sub(r"[^A-Z0-9]", "", match[0].upper().replace("%5F", ""))
    return re.sub(r"[^A-Z0-9]", "", entry.entity) in letters

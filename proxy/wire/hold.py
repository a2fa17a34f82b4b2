"""Holds events of a stream back until the texts in them are restored, without adding, dropping or reordering one.

An event whose text could still become a placeholder waits, and whatever came after it waits behind it. Once the
text is decided, it goes into the first event that waited for it; the later ones carry what is left of theirs,
often the empty string. Every API's stream is built on this. Sans-I/O, one instance a stream.

May import: model, the standard library.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from proxy.model import JSON, Moved, TextRestorer

Key: TypeAlias = "tuple[int | str, ...]"
"""Which growing text: the choice (or output), then the fields down to it."""

_MOST_EVENTS = 4096
_MOST_BYTES = 4 << 20


@dataclass(slots=True, eq=False)
class Held:
    """One event on its way. `open` counts its texts that are undecided; `late` runs just before it leaves."""

    payload: dict[str, JSON] = field(repr=False)
    name: str | None
    size: int
    open: int = 0
    late: list[Callable[[], None]] = field(default_factory=list, repr=False)


@dataclass(slots=True, eq=False, repr=False)
class _Slot:
    """The string in an event where a piece of a text stood, and where its restored form goes."""

    held: Held
    container: dict[str, JSON]
    name: str

    def put(self, text: str) -> None:
        self.container[self.name] = f"{self.container[self.name]}{text}"


@dataclass(slots=True, eq=False)
class Growing:
    """One growing text and the slots of its undecided pieces, oldest first."""

    restorer: TextRestorer
    slots: list[_Slot] = field(default_factory=list, repr=False)

    def take(self, out: str, *, keep: bool) -> None:
        """Puts decided text into the oldest slot; `keep` leaves open what can still get some."""
        if out:
            self.slots[0].put(out)
        still = 0 if not keep else 1 if out else len(self.slots)
        closed = self.slots[: len(self.slots) - still]
        del self.slots[: len(closed)]
        for slot in closed:
            slot.held.open -= 1


class Track:
    """What became of one text so far, for the offsets of citations (code points)."""

    def __init__(self) -> None:
        self._texts: list[tuple[int, Growing]] = []
        self._received = 0

    def took(self, text: Growing, length: int) -> None:
        if not self._texts or self._texts[-1][1] is not text:
            self._texts.append((self._received, text))
        self._received += length

    def moved(self) -> list[Moved]:
        found: list[Moved] = []
        shift = 0
        for base, text in self._texts:
            new = base + shift
            for span in text.restorer.moved:
                found.append(Moved(base + span.start, base + span.end, new + span.new_start, new + span.new_end))
                shift = found[-1].new_end - found[-1].end
        return found


class HoldBack:
    """The queue of one stream, and its growing texts by key."""

    def __init__(self) -> None:
        self._texts: dict[Key, Growing] = {}
        self._queue: deque[Held] = deque()
        self._bytes = 0

    def add(self, payload: dict[str, JSON], name: str | None, size: int) -> Held:
        """Queues an event; its texts are then given to `grow`."""
        held = Held(payload, name, size)
        self._queue.append(held)
        self._bytes += size
        return held

    def grow(
        self, held: Held, key: Key, container: dict[str, JSON], name: str, begin: Callable[[], TextRestorer]
    ) -> Growing:
        """Takes the piece of text in `container[name]`, a part of `held`, as the next one of the text `key`.

        `begin` makes the restorer of a text that is new.
        """
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = Growing(begin())
        out = text.restorer.feed(str(container[name]))
        container[name] = ""
        text.slots.append(_Slot(held, container, name))
        held.open += 1
        text.take(out, keep=text.restorer.pending)
        return text

    def finish(self, which: Callable[[Key], bool] = lambda _: True) -> None:
        """Ends texts: nothing more will come that could complete a placeholder in them."""
        for key in [key for key in self._texts if which(key)]:
            text = self._texts.pop(key)
            out = text.restorer.finish()
            if text.slots:
                text.take(out, keep=False)

    def release(self) -> list[Held]:
        """The events that may leave now, in order."""
        out: list[Held] = []
        while self._queue:
            head = self._queue[0]
            if head.open:
                if len(self._queue) <= _MOST_EVENTS and self._bytes <= _MOST_BYTES:
                    break
                self.finish(lambda key: any(slot.held is head for slot in self._texts[key].slots))  # noqa: B023
            self._queue.popleft()
            self._bytes -= head.size
            for act in head.late:
                act()
            out.append(head)
        return out

"""Whether audit files are whole: every line as it was written, none missing, in order, up to the end. Pure.

May import: trail.seal, the standard library.

What a chain can show depends on what is held against it. Alone it shows a changed, dropped, swapped, repeated or
inserted line in its middle. That its end is missing shows only something outside the file: the head beside it, or an
anchor that was noted elsewhere. Who can write file and head and has the key can make a new chain; then only anchors
elsewhere show it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from proxy.trail.seal import Head, Link, Seal

FEW = 3
"""So many lines at the beginning may each be told to be changed; more look like another secret."""
_MEND = "Set CAVIARDAGE_AUDIT_SECRET, or CAVIARDAGE_SECRET, to what the service had."


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where (line 0: the file's or chain's end), which kind, and in words, in which a number
    is a line's place in its chain."""

    file: str
    line: int
    kind: str
    text: str


@dataclass(slots=True)
class Chain:
    """One chain as far as it was read: its last line, where that stands, what is known about its end, and whether any
    line of it is sealed under a secret that is known."""

    last: Link
    file: str
    lines: int = 0
    final: bool = False
    known: bool = False
    links: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Examined:
    """`lines` are sealed lines, `chains` maps a chain's name to its last line."""

    faults: tuple[Fault, ...]
    lines: int
    chains: Mapping[str, Link]


def examine(
    files: Mapping[str, Iterable[str]],
    seal: Seal,
    heads: Iterable[Head] = (),
    anchors: Iterable[tuple[int, str]] = (),
    *,
    part: bool = False,
) -> Examined:
    """Every fault in these files, by name and their lines (with line breaks), in any order.

    `anchors` are numbers and hashes (or their beginning) that were noted elsewhere. `part`: lines before and after
    may be missing.
    """
    reading = _Reading(seal, part)
    for name, lines in _sorted(files, seal):
        reading.file(name, lines)
    faults = [*reading.told(), *_ends(reading.chains, tuple(heads), tuple(anchors), part)]
    ends = {name: chain.last for name, chain in reading.chains.items()}
    return Examined(tuple(faults), sum(chain.lines for chain in reading.chains.values()), ends)


def _sorted(files: Mapping[str, Iterable[str]], seal: Seal) -> list[tuple[str, list[str]]]:
    """Files in the order of the chain, whatever order they were named in."""
    read = [(name, list(lines)) for name, lines in files.items()]
    order: dict[str, int] = {}

    def place(item: tuple[str, list[str]]) -> tuple[int, int]:
        first = next(filter(None, map(seal.read, (line.rstrip("\n") for line in item[1]))), None)
        if first is None:
            return len(read), 0
        return order.setdefault(first.link.chain, len(order)), first.link.seq

    return sorted(read, key=place)


class _Reading:
    """Goes through the lines once and keeps where each chain stands."""

    def __init__(self, seal: Seal, part: bool) -> None:
        self.faults: list[Fault] = []
        self.chains: dict[str, Chain] = {}
        self._strange: list[Fault] = []
        self._seal = seal
        self._part = part

    def file(self, name: str, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, 1):
            for kind, text in self._line(name, line):
                self.faults.append(Fault(name, number, kind, text))
                if kind == "changed" and not any(chain.known for chain in self.chains.values()):
                    self._strange.append(self.faults[-1])

    def told(self) -> list[Fault]:
        """The faults: where no secret fits from the first line on, one for all these lines, whose secret is another."""
        every = len(self._strange) == sum(chain.lines for chain in self.chains.values())
        if len(self._strange) < 2 or (len(self._strange) <= FEW and not every):
            return self.faults
        first, rest = self._strange[0], set(self._strange[1:])
        which = f"{'all' if every else 'the first'} {len(self._strange)} lines"
        text = f"{which} are not as they were written. Were they sealed under another secret? {_MEND}"
        return [replace(one, text=text) if one is first else one for one in self.faults if one not in rest]

    def _line(self, name: str, line: str) -> Iterator[tuple[str, str]]:
        if not line.endswith("\n"):
            yield "cut", "the line has no end"
        line = line.removesuffix("\n")
        sealed = self._seal.read(line)
        if sealed is None:
            yield "unsealed", "this is not a line of the audit trail"
            return
        if not sealed.true:
            yield "changed", f"number {sealed.link.seq} is not as it was written, or was sealed under another secret"
        chain = self.chains.get(sealed.link.chain)
        if chain is None:
            yield from self._begins(sealed.link)
            chain = self.chains[sealed.link.chain] = Chain(sealed.link, name)
        else:
            yield from _gap(chain.last, sealed.link, sealed.prev)
        chain.last, chain.file, chain.lines = sealed.link, name, chain.lines + 1
        chain.known = chain.known or sealed.true
        chain.links[sealed.link.seq] = sealed.link.hash
        chain.final = sealed.true and '"record":"end"' in line and bool(json.loads(line).get("final"))

    def _begins(self, link: Link) -> Iterator[tuple[str, str]]:
        if link.seq and not self._part:
            yield "begins_late", f"the chain begins with number {link.seq}: those before are missing"


def _gap(last: Link, link: Link, prev: str) -> Iterator[tuple[str, str]]:
    if link.seq > last.seq + 1:
        yield "missing", f"numbers {last.seq + 1} to {link.seq - 1} are missing"
    elif link.seq <= last.seq:
        yield "order", f"number {link.seq} comes after number {last.seq}"
    elif prev != last.hash:
        yield "unlinked", f"number {link.seq} does not follow the line before it"


def _ends(
    chains: Mapping[str, Chain], heads: tuple[Head, ...], anchors: tuple[tuple[int, str], ...], part: bool
) -> Iterator[Fault]:
    noted = {index for index in range(len(anchors)) if any(_holds(chain, anchors[index]) for chain in chains.values())}
    for index, (seq, digest) in enumerate(anchors):
        if index not in noted:
            yield Fault("", 0, "anchor", f"no chain has the anchor {seq}:{digest[:16]}")
    known = any(chain.known for chain in chains.values())
    for name, chain in chains.items():
        head = next((head for head in heads if head.link.chain == name), None)
        if head is not None and chain.links.get(head.link.seq) != head.link.hash:
            if head.link.seq > chain.last.seq:
                yield Fault(chain.file, 0, "truncated", f"numbers {chain.last.seq + 1} to {head.link.seq} are missing")
            else:
                yield Fault(chain.file, 0, "rewritten", f"number {head.link.seq} is not the one that the head knows")
        elif head is not None or not known or chain.final or part:
            continue
        elif not any(_holds(chain, anchor) for anchor in anchors):
            yield Fault(chain.file, 0, "end_unproven", "nothing says whether lines are missing at the end")
    for head in heads:
        if head.link.chain not in chains:
            yield Fault("", 0, "truncated", f"all {head.link.seq + 1} lines of chain {head.link.chain} are missing")


def _holds(chain: Chain, anchor: tuple[int, str]) -> bool:
    seq, digest = anchor
    return chain.links.get(seq, "").startswith(digest) and len(digest) >= 16

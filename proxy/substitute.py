"""Findings in a leaf -> the text that leaves the house. Pure: all state is in the vault that is passed in.

Text outside findings is copied letter for letter. In JSON text inside a string (`leaf.raw`), replacement happens
in the text as written, so escapes, white space and number digits around a finding stay. Masks, hashes and
removals are Presidio's anonymizer operators; they cannot be restored.

May import: model, errors, place, vault, wire.jsontext, presidio_anonymizer.
"""

from __future__ import annotations

import hashlib
import hmac
import html
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from presidio_anonymizer.operators import Hash, Mask, Redact

from proxy.errors import UnsupportedByPolicy
from proxy.model import Context, Finding, Hidden, Kind, Leaf, Moved, Rewritten, Visit
from proxy.place import Place
from proxy.vault import JSON_BEGINS, Vault, is_percent
from proxy.wire import jsontext

_REFUSED_KINDS = {
    Kind.FIXED: "must reach the upstream unchanged",
    Kind.SIGNED: "is signed by the provider",
    Kind.ID: "is an identifier of the protocol",
}


def substitute(leaf: Leaf, findings: Sequence[Finding], vault: Vault, salt: bytes) -> str:
    """The leaf's new text (`raw` form where the leaf has one).

    `findings` are sorted and disjoint. Raises `UnsupportedByPolicy` for a finding where nothing may be replaced.
    """
    if leaf.kind is Kind.IDENTITY:
        return _identity(leaf, salt)
    begun = _Begun(leaf)
    return _written(
        leaf, findings, lambda finding, start, end: _stand_in(leaf, begun, finding, start, end, vault, salt)
    )


def kept(leaf: Leaf, findings: Sequence[Finding], salt: bytes) -> str:
    """What the leaf's new text becomes once placeholders are restored: only what does not come back is replaced."""
    if leaf.kind is Kind.IDENTITY:
        return _identity(leaf, salt)
    written = leaf.text if leaf.raw is None else leaf.raw
    if leaf.kind is Kind.NUMBER and findings and findings[0].action == "replace":
        return written
    return _written(
        leaf,
        findings,
        lambda finding, start, end: (
            written[start:end] if finding.action == "replace" else _lost(finding, _value(leaf, finding), salt)
        ),
    )


def _identity(leaf: Leaf, salt: bytes) -> str:
    return hmac.digest(salt, b"identity\0" + leaf.text.encode(), hashlib.sha256).hex()[:32]


class Substituting:
    """Visits a request's leaves in the order of their findings, twice where something is encoded: first `sends`, which
    gives what leaves the house, then `keeps`, which gives what comes back; `pairs` are the encoded stretches of both.
    """

    def __init__(self, findings: Sequence[Sequence[Finding]], vault: Vault, salt: bytes) -> None:
        self._findings = findings
        self._vault = vault
        self._salt = salt
        self._sent: list[tuple[Leaf, Hidden]] = []
        self._kept: list[Hidden] = []

    @property
    def encoded(self) -> bool:
        """Whether an encoded stretch was changed, so that the second look is needed."""
        return any(hidden.new != leaf.text[hidden.start : hidden.end] for leaf, hidden in self._sent)

    def sends(self) -> Visit:
        found = iter(self._findings)

        def visit(leaf: Leaf) -> str:
            self._sent += ((leaf, hidden) for hidden in leaf.hidden)
            return substitute(leaf, next(found), self._vault, self._salt)

        return visit

    def keeps(self) -> Visit:
        found = iter(self._findings)

        def visit(leaf: Leaf) -> str:
            self._kept += leaf.hidden
            return kept(leaf, next(found), self._salt)

        return visit

    def remember(self) -> None:
        """Tells the vault what each changed stretch was; called after both looks."""
        for (leaf, sent), back in zip(self._sent, self._kept, strict=True):
            was = leaf.text[sent.start : sent.end]
            if sent.new != back.new:
                written = back.new if leaf.raw is None and JSON_BEGINS.match(leaf.text) else None
                if leaf.raw is not None and back.new == was:
                    at = jsontext.offsets(leaf.raw)
                    written = leaf.raw[at[sent.start] : at[sent.end]]
                self._vault.remember(sent.new, back.new, written)


def _written(leaf: Leaf, findings: Sequence[Finding], stand_in: Callable[[Finding, int, int], str]) -> str:
    """The leaf with findings and changed encoded stretches replaced; offsets of `stand_in` count in what is written."""
    written = leaf.text if leaf.raw is None else leaf.raw
    if leaf.hidden:
        findings, hidden = _apart(leaf, findings)
    else:
        hidden = ()
    if not findings and not hidden:
        return written
    if findings and leaf.kind in _REFUSED_KINDS:
        found = ", ".join(sorted({finding.entity for finding in findings}))
        raise UnsupportedByPolicy(
            f"The field {leaf.path} {_REFUSED_KINDS[leaf.kind]}, but holds {found}. Nothing was forwarded.",
            param=leaf.path,
        )
    if leaf.kind is Kind.NUMBER:
        return '"' + stand_in(findings[0], 0, len(written)) + '"'
    at = jsontext.offsets(leaf.raw) if leaf.raw is not None else None
    pieces: list[str] = []
    moved: list[Moved] = []
    done = size = 0
    edits: list[Finding | Hidden] = [*findings, *hidden]
    for edit in sorted(edits, key=lambda edit: edit.start):
        start, end = (edit.start, edit.end) if at is None else (at[edit.start], at[edit.end])
        if isinstance(edit, Finding):
            new = stand_in(edit, start, end)
        else:
            new = edit.new if leaf.raw is None else jsontext.escape(edit.new)
        size += start - done
        moved.append(Moved(start, end, size, size + len(new)))
        size += len(new)
        pieces += written[done:start], new
        done = end
    return Rewritten("".join(pieces) + written[done:], moved)


def _apart(leaf: Leaf, findings: Sequence[Finding]) -> tuple[list[Finding], tuple[Hidden, ...]]:
    """Findings and changed encoded stretches, disjoint: where they touch, the finding takes the whole stretch."""
    changed = [part for part in leaf.hidden if part.new != leaf.text[part.start : part.end]]
    apart: list[Finding] = []
    alone: list[Hidden] = []
    waiting = list(findings)
    for part in changed:
        while waiting and waiting[0].end <= part.start:
            apart.append(waiting.pop(0))
        if apart and apart[-1].end > part.start:
            apart[-1] = replace(apart[-1], end=max(apart[-1].end, part.end))
        elif waiting and waiting[0].start < part.end:
            first = waiting.pop(0)
            apart.append(replace(first, start=min(first.start, part.start), end=max(first.end, part.end)))
        else:
            alone.append(part)
            continue
        while waiting and waiting[0].start < apart[-1].end:
            apart[-1] = replace(apart[-1], end=max(apart[-1].end, waiting.pop(0).end))
    return [*apart, *waiting], tuple(alone)


def _value(leaf: Leaf, finding: Finding) -> str:
    return (leaf.raw or leaf.text) if leaf.kind is Kind.NUMBER else leaf.text[finding.start : finding.end]


class _Begun:
    """Follows the text of a leaf that only begins like JSON: what stands in a string there is escaped already."""

    def __init__(self, leaf: Leaf) -> None:
        self._text = leaf.text
        self._place = Place(Context.PLAIN) if leaf.raw is not None and JSON_BEGINS.match(leaf.text) else None
        self._done = 0

    def escaped(self, start: int, text: str) -> bool:
        """Whether `text`, which stands at `start`, is a piece of a JSON string as that writes it."""
        if self._place is None:
            return False
        self._place.passed(self._text[self._done : start])
        self._done = start
        return self._place.in_string and jsontext.is_content(text)


def _stand_in(leaf: Leaf, begun: _Begun, finding: Finding, start: int, end: int, vault: Vault, salt: bytes) -> str:
    text = _value(leaf, finding)
    if finding.action != "replace":
        return _lost(finding, text, salt)
    is_number = leaf.kind is Kind.NUMBER
    written = text if begun.escaped(finding.start, text) else _as_written(leaf, text, start, end)
    plain = _plain(text) if leaf.kind in (Kind.TEXT, Kind.KEY) else None
    if plain is not None:
        return vault.issue(finding.entity, plain, written=written, spelled=text).placeholder
    entry = vault.issue(finding.entity, text, written=written, is_number=is_number)
    return entry.bare if leaf.kind is Kind.NAME and _stands_apart(leaf.text, finding) else entry.placeholder


def _plain(text: str) -> str | None:
    """What a percent-encoded value, or one with HTML entities, says; None if it is neither, or both."""
    percent, entities = is_percent(text), "&" in text and html.unescape(text) != text
    if percent == entities:
        return None
    try:
        return unquote(text, errors="strict") if percent else html.unescape(text)
    except UnicodeDecodeError:
        return None


def _lost(finding: Finding, text: str, salt: bytes) -> str:
    """What stands for a value that is not to come back."""
    match finding.action:
        case "mask":
            return str(Mask().operate(text, {"masking_char": "*", "chars_to_mask": len(text), "from_end": False}))
        case "hash":
            keyed = hmac.digest(salt, finding.entity.encode(), hashlib.sha256)
            return str(Hash().operate(text, {"hash_type": "sha256", "salt": keyed}))[:32]
        case "redact":
            return str(Redact().operate(text, {}))
    raise ValueError(f"no operator for the action {finding.action!r}")


def _stands_apart(text: str, finding: Finding) -> bool:
    """Whether a placeholder without brackets could be told from what is around it (`%20Zoe`: it could not)."""
    return not (text[: finding.start][-1:].isalnum() or text[finding.end :][:1].isalnum())


def _as_written(leaf: Leaf, text: str, start: int, end: int) -> str | None:
    """How the value stood in JSON text; None where it stood in prose."""
    if leaf.raw is not None:
        return leaf.raw[start:end]
    # Text that only begins like JSON would be read as JSON on its way back: the value must then stay as it is.
    return text if JSON_BEGINS.match(leaf.text) else None

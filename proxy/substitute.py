"""Findings in a leaf -> the text that leaves the house. Pure: all state is in the vault that is passed in.

Text outside findings is copied letter for letter. In JSON text inside a string (`leaf.raw`), replacement happens
in the text as written, so escapes, white space and number digits around a finding stay. Masks, hashes and
removals are Presidio's anonymizer operators; they cannot be restored.

May import: model, errors, vault, wire.jsontext, presidio_anonymizer.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from presidio_anonymizer.operators import Hash, Mask, Redact

from proxy.errors import UnsupportedByPolicy
from proxy.model import Finding, Kind, Leaf, Moved, Rewritten
from proxy.vault import JSON_BEGINS, Vault
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
        return hmac.digest(salt, b"identity\0" + leaf.text.encode(), hashlib.sha256).hex()[:32]
    written = leaf.text if leaf.raw is None else leaf.raw
    if not findings:
        return written
    if leaf.kind in _REFUSED_KINDS:
        found = ", ".join(sorted({finding.entity for finding in findings}))
        raise UnsupportedByPolicy(
            f"The field {leaf.path} {_REFUSED_KINDS[leaf.kind]}, but holds {found}. Nothing was forwarded.",
            param=leaf.path,
        )
    if leaf.kind is Kind.NUMBER:
        return '"' + _stand_in(leaf, findings[0], 0, len(written), vault, salt) + '"'
    at = jsontext.offsets(leaf.raw) if leaf.raw is not None else None
    pieces: list[str] = []
    moved: list[Moved] = []
    done = size = 0
    for finding in findings:
        start, end = (finding.start, finding.end) if at is None else (at[finding.start], at[finding.end])
        new = _stand_in(leaf, finding, start, end, vault, salt)
        size += start - done
        moved.append(Moved(start, end, size, size + len(new)))
        size += len(new)
        pieces += written[done:start], new
        done = end
    return Rewritten("".join(pieces) + written[done:], moved)


def _stand_in(leaf: Leaf, finding: Finding, start: int, end: int, vault: Vault, salt: bytes) -> str:
    is_number = leaf.kind is Kind.NUMBER
    text = (leaf.raw or leaf.text) if is_number else leaf.text[finding.start : finding.end]
    match finding.action:
        case "replace":
            written = _as_written(leaf, text, start, end)
            entry = vault.issue(finding.entity, text, written=written, is_number=is_number)
            return entry.bare if leaf.kind is Kind.NAME and _stands_apart(leaf.text, finding) else entry.placeholder
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

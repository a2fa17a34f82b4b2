"""What a conversation that the provider keeps needs at its next turn: what its placeholders stand for, and its size.

A chain is written into a sealed record when an answer is stored, and read at the next turn, by whichever replica. The
key that placeholders are derived with goes along, so one value keeps one placeholder all the way. May import: vault,
the standard library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from proxy.vault import Entry, Vault

OTHER_TOKENIZER = 3
"""What a count is multiplied by where the next turn's model counts differently: the widest measured ratio between two
public tokenizers on the same European or CJK text is below 3."""


@dataclass(frozen=True, slots=True)
class Chain:
    """`scope` is the key of the vault, `taken` what it may not issue.

    `tokens` bounds what the provider keeps and will put before the next turn, `answer` what the last answer adds to
    that; None where nobody can say yet. `texts` are tokens that the provider must have read, without factor. Counted
    with `tokenizer` and `factor`.
    """

    scope: bytes = field(repr=False)
    entries: tuple[Entry, ...] = field(default=(), repr=False)
    taken: frozenset[str] = field(default=frozenset(), repr=False)
    tokens: int = 0
    answer: int | None = 0
    texts: int = 0
    tokenizer: str = ""
    factor: float = 1.0

    def counted(self, tokenizer: str, factor: float) -> Chain:
        """The same, counted as a model with that tokenizer and factor counts."""
        same = self.tokenizer in ("", tokenizer)
        scale = (1 if same else OTHER_TOKENIZER) * factor / self.factor
        return replace(
            self,
            tokens=math.ceil(self.tokens * scale),
            answer=None if self.answer is None else math.ceil(self.answer * scale),
            texts=self.texts if same else 0,
            tokenizer=tokenizer,
            factor=factor,
        )

    def vault(self, taken: frozenset[str]) -> Vault:
        """A vault that knows what was issued so far. Raises `ValueError` if that does not fit together."""
        vault = Vault(self.scope, self.taken | taken)
        vault.adopt(self.entries)
        return vault

    def after(self, vault: Vault) -> Chain:
        """The same with all that the vault knows now."""
        return replace(self, entries=vault.everything(), taken=vault.taken)


def joined(parts: Sequence[tuple[Chain, int]]) -> Chain:
    """What a request goes on from that names items of several answers: all their placeholders, and the tokens of those
    items, which are given with the chain of their answer, oldest first. The key is that of the last."""
    last = parts[-1][0]
    counted = [replace(chain, tokens=tokens).counted(last.tokenizer, last.factor) for chain, tokens in parts]
    entries = dict.fromkeys(entry for chain in counted for entry in chain.entries)
    taken = frozenset[str]().union(*(chain.taken for chain in counted))
    tokens = sum(chain.tokens for chain in counted)
    return replace(last, entries=tuple(entries), taken=taken, tokens=tokens, answer=0, texts=0)


def written(chain: Chain) -> bytes:
    """A chain as the content of a record."""
    entries = [[e.entity, e.number, e.text, e.written, e.is_number, e.spelled] for e in chain.entries]
    numbers = [chain.tokens, chain.answer, chain.texts, chain.tokenizer, chain.factor]
    content = [chain.scope.hex(), entries, sorted(chain.taken), numbers]
    return json.dumps(content, separators=(",", ":")).encode("ascii")


def read(fragments: Sequence[bytes]) -> Chain:
    """The chain in a record: placeholders of all its fragments, which may have been written at the same time, and the
    numbers of the last. Raises `ValueError` for anything else."""
    chains = [_read(fragment) for fragment in fragments]
    last = chains[-1]
    entries = dict.fromkeys(entry for chain in chains for entry in chain.entries)
    taken = frozenset[str]().union(*(chain.taken for chain in chains))
    return replace(last, entries=tuple(entries), taken=taken)


def _read(fragment: bytes) -> Chain:
    scope, entries, taken, (tokens, answer, texts, tokenizer, factor) = json.loads(fragment)
    made = _entries(entries)
    return Chain(bytes.fromhex(scope), made, frozenset(taken), tokens, answer, texts, tokenizer, factor)


def _entries(rows: Iterable[list[str]]) -> tuple[Entry, ...]:
    return tuple(Entry(str(e), str(n), str(t), w, bool(number), s) for e, n, t, w, number, s in rows)

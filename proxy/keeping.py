"""One request's dealings with what the provider keeps: what it goes on from, and what its answer will be asked for by.

A request that refers to something stored is given the chain of what was substituted before (`chain`), and an answer
that the provider keeps is written down as the chain's next link, under its id, before the client hears of the id. What
was never written for this tenant does not exist; a store that does not answer stops the request. The signed blocks of
an API without such ids are looked up and written the same way (`wire.seals`).

May import: policy, store, chain, vault, wire, errors, the standard library.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from proxy import chain as chains
from proxy.chain import Chain
from proxy.errors import ExpiredState, Unavailable, UnknownState, UnsupportedByPolicy
from proxy.model import JSON, Seen
from proxy.policy.limits import ModelLimit
from proxy.policy.sections import State
from proxy.store import Place, Store
from proxy.vault import Vault
from proxy.wire import seals, state
from proxy.wire.endpoints import Keeps
from proxy.wire.state import Reference, is_id

_SEAL = "seal"


@dataclass(frozen=True, slots=True)
class Carried:
    """What a request adds to what the provider keeps: tokens with factor, and those of them that are text, without."""

    tokens: int = 0
    texts: int = 0


class Keeping:
    """One request's; not shared. `tenant` is the tenant's key. Methods raise `Unavailable` while the store is away."""

    def __init__(self, store: Store, tenant: bytes, rules: State) -> None:
        self.chain: Chain | None = None
        self.failed = False
        self._store = store
        self._tenant = tenant
        self._rules = rules
        self._keeps: Keeps | None = None
        self._target: Reference | None = None
        self._before: Chain | None = None
        self._next: Chain | None = None
        self._written: set[str] = set()
        self._sealed = 0
        self._unmeasured = False
        self._insists = False
        self._names_items = False

    def allowed(self) -> frozenset[str]:
        """The words by which the wire lets references pass."""
        rules = self._rules
        words = (
            (rules.responses, state.RESPONSES),
            (rules.conversations, state.CONVERSATIONS),
            (rules.prompts, state.PROMPTS),
        )
        items = {state.NAMED} if self._names_items else set[str]()
        return frozenset(word for verdict, word in words if verdict == "allow") | items

    def permit(self, kind: str) -> None:
        """Raises `UnsupportedByPolicy` where the policy refuses this kind of stored thing."""
        switch = "conversations" if kind == "conversation" else "responses"
        if getattr(self._rules, switch) != "allow":
            raise UnsupportedByPolicy(
                f"What the provider has stored is not inspected. The policy switch state.{switch} decides."
            )

    async def recall(self, references: Sequence[Reference], *, into: bool = False) -> None:
        """Reads the chain that the request goes on from. Raises `UnknownState`, `ExpiredState`.

        `into`: what the request says becomes part of what it names, as it always does in a conversation.
        """
        if len(references) > 1:
            raise UnsupportedByPolicy(
                "A request goes on from a response or from a conversation, not from both.", param=references[1].param
            )
        for reference in references:
            self.permit(reference.kind)
            self.chain = self._before = _read(await self._get(reference))
            if into or reference.kind == "conversation":
                self._target = reference

    async def recall_items(self, references: Sequence[Reference]) -> None:
        """Reads what the request goes on from that names items of earlier answers. Raises like `recall`."""
        if not references:
            return
        if self.chain is not None:
            raise UnsupportedByPolicy(
                "A request goes on from items that it names, or from a response or a conversation, not from both.",
                param=references[0].param,
            )
        self.permit("response")
        tokens: dict[str, int] = {}
        for reference in references:
            answer, size = json.loads((await self._get(reference))[-1])
            tokens[answer] = tokens.get(answer, 0) + size
        answers = [Reference("response", answer, references[0].param) for answer in tokens]
        self.chain = chains.joined([(_read(await self._get(answer)), tokens[answer.id]) for answer in answers])
        self._before, self._names_items = self.chain, True

    async def _get(self, reference: Reference) -> list[bytes]:
        try:
            return await self._store.get(self._place(reference.kind, reference.id))
        except (UnknownState, ExpiredState) as refusal:
            refusal.param = reference.param or None
            raise

    async def begin(self, keeps: Keeps | None, body: JSON) -> None:
        """Notes whether the answer to this body is kept, and that the store is there if it is."""
        fields = body if isinstance(body, dict) else {}
        self._unmeasured = isinstance(fields.get("prompt"), dict)
        self._insists = fields.get("background") is True
        kind = "conversation" if keeps is not None and keeps.kind == "conversation" else "responses"
        allowed = self._rules.conversations if kind == "conversation" else self._rules.responses
        if keeps is not None and keeps.of(body) and allowed == "allow":
            self._keeps = keeps
            if self._before is None:
                await self._store.check()

    @property
    def keeps(self) -> bool:
        """Whether anything of this request will be written down."""
        return self._keeps is not None or self._target is not None

    def expects(self, id: str) -> None:
        """A stored answer is being fetched, perhaps for the first time since it is complete."""
        if self.chain is not None and self.chain.answer is None:
            self._next, self._written = self.chain, {id}

    def count_as(self, limit: ModelLimit) -> None:
        """Counts what is stored as this request's model does."""
        if self.chain is not None:
            self.chain = self.chain.counted(limit.tokenizer, limit.factor)

    @property
    def awaited(self) -> int | None:
        """Tokens that the last answer adds, or will add when it is complete; None: nobody can say."""
        return 0 if self.chain is None else self.chain.answer

    def already(self) -> int:
        """Tokens that the provider will put before this prompt. Raises `UnsupportedByPolicy` if nobody can say."""
        chain = self.chain
        known = 0 if chain is None else chain.tokens + (chain.answer or 0)
        if not self._unmeasured and self.awaited is not None:
            return known
        allowance = self._rules.unknown_tokens
        if isinstance(allowance, int):
            return known + allowance
        raise UnsupportedByPolicy(
            "What the provider has stored was not measured: a template, or an answer that was cut off or not fetched "
            "yet. The policy switch state.unknown_tokens decides."
        )

    def vault(self, scope: bytes, taken: frozenset[str]) -> Vault:
        """The request's vault: the chain's, or a new one."""
        if self.chain is None:
            self.chain = Chain(scope if self._keeps is None or self._keeps.kind != "conversation" else _random())
        try:
            return self.chain.vault(taken)
        except ValueError:
            raise Unavailable("What was stored for this request cannot be read.", code="store_unreadable") from None

    async def ahead(self, vault: Vault, already: int, carried: Carried, limit: ModelLimit, answer: int | None) -> None:
        """Before anything is forwarded: makes the chain's next link, and writes it where its id is known already.

        `answer` bounds what the answer adds, as far as the request says.
        """
        if not self.keeps or self.chain is None:
            return
        self._next = replace(
            self.chain.after(vault),
            tokens=already + carried.tokens,
            answer=answer,
            texts=carried.texts + self.chain.texts,
            tokenizer=limit.tokenizer,
            factor=limit.factor,
        )
        if self._target is not None:
            await self._write(self._target.kind, self._target.id, self._next)

    async def saw(self, seen: Seen) -> None:
        """Writes the link as soon as the answer's id is known: before the client knows it.

        If that fails, an answer that can be had later only by its id is not handed on; another is, and `failed` is set.
        """
        if self._keeps is None or self._next is None or seen.id in self._written or not is_id(seen.id):
            return
        id = str(seen.id)
        self._written.add(id)
        try:
            await self._write(self._keeps.kind, id, self._next)
        except Unavailable:
            if self._insists or self._keeps.kind == "conversation":
                raise
            self.failed = True

    async def done(self, seen: Seen, count: Callable[[JSON], Awaitable[int]]) -> None:
        """After a complete answer: its length is known now. `count` says how many tokens an output adds."""
        if self._next is None or seen.output is None:
            return
        output, seen.output = seen.output, None
        usage = 0 if seen.usage is None else seen.usage.completion or 0
        self._next = replace(self._next, answer=max(await count(output), usage))
        items = await self._items(seen.id, output, count)
        try:
            await self._store.put_many(items)
            for id in self._written:
                await self._write("response", id, self._next)
            if self._target is not None:
                await self._write(self._target.kind, self._target.id, self._next)
        except Unavailable:
            self.failed = True

    async def _items(
        self, answer: str | None, output: JSON, count: Callable[[JSON], Awaitable[int]]
    ) -> list[tuple[Place, bytes]]:
        """Which items an answer has that a later request may name, each with its tokens."""
        known = self._keeps is not None and self._keeps.kind == "response" and answer in self._written
        named = [item for item in output if isinstance(item, dict)] if known and isinstance(output, list) else []
        return [
            (self._place("item", str(item["id"])), json.dumps([answer, await count([item])]).encode())
            for item in named
            if is_id(item.get("id"))
        ]

    async def undo(self) -> None:
        """Nothing came of the request: what the provider keeps is as long as before."""
        if self._target is None or self._next is None or self._before is None:
            return
        before = replace(self._before, entries=self._next.entries, taken=self._next.taken)
        try:
            await self._write(self._target.kind, self._target.id, before)
        except Unavailable:
            self.failed = True

    async def forget(self, kind: str, id: str) -> None:
        """The provider has deleted it."""
        await self._store.delete(self._place(kind, id))

    async def blocks(self, names: Sequence[str]) -> seals.Ledger:
        """The signed blocks of a request, as far as they are known."""
        found = await self._store.get_many([self._place(_SEAL, name) for name in names])
        known = {name: seals.read(content) for name, content in zip(names, found, strict=True) if content is not None}
        return seals.Ledger(self._tenant, known, shows=self._rules.thinking == "restore")

    async def seal(self, ledger: seals.Ledger) -> None:
        """Writes down the blocks of a request and its answer, those that were known too: they were used just now."""
        if len(ledger.entries) == self._sealed:
            return
        self._sealed = len(ledger.entries)
        fresh = {name: spans for name, spans in ledger.entries.items() if name not in self._written}
        self._written.update(fresh)
        records = [(self._place(_SEAL, name), seals.written(spans)) for name, spans in fresh.items()]
        try:
            await self._store.put_many(records)
        except Unavailable:
            self.failed = True

    def _place(self, kind: str, id: str) -> Place:
        return Place(self._tenant, kind, id)

    async def _write(self, kind: str, id: str, chain: Chain) -> None:
        await self._store.put(self._place(kind, id), chains.written(chain), more=kind == "conversation")


def _read(fragments: Sequence[bytes]) -> Chain:
    try:
        return chains.read(fragments)
    except (ValueError, TypeError):
        raise Unavailable("What was stored for this request cannot be read.", code="store_unreadable") from None


def _random() -> bytes:
    """A scope of its own: conversations may begin empty, and two of them must not look alike."""
    return secrets.token_bytes(32)

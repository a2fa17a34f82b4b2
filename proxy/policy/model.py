"""What a policy is: frozen, hashable, and the same object for the whole of a request.

Unknown keys do not validate. Checks that need more than one section, or the table of entities, are in `lint`.
May import: pydantic, proxy.policy.{checks,frozen,limits,sections}.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from proxy.policy import checks
from proxy.policy.frozen import FrozenMap
from proxy.policy.limits import ModelLimit, TokenizerSource, best
from proxy.policy.sections import (
    Answers,
    Attachments,
    CustomRecognizer,
    Detection,
    EntityName,
    EntityRule,
    Filled,
    Frozen,
    Limits,
    ModelEntry,
    Own,
    RegexRecognizer,
    Region,
    Section,
    State,
    Term,
    TokenizerFile,
    Trial,
)


def _version(value: Any) -> Any:
    if value != 1 or isinstance(value, bool | float):
        raise checks.wrong("wrong-value", "this program reads policies of version 1", "write version: 1")
    return value


class Policy(Section):
    """A policy of Caviardage: what is personal, what is done with it, and what else a request must keep to."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    """The version of this format: 1."""
    extends: Annotated[str, Field(min_length=1)] | None = None
    """A policy that this one builds on: the name of a shipped one (`default`), or the path of a file, as it is seen
    from this one. What this file says goes over what that one says; `limits` and `entities` may then be left out."""
    languages: Filled[Literal["en", "fr", "de", "es", "it"]] = ("en", "fr")
    """Languages whose models look for names. Formats such as IBANs are found in any language."""
    limits: Limits
    """How many tokens a request may have."""
    entities: Frozen[str, EntityRule]
    """What is done with each entity. An entity that is not listed is left alone."""
    recognizers: Frozen[EntityName, CustomRecognizer] = FrozenMap({})
    """Recognizers of your own, each under the name of the entity that it finds, new or built in."""
    deny: Frozen[EntityName, Filled[Term]] = FrozenMap({})
    """Terms that are always an entity: literal text, matched whole, in any case."""
    allow: tuple[Term, ...] = ()
    """Terms that are never an entity, in any case, if they are all of what was found. Something with a check digit
    that is right (a card, an IBAN, a national number) stays an entity."""
    phone_regions: Filled[Region] = ("FR", "GB", "US", "DE", "ES", "IT", "BE", "CH", "AT", "NL", "PT", "IE", "CA", "AU")
    """Regions (ISO 3166-1) whose telephone numbers are found without a country code."""
    attachments: Attachments = Attachments()
    """Parts of a request that are not plain text."""
    identities: Literal["read", "hash", "refuse"] = "read"
    """What is done with the fields that tell the provider whose request it is (`user`, `safety_identifier`,
    `prompt_cache_key`, `metadata`): `read` searches them like text, `hash` replaces each by a hash with the tenant's
    key, the same in every request, `refuse` refuses a request that has one."""
    answers: Answers = Answers()
    """What to do when an answer cannot belong to the request."""
    state: State = State()
    """What the provider keeps from one request to the next."""
    detection: Detection = Detection()
    """How long detection may take."""
    mode: Literal["enforce", "monitor"] = "enforce"
    """`monitor`: everything runs and is counted, and nothing is changed."""
    tests: tuple[Trial, ...] = ()
    """What the policy promises, run by `caviardage test`."""

    _name: str = PrivateAttr(default="policy")
    _files: tuple[Path, ...] = PrivateAttr(default=())

    def model_post_init(self, context: Any, /) -> None:
        """Takes the name and the files from the validation context: a file does not know how it is called."""
        if isinstance(context, Mapping):
            self._name = str(context.get("name", "policy"))
            self._files = tuple(context.get("files", ()))

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it was read from: its own first, then those that it extends."""
        return self._files

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits that change when, and only when, what the policy does changes; not with its tests."""
        content = self.model_dump(mode="json", exclude={"tests", "extends"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @cached_property
    def declared(self) -> frozenset[str]:
        """The entities that `recognizers` and `deny` speak of."""
        return frozenset(self.deny).union(*(entities_of(name, made) for name, made in self.recognizers.items()))

    @cached_property
    def tokenizers(self) -> tuple[TokenizerSource, ...]:
        """The tokenizers that are read from files."""
        named = (entry.tokenizer for entry in self.limits.models.values())
        return tuple(dict.fromkeys(made.source for made in named if isinstance(made, TokenizerFile)))

    @cached_property
    def unproven(self) -> tuple[str, ...]:
        """The models of which the policy knows no more than what the provider says: `served` is `advertised`."""
        return tuple(name for name, entry in self.limits.models.items() if entry.served == entry.advertised)

    def rule(self, entity: str) -> EntityRule:
        """What is done with an entity. Your own are replaced unless `entities` says otherwise; others are left."""
        listed = self.entities.get(entity)
        if listed is not None:
            return listed
        return EntityRule(action="replace" if entity in self.declared else "allow")

    def limit_for(self, model: str) -> ModelLimit | None:
        """The limit of a model; None if requests for it are refused."""
        decides = best(model, self.limits.models)
        if decides is not None:
            return self.limits.models[decides].limit(model)
        if isinstance(self.limits.default, int):
            return ModelEntry(served=self.limits.default).limit(model)
        return None


def entities_of(name: str, made: Own) -> tuple[str, ...]:
    """The entities that a recognizer of your own finds: its name, unless it lists others."""
    return (name,) if isinstance(made, RegexRecognizer) else made.found or (name,)

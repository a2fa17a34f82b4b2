"""What a policy is: frozen, hashable, and the same object for the whole of a request.

The classes are the YAML, field for field; their docstrings are the descriptions in `policies/schema.json` and
the source of `docs/policy.md`. Unknown keys do not validate. Checks that need more than one section, or the
table of entities, are in `lint`.
May import: pydantic, proxy.policy.{checks,faults,frozen,limits}.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    Strict,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from proxy.policy import checks
from proxy.policy.faults import listed
from proxy.policy.frozen import FrozenMap
from proxy.policy.limits import ModelLimit, best, family

DEFAULT_MIN_SCORE = 0.5
"""Built-in recognizers score a bare format below this and a passed check digit or a label above it."""

K = TypeVar("K")
T = TypeVar("T")
Frozen: TypeAlias = Annotated[Mapping[K, T], AfterValidator(FrozenMap), PlainSerializer(dict)]
Tokens: TypeAlias = Annotated[int, Strict(), Field(gt=0, le=checks.MAX_TOKENS)]
Flag: TypeAlias = Annotated[bool, Strict()]

Score: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1)]
EntityName: TypeAlias = Annotated[str, AfterValidator(checks.entity_name)]
Term: TypeAlias = Annotated[str, AfterValidator(checks.term)]
Region: TypeAlias = Annotated[str, AfterValidator(checks.region), Field(examples=["FR", "GB"])]
Action: TypeAlias = Literal["replace", "mask", "hash", "redact", "block", "allow"]
Part: TypeAlias = Literal["refuse", "pass"]
Reaction: TypeAlias = Literal["block", "flag", "off"]


def _filled(items: tuple[T, ...]) -> tuple[T, ...]:
    """Not empty, and each item once. Runs after the items: a wrong one must not make a list count as empty."""
    if not items:
        raise checks.wrong("wrong-value", "must not be empty")
    return tuple(dict.fromkeys(items))


Filled: TypeAlias = Annotated[tuple[T, ...], AfterValidator(_filled), Field(json_schema_extra={"minItems": 1})]


class Section(BaseModel):
    """A part of a policy: closed, and unchangeable once it is built."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)


def _shorthand(schema: JsonSchemaValue, handler: GetJsonSchemaHandler, short: dict[str, Any]) -> JsonSchemaValue:
    """Adds the short form, which a validator unfolds, to a section's JSON schema."""
    body = handler.resolve_ref_schema(schema)
    full = {key: value for key, value in body.items() if key not in ("title", "description")}
    kept = {key: value for key, value in body.items() if key in ("title", "description")}
    body.clear()
    body.update(kept, anyOf=[short, full])
    return schema


class EntityRule(Section):
    """What is done with an entity: an action, or `{action, min_score}`."""

    action: Action
    """`replace` by a placeholder that is restored in the answer; `mask`, `hash` and `redact` do not come back;
    `block` refuses the request; `allow` leaves it."""
    min_score: Score = DEFAULT_MIN_SCORE
    """The least confidence, 0 to 1, at which the action is taken."""

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, value: Any) -> Any:
        if not isinstance(value, str | Mapping | EntityRule):
            raise checks.wrong("wrong-type", f"must be {listed(get_args(Action))}, or {{action, min_score}}")
        return {"action": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _shorthand(handler(core), handler, {"enum": list(get_args(Action))})


class ModelEntry(Section):
    """The limit of one model: a number of tokens, or a mapping with more to say."""

    served: Tokens
    """Tokens that the deployment really holds, prompt and requested completion together."""
    advertised: Tokens | None = None
    """Tokens that the provider says it holds: for the record, never used to let a request through."""
    tokenizer: Literal["o200k_base", "cl100k_base", "bytes"] | None = None
    """How to count. `bytes` is an upper bound for every byte-level tokenizer. Left out: by the model's family."""
    factor: Annotated[float, Strict(), Field(ge=1, le=20)] | None = None
    """What the count is multiplied by where the model's own tokenizer is not at hand: an estimate.
    Left out: by the model's family."""

    @model_validator(mode="before")
    @classmethod
    def _unfold(cls, value: Any) -> Any:
        if not isinstance(value, Mapping | ModelEntry):
            return {"served": checks.tokens(value, "a mapping")}
        return value

    @model_validator(mode="after")
    def _ordered(self) -> ModelEntry:
        if self.advertised is not None and self.served > self.advertised:
            raise checks.wrong("bad-limit", f"served ({self.served}) is more than advertised ({self.advertised})")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return _shorthand(handler(core), handler, {"type": "integer", "exclusiveMinimum": 0})

    def limit(self, model: str) -> ModelLimit:
        """The same with everything said: what is left out follows from the model's name."""
        tokenizer, factor = family(model)
        if self.tokenizer == "bytes":
            factor = 1.0
        return ModelLimit(self.served, self.tokenizer or tokenizer, self.factor or factor, self.advertised)


def _default_limit(value: Any) -> Any:
    return value if value == "refuse" else checks.tokens(value, "refuse")


class Limits(Section):
    """How many tokens a request may have: its prompt and the completion that it asks for, together."""

    default: Annotated[
        int | Literal["refuse"],
        PlainValidator(_default_limit),
        WithJsonSchema({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"const": "refuse"}]}),
    ] = "refuse"
    """For models that `models` does not name: a number of tokens, or `refuse` to forward nothing to them."""
    models: Frozen[str, ModelEntry] = FrozenMap({})
    """By name or pattern (`*`, `?`). The exact name decides, then the longest pattern that matches."""


class RegexRecognizer(Section):
    """A recognizer of your own, as a regular expression in RE2 syntax."""

    regex: Annotated[str, AfterValidator(checks.regex)]
    """What the value looks like; the group named `v` if there is one, else the whole match. Searched in text that
    was normalised (NFKC, one kind of dash and space). Case matters unless `ignore_case` is true."""
    context: tuple[Term, ...] = ()
    """Words that stand near the value and make it certain, in any case, with or without accents."""
    score: Score = 0.85
    """The confidence without such a word near. With one it is at least 0.9."""
    ignore_case: Flag = False
    """Whether case is ignored."""

    @property
    def reach(self) -> float:
        """The highest score that it can give."""
        return max(self.score, 0.9) if self.context else self.score


class PresidioRecognizer(Section):
    """A recognizer written for Presidio: a class that can be called without arguments."""

    presidio: Annotated[str, AfterValidator(checks.class_path)]
    """Its path, `package.module.ClassName`. The package must be installed where the proxy runs."""
    entities: tuple[EntityName, ...] = ()
    """The entities that it finds. Left out: the one that it is listed under."""


def _kind(value: Any) -> str:
    presidio = "presidio" in value if isinstance(value, Mapping) else isinstance(value, PresidioRecognizer)
    return "#presidio" if presidio else "#regex"


CustomRecognizer: TypeAlias = Annotated[
    Annotated[RegexRecognizer, Tag("#regex")] | Annotated[PresidioRecognizer, Tag("#presidio")], Discriminator(_kind)
]


class Attachments(Section):
    """Parts of a request that hold no text to inspect: `refuse` the request, or `pass` them on unseen."""

    images: Part = "refuse"
    """Images, by URL or in the request."""
    files: Part = "refuse"
    """Files in the request (PDF and others), or stored at the provider."""
    audio: Part = "refuse"
    """Audio in the request, earlier audio answers, and audio asked for as an answer."""


class Answers(Section):
    """What to do when an answer cannot belong to the request: `block` it, `flag` it in the audit, or `off`."""

    foreign_placeholder: Reaction = "block"
    """A placeholder that this conversation did not issue: it could be another conversation's."""
    usage_mismatch: Reaction = "block"
    """The provider counted tokens that the request cannot have had."""
    unsolicited: Reaction = "flag"
    """Personal data in the answer that was not in the request."""
    restore_in_tools: Frozen[str, Flag] = FrozenMap({"*": True})
    """Whether the arguments of a tool call get the real values, by the tool's name or pattern (`*`, `?`).
    The exact name decides, then the longest pattern; what nothing matches is restored."""

    def restores_in(self, tool: str) -> bool:
        """Whether calls of this tool get the real values."""
        decides = best(tool, self.restore_in_tools)
        return True if decides is None else self.restore_in_tools[decides]


class Detection(Section):
    """How long detection may take."""

    deadline_seconds: Annotated[float, Strict(), Field(gt=0, le=600)] = 30.0
    """After so many seconds the request is refused: nothing leaves that was not inspected."""


class Trial(Section):
    """A test that the policy carries with it: a text, and what must become of it."""

    text: Annotated[str, Field(min_length=1)]
    """The text, made up."""
    finds: tuple[str, ...] | None = None
    """The entities that are acted on, all of them, in any order; `[]` for none. Left out: not checked."""
    leaves: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Pieces of the text that must stay as they are."""
    refuses: Flag | None = None
    """Whether the text must be refused. Left out: not checked."""


def _version(value: Any) -> Any:
    if value != 1 or isinstance(value, bool | float):
        raise checks.wrong("wrong-value", "this program reads policies of version 1", "write version: 1")
    return value


class Policy(Section):
    """A policy of Caviardage: what is personal, what is done with it, and what else a request must keep to."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    """The version of this format: 1."""
    languages: Filled[Literal["en", "fr"]] = ("en", "fr")
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
    phone_regions: Filled[Region] = ("FR", "GB", "US")
    """Regions (ISO 3166-1) whose telephone numbers are found without a country code."""
    attachments: Attachments = Attachments()
    """Parts of a request that hold no text to inspect."""
    answers: Answers = Answers()
    """What to do when an answer cannot belong to the request."""
    detection: Detection = Detection()
    """How long detection may take."""
    mode: Literal["enforce", "monitor"] = "enforce"
    """`monitor`: everything runs and is counted, and nothing is changed."""
    tests: tuple[Trial, ...] = ()
    """What the policy promises, run by `caviardage test`."""

    _name: str = PrivateAttr(default="policy")

    def model_post_init(self, context: Any, /) -> None:
        """Takes the name from the validation context, since a file does not know how it is called."""
        if isinstance(context, Mapping):
            self._name = str(context.get("name", "policy"))

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._name

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits that change when, and only when, what the policy does changes; not with its tests."""
        content = self.model_dump(mode="json", exclude={"tests"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @cached_property
    def declared(self) -> frozenset[str]:
        """The entities that `recognizers` and `deny` speak of."""
        return frozenset(self.deny).union(*(entities_of(name, made) for name, made in self.recognizers.items()))

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


def entities_of(name: str, made: RegexRecognizer | PresidioRecognizer) -> tuple[str, ...]:
    """The entities that a recognizer of your own finds: its name, unless it lists others."""
    return made.entities if isinstance(made, PresidioRecognizer) and made.entities else (name,)

"""The parts of a policy, and what may stand in each: frozen, closed, field for field as in the YAML.

The docstrings are the descriptions in `policies/schema.json` and the source of `docs/policy.md`.
May import: pydantic, proxy.policy.{bodies,checks,faults,frozen,limits}, recognizers.custom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    Strict,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from proxy.policy import bodies, checks
from proxy.policy.faults import ask, listed, nearest
from proxy.policy.frozen import FrozenMap
from proxy.policy.limits import ModelLimit, TokenizerSource, best, family
from recognizers.custom import LABEL_BONUS

DEFAULT_MIN_SCORE = 0.5
"""Built-in recognizers score a bare format below this and a passed check digit or a label above it."""
DEFAULT_SCORE = 0.85
"""Whoever writes a pattern of their own means what it matches."""

K = TypeVar("K")
T = TypeVar("T")
Frozen: TypeAlias = Annotated[Mapping[K, T], AfterValidator(FrozenMap), PlainSerializer(dict)]
Tokens: TypeAlias = Annotated[int, Strict(), Field(gt=0, le=checks.MAX_TOKENS)]
Flag: TypeAlias = Annotated[bool, Strict()]

Score: TypeAlias = Annotated[float, Strict(), Field(ge=0, le=1)]
EntityName: TypeAlias = Annotated[str, AfterValidator(checks.entity_name)]
Term: TypeAlias = Annotated[str, AfterValidator(checks.term)]
Region: TypeAlias = Annotated[str, AfterValidator(checks.region), Field(examples=["FR", "GB"])]
Arguments: TypeAlias = Annotated[
    Mapping[str, Any],
    PlainValidator(checks.arguments),
    PlainSerializer(checks.thawed),
    WithJsonSchema({"type": "object", "additionalProperties": {}}),
]
Action: TypeAlias = Literal["replace", "mask", "hash", "redact", "block", "allow"]
Part: TypeAlias = Literal["refuse", "pass"]
Kept: TypeAlias = Literal["refuse", "allow"]
FilePart: TypeAlias = Literal["refuse", "pass", "text"]
Reaction: TypeAlias = Literal["block", "flag", "off"]


def _filled(items: tuple[T, ...]) -> tuple[T, ...]:
    """Not empty, and each item once. Runs after the items: a wrong one must not make a list count as empty."""
    if not items:
        raise checks.wrong("wrong-value", "must not be empty")
    return tuple(dict.fromkeys(items))


Filled: TypeAlias = Annotated[tuple[T, ...], AfterValidator(_filled), Field(json_schema_extra={"minItems": 1})]


def _labels(value: Mapping[str, str]) -> Mapping[str, str]:
    if not value:
        raise checks.wrong("wrong-value", "must not be empty")
    return FrozenMap(value)


Labels: TypeAlias = Annotated[Mapping[str, EntityName], AfterValidator(_labels), PlainSerializer(dict)]


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


class TokenizerFile(Section):
    """A model's own tokenizer: a `tokenizer.json` (Hugging Face) or a `tekken.json` (Mistral). Nothing is fetched: if
    the file is absent or another one, the service does not start."""

    file: Annotated[str, Field(min_length=1)]
    """Its path where the proxy runs; with `package`, inside that package's installation."""
    package: Annotated[str, Field(min_length=1)] | None = None
    """The name of an installed Python package that carries the file."""
    sha256: Annotated[str, AfterValidator(checks.sha256)]
    """The file's SHA-256, in hexadecimal."""

    @property
    def source(self) -> TokenizerSource:
        """The same, with a name that says which file it is."""
        name = f"{self.file.rsplit('/', 1)[-1]}@{self.sha256[:12]}"
        return TokenizerSource(name, self.file, self.package, self.sha256)


BuiltIn: TypeAlias = Literal["o200k_base", "cl100k_base", "bytes"]


def _tokenizer_kind(value: Any) -> str:
    return "#file" if isinstance(value, Mapping | TokenizerFile) else "#name"


Tokenizer: TypeAlias = Annotated[
    Annotated[BuiltIn, Tag("#name")] | Annotated[TokenizerFile, Tag("#file")], Discriminator(_tokenizer_kind)
]


class ModelEntry(Section):
    """The limit of one model: a number of tokens, or a mapping with more to say."""

    served: Tokens
    """Tokens that the deployment really holds, prompt and requested completion together."""
    advertised: Tokens | None = None
    """Tokens that the provider says it holds: for the record, never used to let a request through."""
    tokenizer: Tokenizer | None = None
    """How to count: `o200k_base`, `cl100k_base`, the model's own tokenizer as `{file, package, sha256}`, or `bytes`, an
    upper bound for every byte-level tokenizer. Left out: by the model's family."""
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
        if isinstance(self.tokenizer, TokenizerFile):
            tokenizer, factor = self.tokenizer.source.name, 1.0
        elif self.tokenizer is not None:
            tokenizer, factor = self.tokenizer, 1.0 if self.tokenizer == "bytes" else factor
        return ModelLimit(self.served, tokenizer, self.factor or factor, self.advertised)


def _default_limit(value: Any) -> Any:
    return value if value == "refuse" else checks.tokens(value, "refuse")


class Budgets(Section):
    """How many tokens each tenant may ask for in a window that slides: prompts, as they are measured, and the
    completions asked for. A request over it gets 429."""

    tokens_per_minute: Tokens | None = None
    """Left out: as many as it likes."""
    tokens_per_day: Tokens | None = None
    """Left out: as many as it likes."""


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
    budgets: Budgets = Budgets()
    """How many tokens each tenant may ask for in a minute and in a day."""
    on_excess: Literal["refuse"] = "refuse"
    """What happens to a request over its limit. Nothing else can be said: a prompt is never cut short."""


class RegexRecognizer(Section):
    """A recognizer of your own, as a regular expression in RE2 syntax."""

    regex: Annotated[str, AfterValidator(checks.regex)]
    """What the value looks like; the group named `v` if there is one, else the whole match. Searched in text that
    was normalised (NFKC, one kind of dash and space). Case matters unless `ignore_case` is true."""
    context: tuple[Term, ...] = ()
    """Words that stand near the value and make it certain, in any case, with or without accents."""
    score: Score = DEFAULT_SCORE
    """The confidence without such a word near. With one it is 0.35 higher."""
    ignore_case: Flag = False
    """Whether case is ignored."""

    @property
    def labelled(self) -> float:
        """The confidence with a word of `context` near."""
        return min(1.0, self.score + LABEL_BONUS)


class PresidioRecognizer(Section):
    """A recognizer written for Presidio. Its code runs with the rights of the service."""

    presidio: Annotated[str, AfterValidator(checks.class_path)]
    """Its class, `package.module.ClassName`. The package must be installed where the proxy runs."""
    entities: tuple[EntityName, ...] = ()
    """The entities that it finds. Left out: the one that it is listed under."""
    arguments: Arguments = FrozenMap({})
    """What its constructor is given, by name: text, numbers, true, false, lists and mappings."""

    @property
    def found(self) -> tuple[str, ...]:
        return self.entities


class SpacyRecognizer(Section):
    """A spaCy pipeline that is installed, or that lies in a folder."""

    spacy: Annotated[str, AfterValidator(checks.pipeline)]
    """The package's name (`de_core_news_md`), or the absolute path of a folder."""
    labels: Labels
    """Which of its labels is which entity; its other labels are left alone."""
    version: str | None = None
    """The package's version. A package of another version does not load. Needed for a package."""
    sha256: Annotated[str, AfterValidator(checks.sha256)] | None = None
    """The digest of the folder. Another content does not load. Needed for a folder."""
    score: Score = DEFAULT_SCORE
    """The confidence of what it finds."""

    @model_validator(mode="after")
    def _pinned(self) -> SpacyRecognizer:
        key, value = ("version", self.version) if self.spacy.isidentifier() else ("sha256", self.sha256)
        if value is None:
            raise checks.wrong("missing-key", f"'{key}' must say which '{self.spacy}' is meant")
        return self

    @property
    def found(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.labels.values()))


class OnnxRecognizer(Section):
    """A Hugging Face token classifier that was exported to ONNX. Needs `pip install caviardage[onnx]`."""

    onnx: Annotated[str, AfterValidator(checks.folder)]
    """The absolute path of a folder with the graph (`*.onnx`), `tokenizer.json` and `config.json`."""
    sha256: Annotated[str, AfterValidator(checks.sha256)]
    """The digest of the folder. Another content does not load."""
    labels: Labels
    """Which of its labels, without `B-` and `I-`, is which entity; its other labels are left alone."""
    file: Annotated[str, AfterValidator(checks.inside)] | None = None
    """The graph's file inside the folder, where there are several."""
    window: Annotated[int, Strict(), Field(ge=16, le=8192)] = 512
    """Tokens that it reads at once. Longer text is read in windows that overlap by a quarter."""

    @property
    def found(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.labels.values()))


Own: TypeAlias = RegexRecognizer | PresidioRecognizer | SpacyRecognizer | OnnxRecognizer
_KINDS: Mapping[str, type[Section]] = FrozenMap(
    {"presidio": PresidioRecognizer, "spacy": SpacyRecognizer, "onnx": OnnxRecognizer}
)


def _kind(value: Any) -> str:
    for key, section in _KINDS.items():
        if key in value if isinstance(value, Mapping) else isinstance(value, section):
            return f"#{key}"
    return "#regex"


CustomRecognizer: TypeAlias = Annotated[
    Annotated[RegexRecognizer, Tag("#regex")]
    | Annotated[PresidioRecognizer, Tag("#presidio")]
    | Annotated[SpacyRecognizer, Tag("#spacy")]
    | Annotated[OnnxRecognizer, Tag("#onnx")],
    Discriminator(_kind),
]


class Attachments(Section):
    """Parts of a request that are not plain text: `refuse` the request, or `pass` them on unseen; files can also be
    read as `text`."""

    images: Part = "refuse"
    """Images, by URL or in the request."""
    files: FilePart = "refuse"
    """Files in the request (PDF and others), or stored at the provider. `text`: a PDF, a DOCX or a text file in the
    request is read, and its text inspected and sent in its place; other files are refused."""
    audio: Part = "refuse"
    """Audio in the request, earlier audio answers, and audio asked for as an answer."""


class Answers(Section):
    """What to do when an answer cannot belong to the request: `block` it, `flag` it in the audit, or `off`."""

    foreign_placeholder: Reaction = "block"
    """A placeholder that this conversation did not issue: it could be another conversation's."""
    mangled_placeholder: Reaction = "flag"
    """A placeholder one slip away from one of this conversation (a digit wrong or swapped). It is not restored."""
    usage_mismatch: Reaction = "block"
    """The provider counted fewer tokens than the request cannot but have."""
    usage_missing: Reaction = "flag"
    """The provider does not say how many tokens it counted of a long prompt."""
    usage_excess: Reaction = "flag"
    """The provider counted many more tokens than were sent."""
    unsolicited: Reaction = "flag"
    """Personal data with a check digit in the answer that was in no text of the request. `block` holds streams until
    they are complete."""
    misplaced: Reaction = "flag"
    """Pieces that do not belong to one answer to this request: other ids or models in one stream, choices that were
    not asked for, numbers out of order, text behind an end."""
    other_model: Reaction = "flag"
    """The answer names another model than the one asked for. `off` where the provider goes by aliases."""
    ask_usage: Flag = True
    """Whether streams are asked for the provider's token count (`stream_options`) where the client did not. The
    client does not see it."""
    hold_above: Annotated[int, Strict(), Field(ge=0)] | Literal["never"] = 200_000
    """Streams of prompts with more tokens than this are held until the provider's token count has been checked."""
    restore_in_tools: Frozen[str, Flag] = FrozenMap({"*": True})
    """Whether the arguments of a tool call get the real values, by the tool's name or pattern (`*`, `?`).
    The exact name decides, then the longest pattern; what nothing matches is restored."""

    def restores_in(self, tool: str) -> bool:
        """Whether calls of this tool get the real values."""
        decides = best(tool, self.restore_in_tools)
        return True if decides is None else self.restore_in_tools[decides]


class State(Section):
    """What the provider keeps from one request to the next: `allow` it, its values kept here too, sealed and for a
    time; or `refuse` to send or fetch what refers to it."""

    responses: Kept = "allow"
    """Stored responses and chat completions: `previous_response_id`, `background`, fetching, cancelling, deleting."""
    conversations: Kept = "allow"
    """Stored conversations: `conversation`, and the endpoints under `/v1/conversations`."""
    batches: Kept = "refuse"
    """Batches: uploaded files of requests, `/v1/batches`, and the files of results."""
    prompts: Kept = "refuse"
    """Prompt templates stored at the provider, whose text nobody here has read. They need `unknown_tokens` too."""
    unknown_tokens: Annotated[
        int | Literal["refuse"],
        PlainValidator(_default_limit),
        WithJsonSchema({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"const": "refuse"}]}),
    ] = "refuse"
    """For what is stored and was never measured (a template, an answer that was cut off or not fetched yet): the
    tokens that it counts as, or `refuse`."""
    thinking: Literal["restore", "keep"] = "restore"
    """Signed thinking in an answer: `restore` its values for display and undo that when it comes back, or `keep` the
    placeholders. Replicas that serve the same conversations must share a store for the first."""


MAX_SECONDS = 600
"""Longest time that a policy can give detection."""


class Detection(Section):
    """How long detection may take."""

    deadline_seconds: Annotated[float, Strict(), Field(gt=0, le=MAX_SECONDS)] = 120.0
    """After so many seconds the request is refused: nothing leaves that was not inspected."""


REFUSALS = (
    "blocked_entity",
    "context_length_exceeded",
    "unsupported_by_policy",
    "invalid_json",
    "invalid_request",
    "state_not_found",
)
"""Codes of refusals that a request alone can bring about."""


def _refuses(value: Any) -> Any:
    if not (isinstance(value, bool) or value in REFUSALS):
        mend = ask(nearest(value, REFUSALS)) if isinstance(value, str) else ""
        raise checks.wrong("wrong-value", f"must be true, false, {listed(REFUSALS)}", mend)
    return value


Body: TypeAlias = Annotated[
    Mapping[str, Any],
    PlainValidator(bodies.body),
    PlainSerializer(bodies.thawed),
    WithJsonSchema({"type": "object", "additionalProperties": {}}),
]
Sent: TypeAlias = Annotated[
    str | Mapping[str, Any],
    PlainValidator(lambda value: value if isinstance(value, str) else bodies.body(value)),
    PlainSerializer(bodies.thawed),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {}}]}),
]


class Trial(Section):
    """A test that the policy carries with it: a text or a whole request, and what must become of it."""

    text: Annotated[str, Field(min_length=1)] = ""
    """The text, made up. Either this or `request`."""
    request: Body | None = None
    """The body of a whole request, made up. It goes the way of a real one, up to the provider."""
    endpoint: Literal[
        "/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/completions", "/v1/embeddings", "/v1/moderations"
    ] = "/v1/chat/completions"
    """Where the request goes."""
    finds: tuple[str, ...] | None = None
    """The entities that are acted on, all of them, in any order; `[]` for none. Left out: not checked."""
    sends: Sent | None = None
    """What the provider receives: a text, or the body of a request. Placeholders are numbered by their entity as they
    appear: `<PERSON_1>`, `<PERSON_2>`. Left out: not checked."""
    leaves: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Pieces of the text, or of the request's texts, that must stay as they are."""
    refuses: Annotated[
        bool | str | None,
        PlainValidator(_refuses),
        WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": list(REFUSALS)}]}),
    ] = None
    """Whether it must be refused, or the code of the refusal (`blocked_entity`, `context_length_exceeded`,
    `unsupported_by_policy` ...). Left out: not checked."""

    @model_validator(mode="after")
    def _one(self) -> Trial:
        if bool(self.text) == (self.request is not None):
            raise checks.wrong("missing-key", "a test has either a 'text' or a 'request'")
        if self.text and "endpoint" in self.model_fields_set:
            raise checks.wrong("dead-rule", "'endpoint' is for a 'request': a text goes nowhere")
        if isinstance(self.sends, Mapping) and self.text:
            raise checks.wrong("wrong-type", "'sends' must be a text, since the test is one")
        if isinstance(self.sends, str) and not self.text:
            raise checks.wrong("wrong-type", "'sends' must be a body, since the test is a request")
        return self

"""What a request body adds to the prompt: a stream of charges, each to be counted and summed.

The provider turns messages, tools and the rest into one text with a template that we do not have, so this is a
bound of what such a template can write, from what is published and measured about several of them.

May import: model, errors, the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from proxy.errors import BadRequest
from proxy.model import JSON

Charge: TypeAlias = "int | str | tuple[str, ...]"
"""Tokens outright; a text whose tokens count; or alternative texts, of which the longest counts."""


class Perhaps(str):
    """A text that a provider may leave out of the prompt: it belongs to the bound, not to what must have been read."""

    __slots__ = ()


def perhaps(charge: Charge) -> Charge:
    """The charge, for what a provider may leave out."""
    if isinstance(charge, int):
        return charge
    return Perhaps(charge) if isinstance(charge, str) else tuple(map(Perhaps, charge))


Charging: TypeAlias = "Callable[[Mapping[str, JSON]], Iterator[Charge]]"
"""What an endpoint's body adds to the prompt."""

REQUEST = 3 + 8
"""Per request. 3: the reply's primer (OpenAI cookbook, "How to count tokens with tiktoken"). 8: what other
templates put before the first message and behind the last (Llama 3: 5, Qwen: 3)."""

MESSAGE = 3 + 2
"""Per message. 3: OpenAI cookbook, and gpt-oss (harmony) has 3 besides the role. 2: Llama 3 and Qwen have 4, and
text behind a separator may take one token more than alone (measured: 0.86 on average)."""

NAME = 1
"""Per `name` field: OpenAI cookbook."""

PART = 4
"""Per content part: a template may put a separator or a tag around each."""

TOOL = 16
"""Per tool, function or tool call, besides its text: headers such as `<|start|>functions.f to=...<|message|>`."""

HOSTED = 1_024
"""Per tool that the provider runs itself: what it tells the model about it is published by none. An allowance."""

SEALED = 4
"""Characters of `encrypted_content` per token: base64 of text in UTF-8 has 5.3 for English. What is sealed there can
only be guessed, and providers leave earlier reasoning out of the prompt."""

ARGUMENT = 12
"""Per top-level argument of a tool call: GLM templates write a pair of tags around each key and each value."""

EXTRA = 256
"""Once, if a field is there that providers render in a text of their own (tools, formats, anything unknown).
Measured with gpt-oss's published renderer: its hidden system text is 49, the frame of the tools about 40."""

FIELD = 8
"""Per such field: a heading."""

NOT_IN_PROMPT = frozenset(
    {
        "model",
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "n",
        "best_of",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "max_new_tokens",
        "user",
        "seed",
        "stop",
        "stop_sequences",
        "metadata",
        "store",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
        "parallel_tool_calls",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning_effort",
        "verbosity",
        "modalities",
        "audio",
        "reasoning",
        "include",
        "truncation",
        "background",
        "background_options",
        "max_tool_calls",
        "context_management",
        "prompt_cache_options",
        "moderation",
        "previous_response_id",
        "conversation",
    }
)
"""The top-level fields that steer, select or bill, and never become text of the prompt. All others are counted. What
the two that name something stored bring along was counted when it was stored."""

_CONVERSATION = frozenset({"messages", "input", "prompt", "system", "instructions"})
_READ = frozenset({"tools", "functions"})
"""Other fields that are sure to be read. The rest may be ignored, and a provider that does counts fewer tokens."""
_SILENT = ((2, "role"), (2, "content"), (2, "name"), (4, "type"), (4, "text"))
"""Keys that no template writes, with their depth: those of a message, and those of a part of its content."""

_DEFINITIONS = frozenset({"tools", "functions", "schema"})
_STRUCTURED = frozenset({"action", "actions", "operation", "results", "outputs", "attributes"})
"""What calls of the Responses API hold instead of arguments in a string: rendered as JSON where it is no string."""
_CLIENTS = frozenset({"function", "custom", "namespace"})
_CALLS = frozenset({"arguments", "input"})

_MOST_INDENTATION = 1 << 20


def charges(body: Mapping[str, JSON]) -> Iterator[Charge]:
    """Every charge of a body of chat completions or responses (or one like them), in no promised order."""
    yield REQUEST
    extra = False
    for key, value in body.items():
        if key in NOT_IN_PROMPT or value is None:
            continue
        if key in _CONVERSATION:
            yield from conversation(value)
        else:
            extra = True
            yield FIELD
            yield Perhaps(key)
            yield from _rendered(value) if key in _READ else map(perhaps, _rendered(value))
        if key == "tools":
            yield from _inner_tools(value)
    if extra:
        yield EXTRA


def conversation(value: JSON) -> Iterator[Charge]:
    """The charges of messages or items, or of a text that stands for one."""
    for message in value if isinstance(value, list) else [value]:
        yield MESSAGE
        if isinstance(message, dict) and message.get("type") not in (None, "message"):
            yield TOOL  # an item of the Responses API: a call, what it returned, reasoning
        yield from _walk(message)


def _walk(value: JSON) -> Iterator[Charge]:
    """Every string, key and number at any depth below `value`, a message.

    A stack of iterators instead of recursion: the depth costs nothing, whatever the parser lets through.
    """
    stack: list[Iterator[tuple[str, JSON]]] = [iter([("", value)])]
    while stack:
        for name, item in stack[-1]:
            yield from _own(len(stack), name, item)
            if _is_rendered(name, item):
                yield from _rendered(item)
            elif isinstance(item, (list, dict)):
                stack.append(_children(item))
                break
        else:
            stack.pop()


def _is_rendered(name: str, item: JSON) -> bool:
    if name in _DEFINITIONS or (name in _CALLS and isinstance(item, dict)):
        return True
    return name in _STRUCTURED and isinstance(item, (list, dict))


def _inner_tools(tools: JSON) -> Iterator[Charge]:
    """What tools cost beside their JSON: those in a namespace, and those of the provider's own."""
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict):
            inner = tool.get("tools")
            yield TOOL * len(inner) if isinstance(inner, list) else 0
            yield 0 if str(tool.get("type", "function")) in _CLIENTS else HOSTED


def _children(value: list[JSON] | dict[str, JSON]) -> Iterator[tuple[str, JSON]]:
    return iter(value.items()) if isinstance(value, dict) else (("", item) for item in value)


def _own(depth: int, name: str, item: JSON) -> Iterator[Charge]:
    """The charges of one value that stands under `name`, without those of its children."""
    if name and (depth, name) not in _SILENT:
        yield name
    if name == "name":
        yield NAME
    if name in _CALLS:
        yield TOOL + ARGUMENT * _argument_count(item)
    if isinstance(item, str):
        yield len(item) // SEALED + 1 if name == "encrypted_content" else item
    elif isinstance(item, list):
        yield (TOOL if name == "tool_calls" else PART) * len(item)
    elif not isinstance(item, dict):
        yield len(_number(item))


def _number(value: JSON) -> str:
    """A number, true, false or null as JSON. Its length bounds its tokens, without asking the tokenizer.

    `repr` and not `json.dumps`, since a parser may hand over floats that know more digits than a float has.
    """
    try:
        return "null" if value is None else repr(value)
    except ValueError:
        raise BadRequest("The request holds a number with too many digits.") from None


def _argument_count(value: JSON) -> int:
    """Top-level keys of a tool call's arguments, as JSON text or already as an object."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return 0
    return len(value) if isinstance(value, dict) else 0


def _rendered(value: JSON) -> Iterator[Charge]:
    """A value that templates write as JSON, some compactly and some indented by 4 (Llama 3)."""
    if isinstance(value, str):
        yield value
        return
    if isinstance(value, list):
        yield TOOL * len(value)
    compact = _dump(value, None)
    indentation = _indentation(value)
    yield _longer_digits(value)
    if indentation > _MOST_INDENTATION:
        yield compact
        yield indentation
    else:
        yield (compact, _dump(value, 4))


def _dump(value: JSON, indent: int | None) -> str:
    separators = (",", ":") if indent is None else None
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    except RecursionError:
        raise BadRequest("The request is nested too deeply.") from None
    except ValueError:
        raise BadRequest("The request holds a number with too many digits.") from None


def _indentation(value: JSON) -> int:
    """Characters that rendering `value` with an indent of 4 adds to compact JSON; each is at most one token."""
    return sum((4 * depth + 2) * (2 if isinstance(item, (list, dict)) else 1) for depth, item in _nodes(value))


def _longer_digits(value: JSON) -> int:
    """Characters of the floats that know more digits than `json.dumps` writes."""
    floats = (item for _, item in _nodes(value) if isinstance(item, float))
    return sum(len(_number(item)) for item in floats if type(item) is not float)


def _nodes(value: JSON) -> Iterator[tuple[int, JSON]]:
    """Every value at or below `value`, with its depth; `value` itself has 0."""
    stack: list[Iterator[tuple[str, JSON]]] = [iter([("", value)])]
    while stack:
        for _, item in stack[-1]:
            yield len(stack) - 1, item
            if isinstance(item, (list, dict)):
                stack.append(_children(item))
                break
        else:
            stack.pop()

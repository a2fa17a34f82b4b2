"""What a body of Anthropic's Messages API adds to the prompt: the general bound, and what this API adds to it.

No tokenizer of these models is public, so how near the bound is to the provider's count depends on the policy's
`tokenizer` and `factor`. May import: charges, model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proxy.model import JSON
from proxy.tokens.charges import HOSTED, Charge, Perhaps, charges

TOOLS = 600
"""Once, if there are tools: the system prompt that explains them. Anthropic's documentation ("Tool use", pricing)
lists 159 to 530 tokens, by model and `tool_choice`."""

CLIENT_TOOL = 1300
"""Per tool that the provider defines and the client runs (bash, text editor, computer, ...), whose description is
not in the request. The documentation of the largest, computer use: 735 and up to 499 for its system prompt."""

IMAGE = 5000
"""Per image, whatever its size: images are scaled down to what the model sees. Anthropic's documentation ("Vision"):
width * height / 750, at most about 1,600 tokens, on newer models with more pixels about 4,800."""

_AS_IS = frozenset({"input", "input_schema", "input_examples"})
"""Fields whose objects are the client's own."""
_SETTINGS = frozenset(
    {
        *("thinking", "tool_choice", "cache_control", "inference_geo", "speed", "betas", "diagnostics"),
        *("user_profile_id", "workspace_id"),
    }
)
"""Top-level fields that steer and never become text."""


def message_charges(body: Mapping[str, JSON]) -> Iterator[Charge]:
    """Every charge of a body of `/messages` or `/messages/count_tokens`; `max_tokens` is the completion."""
    reading = _Reading(body)
    yield from charges({key: reading.of(key, value) for key, value in body.items() if key not in _SETTINGS})
    yield IMAGE * reading.images
    tools = body.get("tools")
    if isinstance(tools, list) and tools:
        yield TOOLS
        hosted = sum(isinstance(tool, dict) and tool.get("type") not in (None, "custom") for tool in tools)
        yield (CLIENT_TOOL - HOSTED) * hosted


class _Reading:
    """A body as the model reads it: without signatures, cache marks and the data of images, which are counted.

    Thinking of earlier turns is left out by some models, and so is all that a compaction stands for or that context
    management clears.
    """

    def __init__(self, body: Mapping[str, JSON]) -> None:
        self.images = 0
        self._is_cut = bool(body.get("context_management") or body.get("compaction")) or _has_compaction(body)

    def of(self, key: str, value: JSON) -> JSON:
        if key == "system" and isinstance(value, list):
            value = [{"content": value}]
        return self._node(value, perhaps=key == "messages" and self._is_cut)

    def _node(self, node: JSON, *, perhaps: bool) -> JSON:
        if isinstance(node, str):
            return Perhaps(node) if perhaps else node
        if isinstance(node, list):
            return [self._node(value, perhaps=perhaps) for value in node]
        if not isinstance(node, dict):
            return node
        kind = node.get("type")
        silent = {"cache_control"} if _is_mark(node.get("cache_control")) else set()
        if kind == "thinking":
            silent.add("signature")
        if kind == "image" and isinstance(node.get("source"), dict):
            self.images += 1
            silent.add("source")
        perhaps = perhaps or kind in ("thinking", "redacted_thinking")
        return {
            key: value if key in _AS_IS else self._node(value, perhaps=perhaps)
            for key, value in node.items()
            if key not in silent
        }


def _has_compaction(body: Mapping[str, JSON]) -> bool:
    messages = body.get("messages")
    contents = [m.get("content") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(block, dict) and block.get("type") == "compaction" for block in blocks)


def _is_mark(node: JSON) -> bool:
    return isinstance(node, dict) and node.keys() <= {"type", "ttl"} and all(len(str(v)) < 20 for v in node.values())

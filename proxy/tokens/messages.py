"""What a body of Anthropic's Messages API adds to the prompt: the general bound, and what this API adds to it.

No tokenizer of these models is public, so how near the bound is to the provider's count depends on the policy's
`tokenizer` and `factor`. May import: charges, model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proxy.model import JSON
from proxy.tokens.charges import Charge, charges

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
    pixels = [0]
    seen = {key: _read(value, pixels) for key, value in body.items() if key not in _SETTINGS}
    yield from charges(seen)
    yield IMAGE * pixels[0]
    tools = body.get("tools")
    if isinstance(tools, list) and tools:
        yield TOOLS
        yield CLIENT_TOOL * sum(isinstance(tool, dict) and tool.get("type") not in (None, "custom") for tool in tools)


def _read(node: JSON, pixels: list[int]) -> JSON:
    """`node` as the model reads it, without signatures, cache marks and the data of images, which are counted."""
    if isinstance(node, list):
        return [_read(value, pixels) for value in node]
    if not isinstance(node, dict):
        return node
    silent = {"cache_control"} if _is_mark(node.get("cache_control")) else set()
    if node.get("type") == "thinking":
        silent.add("signature")
    if node.get("type") == "image" and isinstance(node.get("source"), dict):
        pixels[0] += 1
        silent.add("source")
    return {key: value if key in _AS_IS else _read(value, pixels) for key, value in node.items() if key not in silent}


def _is_mark(node: JSON) -> bool:
    return isinstance(node, dict) and node.keys() <= {"type", "ttl"} and all(len(str(v)) < 20 for v in node.values())

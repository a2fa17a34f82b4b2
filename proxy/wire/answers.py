"""Restores a whole answer: every string of it, in the way that its place asks for.

Ids and words of the protocol stay; a `url` is percent-encoded, arguments are JSON text, the rest is prose. Offsets
of citations follow the text that they point into. Token probabilities spell the placeholders, so they go.
Unknown fields are restored like prose. Error bodies, which may quote the prompt, take the same path.

May import: model, errors, identity, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.model import JSON, Context, Moved, Restoring, Rewritten, Seen, TextRestorer, Usage
from proxy.wire.identity import Identity

PROTOCOL = frozenset(
    {
        *("id", "object", "type", "role", "model", "created", "system_fingerprint", "service_tier", "finish_reason"),
        *("tool_call_id", "call_id", "obfuscation", "signature", "encrypted_content", "thought_signature", "b64_json"),
        *("item_id", "status", "fingerprint", "partial_image_b64"),
    }
)
"""Fields whose strings are ids, enums or blobs of the protocol, unless what they hold cannot be one."""
_OPAQUE = re.compile(r"[A-Za-z0-9_.:\-/;=@+|]*\Z")
_DIGITS = re.compile(r"[0-9]{1,15}(?=(?:\.0*)?\Z)")
_MOST_TOKENS = 10**15
ENDS = frozenset({"end_index"})
"""Fields of a citation that point behind what is cited."""
PROBABILITIES = frozenset({"logprobs", "prompt_logprobs"})
"""Token by token they spell placeholders, so they go where there are any."""
TOOL_TEXTS = frozenset({"arguments", "input"})
"""What a tool is called with, beside its `name`."""


def restore_answer(body: JSON, restoring: Restoring, seen: Seen) -> JSON:
    """The answer (a chat.completion or an error body) as the client may read it. The tree passed in is not reused."""
    note(body, seen)
    if not isinstance(body, dict):
        return body
    Identity(seen, seen.choices).whole(body)
    return {
        restored_key(key, restoring): [_choice(choice, restoring) for choice in value]
        if key == "choices" and isinstance(value, list)
        else None
        if key in PROBABILITIES and not restoring.idle
        else restored(value, key, restoring)
        for key, value in body.items()
    }


def note(body: JSON, seen: Seen) -> None:
    """Takes down usage, model, finish reasons, and whether the body is an error."""
    if not isinstance(body, dict):
        return
    if isinstance(body.get("model"), str):
        seen.model = str(body["model"])
    seen.usage = usage_of(body.get("usage")) or seen.usage
    choices = body.get("choices")
    if isinstance(choices, list) and isinstance(body.get("id"), str):
        seen.id = str(body["id"])
    # What holds a piece of the answer is no error: a stream that ends behind it was cut off.
    if not choices and (body.get("error") or body.get("object") == "error"):
        seen.upstream_error = True
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and isinstance(choice.get("finish_reason"), str):
            seen.finish_reasons.append(str(choice["finish_reason"]))


def usage_of(node: JSON) -> Usage | None:
    """`{"prompt_tokens", "completion_tokens", "prompt_tokens_details": {"cached_tokens"}}`, where it is one.

    The Responses API says `input_tokens` and `output_tokens` instead; of two counts of one thing the smaller holds.
    """
    if not isinstance(node, dict):
        return None
    details = [node.get("prompt_tokens_details"), node.get("input_tokens_details")]
    return Usage(
        _smallest([node.get("prompt_tokens"), node.get("input_tokens")]),
        _smallest([node.get("completion_tokens"), node.get("output_tokens")]),
        _smallest([found.get("cached_tokens") for found in details if isinstance(found, dict)]),
    )


def _smallest(nodes: Sequence[JSON]) -> int | None:
    return min([number for number in map(count, nodes) if number is not None], default=None)


def count(node: JSON) -> int | None:
    """A number of tokens; gateways also write `12.0` and `"12"`."""
    if isinstance(node, str):
        return int(digits[0]) if (digits := _DIGITS.match(node.strip())) else None
    if isinstance(node, bool) or not isinstance(node, int | float) or abs(node) > _MOST_TOKENS:
        return None
    return int(node) if node == int(node) else None


def context_of(field: str) -> Context:
    """How a string under this field is written."""
    if field == "arguments":
        return Context.JSON
    return Context.URL if field == "url" or field.endswith("_url") else Context.PLAIN


def restored(node: JSON, field: str, restoring: Restoring) -> JSON:
    """Every string below `node` restored, protocol fields excepted; `field` is the key above."""
    if isinstance(node, str):
        stays = field in PROTOCOL and _OPAQUE.match(node)
        return node if stays else restoring.whole(node, context_of(field))[0]
    if isinstance(node, list):
        return [restored(value, field, restoring) for value in node]
    if isinstance(node, dict):
        return {restored_key(key, restoring): _member(node, key, restoring) for key in node}
    return node


def _member(node: dict[str, JSON], key: str, restoring: Restoring) -> JSON:
    value, name = node[key], node.get("name")
    if key in TOOL_TEXTS and isinstance(name, str):
        return restored(value, key, InTool(restoring, name))
    if key == "name" and not TOOL_TEXTS.isdisjoint(node):
        return value
    return restored(value, key, restoring)


@dataclass(frozen=True, slots=True)
class InTool:
    """`Restoring` inside the arguments of one tool, which the policy may exclude by its name."""

    restoring: Restoring
    tool: str

    @property
    def idle(self) -> bool:
        return self.restoring.idle

    def whole(self, text: str, context: Context, tool: str | None = None) -> tuple[str, list[Moved]]:
        return self.restoring.whole(text, context, tool or self.tool)

    def growing(self, context: Context, tool: str | None = None) -> TextRestorer:
        return self.restoring.growing(context, tool or self.tool)


def restored_key(key: str, restoring: Restoring) -> str:
    """A key of an object; plain identifiers are fields of the protocol."""
    return key if key.isidentifier() else restoring.whole(key, Context.PLAIN)[0]


def rekey(node: dict[str, JSON], restoring: Restoring) -> None:
    """Restores the keys of an object in place, in their order."""
    if not all(map(str.isidentifier, node)):
        members = [(restored_key(key, restoring), value) for key, value in node.items()]
        node.clear()
        node.update(members)


def _choice(choice: JSON, restoring: Restoring) -> JSON:
    if not isinstance(choice, dict):
        return restored(choice, "", restoring)
    out: dict[str, JSON] = {}
    for key, value in choice.items():
        if key == "message" and isinstance(value, dict):
            out[key] = message(value, restoring)
        elif key in PROBABILITIES:
            out[key] = value if restoring.idle else None
        else:
            out[restored_key(key, restoring)] = restored(value, key, restoring)
    return out


def message(node: dict[str, JSON], restoring: Restoring) -> dict[str, JSON]:
    """One message; citations are moved along with its content."""
    content, moved = node.get("content"), list[Moved]()
    if isinstance(content, str):
        content, moved = restoring.whole(content, Context.PLAIN)
    out: dict[str, JSON] = {}
    for key, value in node.items():
        if key == "content" and isinstance(content, str):
            out[key] = content
        elif key == "annotations":
            out[key] = citations(value, moved, restoring)
        else:
            out[restored_key(key, restoring)] = restored(value, key, restoring)
    return out


def citations(node: JSON, moved: Sequence[Moved], restoring: Restoring, ends: frozenset[str] = ENDS) -> JSON:
    """Citations restored, `start_index` and `end_index` (code points) mapped from the received to the restored text.

    `ends` are the fields that point behind what is cited.
    """
    return remapped(restored(node, "annotations", restoring), moved, ends)


def remapped(node: JSON, moved: Sequence[Moved], ends: frozenset[str]) -> JSON:
    """Citations with their offsets mapped from the old to the new text; both ways, for answers and for requests."""
    if isinstance(node, list):
        return [remapped(value, moved, ends) for value in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, JSON] = {}
    for key, value in node.items():
        if (key == "start_index" or key in ends) and isinstance(value, int) and not isinstance(value, bool):
            out[key] = remap(value, moved, at_end=key in ends)
        else:
            out[key] = remapped(value, moved, ends)
    return out


def cited(node: dict[str, JSON], text: str, ends: frozenset[str]) -> dict[str, JSON]:
    """An earlier answer that comes back: its `annotations` follow what was replaced in the field `text`."""
    said = node.get(text)
    if isinstance(said, Rewritten) and "annotations" in node:
        return {**node, "annotations": remapped(node["annotations"], said.moved, ends)}
    return node


def remap(offset: int, moved: Sequence[Moved], *, at_end: bool) -> int:
    """An offset of the received text in the restored one; inside a placeholder it goes to the value's edge."""
    shift = 0
    for span in moved:
        if offset >= span.end:
            shift = span.new_end - span.end
        elif offset > span.start:
            return span.new_end if at_end else span.new_start
        else:
            break
    return offset + shift

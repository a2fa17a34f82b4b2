"""Restores answers of the Responses API: whole ones, and the objects that events of its stream repeat.

The same rules as for every answer (`answers`), and what is particular here: the tools that the provider runs have no
name beside what they are called with, citations stand next to the text that they point into, and an image is a
field that elsewhere holds text. The answer echoes the request (instructions, tools, schemas, variables): restored
like everything else. Source: the OpenAI API reference and its Python SDK.

May import: model, answers, seals, the standard library.
"""

from __future__ import annotations

from proxy.model import JSON, Context, Moved, Restoring, Seen
from proxy.wire.answers import TOOL_TEXTS, InTool, citations, restored_key, usage_of
from proxy.wire.answers import restored as restored_leaf
from proxy.wire.seals import NO_SEALS, Block, Seals, digest

ENDS = frozenset({"end_index", "index"})
"""Fields of a citation that point behind what is cited."""
FAILED = frozenset({"failed", "cancelled"})
_UNFINISHED = frozenset({"queued", "in_progress"})

CALLS: dict[str, tuple[str, frozenset[str]]] = {
    "web_search_call": ("web_search", frozenset({"action"})),
    "file_search_call": ("file_search", frozenset({"queries"})),
    "computer_call": ("computer", frozenset({"action", "actions"})),
    "code_interpreter_call": ("code_interpreter", frozenset({"code"})),
    "shell_call": ("shell", frozenset({"action"})),
    "local_shell_call": ("local_shell", frozenset({"action"})),
    "apply_patch_call": ("apply_patch", frozenset({"operation"})),
    "tool_search_call": ("tool_search", frozenset({"arguments"})),
    "program": ("programmatic_tool_calling", frozenset({"code"})),
}
"""Calls without a name: what the policy calls the tool, and the fields that hold what it is called with."""
_IMAGES = frozenset({("image_generation_call", "result")})


def restore_answer(body: JSON, restoring: Restoring, seen: Seen, seals: Seals = NO_SEALS) -> JSON:
    """The answer (a response or an error body) as the client may read it. The tree passed in is not reused.

    Images that the provider drew are remembered in `seals`.
    """
    note(body, seen)
    output = body.get("output") if isinstance(body, dict) else None
    for item in output if isinstance(output, list) else []:
        remember(item, seals)
    return restored(body, "", restoring)


def drawing(data: str) -> Block:
    """An image that the provider drew (base64), in the form in which it is remembered."""
    return {"type": "image_generation_call", "result": data}


def drawn(key: bytes, body: JSON) -> list[str]:
    """The names (`seals.digest`) of the drawings among a request's items."""
    items = body.get("input") if isinstance(body, dict) else None
    calls = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    results = [call.get("result") for call in calls if call.get("type") == "image_generation_call"]
    return [digest(key, drawing(result)) for result in results if isinstance(result, str)]


def remember(item: JSON, seals: Seals) -> None:
    """Takes down the image that an item holds, if it does."""
    if isinstance(item, dict) and item.get("type") == "image_generation_call" and isinstance(item.get("result"), str):
        seals.remember(drawing(str(item["result"])))


def note(body: JSON, seen: Seen) -> None:
    """Takes down usage, model, how it ended, and whether the body is an error."""
    if not isinstance(body, dict):
        return
    if isinstance(body.get("model"), str):
        seen.model = str(body["model"])
    seen.usage = usage_of(body.get("usage")) or seen.usage
    if body.get("error") or body.get("status") in FAILED:
        seen.upstream_error = True
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    ended = reason or body.get("status")
    if isinstance(ended, str) and "output" in body:
        seen.finish_reasons.append(ended)
    identify(body, seen)
    if "output" in body and str(body.get("status")) not in _UNFINISHED:
        seen.output = body["output"]


def identify(body: JSON, seen: Seen) -> None:
    """Takes down what the provider calls the answer."""
    if isinstance(body, dict) and isinstance(body.get("id"), str):
        seen.id = str(body["id"])


def restored(node: JSON, field: str, restoring: Restoring) -> JSON:
    """`node` with every string restored in the way that its place asks for; `field` is the key above."""
    if isinstance(node, list):
        return [restored(value, field, restoring) for value in node]
    return _object(node, restoring) if isinstance(node, dict) else restored_leaf(node, field, restoring)


def tool_of(item: JSON) -> str | None:
    """What the policy calls the tool that an item calls, if it is a call."""
    if not isinstance(item, dict):
        return None
    name, kind = item.get("name"), item.get("type")
    if isinstance(name, str) and not TOOL_TEXTS.isdisjoint(item):
        return name
    return CALLS[kind][0] if isinstance(kind, str) and kind in CALLS else None


def _object(node: dict[str, JSON], restoring: Restoring) -> dict[str, JSON]:
    kind = node.get("type")
    if kind == "output_text":
        return _output_text(node, restoring)
    tool = tool_of(node)
    texts = CALLS[kind][1] if isinstance(kind, str) and kind in CALLS else TOOL_TEXTS
    out: dict[str, JSON] = {}
    for key, value in node.items():
        within = InTool(restoring, tool) if tool is not None and key in texts else restoring
        is_image = (str(kind), key) in _IMAGES
        out[restored_key(key, restoring)] = value if is_image else restored(value, key, within)
    return out


def _output_text(node: dict[str, JSON], restoring: Restoring) -> dict[str, JSON]:
    text, moved = node.get("text"), list[Moved]()
    if isinstance(text, str):
        text, moved = restoring.whole(text, Context.PLAIN)
    out: dict[str, JSON] = {}
    for key, value in node.items():
        if key == "text":
            out[key] = text
        elif key == "annotations":
            out[key] = citations(value, moved, restoring, ENDS)
        elif key == "logprobs":
            out[key] = probabilities(value, restoring)
        else:
            out[restored_key(key, restoring)] = restored(value, key, restoring)
    return out


def probabilities(node: JSON, restoring: Restoring) -> JSON:
    """Token by token they spell placeholders, so they stay only where there are none."""
    return node if restoring.idle or node is None else []

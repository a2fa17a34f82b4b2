"""The items of a Responses conversation: messages, calls and their results, reasoning.

A table per type (31, and the three of the multi-agent beta) names what is no plain text; items of any other type
are refused. Earlier answers come back here, so what the provider sealed goes back byte for byte, and token
probabilities, which would spell out what was replaced, are left out. Source: the OpenAI API reference and SDKs.

May import: model, walk, parts, schemas, attachments, signed, state, responses_answers,
responses_tools, the standard library.
"""

from __future__ import annotations

from proxy.model import JSON
from proxy.wire.answers import cited
from proxy.wire.attachments import BASE64, INPUT_PARTS, gated, image
from proxy.wire.parts import content
from proxy.wire.responses_answers import ENDS, drawing
from proxy.wire.responses_tools import ENVIRONMENT, TOOLS
from proxy.wire.schemas import schema
from proxy.wire.signed import SealedWalk
from proxy.wire.state import NAMED, is_reference, state
from proxy.wire.walk import (
    Reader,
    Table,
    Walk,
    anything,
    fields,
    fixed,
    identifier,
    items,
    labelled,
    mapping,
    sealed,
    text,
    typed,
    unknown_type,
    wrong_type,
)


def _left_out(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    return [] if node is not None else None


_CITATION = fields(dict.fromkeys(("type", "file_id", "container_id"), identifier))
_TEXT: Table = {}
_PARTS = content(
    {
        "output_text": {"logprobs": _left_out, "annotations": items(_CITATION)},
        **dict.fromkeys(("input_text", "text", "summary_text", "reasoning_text"), _TEXT),
    },
    {
        **INPUT_PARTS,
        "refusal": fields({"type": identifier, "refusal": text}),
        "encrypted_content": fields({"type": identifier, "encrypted_content": sealed}),
    },
)


def _content(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A text, or parts; the citations of earlier answers follow what was replaced in the text that they point into."""
    read = _PARTS(walk, node, path, label)
    if not isinstance(read, list):
        return read
    return [cited(part, "text", ENDS) if isinstance(part, dict) else part for part in read]


FORMAT = fields(
    {
        "format": fields({"type": identifier, "name": fixed, "description": labelled("", text), "schema": schema}),
        "verbosity": identifier,
    }
)
"""What `text` holds: how the answer is to be written."""

REASONING = fields(dict.fromkeys(("effort", "summary", "generate_summary", "context", "mode"), identifier))

_CALLER = fields({"type": identifier, "caller_id": identifier})
_ITEM: Table = {
    **dict.fromkeys(("type", "id", "status", "call_id", "execution"), identifier),
    "caller": _CALLER,
    "namespace": fixed,
}
_NAMED: Table = {**_ITEM, "name": fixed, "server_label": fixed, "approval_request_id": identifier}
_ARGUMENTS: Reader = labelled("", anything)
_OUTPUT = fields({**_NAMED, "output": _content})
_MESSAGE = fields({**_ITEM, "role": identifier, "phase": identifier, "content": _content})

_SAFETY_CHECKS = items(fields({"id": identifier, "code": identifier}))
_ACTION = fields({"type": identifier, "button": identifier})
_SOURCE = fields({"type": identifier})
_RESULT = fields({"file_id": identifier, "attributes": mapping(anything)})
_LISTED_TOOL = fields({"name": fixed, "description": labelled("", text), "input_schema": schema})
_SHELL_OUTPUT = fields({"outcome": fields({"type": identifier})})
_CODE_OUTPUT = typed(
    {
        "logs": fields({"type": identifier}),
        "image": gated("images", "an image", fields({"type": identifier, "url": image})),
    },
    "an output",
)


def _drawn(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """An image that the provider drew: what it is known to have sent to this tenant may go back to it."""
    if isinstance(node, str) and isinstance(walk, SealedWalk) and walk.seals.received(drawing(node)) is not None:
        return node
    return gated("images", "an image", BASE64)(walk, node, path, label)


_IMAGE_WORDS: Table = dict.fromkeys(("action", "background", "output_format", "quality", "size"), identifier)

_TYPES: Table = {
    "message": _MESSAGE,
    "function_call": fields({**_NAMED, "arguments": _ARGUMENTS}),
    "function_call_output": _OUTPUT,
    "custom_tool_call": fields({**_NAMED, "input": labelled("", text)}),
    "custom_tool_call_output": _OUTPUT,
    "reasoning": fields({**_ITEM, "summary": _content, "content": _content, "encrypted_content": sealed}),
    "compaction": fields({**_ITEM, "encrypted_content": sealed}),
    "compaction_trigger": fields(_ITEM),
    "program": fields({**_ITEM, "code": labelled("", text), "fingerprint": sealed}),
    "program_output": fields({**_ITEM, "result": labelled("", text)}),
    "file_search_call": fields({**_ITEM, "results": items(_RESULT)}),
    "web_search_call": fields({**_ITEM, "action": fields({"type": identifier, "sources": items(_SOURCE)})}),
    "computer_call": fields(
        {**_ITEM, "action": _ACTION, "actions": items(_ACTION), "pending_safety_checks": _SAFETY_CHECKS}
    ),
    "computer_call_output": fields(
        {
            **_ITEM,
            "output": typed({"computer_screenshot": INPUT_PARTS["computer_screenshot"]}, "an output"),
            "acknowledged_safety_checks": _SAFETY_CHECKS,
        }
    ),
    "code_interpreter_call": fields(
        {**_ITEM, "container_id": identifier, "code": labelled("", text), "outputs": items(_CODE_OUTPUT)}
    ),
    "shell_call": fields({**_ITEM, "environment": ENVIRONMENT}),
    "shell_call_output": fields({**_ITEM, "output": items(_SHELL_OUTPUT)}),
    "local_shell_call": fields({**_ITEM, "action": fields({"type": identifier, "env": mapping(anything)})}),
    "local_shell_call_output": fields({**_ITEM, "output": labelled("", text)}),
    "apply_patch_call": fields({**_ITEM, "operation": fields({"type": identifier})}),
    "apply_patch_call_output": fields({**_ITEM, "output": labelled("", text)}),
    "mcp_list_tools": fields({**_NAMED, "tools": items(_LISTED_TOOL)}),
    "mcp_call": fields({**_NAMED, "arguments": _ARGUMENTS, "error": fields({"type": identifier})}),
    "mcp_approval_request": fields({**_NAMED, "arguments": _ARGUMENTS}),
    "mcp_approval_response": fields(_NAMED),
    "tool_search_call": fields({**_ITEM, "arguments": _ARGUMENTS}),
    "tool_search_output": fields({**_ITEM, "tools": TOOLS}),
    "additional_tools": fields({**_ITEM, "role": identifier, "tools": TOOLS}),
    "image_generation_call": fields(
        {
            **_ITEM,
            **_IMAGE_WORDS,
            "result": _drawn,
            "error": fields({"type": identifier, "code": identifier, "param": identifier}),
        }
    ),
    "configuration_update": fields({**_ITEM, "reasoning": REASONING, "text": FORMAT}),
    "item_reference": state(fields(_ITEM), NAMED),
    "agent_message": fields({**_ITEM, "content": _content}),
    "multi_agent_call": fields({**_NAMED, "action": identifier, "arguments": _ARGUMENTS}),
    "multi_agent_call_output": fields({**_NAMED, "action": identifier, "output": _content}),
}


def _item(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """One item. Without a type it is a message if it has a role, and a reference if it has nothing but an id."""
    if not isinstance(node, dict):
        raise wrong_type(path, "an object")
    kind = node.get("type")
    if kind is None:
        kind = "item_reference" if is_reference(node) else "message"
    reader = _TYPES.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise unknown_type(path, "an item")
    if kind == "message" and not isinstance(node.get("role"), str):
        raise wrong_type(f"{path}.role", "a string")
    return reader(walk, node, path, "")


ITEMS = items(_item)


def text_or_items(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A text, or a list of items."""
    return (text if node is None or isinstance(node, str) else ITEMS)(walk, node, path, "")


VARIABLES = mapping(lambda walk, node, path, label: _variable(walk, node, path, label))
"""What is filled into a stored prompt: texts or content parts, by name."""


def _variable(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    if not isinstance(node, dict):
        return anything(walk, node, path, label)
    parts = _content(walk, [node], path, label)
    assert isinstance(parts, list)  # noqa: S101  (what `content` returns for a list)
    return parts[0]

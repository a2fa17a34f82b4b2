"""The events of a Responses stream: which texts grow in them, and when a text is complete.

59 types by the SDKs of late 2026. A text grows by `<name>.delta` events and is told again, whole, by its
`<name>.done`, by its part, by its item and by the response. May import: model, the standard library.
"""

from __future__ import annotations

import re

from proxy.model import JSON

GROWING: dict[str, tuple[str, str | None]] = {
    "response.output_text": ("text", "content_index"),
    "response.refusal": ("refusal", "content_index"),
    "response.reasoning_text": ("text", "content_index"),
    "response.reasoning_summary_text": ("text", "summary_index"),
    "response.function_call_arguments": ("arguments", None),
    "response.mcp_call_arguments": ("arguments", None),
    "response.custom_tool_call_input": ("input", None),
    "response.code_interpreter_call_code": ("code", None),
    "response.shell_call_command": ("command", "command_index"),
    "response.shell_call_output_content": ("output", "command_index"),
    "response.audio.transcript": ("transcript", None),
}
"""What grows: the field that says how it is written, and the index that tells several in one item apart."""

OF_TOOLS = frozenset(
    f"response.{name}"
    for name in (
        "function_call_arguments",
        "mcp_call_arguments",
        "custom_tool_call_input",
        "code_interpreter_call_code",
        "shell_call_command",
    )
)
"""Those that are what a tool is called with."""

ANNOTATION = "response.output_text.annotation.added"
ITEM_DONE = "response.output_item.done"
PARTS_DONE = {"response.content_part.done": "content_index", "response.reasoning_summary_part.done": "summary_index"}
ENDED = frozenset({"response.completed", "response.incomplete", "response.failed"})
ERROR = "error"

_STRUCTURED = frozenset(
    {
        *ENDED,
        *PARTS_DONE,
        *("response.created", "response.queued", "response.in_progress", ITEM_DONE, ANNOTATION, ERROR),
        *("response.output_item.added", "response.content_part.added", "response.reasoning_summary_part.added"),
        *("response.shell_call_command.added", "response.audio.delta", "response.audio.done"),
        "response.image_generation_call.partial_image",
        *(f"{name}.{end}" for name in GROWING for end in ("delta", "done")),
    }
)
_BARE_TYPE = re.compile(r"response\.[a-z_]{1,40}\.[a-z_]{1,40}\Z")
_BARE_FIELDS = frozenset({"type", "item_id", "output_index", "sequence_number", "obfuscation"})
_ID = re.compile(r"[A-Za-z0-9_.:\-]{0,256}\Z")


def is_known(event: dict[str, JSON]) -> bool:
    """True for an event that can be read.

    Signs of progress (`response.web_search_call.searching` and 20 more) say only which item they are about; new
    ones of that kind pass. Any other event of an unknown type might hold a text that nobody restores: it does not.
    """
    kind = event.get("type")
    if not isinstance(kind, str):
        return kind is None and bool(event.get("error"))
    if kind in _STRUCTURED:
        return True
    return bool(_BARE_TYPE.match(kind)) and all(_is_bare(key, value) for key, value in event.items())


def _is_bare(key: str, value: JSON) -> bool:
    if key == "type":
        return True
    return key in _BARE_FIELDS and not isinstance(value, list | dict) and bool(_ID.match(str(value)))

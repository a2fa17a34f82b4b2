"""The content blocks of Anthropic's Messages API in requests, and its tools: what is text, what is refused.

The tables name exemptions only; a field that is not named is read like text, a block of an unknown type is refused.
Source: the Messages API reference and its Python SDK (beta blocks included).

May import: model, errors, attachments, parts, schemas, signed, toolinput, walk,
the standard library.
"""

from __future__ import annotations

import re

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.attachments import BASE64, fetched, gated
from proxy.wire.parts import content
from proxy.wire.schemas import schema
from proxy.wire.signed import known_or, signed, thinking
from proxy.wire.toolinput import tool_input
from proxy.wire.walk import (
    Reader,
    Table,
    Walk,
    anything,
    fields,
    fixed,
    identifier,
    identifiers,
    items,
    labelled,
    sealed,
    text,
    typed,
    unknown_type,
    wrong_type,
)

CACHE = fields({"type": identifier, "ttl": identifier})
_COMMON: Table = {"type": identifier, "cache_control": CACHE}
_CITATION = fields({"type": identifier, "encrypted_index": sealed, "file_id": identifier})


def _citations(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A list of citations, or `{"enabled": true}`."""
    return items(_CITATION)(walk, node, path, "") if isinstance(node, list) else anything(walk, node, path, "")


def _pixels(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """An image in base64; of a type that cannot hold plain text, unlike SVG."""
    if not isinstance(node, dict) or not _PIXELS.match(str(node.get("media_type"))):
        raise UnsupportedByPolicy(f"{path} is not of a media type that holds pixels.", param=path)
    return _MEDIA["base64"](walk, node, path, label)


_PIXELS = re.compile(r"image/(?:png|jpe?g|gif|webp|bmp|tiff|heic|heif|avif)\Z")
_BESIDE_TEXT: Table = {"cache_control": CACHE, "citations": _citations}
_MEDIA: dict[str, Reader] = {
    "base64": fields({"type": identifier, "media_type": identifier, "data": BASE64}),
    "url": fields({"type": identifier, "url": fetched}),
    "file": fields({"type": identifier, "file_id": identifier}),
}
_IMAGE = gated(
    "images",
    "an image",
    fields({**_COMMON, "source": typed({**_MEDIA, "base64": _pixels}, "an image"), "transformations": anything}),
)
_PLAIN = fields({"type": identifier, "media_type": identifier, "data": text})
_PIECES = fields({"type": identifier, "content": content({"text": _BESIDE_TEXT}, {"image": _IMAGE})})
_SOURCE = typed(
    {
        "text": _PLAIN,
        "content": _PIECES,
        **{kind: gated("files", "a document that is no text", reader) for kind, reader in _MEDIA.items()},
    },
    "a document",
)
_DOCUMENT = fields({**_COMMON, "source": _SOURCE, "title": text, "context": text, "citations": _citations})
_SEARCH_RESULT = fields(
    {
        **_COMMON,
        "source": text,
        "title": text,
        "content": content({"text": _BESIDE_TEXT}, {}),
        "citations": _citations,
    }
)
_TOOL_REFERENCE = fields({**_COMMON, "tool_name": fixed, "name": fixed, "server_name": fixed})
_BROWSER_STATE = fields(
    {
        **_COMMON,
        "tabs": items(fields({"tab_id": identifier})),
        "state_changes": items(fields({"type": identifier, "tab_id": identifier, "download_id": identifier})),
    }
)
_IN_RESULTS: dict[str, Reader] = {
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "tool_reference": _TOOL_REFERENCE,
    "browser_state": _BROWSER_STATE,
}
_CALLER = fields({"type": identifier, "tool_id": identifier})
_CALL = fields(
    {
        **_COMMON,
        "id": identifier,
        "name": fixed,
        "server_name": fixed,
        "toolset_name": fixed,
        "input": labelled("", tool_input),
        "caller": _CALLER,
    }
)
_RETURNED: Table = {**_COMMON, "tool_use_id": identifier, "toolset_name": fixed, "caller": _CALLER}
_RESULT = fields({**_RETURNED, "content": content({"text": _BESIDE_TEXT}, _IN_RESULTS)})
_UPLOAD = gated("files", "a file kept by the provider", fields({**_COMMON, "file_id": identifier}))


def _found(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What a tool that ran at the provider returned: texts, blocks and its own kinds of result, at any depth."""
    if isinstance(node, list):
        return [_found(walk, value, f"{path}[{at}]", "") for at, value in enumerate(node)]
    if not isinstance(node, dict):
        return anything(walk, node, path, "")
    kind = node.get("type")
    reader = _FOUND.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise unknown_type(path, "a result")
    return reader(walk, node, path, "")


_HOSTED_RESULT = fields({**_RETURNED, "content": _found})
_DETAILS = fields(
    {
        "type": identifier,
        "error_code": identifier,
        "encrypted_content": sealed,
        "encrypted_stdout": sealed,
        "file_type": identifier,
        "content": _found,
        "tool_references": items(_TOOL_REFERENCE),
    }
)
_FOUND: dict[str, Reader] = {
    "text": fields({**_BESIDE_TEXT, "type": identifier, "text": text}),
    **_IN_RESULTS,
    **dict.fromkeys(
        (
            "web_search_result",
            "web_search_tool_result_error",
            "web_fetch_result",
            "web_fetch_tool_result_error",
            "code_execution_result",
            "encrypted_code_execution_result",
            "code_execution_tool_result_error",
            "bash_code_execution_result",
            "bash_code_execution_tool_result_error",
            "text_editor_code_execution_view_result",
            "text_editor_code_execution_create_result",
            "text_editor_code_execution_str_replace_result",
            "text_editor_code_execution_tool_result_error",
            "tool_search_tool_search_result",
            "tool_search_tool_result_error",
            "advisor_result",
            "advisor_redacted_result",
            "advisor_tool_result_error",
        ),
        _DETAILS,
    ),
    **dict.fromkeys(("code_execution_output", "bash_code_execution_output"), _UPLOAD),
}

_LISTED_TOOL = fields({"name": fixed, "description": labelled("", text), "input_schema": schema})
_COMPACTION = fields(
    {**_COMMON, "content": signed, "encrypted_content": sealed, "signature": sealed, "tool_changes": signed}
)

_BLOCKS: dict[str, Reader] = {
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "thinking": known_or(thinking, CACHE),
    "redacted_thinking": fields({"type": identifier, "data": sealed}),
    "compaction": known_or(_COMPACTION, CACHE),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), _CALL),
    **dict.fromkeys(("tool_result", "mcp_tool_result"), _RESULT),
    **dict.fromkeys(
        (
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "advisor_tool_result",
        ),
        _HOSTED_RESULT,
    ),
    "mcp_tool_listing": fields({**_COMMON, "mcp_server_name": fixed, "tools": items(_LISTED_TOOL)}),
    "container_upload": _UPLOAD,
    "fallback": fields({**_COMMON, "to": fields({"model": identifier}), "trigger": anything}),
}
SYSTEM = content({"text": _BESIDE_TEXT}, {})
CONTENT = content({"text": _BESIDE_TEXT}, _BLOCKS)

_TOOL = fields(
    {
        **_COMMON,
        "name": fixed,
        "description": labelled("", text),
        "input_schema": schema,
        "allowed_callers": identifiers,
    }
)
_RUN_BY_CLIENT = ("bash_", "text_editor_", "memory_", "computer_", "browser_toolset_")
_ABOUT_TOOLS = "tool_search_tool_"


def tool(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A tool that the client runs, or the search among its tools; those that run at the provider are refused."""
    if not isinstance(node, dict):
        raise wrong_type(path, "an object")
    kind = node.get("type")
    if kind in (None, "custom") or (isinstance(kind, str) and kind.startswith((*_RUN_BY_CLIENT, _ABOUT_TOOLS))):
        return _TOOL(walk, node, path, label)
    raise UnsupportedByPolicy(f"{path} is a tool that runs at the provider, which is not inspected.", param=path)

"""Tools of the Responses API as requests define them, and the choice among them.

Tools that the client runs are definitions to read. Those that run at the provider pass where all they get is what
this request tells them, inspected as it is; where they reach stored content, files or a third party, they are
refused, or the policy's switch decides. Source: the OpenAI API reference and its Python SDK (16 types).

May import: model, errors, walk, schemas, attachments, state, the standard library.
"""

from __future__ import annotations

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON
from proxy.wire.attachments import BASE64, gated, image, uninspected
from proxy.wire.schemas import pattern, schema
from proxy.wire.state import state, state_id
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
    optional,
    text,
    typed,
)

_KIND: Table = {"type": identifier, "execution": identifier, "allowed_callers": identifiers}
_NAMED: Table = {**_KIND, "name": fixed, "description": labelled("", text)}
_FUNCTION = fields({**_NAMED, "parameters": schema, "output_schema": schema})
_CUSTOM = fields({**_NAMED, "format": fields({"type": identifier, "syntax": identifier, "definition": pattern})})
_OWN: Table = {"function": _FUNCTION, "custom": _CUSTOM}


def _remote(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    raise UnsupportedByPolicy(
        f"{path} is a remote tool server: a third party that gets what the model writes. No switch allows it.",
        param=path,
    )


def _filter(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A comparison, or several joined; the attribute's name must match the stored one."""
    return fields({"type": identifier, "key": fixed, "value": anything, "filters": items(_filter)})(
        walk, node, path, label
    )


_FILE_IDS = gated("files", "a list of stored files", identifiers)
_FILE_SEARCH = fields({**_KIND, "vector_store_ids": identifiers, "filters": _filter, "ranking_options": anything})
_WEB_SEARCH = fields(
    {
        **_KIND,
        "search_context_size": identifier,
        "search_content_types": identifiers,
        "filters": fields({"allowed_domains": fixed, "blocked_domains": fixed}),
        "user_location": fields({"type": identifier}),
    }
)
_NETWORK = fields(
    {"type": identifier, "allowed_domains": fixed, "domain_secrets": uninspected("a list of credentials for hosts")}
)
_SKILL = typed(
    {
        "skill_reference": fields({**_KIND, "skill_id": identifier, "version": identifier}),
        "inline": fields({**_NAMED, "source": fields({"type": identifier, "media_type": identifier, "data": BASE64})}),
    },
    "a skill",
)
_CONTAINER = fields(
    {
        "type": identifier,
        "file_ids": _FILE_IDS,
        "memory_limit": identifier,
        "network_policy": _NETWORK,
        "skills": gated("files", "a list of skills, which are files", items(_SKILL)),
    }
)


def _container(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A new container, or the id of one whose files are stored upstream."""
    return (state_id if isinstance(node, str) else _CONTAINER)(walk, node, path, label)


ENVIRONMENT: Reader = optional(
    typed(
        {
            "container_auto": _CONTAINER,
            "local": fields({"type": identifier, "skills": items(fields(_NAMED))}),
            "container_reference": state(fields({"type": identifier, "container_id": identifier})),
        },
        "an environment",
    )
)
"""Where a shell runs."""

_IMAGE_WORDS: Table = dict.fromkeys(
    ("action", "background", "complexity", "input_fidelity", "model", "moderation", "output_format", "quality", "size"),
    identifier,
)
_IMAGES = fields(
    {
        **_KIND,
        **_IMAGE_WORDS,
        "input_image_mask": fields({"image_url": optional(image), "file_id": optional(identifier)}),
        "svg": fields({"model": identifier, "reasoning": fields({"effort": identifier})}),
    }
)
_BARE = fields({**_KIND, "environment": identifier})

_TYPES: Table = {
    **_OWN,
    "namespace": fields({**_NAMED, "tools": items(typed(_OWN, "a tool"))}),
    "tool_search": fields({**_NAMED, "parameters": schema}),
    **dict.fromkeys(("web_search", "web_search_preview"), _WEB_SEARCH),
    **dict.fromkeys(("web_search_2025_08_26", "web_search_preview_2025_03_11"), _WEB_SEARCH),
    **dict.fromkeys(("computer", "computer_use_preview", "local_shell", "apply_patch"), _BARE),
    "programmatic_tool_calling": _BARE,
    "code_interpreter": fields({**_KIND, "container": _container}),
    "shell": fields({**_KIND, "environment": ENVIRONMENT}),
    "file_search": gated("files", "a search in stored files", _FILE_SEARCH),
    "image_generation": gated("images", "a request for images", _IMAGES),
    "mcp": _remote,
}
TOOLS = items(typed(_TYPES, "a tool"))

_CHOSEN: Table = {"type": identifier, "name": fixed, "server_label": fixed}
_CHOICE = fields({**_CHOSEN, "mode": identifier, "tools": items(fields(_CHOSEN))})


def tool_choice(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A word, one tool, or a list of allowed ones; all by type and name."""
    return (_CHOICE if isinstance(node, dict) else identifier)(walk, node, path, label)

"""Samples of the Responses API for tests: one item of every type, tools of every type that passes."""

from __future__ import annotations

import json
from typing import Any

TEXT = "Mira Tallow"


def items(text: str = TEXT) -> dict[str, dict[str, Any]]:
    """One item of every type that may be read, by type; `text` stands wherever a person's text may."""
    arguments = f'{{"to": {json.dumps(text)}, "card": 4000005260181590}}'
    found: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay", "arguments": arguments},
        {"type": "function_call_output", "call_id": "call_1", "output": text},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "code", "input": text},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": text}]},
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": text}],
            "content": [{"type": "reasoning_text", "text": text}],
            "encrypted_content": "gAAAAABm_x-Y==",
            "status": "completed",
        },
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABm=="},
        {"type": "compaction_trigger"},
        {"type": "program", "id": "pg_1", "call_id": "call_3", "code": f"f('{text}')", "fingerprint": "fpr_x=="},
        {"type": "program_output", "id": "po_1", "call_id": "call_3", "result": text, "status": "completed"},
        {
            "type": "file_search_call",
            "id": "fs_1",
            "status": "completed",
            "queries": [text],
            "results": [
                {"file_id": "file_1", "filename": text, "text": text, "score": 0.5, "attributes": {"who": text}}
            ],
        },
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {
                "type": "search",
                "query": text,
                "queries": [text],
                "sources": [{"type": "url", "url": "https://example.org/?q=1"}],
            },
        },
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "call_4",
            "status": "completed",
            "pending_safety_checks": [{"id": "sc_1", "code": "malicious", "message": text}],
            "action": {"type": "type", "text": text},
            "actions": [{"type": "keypress", "keys": [text]}, {"type": "click", "button": "left", "x": 1, "y": 2}],
        },
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "status": "completed",
            "container_id": "cntr_1",
            "code": text,
            "outputs": [{"type": "logs", "logs": text}],
        },
        {
            "type": "shell_call",
            "call_id": "call_5",
            "action": {"commands": [text], "timeout_ms": 1, "max_output_length": 1},
            "environment": {"type": "local", "skills": [{"name": "s", "description": text, "path": text}]},
        },
        {
            "type": "shell_call_output",
            "call_id": "call_5",
            "output": [{"stdout": text, "stderr": text, "outcome": {"type": "exit", "exit_code": 0}}],
        },
        {
            "type": "local_shell_call",
            "id": "ls_1",
            "call_id": "call_6",
            "status": "completed",
            "action": {"type": "exec", "command": ["echo", text], "env": {"WHO": text}, "working_directory": text},
        },
        {"type": "local_shell_call_output", "id": "ls_1", "output": text},
        {
            "type": "apply_patch_call",
            "call_id": "call_7",
            "status": "completed",
            "operation": {"type": "update_file", "path": text, "diff": text},
        },
        {"type": "apply_patch_call_output", "call_id": "call_7", "status": "completed", "output": text},
        {
            "type": "mcp_list_tools",
            "id": "mcl_1",
            "server_label": "crm",
            "tools": [{"name": "t", "description": text, "input_schema": {"description": text}, "annotations": None}],
        },
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "name": "t",
            "server_label": "crm",
            "arguments": arguments,
            "output": text,
            "error": {"type": "http_error", "code": 500, "message": text},
        },
        {"type": "mcp_approval_request", "id": "ar_1", "name": "t", "server_label": "crm", "arguments": arguments},
        {"type": "mcp_approval_response", "approval_request_id": "ar_1", "approve": True, "reason": text},
        {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"q": text}},
        {
            "type": "tool_search_output",
            "call_id": None,
            "tools": [{"type": "function", "name": "f", "description": text, "parameters": {"enum": [text]}}],
        },
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "custom", "name": "c", "description": text, "format": {"type": "text"}}],
        },
        {
            "type": "image_generation_call",
            "id": "ig_1",
            "status": "completed",
            "result": None,
            "revised_prompt": text,
            "error": {"type": "moderation", "code": "x", "message": text},
        },
        {
            "type": "configuration_update",
            "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"description": text}}},
        },
        {"type": "agent_message", "author": text, "recipient": text, "content": [{"type": "input_text", "text": text}]},
        {"type": "multi_agent_call", "call_id": "call_8", "action": "spawn", "arguments": arguments},
        {"type": "multi_agent_call_output", "call_id": "call_8", "output": [{"type": "output_text", "text": text}]},
    ]
    return {str(item["type"]): item for item in found}


FUNCTION: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather in a given place",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS: dict[str, dict[str, Any]] = {
    "function": {**FUNCTION, "strict": True, "output_schema": {"description": "What comes back"}},
    "custom": {
        "type": "custom",
        "name": "code",
        "description": "Runs.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"},
    },
    "namespace": {"type": "namespace", "name": "crm", "description": "Customers", "tools": [FUNCTION]},
    "tool_search": {"type": "tool_search", "execution": "client", "description": "Finds", "parameters": {"const": "C"}},
    "web_search": {
        "type": "web_search",
        "search_context_size": "low",
        "filters": {"allowed_domains": ["example.org"]},
        "user_location": {"type": "approximate", "city": "Lyon"},
    },
    "web_search_preview": {"type": "web_search_preview_2025_03_11", "search_content_types": ["text"]},
    "computer": {"type": "computer"},
    "computer_use_preview": {
        "type": "computer_use_preview",
        "display_height": 768,
        "display_width": 1024,
        "environment": "linux",
    },
    "local_shell": {"type": "local_shell"},
    "apply_patch": {"type": "apply_patch", "allowed_callers": ["direct"]},
    "programmatic_tool_calling": {"type": "programmatic_tool_calling"},
    "code_interpreter": {
        "type": "code_interpreter",
        "container": {
            "type": "auto",
            "memory_limit": "4g",
            "network_policy": {"type": "allowlist", "allowed_domains": ["example.org"], "domain_secrets": []},
        },
    },
    "shell": {"type": "shell", "environment": {"type": "container_auto", "skills": None}},
}
"""Tools that pass without a switch."""

"""Our refusals in the shape of Anthropic's API, so that its clients raise the right error. May import: model, errors.

Source: the API reference ("Errors"), and what the official SDKs and agents look for.
"""

from __future__ import annotations

from proxy.errors import ContextLengthExceeded, Refusal
from proxy.model import JSON

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
}


def error_body(refusal: Refusal) -> dict[str, JSON]:
    """A refusal in the shape of this API: `{"type": "error", "error": {"type", "message"}}`.

    Types as the API documents them for each status. `error.code` and `error.param` say what ours say elsewhere.
    """
    kind = _KINDS.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "api_error")
    message = _too_long(refusal) if isinstance(refusal, ContextLengthExceeded) else refusal.message
    error: dict[str, JSON] = {"type": kind, "message": message, "code": refusal.code, "param": refusal.param}
    return {"type": "error", "error": error}


def _too_long(refusal: ContextLengthExceeded) -> str:
    """In this API's own words, since agents look for them before they compact a conversation."""
    if refusal.prompt > refusal.limit:
        return f"prompt is too long: {refusal.prompt} tokens > {refusal.limit} maximum"
    return (
        f"input length and `max_tokens` exceed context limit: {refusal.prompt} + {refusal.completion} > "
        f"{refusal.limit}, decrease input length or `max_tokens` and try again"
    )

"""Which APIs an upstream speaks: the operator names them, and only their paths and fields exist.

A path belongs to the first of the named dialects that has it. May import: errors, model, the dialects, endpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from proxy.errors import Refusal
from proxy.model import JSON
from proxy.wire import azure, engines, messages_errors, ollama, ollama_stream
from proxy.wire.endpoints import ENDPOINTS, Endpoint, plain_error

DEFAULT = ("openai", "azure", "anthropic")
"""Their paths differ, so one service can stand in front of any of them."""

_MESSAGES = "/v1/messages"
_COMPATIBLE = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", _MESSAGES})
_ANTHROPICS = frozenset({"anthropic-version", "x-api-key"})
"""Headers that only clients of that API send."""


def _openai(path: str) -> Endpoint | None:
    return None if path.startswith(_MESSAGES) else ENDPOINTS.get(path)


def _anthropic(path: str) -> Endpoint | None:
    return ENDPOINTS.get(path) if path.startswith(_MESSAGES) else None


def _compatible(path: str) -> Endpoint | None:
    return ENDPOINTS.get(path) if path in _COMPATIBLE else None


_TABLES: Mapping[str, Callable[[str], Endpoint | None]] = {
    "openai": _openai,
    "azure": azure.endpoint,
    "anthropic": _anthropic,
    "ollama": lambda path: ollama.endpoint(path) or _compatible(path),
    "vllm": engines.vllm,
    "sglang": engines.sglang,
}
NAMES = tuple(_TABLES)
"""What an operator can choose from."""


@dataclass(frozen=True, slots=True)
class Dialects:
    """The chosen ones, in their order."""

    names: tuple[str, ...] = DEFAULT

    def endpoint(self, path: str) -> Endpoint | None:
        """What serves a path; None where nobody does."""
        found = (_TABLES[name](path) for name in self.names)
        return next((endpoint for endpoint in found if endpoint is not None), None)

    def error_for(self, path: str, headers: Iterable[tuple[str, str]] = ()) -> Callable[[Refusal], JSON]:
        """The form in which the client expects to be refused: its path's, else that of the API that it speaks.

        `headers` have lower-case names; of a path that nobody serves they tell whose client it is.
        """
        if (endpoint := self.endpoint(path)) is not None:
            return endpoint.error
        if path.startswith("/openai/"):
            return azure.error_body
        if path.startswith("/api/"):
            return ollama_stream.error_body
        sent = {name for name, _ in headers}
        if path.startswith(_MESSAGES) or not _ANTHROPICS.isdisjoint(sent):
            return messages_errors.error_body
        if "api-key" in sent:
            return azure.error_body
        return engines.flat_error if self.names[:1] == ("sglang",) else plain_error


USUAL = Dialects()

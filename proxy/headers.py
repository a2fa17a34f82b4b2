"""Which HTTP headers pass, in both directions. Pure. May import: errors, model, the standard library.

Everything not listed is dropped: unknown headers carry user data (`x-user-email`), proxies' traces
(`x-forwarded-for`) or sessions (`cookie`). Credentials go to the upstream unchanged; all other values must
look like what the official SDKs send there, and are searched like identifiers, so that a header is no way around
the inspection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from proxy.errors import UnsupportedByPolicy
from proxy.model import Kind, Leaf

Headers = list[tuple[str, str]]

CREDENTIALS = ("authorization", "x-api-key", "api-key")

_SECRET = re.compile(r"[ -~]{1,4096}")
_IDENT = re.compile(r"[A-Za-z0-9._:/\-]{1,256}")
_WORDS = re.compile(r"[A-Za-z0-9._:/*;=,+ \-]{1,1024}")
_AGENT = re.compile(r"[A-Za-z0-9._:/;,+() \-]{1,256}")
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

CHECKED = {
    **dict.fromkeys(CREDENTIALS, _SECRET),
    "openai-organization": _IDENT,
    "openai-project": _IDENT,
    "idempotency-key": _IDENT,
    "x-client-request-id": _IDENT,
    "openai-beta": _WORDS,
    "anthropic-version": _IDENT,
    "anthropic-beta": _WORDS,
    "accept": _WORDS,
}
"""Forwarded; a value of another form refuses the request, because dropping it would change its meaning."""

STAINLESS = (
    "lang",
    "package-version",
    "os",
    "arch",
    "runtime",
    "runtime-version",
    "async",
    "retry-count",
    "read-timeout",
    "timeout",
    "raw-response",
    "poll-helper",
    "custom-poll-interval",
    "helper-method",
    "helper",
    "stream-helper",
)
OPTIONAL = {
    "user-agent": _AGENT,
    "x-request-id": REQUEST_ID,
    **{f"x-stainless-{name}": _AGENT for name in STAINLESS},
}
"""Forwarded; a value of another form is dropped."""

ANSWER_NAMES = frozenset(
    (
        "content-type",
        "x-request-id",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
        "apim-request-id",
        "azureml-model-session",
        "openai-processing-ms",
        "openai-version",
        "openai-organization",
        "openai-project",
        "openai-model",
        "anthropic-organization-id",
        "anthropic-processing-ms",
    )
)
ANSWER_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "x-ms-")
_ANSWER_VALUE = re.compile(r"[ -~]{0,4096}")


_FEWEST = 5
"""Shorter values are nothing that is looked for in identifiers."""
_USUAL = frozenset({"application/json", "text/event-stream", "false", "async:asyncio"})


def upstream_headers(received: Iterable[tuple[str, str]]) -> Headers:
    """The client's headers that go on to the upstream, names in lower case.

    Raises `UnsupportedByPolicy` for a header that matters and is repeated or malformed; the message names it.
    """
    passed: dict[str, str] = {}
    for name, value in received:
        name, value = name.lower(), value.strip(" \t")
        pattern = CHECKED.get(name)
        if pattern is None:
            optional = OPTIONAL.get(name)
            if optional is not None and optional.fullmatch(value):
                passed[name] = value
            continue
        if name in passed:
            raise UnsupportedByPolicy(f"The header {name} may be sent only once.")
        if not pattern.fullmatch(value):
            raise UnsupportedByPolicy(f"The header {name} has a value that this proxy does not forward.")
        passed[name] = value
    return list(passed.items())


def header_leaves(passed: Iterable[tuple[str, str]]) -> dict[str, Leaf]:
    """What is to be searched in the headers that go on, by name: their values, but for the client's credentials."""
    return {
        name: Leaf(f"header {name}", value, Kind.ID)
        for name, value in passed
        if name not in CREDENTIALS and len(value) >= _FEWEST and value not in _USUAL
    }


def client_headers(answered: Iterable[tuple[str, str]]) -> Headers:
    """The upstream's headers that go back to the client, names in lower case, each once (the first counts).

    Cookies, `location`, encodings, validators and everything about the connection stay here.
    """
    passed: dict[str, str] = {}
    for name, value in answered:
        name = name.lower()
        if (name in ANSWER_NAMES or name.startswith(ANSWER_PREFIXES)) and _ANSWER_VALUE.fullmatch(value):
            passed.setdefault(name, value)
    return list(passed.items())

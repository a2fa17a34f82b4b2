"""Which requests exist. Pure. May import: errors, wire (what dialects there are), the standard library.

The table is the whole truth: what is not in it is answered here and forwarded nowhere. Paths are decoded once
and compared exactly; spellings on which two servers can disagree (`..`, `//`, an encoded slash or percent sign)
are refused instead of resolved. So are dots: `.` and `..` as segments, and a dot that is encoded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

from proxy.errors import UnsupportedByPolicy
from proxy.wire.azure import API_VERSION, NAME
from proxy.wire.dialects import DEFAULT


class Target(Enum):
    """Who answers."""

    PIPELINE = "pipeline"
    HEALTH = "healthz"
    READY = "readyz"
    METRICS = "metrics"


_API_VERSION = re.compile(API_VERSION)
_BETA = re.compile(rb"beta=true")
_NO_QUERY = re.compile(rb"")
_OPENAI = frozenset({"openai"})
_ANTHROPIC = frozenset({"anthropic"})
_OLLAMA = frozenset({"ollama"})
_ENGINES = _OLLAMA | {"vllm", "sglang"}
_MODELS = _OPENAI | _ANTHROPIC | _ENGINES


@dataclass(frozen=True, slots=True)
class Route:
    """`pattern` must match the whole decoded path; `body` says whether the request carries JSON, or with `form` a form.

    `query` matches the one query string that is taken, and handed on as it is, besides none; None leaves it to the
    pipeline. `dialects` are the APIs that have it.
    """

    method: str
    pattern: re.Pattern[str]
    target: Target
    body: bool = False
    query: re.Pattern[bytes] | None = _NO_QUERY
    dialects: frozenset[str] = _OPENAI
    form: bool = False


def _azure(method: str, pattern: str) -> Route:
    return Route(method, re.compile(pattern), Target.PIPELINE, method == "POST", _API_VERSION, frozenset({"azure"}))


_ID = r"[A-Za-z0-9_\-]{1,200}"
ROUTES = (
    Route("POST", re.compile(r"/v1/chat/completions"), Target.PIPELINE, body=True, dialects=_OPENAI | _ENGINES),
    Route("POST", re.compile(r"/v1/responses"), Target.PIPELINE, body=True, dialects=_OPENAI | _ENGINES),
    Route("POST", re.compile(r"/v1/responses/(?:input_tokens|compact)"), Target.PIPELINE, body=True),
    Route(
        "POST", re.compile(r"/v1/(?:completions|embeddings)"), Target.PIPELINE, body=True, dialects=_OPENAI | _ENGINES
    ),
    Route("POST", re.compile(r"/v1/moderations"), Target.PIPELINE, body=True),
    Route("POST", re.compile(r"/v1/messages"), Target.PIPELINE, True, _BETA, _ANTHROPIC | _ENGINES),
    Route("POST", re.compile(r"/v1/messages/count_tokens"), Target.PIPELINE, True, _BETA, _ANTHROPIC),
    Route("GET", re.compile(rf"/v1/responses/{_ID}(?:/input_items)?"), Target.PIPELINE, query=None),
    Route("DELETE", re.compile(rf"/v1/responses/{_ID}"), Target.PIPELINE),
    Route("POST", re.compile(rf"/v1/responses/{_ID}/cancel"), Target.PIPELINE),
    Route("POST", re.compile(rf"/v1/conversations(?:/{_ID})?"), Target.PIPELINE, body=True),
    Route("POST", re.compile(rf"/v1/conversations/{_ID}/items"), Target.PIPELINE, body=True, query=None),
    Route("GET", re.compile(rf"/v1/conversations/{_ID}(?:/items(?:/{_ID})?)?"), Target.PIPELINE, query=None),
    Route("DELETE", re.compile(rf"/v1/conversations/{_ID}(?:/items/{_ID})?"), Target.PIPELINE),
    Route("GET", re.compile(rf"/v1/chat/completions/{_ID}(?:/messages)?"), Target.PIPELINE, query=None),
    Route("POST", re.compile(rf"/v1/chat/completions/{_ID}"), Target.PIPELINE, body=True),
    Route("DELETE", re.compile(rf"/v1/chat/completions/{_ID}"), Target.PIPELINE),
    Route("POST", re.compile(r"/v1/files"), Target.PIPELINE, body=True, form=True),
    Route("GET", re.compile(rf"/v1/files/{_ID}(?:/content)?"), Target.PIPELINE),
    Route("DELETE", re.compile(rf"/v1/files/{_ID}"), Target.PIPELINE),
    Route("POST", re.compile(r"/v1/batches"), Target.PIPELINE, body=True),
    Route("GET", re.compile(rf"/v1/batches/{_ID}"), Target.PIPELINE),
    Route("POST", re.compile(rf"/v1/batches/{_ID}/cancel"), Target.PIPELINE),
    Route("GET", re.compile(r"/v1/models"), Target.PIPELINE, dialects=_MODELS),
    Route("GET", re.compile(r"/v1/models/[A-Za-z0-9._:-]{1,128}"), Target.PIPELINE, dialects=_MODELS),
    _azure("POST", rf"/openai/deployments/{NAME}/(?:chat/completions|completions|embeddings)"),
    _azure("POST", r"/openai/(?:v1/)?responses(?:/(?:input_tokens|compact))?"),
    _azure("POST", r"/openai/v1/(?:chat/completions|completions|embeddings)"),
    _azure("GET", r"/openai/(?:v1/)?models"),
    Route("POST", re.compile(r"/api/(?:chat|generate|embed|embeddings|show)"), Target.PIPELINE, True, dialects=_OLLAMA),
    Route("GET", re.compile(r"/api/(?:tags|ps|version)"), Target.PIPELINE, dialects=_OLLAMA),
    Route("GET", re.compile(r"/healthz"), Target.HEALTH),
    Route("GET", re.compile(r"/readyz"), Target.READY),
    Route("GET", re.compile(r"/metrics"), Target.METRICS),
)

METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
KNOWN = frozenset(
    (
        "v1",
        "api",
        "openai",
        "agents",
        "assistants",
        "audio",
        "batches",
        "cancel",
        "chat",
        "chatkit",
        "client_secrets",
        "compact",
        "completions",
        "containers",
        "content",
        "conversations",
        "count_tokens",
        "decisions",
        "deployments",
        "edits",
        "embeddings",
        "evals",
        "files",
        "fine_tuning",
        "generations",
        "images",
        "input_tokens",
        "jobs",
        "live",
        "messages",
        "models",
        "moderations",
        "organization",
        "projects",
        "realtime",
        "responses",
        "search",
        "sessions",
        "skills",
        "speech",
        "threads",
        "transcriptions",
        "translations",
        "uploads",
        "vector_stores",
        "videos",
    )
)
"""Words of the providers' paths, which a message may repeat; anything else in a path may be a value."""

_AMBIGUOUS = re.compile(rb"\.\.|//|%2e|%2f|%5c|%25|%00|\\", re.IGNORECASE)


def find(method: str, raw_path: bytes, query: bytes, dialects: tuple[str, ...] = DEFAULT) -> tuple[Route, str]:
    """The route and the decoded path; raises `UnsupportedByPolicy` naming the endpoint if there is none."""
    path = _decode(raw_path)
    for route in ROUTES:
        if route.target is Target.PIPELINE and route.dialects.isdisjoint(dialects):
            continue
        if route.method == method and route.pattern.fullmatch(path):
            if query and route.query is not None and not route.query.fullmatch(query):
                raise UnsupportedByPolicy("This endpoint takes no such query string.")
            return route, path
    raise UnsupportedByPolicy(f"The endpoint {_name(method, path)} is not inspected, so it is not forwarded.")


def _decode(raw_path: bytes) -> str:
    if _AMBIGUOUS.search(raw_path):
        raise UnsupportedByPolicy("The path is not written in its plain form.")
    try:
        path = unquote(raw_path.decode("ascii"), errors="strict")
    except UnicodeDecodeError:
        raise UnsupportedByPolicy("The path is not UTF-8.") from None
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise UnsupportedByPolicy("The path is not written in its plain form.")
    return path


def _name(method: str, path: str) -> str:
    shown = [part if part in KNOWN else "..." for part in path.split("/")[1:7]]
    return f"{method if method in METHODS else 'with this method'} /{'/'.join(shown)}"

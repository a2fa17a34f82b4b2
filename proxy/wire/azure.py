"""Azure OpenAI: the OpenAI API under paths of its own, with the deployment in the path as the model.

The deployment's name is what decides which model answers (a `model` in the body is ignored there), so it is held to
the policy's limits and searched like the body's `model`; answers name the model behind it. They add the verdicts of
content filters, which are read like any field; the offsets of asynchronous filters count in the text that the filter
saw. Source: Microsoft's REST reference of Azure OpenAI and the official SDKs' Azure clients.

May import: errors, model, attachments, endpoints, walk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from proxy.errors import Refusal
from proxy.model import JSON, Visit
from proxy.wire.attachments import uninspected
from proxy.wire.endpoints import ENDPOINTS, Aids, Endpoint
from proxy.wire.walk import identifier, walk

NAME = r"[A-Za-z0-9_.:;=@+\-]{1,128}"
"""A deployment."""
API_VERSION = rb"api-version=(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[a-z]{1,16})?|v1|preview|latest)"
"""The query that every call may have."""

_DEPLOYED = re.compile(rf"/openai/deployments/({NAME})/(chat/completions|completions|embeddings)")
_PLAIN = re.compile(r"/openai(?:/v1)?/(chat/completions|completions|embeddings|responses(?:/input_tokens|/compact)?)")
_SEARCHES = uninspected("a search in a store of the client's")


def endpoint(path: str) -> Endpoint | None:
    """What serves a path, if it is one of this dialect's."""
    if plain := _PLAIN.fullmatch(path):
        return _served(plain[1])
    if deployed := _DEPLOYED.fullmatch(path):
        return _named(_served(deployed[2]), deployed[1])
    return None


def error_body(refusal: Refusal) -> dict[str, JSON]:
    """A refusal as Azure writes what its own filters refuse: OpenAI's form, and the status once more."""
    return {"error": {**refusal.body()["error"], "status": refusal.status}}


def _served(rest: str) -> Endpoint:
    inner = ENDPOINTS[f"/v1/{rest}"]

    def rewrite(body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        if isinstance(body, dict):
            for field in ("data_sources", "dataSources"):
                walk(body.get(field), f"$.{field}", visit, _SEARCHES, allowed)
        return inner.rewrite_request(body, visit, allowed, aids)

    return replace(inner, rewrite_request=rewrite, error=error_body, names_model=False)


def _named(inner: Endpoint, deployment: str) -> Endpoint:
    """The same for one deployment. Its name is a leaf like the body's `model`, which may then be missing."""

    def rewrite(body: JSON, visit: Visit, allowed: frozenset[str], aids: Aids) -> dict[str, JSON]:
        walk(deployment, "$.model", visit, identifier, allowed)
        if not isinstance(body, dict) or "model" in body:
            return inner.rewrite_request(body, visit, allowed, aids)
        rebuilt = inner.rewrite_request({**body, "model": ""}, visit, allowed, aids)
        del rebuilt["model"]
        return rebuilt

    def named(_: Mapping[str, JSON]) -> JSON:
        return deployment

    return replace(inner, rewrite_request=rewrite, model_of=named)

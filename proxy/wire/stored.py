"""The endpoints of what the provider keeps: which there are, what may stand in their query, what each does.

The id in a path names a record of ours (`chain`), without which nothing is forwarded. A query holds words, numbers and
ids only; ids are inspected. Source: the OpenAI API reference, its Python and Node SDKs.

May import: model, errors, endpoints, conversations, the modules of the APIs, the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proxy.errors import UnsupportedByPolicy
from proxy.model import Kind, Leaf, Restoring, Seen
from proxy.wire import chat, conversations, responses
from proxy.wire.endpoints import Endpoint, Keeps

_TRUTH, _NUMBER = re.compile(r"true|false"), re.compile(r"[0-9]{1,9}")
_WORD, _ID = re.compile(r"[a-z_.]{1,64}"), re.compile(r"[A-Za-z0-9_.\-]{1,200}")
_PAIR = re.compile(r"([a-z_]{1,32})(?:\[\]|%5B%5D|%5b%5d)?=(.{1,200})")
_LISTS: Mapping[str, re.Pattern[str]] = {"limit": _NUMBER, "order": _WORD, "after": _ID, "include": _WORD}


@dataclass(frozen=True, slots=True)
class Stored:
    """One endpoint. `kind` is what the id in its path stands for ("" where there is none yet); `forgets`: it is gone
    afterwards; `adds`: the body goes into it; `whole`: the answer is the stored answer itself."""

    method: str
    path: re.Pattern[str]
    kind: str
    endpoint: Endpoint
    params: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    body: bool = False
    forgets: bool = False
    adds: bool = False
    whole: bool = False


_RESPONSE = Endpoint(
    rewrite_request=lambda body, visit, allowed, _: conversations.rewrite_request(body, visit, allowed),
    restore_answer=lambda body, restoring, seen, _: responses.restore_answer(body, restoring, seen),
    opening=lambda _: "",
    stream=lambda restoring, seen, _: responses.ResponsesStream(restoring, seen),
    prompt="items",
    model=False,
    measured=False,
)
_CONVERSATION = replace(_RESPONSE, stream=None)
_COMPLETION = replace(
    _CONVERSATION, restore_answer=lambda body, restoring, seen, _: chat.restore_answer(body, restoring, seen)
)


def _at(path: str) -> re.Pattern[str]:
    """A path as a pattern, with groups `id` and `item`."""
    for name in ("id", "item"):
        path = path.replace(f"{{{name}}}", rf"(?P<{name}>[A-Za-z0-9_\-]{{1,200}})")
    return re.compile(f"/v1/{path}")


STORED = (
    Stored(
        "GET",
        _at("responses/{id}"),
        "response",
        _RESPONSE,
        {"stream": _TRUTH, "starting_after": _NUMBER, "include_obfuscation": _TRUTH, "include": _WORD},
        whole=True,
    ),
    Stored("DELETE", _at("responses/{id}"), "response", _CONVERSATION, forgets=True),
    Stored("POST", _at("responses/{id}/cancel"), "response", _CONVERSATION, whole=True),
    Stored("GET", _at("responses/{id}/input_items"), "response", _CONVERSATION, _LISTS),
    Stored("POST", _at("conversations"), "", replace(_CONVERSATION, keeps=Keeps("conversation")), body=True),
    Stored("GET", _at("conversations/{id}"), "conversation", _CONVERSATION),
    Stored("POST", _at("conversations/{id}"), "conversation", _CONVERSATION, body=True),
    Stored("DELETE", _at("conversations/{id}"), "conversation", _CONVERSATION, forgets=True),
    Stored("GET", _at("conversations/{id}/items"), "conversation", _CONVERSATION, _LISTS),
    Stored(
        "POST", _at("conversations/{id}/items"), "conversation", _CONVERSATION, {"include": _WORD}, body=True, adds=True
    ),
    Stored("GET", _at("conversations/{id}/items/{item}"), "conversation", _CONVERSATION, {"include": _WORD}),
    Stored("DELETE", _at("conversations/{id}/items/{item}"), "conversation", _CONVERSATION),
    Stored("GET", _at("chat/completions/{id}"), "completion", _COMPLETION),
    Stored("POST", _at("chat/completions/{id}"), "completion", _COMPLETION, body=True),
    Stored("DELETE", _at("chat/completions/{id}"), "completion", _COMPLETION, forgets=True),
    Stored("GET", _at("chat/completions/{id}/messages"), "completion", _COMPLETION, _LISTS),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for something stored: the endpoint, the id in its path, the query to be forwarded, and what of path
    and query a client chose. `after`: events up to this number are not wanted."""

    stored: Stored
    id: str
    query: str
    leaves: tuple[Leaf, ...]
    after: int = -1

    def endpoint(self) -> Endpoint:
        """The endpoint for exactly this request."""
        if self.after < 0:
            return self.stored.endpoint
        after = self.after

        def stream(restoring: Restoring, seen: Seen, _: object) -> responses.ResponsesStream:
            return responses.ResponsesStream(restoring, seen, after)

        return replace(self.stored.endpoint, stream=stream)


def find(method: str, path: str) -> tuple[Stored, str] | None:
    """The endpoint at a decoded path, and the id in it."""
    for stored in STORED:
        match = stored.path.fullmatch(path) if stored.method == method else None
        if match is not None:
            return stored, match.groupdict().get("id") or ""
    return None


def asked(stored: Stored, id: str, path: str, query: str) -> Asked:
    """Raises `UnsupportedByPolicy` for a query that is not one of the endpoint's.

    A stream is taken from its beginning, and its first events are left out here: cut where the client was cut off,
    half of a placeholder could be missing.
    """
    pairs = [_pair(stored, text) for text in query.split("&")] if query else []
    match = stored.path.fullmatch(path)
    item = match.groupdict().get("item") if match else None
    leaves = [Leaf("$.path", item, Kind.ID)] if item else []
    leaves += [Leaf("$.query", value, Kind.ID) for name, value, _ in pairs if name == "after"]
    after = max((int(value) for name, value, _ in pairs if name == "starting_after"), default=-1)
    kept = "&".join(text for name, _, text in pairs if name != "starting_after")
    return Asked(stored, id, kept, tuple(leaves), after)


def _pair(stored: Stored, text: str) -> tuple[str, str, str]:
    match = _PAIR.fullmatch(text)
    wanted = stored.params.get(match[1]) if match else None
    if match is None or wanted is None or not wanted.fullmatch(match[2]):
        raise UnsupportedByPolicy("The query of this request is not one that this endpoint takes.")
    return match[1], match[2], text

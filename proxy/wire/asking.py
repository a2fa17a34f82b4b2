"""Asking a stream for the provider's token count, where the client did not.

Without it a stream says nothing about the prompt that the provider read. The client, who did not ask, does not see
the answer (`stream.ChatStream`). Source: the OpenAI API reference, `stream_options.include_usage`.

May import: model, the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.model import JSON

_OPTIONS, _USAGE = "stream_options", "include_usage"


def asks_usage(body: Mapping[str, JSON]) -> bool:
    """Whether the request is a stream whose client does not ask for usage, so that the proxy must."""
    options = body.get(_OPTIONS)
    if body.get("stream") is not True or not (options is None or isinstance(options, dict)):
        return False
    return not (options and options.get(_USAGE) is True)


def with_usage(body: Mapping[str, JSON]) -> dict[str, JSON]:
    """The body with the question put; what else `stream_options` says stays."""
    options = body.get(_OPTIONS)
    return {**body, _OPTIONS: {**(options if isinstance(options, dict) else {}), _USAGE: True}}

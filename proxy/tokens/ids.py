"""Token ids -> the text that they stand for, where they stand for one. May import: tiktoken's `Encoding`."""

from __future__ import annotations

from collections.abc import Callable

from tiktoken import Encoding


def decoder(encoding: Encoding) -> Callable[[list[int]], str]:
    """A function from token ids to text. It raises `ValueError` for ids that are unknown, special or no UTF-8.

    A special token has no text: written out, it would be read as ordinary text and mean something else.
    """
    specials = frozenset(encoding._special_tokens.values())

    def decode(ids: list[int]) -> str:
        if not specials.isdisjoint(ids):
            raise ValueError("a special token is no text")
        try:
            return encoding.decode_bytes(ids).decode()
        except (KeyError, OverflowError, UnicodeDecodeError):
            pass
        raise ValueError("not the tokens of a text")

    return decode

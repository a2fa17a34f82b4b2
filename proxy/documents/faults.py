"""Why a document was not read. May import: the standard library."""

from __future__ import annotations


class UnreadableDocument(Exception):
    """`reason` goes on in a sentence: "... cannot be read: it is encrypted". Written here, never taken from a file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

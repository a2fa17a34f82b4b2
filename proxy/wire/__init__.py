"""Where text lives in each API's JSON and SSE, and how to take it out and put it back. Sans-I/O.

base and jsontext know JSON, walk knows leaves, sse knows framing, answers and hold know restoring; a module per
API (chat, ...) holds its tables. May import: model, errors, jiter, the standard library.
"""

"""What the bodies of `/completions`, `/embeddings` and `/moderations` add to a prompt.

Several prompts in one request are processed in a context each, and the limit is one context's: the longest counts.
Nothing is put around a prompt but a token at each end. May import: charges, model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proxy.model import JSON
from proxy.tokens.charges import FIELD, NOT_IN_PROMPT, Charge, charges

ENDS = 2
"""Per prompt: one token before and one behind it (BERT-like embedding models have both, decoders the first)."""

INFILL = 3 + 2
"""With a suffix: the three marks of fill-in-the-middle, and what cutting a text in two may add."""

_PROMPTS = ("prompt", "input")
_SILENT = frozenset({"suffix", "encoding_format", "dimensions", "echo", "input_type", "truncate"})


def prompt_charges(body: Mapping[str, JSON]) -> Iterator[Charge]:
    """Every charge of a body whose prompts are strings, token ids, or the parts of one message to be classified.

    A field that is not known counts as if it stood in front of the prompt.
    """
    yield ENDS
    for name in _PROMPTS:
        yield from _prompts(body.get(name))
    suffix = body.get("suffix")
    if isinstance(suffix, str) and suffix:
        yield INFILL
        yield suffix
    known = NOT_IN_PROMPT | _SILENT
    rest = {key: value for key, value in body.items() if key not in known and key not in _PROMPTS}
    if any(value is not None for value in rest.values()):
        yield FIELD
        yield from charges(rest)


def _prompts(value: JSON) -> Iterator[Charge]:
    if value is None:
        return
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from charges({"messages": [{"content": value}]})
        return
    alone = not isinstance(value, list) or all(isinstance(item, int) for item in value)
    prompts: list[JSON] = [value] if alone or not isinstance(value, list) else value
    texts = tuple(prompt for prompt in prompts if isinstance(prompt, str))
    if texts:
        yield texts
    yield max((len(prompt) for prompt in prompts if isinstance(prompt, list)), default=0)

"""Tokens of a prompt against the served limit: the measure stage.

`count_prompt` gives an upper bound of what the provider will count, `requested_completion` what the client asks to
be generated, `check_limit` compares their sum with what the deployment holds: generated tokens occupy the same
context as the prompt. All functions are pure and synchronous; tokenizing releases the GIL, so the pipeline runs
them in worker threads.

May import: model, errors, policy.limits, proxy.tokens (the owner of tiktoken), the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from proxy.errors import BadRequest, ContextLengthExceeded
from proxy.model import JSON
from proxy.policy.limits import TokenizerSource
from proxy.tokens.cache import Cache, CachedCounter
from proxy.tokens.charges import Charge, Charging, Perhaps, charges
from proxy.tokens.counter import Bounds, Counter, EncodingCounter, check_deadline, load_counter, scaled
from proxy.tokens.files import WrongTokenizer, counter_from, read_verified
from proxy.tokens.ids import decoder
from proxy.tokens.ranks import CorruptRanks

__all__ = [
    "CorruptRanks",
    "Counter",
    "Counters",
    "Measured",
    "WrongTokenizer",
    "check_limit",
    "count_output",
    "count_prompt",
    "load_counter",
    "load_file",
    "measure",
    "requested_completion",
    "scaled",
    "verify_file",
]

_MOST_TOKENS = 1_000_000_000
"""More than any window; a longer number could be anything, and refusals and the audit repeat this one."""
_COMPLETION_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")

_PICTURE = "image_generation_call"

EXACT_BYTES = 8_000_000
"""Bodies up to this size are counted to the end, so that the error over the limit tells the true number.

Stopping early would not lower the worst case: the slowest texts (runs of white space or of dashes, 0.15 s a MB) have
so few tokens that 8 MB of them stay within a limit of 200,000 and must be counted whole anyway. Natural text takes
0.03 s a MB. (CPU time of one core, measured with `benchmarks/counting.py`.)
"""


BOUNDED_BYTES = 1 << 20
"""Bodies from this size on are held against bounds first: counting 1 MB takes 0.03 to 0.15 s, bounding it 0.002 s."""


def verify_file(source: TokenizerSource) -> None:
    """Raises `WrongTokenizer` if a tokenizer's file is absent or another one."""
    read_verified(source.file, source.package, source.sha256)


def load_file(source: TokenizerSource) -> Counter:
    """The counter for a tokenizer's file, tested against the library that it was made for. Raises `WrongTokenizer`."""
    return counter_from(read_verified(source.file, source.package, source.sha256), source.name)


class Counters:
    """Every tokenizer that policies may name, loaded once at start and never changed; and the counts of late.

    `files` are the tokenizers that a policy brings. Raises `CorruptRanks`, `WrongTokenizer`.
    """

    def __init__(self, tokenizers: Iterable[str], files: Iterable[TokenizerSource] = ()) -> None:
        self._loaded = {name: load_counter(name) for name in tokenizers}
        counters = self._loaded.items()
        self._decoders = {name: decoder(c.encoding) for name, c in counters if isinstance(c, EncodingCounter)}
        # Not among the decoders: the ids of such a file are not the ranks of what it was converted to.
        self._loaded |= {source.name: load_file(source) for source in files}
        self._cache = Cache()

    def decoder(self, tokenizer: str, factor: float) -> Callable[[list[int]], str] | None:
        """Token ids -> text, where the tokenizer is the model's own (no factor); else None."""
        return self._decoders.get(tokenizer) if factor == 1 else None

    def of(self, tokenizer: str, factor: float, tenant: bytes | None = None) -> Counter:
        """The counter for a model's tokenizer and factor. Raises `KeyError` for a tokenizer that was not loaded.

        With `tenant`, a key that no other tenant has, it remembers what it counted.
        """
        counter = self._loaded[tokenizer]
        if tenant is not None and tokenizer != "bytes":
            counter = CachedCounter(counter, self._cache, tenant)
        return scaled(counter, factor)


@dataclass(frozen=True, slots=True)
class Measured:
    """Tokens of one request: the bound of its prompt, and the completion that it asks for (0: it does not say).

    `texts` is the part of `prompt` that stands in the request as text: without overheads of templates, allowances for
    what the provider adds, guesses at what is sealed, and what a provider may leave out. A provider that read the
    prompt counted at least about this.

    With `bounded`, nothing was counted since bounds were enough: `prompt` is at least the prompt's tokens if the
    request fits, and at most these if it does not; `texts` is at most what it says.
    """

    prompt: int
    completion: int
    texts: int = 0
    bounded: bool = False


def measure(
    body: Mapping[str, JSON],
    counter: Counter,
    limit: int | None,
    *,
    size: int,
    deadline: float | None = None,
    charging: Charging = charges,
) -> Measured:
    """Both numbers of a request whose body had `size` bytes; to be handed to `check_limit`.

    If the body is larger than `EXACT_BYTES` and over `limit`, counting stops there: `prompt` is then a number that
    is certainly reached, itself over the limit, and the error's total means "at least". `charging` says what the
    endpoint's bodies add to the prompt. From `BOUNDED_BYTES` on, nothing is counted if bounds tell enough. Raises as
    the parts do.
    """
    completion = requested_completion(body)
    if limit is not None and size >= BOUNDED_BYTES:
        bounded = _bounded(body, counter, limit, completion, deadline, charging)
        if bounded is not None:
            return bounded
    stop_above = None if limit is None or size <= EXACT_BYTES else max(0, limit - completion)
    prompt, texts = _count(body, counter, stop_above, deadline, charging)
    return Measured(prompt, completion, texts)


def _bounded(
    body: Mapping[str, JSON],
    counter: Counter,
    limit: int,
    completion: int,
    deadline: float | None,
    charging: Charging,
) -> Measured | None:
    """The verdict that bounds allow: over as soon as the lower one is, within if the upper one is, else None."""
    room = limit - completion
    least = texts = 0
    most: int | None = 0
    for charge in charging(body):
        check_deadline(deadline)
        bounds = _bounds(charge, counter)
        least += bounds.least
        texts += 0 if isinstance(charge, int | Perhaps) else bounds.least
        most = None if most is None or bounds.most is None else most + bounds.most
        if least > room:
            return Measured(least, completion, texts, bounded=True)
    return Measured(most, completion, texts, bounded=True) if most is not None and most <= room else None


def _bounds(charge: Charge, counter: Counter) -> Bounds:
    if isinstance(charge, int):
        return Bounds(charge, charge)
    if isinstance(charge, str):
        return counter.bounds(charge)
    found = [counter.bounds(text) for text in charge]
    highest = [bounds.most for bounds in found if bounds.most is not None]
    return Bounds(max(bounds.least for bounds in found), max(highest) if len(highest) == len(found) else None)


def count_prompt(
    body: Mapping[str, JSON],
    counter: Counter,
    stop_above: int | None = None,
    deadline: float | None = None,
    charging: Charging = charges,
) -> int:
    """An upper bound, in tokens, of the prompt that a provider makes of a body of chat completions or responses.

    For plain chats it is never below OpenAI's published formula (3 per message, the tokens of every value, 1 per
    name, 3 for the reply) and above it by at most 8 per request, 2 per message, and a little per unusual key.
    Counted besides: every string, key and number below `messages` or `input`, known or not; tool calls; and every
    top-level field that is not in the closed list `NOT_IN_PROMPT`. The constants and their sources:
    `proxy.tokens.charges`. Other endpoints have a `charging` of their own: `proxy.tokens.messages` and `.prompts`.

    `stop_above` and `deadline` as in `Counter.count`: a number above `stop_above` may be less than the full count.
    Raises `BadRequest` (lone surrogates, absurd numbers), `Unavailable` (`measure_timeout`, `measure_failed`).
    """
    return _count(body, counter, stop_above, deadline, charging)[0]


def count_output(output: JSON, counter: Counter) -> int:
    """An upper bound, in tokens, of what an answer of the Responses API adds to the next prompt if it is kept.

    Pictures are left out: as input they cost a fixed number, and only where they are sent.
    """
    items = output if isinstance(output, list) else [output]
    kept: list[JSON] = [
        {**item, "result": None} if isinstance(item, dict) and item.get("type") == _PICTURE else item for item in items
    ]
    return count_prompt({"input": kept}, counter)


def _count(
    body: Mapping[str, JSON], counter: Counter, stop_above: int | None, deadline: float | None, charging: Charging
) -> tuple[int, int]:
    """The bound, and how much of it is the text of the request."""
    total = texts = 0
    for charge in charging(body):
        check_deadline(deadline)
        left = None if stop_above is None else stop_above - total
        tokens = _tokens(charge, counter, left, deadline)
        total += tokens
        texts += tokens if _is_certain(charge) else 0
        if stop_above is not None and total > stop_above:
            break
    return total, texts


def _is_certain(charge: Charge) -> bool:
    text = charge[0] if isinstance(charge, tuple) else charge
    return not isinstance(text, int | Perhaps)


def _tokens(charge: Charge, counter: Counter, stop_above: int | None, deadline: float | None) -> int:
    if isinstance(charge, int):
        return charge
    texts = (charge,) if isinstance(charge, str) else charge
    return max(counter.count(text, stop_above, deadline) for text in texts)


def requested_completion(body: Mapping[str, JSON]) -> int:
    """Tokens that the client asks to be generated: the largest of the fields that say so, 0 if none does.

    `n` and `best_of` do not multiply it: each choice is generated in a context of its own, behind the same prompt,
    and the limit is one context's. Null counts as absent. Raises `BadRequest` that names the field.
    """
    return max(_completion(body.get(name), name) for name in _COMPLETION_FIELDS)


def _completion(value: JSON, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadRequest(f"'{name}' must be an integer of at least 0.", param=name)
    if value > _MOST_TOKENS:
        raise BadRequest(f"'{name}' is no number of tokens.", param=name)
    return value


def check_limit(measured: Measured, limit: int | None, *, param: str = "messages") -> None:
    """Raises `ContextLengthExceeded` if prompt and completion together exceed `limit` tokens; None is no limit.

    `param` is the field that the error names: `messages`, or `input` for the Responses API.
    """
    if limit is not None and measured.prompt + measured.completion > limit:
        raise ContextLengthExceeded(limit, measured.prompt, measured.completion, param=param)

"""Whether the pieces of an answer belong together, and to one request: ids, models, indices, order, ends.

The second family of the incident that this product guards against: a pooled connection or a shared page hands one
request the answer, or the rest of the answer, of another. Its text may look like any text; its envelope often does
not. What does not belong is noted in `Seen.odd` under a code, never with a value. One instance an answer, sans-I/O.

Sources: the OpenAI API reference ("Streaming": every chunk of a completion has the same `id`; `choices[].index`;
`sequence_number` of a response's events), the Anthropic API reference ("Streaming messages": event flow).
May import: model, the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.model import JSON, Seen

MIXED_IDS = "mixed_ids"
"""Pieces of one answer bear different ids."""
MIXED_MODELS = "mixed_models"
"""Pieces of one answer name different models."""
STRAY_CHOICE = "stray_choice"
"""A choice that was not asked for, or one that is there twice."""
AFTER_END = "after_end"
"""Text of a choice or block that had ended."""
OUT_OF_ORDER = "out_of_order"
"""Numbers of events or blocks that go back, repeat or jump."""
UNBILLED = "unbilled_text"
"""Text in an answer for which the provider counted no completion."""
ODD = frozenset({MIXED_IDS, MIXED_MODELS, STRAY_CHOICE, AFTER_END, OUT_OF_ORDER, UNBILLED})

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "text", "tool_calls", "function_call")


@dataclass(slots=True)
class Identity:
    """What one answer said about itself so far. `choices` is how many were asked for, None if that is not known."""

    seen: Seen
    choices: int | None = None
    _id: str | None = field(default=None, repr=False)
    _model: str | None = field(default=None, repr=False)
    _ended: set[int] = field(default_factory=set)
    _blocks: set[int] = field(default_factory=set)
    _number: int = -1
    _bore_text: bool = False

    def whole(self, body: Mapping[str, JSON]) -> None:
        """A complete answer of chat completions or completions."""
        self._choices_of(body, repeated=True)
        self._unbilled()

    def chunk(self, body: Mapping[str, JSON]) -> None:
        """One chunk of a stream of chat completions or completions."""
        self._names(body.get("id"), body.get("model"))
        self._choices_of(body, repeated=False)
        self._unbilled()

    def event(self, event: Mapping[str, JSON]) -> None:
        """One event of a response's stream."""
        number = event.get("sequence_number")
        if isinstance(number, int) and not isinstance(number, bool):
            if number <= self._number:
                self.seen.odd.add(OUT_OF_ORDER)
            self._number = number
        response = event.get("response")
        if isinstance(response, dict):
            self._names(response.get("id"), response.get("model"))
        index = event.get("output_index")
        if event.get("type") == "response.output_item.added" and isinstance(index, int):
            self._opens(index, first=False)

    def block(self, event: Mapping[str, JSON]) -> None:
        """One event of a message's stream."""
        kind, index = event.get("type"), event.get("index")
        message = event.get("message")
        if kind == "message_start" and isinstance(message, dict):
            if self._number >= 0:
                self.seen.odd.add(OUT_OF_ORDER)
            self._number = 0
            self._names(message.get("id"), message.get("model"))
        if not isinstance(index, int):
            return
        if kind == "content_block_start":
            self._opens(index, first=True)
        elif kind == "content_block_delta" and index in self._ended:
            self.seen.odd.add(AFTER_END)
        elif kind == "content_block_stop":
            self._ended.add(index)

    def _opens(self, index: int, *, first: bool) -> None:
        """Blocks and items are numbered in the order in which they begin; a stream taken up again starts later."""
        expected = max(self._blocks) + 1 if self._blocks else 0 if first else index
        if index != expected:
            self.seen.odd.add(OUT_OF_ORDER)
        self._blocks.add(index)

    def _names(self, identifier: JSON, model: JSON) -> None:
        if isinstance(identifier, str) and identifier:
            if self._id is not None and identifier != self._id:
                self.seen.odd.add(MIXED_IDS)
            self._id = self._id or identifier
        if isinstance(model, str) and model:
            if self._model is not None and model != self._model:
                self.seen.odd.add(MIXED_MODELS)
            self._model = self._model or model

    def _choices_of(self, body: Mapping[str, JSON], *, repeated: bool) -> None:
        choices = body.get("choices")
        here: set[int] = set()
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            index = choice.get("index", position)
            if not isinstance(index, int) or isinstance(index, bool):
                continue
            outside = index < 0 or (self.choices is not None and index >= self.choices)
            if outside or (repeated and index in here):
                self.seen.odd.add(STRAY_CHOICE)
            here.add(index)
            self._text_of(choice, index)

    def _text_of(self, choice: Mapping[str, JSON], index: int) -> None:
        inner = choice.get("delta", choice.get("message"))
        node = inner if isinstance(inner, dict) else choice
        bears = any(node.get(name) for name in _TEXTS)
        self._bore_text = self._bore_text or bears
        if bears and index in self._ended:
            self.seen.odd.add(AFTER_END)
        if choice.get("finish_reason") is not None:
            self._ended.add(index)

    def _unbilled(self) -> None:
        usage = self.seen.usage
        if self._bore_text and usage is not None and usage.completion == 0 and self._ended:
            self.seen.odd.add(UNBILLED)


def asked_choices(body: Mapping[str, JSON]) -> int | None:
    """How many choices a request's body asks for; None where its form does not say (several prompts, say)."""
    prompt = body.get("prompt")
    if isinstance(prompt, list):
        return None
    number = body.get("n", 1)
    if number is None:
        return 1
    return number if isinstance(number, int) and not isinstance(number, bool) else None

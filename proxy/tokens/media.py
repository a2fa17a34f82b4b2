"""What images and audio cost, and what items of the Responses API surely cost: bounds where the general one has none.

The data of an image is no text, and its URL says nothing of its size. Of what a conversation's earlier answers held,
a provider renders messages and the calls and results that it could not know otherwise; reasoning, and what its own
tools did, it may render in its own way or leave out. May import: charges, model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from proxy.model import JSON
from proxy.tokens.charges import Charge, charges, conversation, perhaps

IMAGE = 16_384
"""Per image, whatever its size. The most that a published open model makes of one by default: Qwen2-VL's
`max_pixels`, 28 * 28 pixels a token (model card)."""

OPENAI_IMAGE = 12_000
"""The same for OpenAI's models. Its guide ("Images and vision"): at most 8 tiles of 170 tokens and 85 more, or 1,536
patches times 2.46, or with the detail `original` 10,000 patches."""

OPENAI_MINI_IMAGE = 48_169
"""For gpt-4o-mini: 8 tiles of 5,667 tokens and 2,833 more (the same guide)."""

AUDIO = 32
"""Per second of audio. Gemini's documentation ("Audio understanding"): 32; OpenAI's models have about 10, open ones
(Qwen2-Audio, Voxtral) at most 25."""
SLOWEST = 750
"""Bytes of a second of audio at least: Opus at 6 kbit/s, the lowest rate of the formats that are taken."""
SLOWEST_WAV = 8_000
"""The same where the format is `wav`: telephone quality, a byte a sample."""

_OPENAI = re.compile(r"(?:.*/)?(?:gpt-(?!oss)|chatgpt-|o[1-9]|computer-use)")
_IMAGES = frozenset({"image_url", "input_image", "computer_screenshot"})
_DATA = frozenset({"image_url", "file_id"})
_CERTAIN = frozenset(
    {
        *("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
        *("local_shell_call_output", "shell_call_output", "apply_patch_call_output", "computer_call_output"),
        *("mcp_call", "program_output"),
    }
)
"""Items that must stand in the prompt: nothing of what they say is known elsewhere."""


def chat_charges(body: Mapping[str, JSON]) -> Iterator[Charge]:
    """Every charge of a body of chat completions; its images count as images."""
    seeing = _Seeing(body)
    yield from charges({key: seeing.field(key, value) for key, value in body.items()})
    yield seeing.cost


def response_charges(body: Mapping[str, JSON]) -> Iterator[Charge]:
    """Every charge of a body of responses: images count as images, some items only towards the bound."""
    seeing = _Seeing(body)
    sent = body.get("input")
    items = seeing.list_of(sent)
    if not isinstance(items, list):
        yield from charges(body)
        return
    yield from charges({**body, "input": [item for item in items if _is_certain(item)]})
    for charge in conversation([item for item in items if not _is_certain(item)]):
        yield perhaps(charge)
    yield seeing.cost


def _is_certain(item: JSON) -> bool:
    return not isinstance(item, dict) or str(item.get("type", "message")) in _CERTAIN


class _Seeing:
    """Takes the images out of a conversation and adds up what they cost."""

    def __init__(self, body: Mapping[str, JSON]) -> None:
        model = str(body.get("model", ""))
        self._each = OPENAI_IMAGE if _OPENAI.match(model) else IMAGE
        if "gpt-4o-mini" in model:
            self._each = OPENAI_MINI_IMAGE
        self.cost = 0

    def list_of(self, node: JSON) -> JSON:
        """Messages or items without their images."""
        return [self._item(item) for item in node] if isinstance(node, list) else node

    def field(self, key: str, value: JSON) -> JSON:
        """A member of a body or a message without its images."""
        if key == "images" and isinstance(value, list):
            self.cost += self._each * len(value)
            return None
        return self.list_of(value) if key == "messages" else value

    def _item(self, item: JSON) -> JSON:
        if not isinstance(item, dict):
            return item
        if item.get("type") == "image_generation_call" and item.get("result"):
            self.cost += self._each
            return {**item, "result": None}
        return {
            key: self._parts(value) if key in ("content", "output") else self.field(key, value)
            for key, value in item.items()
        }

    def _parts(self, node: JSON) -> JSON:
        return [self._part(part) for part in node] if isinstance(node, list) else self._part(node)

    def _part(self, part: JSON) -> JSON:
        if not isinstance(part, dict):
            return part
        if part.get("type") == "input_audio":
            return self._audio(part)
        if str(part.get("type")) not in _IMAGES:
            return part
        self.cost += self._each
        return {key: value for key, value in part.items() if key not in _DATA}

    def _audio(self, part: dict[str, JSON]) -> JSON:
        """Audio without its data, which is no text; how long it lasts is bounded by its bytes."""
        audio = part.get("input_audio")
        data = audio.get("data") if isinstance(audio, dict) else None
        if not isinstance(audio, dict) or not isinstance(data, str):
            return part
        second = SLOWEST_WAV if audio.get("format") == "wav" else SLOWEST
        self.cost += (len(data) * 3 // 4 // second + 1) * AUDIO
        return {**part, "input_audio": {key: value for key, value in audio.items() if key != "data"}}

"""Parts of a message that are not text: refused unless the policy's switch lets them through unread.

Only media that cannot hold plain text pass under `images`; a `data:` URL of a textual type is a file. A URL that
the upstream would fetch is a fixed leaf: something found in it refuses. May import: model, errors, walk.
"""

from __future__ import annotations

import re

from proxy.errors import UnsupportedByPolicy
from proxy.model import JSON, Kind, Leaf
from proxy.wire.walk import Reader, Walk, anything, fields, identifier, optional, text, unknown_type, wrong_type

_IMAGE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp|tiff|heic|heif|avif);base64,[A-Za-z0-9+/=_\-]*\Z", re.I)
_FILE_DATA = re.compile(r"(?:data:[a-z0-9.+\-/]{0,100};base64,)?[A-Za-z0-9+/=_\-]*\Z", re.I)
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\-]*\Z")
_FETCHED = re.compile(r"https?://", re.I)


def _image_url(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """`{"url", "detail"}`, or the URL itself."""
    if isinstance(node, str):
        return image(walk, node, path, label)
    return fields({"url": image, "detail": identifier})(walk, node, path, label)


def image(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """An image as a `data:` URL, or the URL of one."""
    if not isinstance(node, str):
        raise wrong_type(path, "a string")
    if _FETCHED.match(node):
        return fetched(walk, node, path, label)
    if not _IMAGE_DATA.match(node):
        raise UnsupportedByPolicy(f"{path} is not an image in base64 or at a URL.", param=path)
    return node


def fetched(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """A URL that the upstream would fetch."""
    if not (isinstance(node, str) and _FETCHED.match(node)):
        raise UnsupportedByPolicy(f"{path} is not an http URL.", param=path)
    return walk.visit(Leaf(path, node, Kind.FIXED))


def _opaque(alphabet: re.Pattern[str]) -> Reader:
    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is not None and not (isinstance(node, str) and alphabet.match(node)):
            raise UnsupportedByPolicy(f"{path} is not base64.", param=path)
        return node

    return read


_AUDIO = fields({"data": _opaque(_BASE64), "format": identifier})
_FILE = fields({"file_data": _opaque(_FILE_DATA), "file_id": identifier, "filename": text})


def gated(switch: str, what: str, reader: Reader) -> Reader:
    """`reader`, where the policy's switch is on; null needs none."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node is None:
            return None
        walk.need(switch, what, path)
        return reader(walk, node, path, label)

    return read


PARTS: dict[str, Reader] = {
    "image_url": gated("images", "an image", fields({"type": identifier, "image_url": _image_url})),
    "input_audio": gated("audio", "audio", fields({"type": identifier, "input_audio": _AUDIO})),
    "file": gated("files", "a file", fields({"type": identifier, "file": _FILE})),
}
"""Readers of the message parts that hold media, by type."""

BASE64 = _opaque(_BASE64)
_INPUT_IMAGE = fields(
    {"type": identifier, "image_url": optional(image), "file_id": optional(identifier), "detail": identifier}
)
_INPUT_FILE = fields(
    {
        "type": identifier,
        "file_data": _opaque(_FILE_DATA),
        "file_id": optional(identifier),
        "file_url": optional(fetched),
        "filename": text,
        "detail": identifier,
    }
)
INPUT_PARTS: dict[str, Reader] = {
    "input_image": gated("images", "an image", _INPUT_IMAGE),
    "computer_screenshot": gated("images", "an image", _INPUT_IMAGE),
    "input_audio": PARTS["input_audio"],
    "input_file": gated("files", "a file", _INPUT_FILE),
}
"""The same for the Responses API."""


def audio_id(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """An earlier spoken answer, kept upstream."""
    if node is None:
        return None
    walk.need("audio", "audio", path)
    return fields({"id": identifier, "data": _opaque(_BASE64)})(walk, node, path, label)


def modalities(walk: Walk, node: JSON, path: str, label: str) -> JSON:
    """What the answer may consist of; a spoken answer would speak placeholders."""
    if isinstance(node, list) and "audio" in node:
        walk.need("audio", "a request for audio", path)
    if isinstance(node, list):
        return [identifier(walk, value, f"{path}[{at}]", label) for at, value in enumerate(node)]
    return anything(walk, node, path, label)


def uninspected(what: str) -> Reader:
    """Fields that carry a prompt in a form that nobody reads here: refused unless empty."""

    def read(walk: Walk, node: JSON, path: str, label: str) -> JSON:
        if node in (None, [], {}, ""):
            return node
        raise unknown_type(path, what)

    return read

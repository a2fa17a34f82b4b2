"""A trained component as one small file, and back (`recognizers.weights` reads it).

May import: recognizers.weights, srsly, numpy, the standard library.
"""

from __future__ import annotations

import hashlib
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from recognizers.weights import FORMAT

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def pack(nlp: Any, labels: tuple[str, ...], config: dict[str, Any]) -> bytes:
    """The `ner` component of `nlp`; arrays are rounded to half precision, which is what then must be measured."""
    message = srsly.msgpack_loads(nlp.get_pipe("ner").to_bytes(exclude=["vocab"]))
    model = srsly.msgpack_loads(message["model"])
    model["params"] = [
        {name: np.asarray(array, dtype=np.float16) if hasattr(array, "astype") else array for name, array in p.items()}
        for p in model["params"]
    ]
    content = {
        "format": FORMAT,
        "lang": nlp.lang,
        "labels": list(labels),
        "config": config,
        "cfg": message["cfg"],
        "moves": message["moves"],
        "model": model,
    }
    return lzma.compress(srsly.msgpack_dumps(content), format=lzma.FORMAT_XZ, filters=_FILTERS)


def write(path: Path, packed: bytes) -> str:
    """Writes the file and returns its sha256, to be pinned in `recognizers/models.py`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed)
    return hashlib.sha256(packed).hexdigest()

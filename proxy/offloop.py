"""Work that would hold up everybody's requests is done beside the event loop. May import: the standard library."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
INLINE = 16_384
"""Bytes up to which a body is parsed and rebuilt on the event loop; a longer one in a thread."""


async def off_loop(function: Callable[..., T], *arguments: Any, size: int) -> T:
    """Runs a pure function, in a thread if its input is long (`size` in bytes), so that the loop goes on answering."""
    if size <= INLINE:
        return function(*arguments)
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(function, *arguments))

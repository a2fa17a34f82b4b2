"""Do the recognizers and models that a policy brings along work? Tried in a process of its own before they serve.

The service's main process never imports their code. A recognizer that finds nothing in any of its examples is no
recognizer: it must not be able to pass for one.

May import: custom, the standard library.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from recognizers.custom import Brought, CustomSpec, bring, build_custom

SECONDS = 300.0
"""Longest time that loading and trying may take, all together."""


def fault(specs: Sequence[CustomSpec], seconds: float = SECONDS) -> str | None:
    """What is wrong with the first declaration that cannot work, in words; None if all can."""
    ours = [spec for spec in specs if not isinstance(spec, Brought)]
    brought = [spec for spec in specs if isinstance(spec, Brought)]
    try:
        build_custom(ours)
    except ValueError as error:
        return str(error)
    return _apart(brought, seconds) if brought else None


def _apart(brought: Sequence[Brought], seconds: float) -> str | None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_try_all, args=(brought, there), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            return f"{_titles(brought)}: not loaded within {seconds:.0f} seconds"
        found: str | None = here.recv()
        return found
    except EOFError:
        return f"{_titles(brought)}: the process that tried it ended by itself"
    finally:
        here.close()
        process.kill()
        process.join()


def _try_all(brought: Sequence[Brought], answer: Connection) -> None:
    answer.send(next(filter(None, _faults(brought)), None))


def _faults(brought: Sequence[Brought]) -> Iterator[str | None]:
    for spec in brought:
        try:
            yield _try(spec)
        except ValueError as error:
            yield str(error)
        except Exception as error:
            yield f"{spec.title} does not load ({type(error).__name__})"


def _try(spec: Brought) -> str | None:
    recognizer: Any = bring(spec)
    for text in spec.examples:
        try:
            found = recognizer.analyze(text, recognizer.supported_entities, None)
        except Exception as error:
            return f"{spec.title} fails on an example under 'tests' ({type(error).__name__})"
        if found:
            return None
    return f"{spec.title} finds nothing in the examples under 'tests'"


def _titles(brought: Sequence[Brought]) -> str:
    return ", ".join(spec.title for spec in brought)

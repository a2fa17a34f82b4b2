"""`caviardage demo`: the main job on this machine alone. May import: proxy.demo, typer."""

from __future__ import annotations

import typer


def demo() -> None:
    """Shows the main job end to end, without a key: what was written, what the provider saw, what came back."""
    from proxy.demo import run  # the OpenAI client is loaded for this command only

    raise typer.Exit(run())

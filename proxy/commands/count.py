"""`caviardage count`: how many tokens is this? May import: measure, policy, recognizers, wire.base, typer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from proxy import measure
from proxy.errors import BadRequest, Refusal
from proxy.policy import Policy, PolicyError, load_policy, report
from proxy.policy.limits import TokenizerSource
from proxy.wire.base import parse_strict
from recognizers import ENTITIES

UNREADABLE = 2


def count(
    files: Annotated[list[Path], typer.Argument(help="Text files or chat-completions bodies; - is standard input.")],
    tokenizer: Annotated[str, typer.Option(help="o200k_base, cl100k_base, or bytes (an upper bound).")] = "o200k_base",
    factor: Annotated[float, typer.Option(help="What a count is multiplied by, 1 or more.")] = 1.0,
    policy: Annotated[Path | None, typer.Option(help="Take tokenizer and limit from this policy, for --model.")] = None,
    model: Annotated[str, typer.Option(help="The model, if a policy is given.")] = "",
) -> None:
    """Measures files in tokens, the way the proxy measures prompts. Exit status 1 if one is over the limit.

    A line a file: tokens, with a policy what is served, and the name, between tabs; on a terminal under a head line.
    """
    served, sources = None, dict[str, TokenizerSource]()
    if policy is not None:
        loaded = _load(policy)
        limit, sources = loaded.limit_for(model), {source.name: source for source in loaded.tokenizers}
        if limit is None:
            raise typer.BadParameter("the policy states no limit for this model", param_hint="--model")
        tokenizer, factor, served = limit.tokenizer, limit.factor, limit.served
    try:
        source = sources.get(tokenizer)
        counter = measure.load_counter(tokenizer) if source is None else measure.load_file(source)
        counter = measure.scaled(counter, factor)
    except (ValueError, measure.WrongTokenizer) as error:
        raise typer.BadParameter(str(error)) from None
    over = False
    if sys.stdout.isatty():
        typer.echo("tokens\tfile" if served is None else "tokens\tserved\tfile")
    for path in files:
        try:
            tokens = _tokens(path, counter)
        except (OSError, UnicodeDecodeError, Refusal) as error:
            reason = error.message if isinstance(error, Refusal) else "cannot be read, or is no UTF-8 text"
            typer.echo(f"{path}: {reason}", err=True)
            raise typer.Exit(UNREADABLE) from None
        typer.echo(f"{tokens}\t{path}" if served is None else f"{tokens}\t{served}\t{path}")
        over = over or (served is not None and tokens > served)
    raise typer.Exit(1 if over else 0)


def _load(path: Path) -> Policy:
    try:
        return load_policy(path, entities=ENTITIES)
    except PolicyError as error:
        typer.echo(report(error.faults), err=True)
        raise typer.Exit(UNREADABLE) from None


def _tokens(path: Path, counter: measure.Counter) -> int:
    """The prompt's tokens plus the completion asked for, if the file is a request's body; else those of its text."""
    raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        body = parse_strict(raw)
    except BadRequest:
        body = None
    if isinstance(body, dict) and "messages" in body:
        return measure.count_prompt(body, counter) + measure.requested_completion(body)
    return counter.count(raw.decode("utf-8"))

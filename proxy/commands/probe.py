"""`caviardage probe`: what does a deployment really serve? May import: proxy.probing, measure, typer, rich."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from proxy import measure

UNFINISHED = 2


def probe(
    model: Annotated[str, typer.Option(help="The model to ask.")],
    upstream: Annotated[str, typer.Option(envvar="CAVIARDAGE_UPSTREAM", help="The provider's base URL.")],
    advertised: Annotated[int, typer.Option(help="The longest prompt to try, in tokens.", min=1_000)],
    start: Annotated[int, typer.Option(help="The shortest prompt to try, in tokens.", min=200)] = 1_000,
    resolution: Annotated[float, typer.Option(help="How exactly to find the limit, as a share.")] = 0.01,
    tokenizer: Annotated[str, typer.Option(help="o200k_base, cl100k_base, or bytes.")] = "o200k_base",
    key_env: Annotated[str, typer.Option(help="The environment variable that holds the key.")] = "OPENAI_API_KEY",
    report: Annotated[Path, typer.Option(help="Where the report is kept, and taken up again.")] = Path("probe.json"),
    svg: Annotated[Path | None, typer.Option(help="Draw length against recall and usage into this file.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Do not start if a run could need more prompt tokens.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")] = False,
    every: Annotated[float, typer.Option(help="Go on: taste the found limit again after so many seconds.")] = 0,
    metrics_port: Annotated[int, typer.Option(help="With --every: serve the result as metrics on this port.")] = 9485,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for one answer.")] = 600,
) -> None:
    """Finds the limit that is really served: prompts of growing length, with words to be found again in the answer.

    One request at a time; the most that it can cost is said before it starts. Interrupt it, and the next run with the
    same report goes on. Exit status 2 if it could not be finished.
    """
    from openai import OpenAI
    from rich.console import Console

    from proxy.probing import report as reports
    from proxy.probing.run import ProbeFailed, Prober, load, save
    from proxy.probing.search import Plan

    console = Console(highlight=False)
    try:
        plan = Plan(min(start, advertised), advertised, resolution)
        counter = measure.load_counter(tokenizer)
        done = load(report) if report.exists() else []
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    most = plan.most_tokens()
    console.print(
        f"At most {plan.most_requests()} requests with {most:,} prompt tokens in all, one at a time."
        + (f" {len(done)} are in {report} already." if done else "")
    )
    if max_tokens is not None and most > max_tokens:
        raise typer.BadParameter(f"a run could need {most:,} prompt tokens", param_hint="--max-tokens")
    if not yes and not sys.stdin.isatty():
        typer.echo("There is no terminal to ask on: say --yes to go on.", err=True)
        raise typer.Exit(UNFINISHED)
    if not yes and not typer.confirm("Go on?"):
        raise typer.Exit(UNFINISHED)
    client = OpenAI(base_url=upstream, api_key=os.environ.get(key_env, "none"), max_retries=1, timeout=timeout)
    prober = Prober(client, model, counter, done)
    fault = ""
    try:
        for made in prober.run(plan):
            console.print(f"{made.tokens:>11,}  {made.verdict}")
            save(report, reports.to_json(reports.finding(model, plan, prober.probes), plan, prober.probes))
    except (ProbeFailed, ValueError) as error:
        fault = str(error)
    found = reports.finding(model, plan, prober.probes)
    console.print(reports.table(prober.probes))
    save(report, reports.to_json(found, plan, prober.probes))
    console.print(f"The report, from which a later run goes on, is in {report}.")
    if svg is not None:
        svg.write_text(reports.svg(found, prober.probes), "utf-8")
    if fault:
        console.print(f"Not finished: {fault}. What was found is in {report}; the same command goes on.", style="red")
        raise typer.Exit(UNFINISHED)
    console.print(reports.verdict(found, tokenizer))
    if every > 0:
        go_on(prober, found.served, every, metrics_port)


def go_on(prober: object, served: int, every: float, port: int) -> None:
    """Tastes one prompt just below the limit every so often, for as long as it is let; metrics tell how it went."""
    from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

    from proxy.probing.run import ProbeFailed, Prober

    assert isinstance(prober, Prober)  # noqa: S101
    registry = CollectorRegistry()
    good = Gauge(
        "caviardage_probe_good", "1 if the last prompt near the limit was answered rightly.", registry=registry
    )
    tokens = Gauge("caviardage_probe_tokens", "Tokens of that prompt.", registry=registry)
    last = Gauge("caviardage_probe_time_seconds", "When it was answered, in seconds since 1970.", registry=registry)
    failed = Counter("caviardage_probe_failures", "Prompts that could not be sent.", registry=registry)
    start_http_server(port, addr="127.0.0.1", registry=registry)
    while True:
        time.sleep(every)
        try:
            made = prober.ask(max(200, int(served * 0.98)))
        except ProbeFailed:
            failed.inc()
            continue
        good.set(float(made.is_good))
        tokens.set(made.tokens)
        last.set(time.time())

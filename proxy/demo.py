"""`caviardage demo`: the main job, end to end, on this machine alone.

Starts an echo upstream and the proxy (as its own process, the way an operator would), talks to it with the
official OpenAI client, and shows for each text what the user wrote, what the provider saw and what the user got
back. Fails if a planted value reached the provider or anything came back changed.

May import: echo, openai, rich, the standard library. All values are made up.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openai import APIStatusError, OpenAI
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from proxy.echo import Echo, Loopback, free_port

START_SECONDS = 180
POLICY = Path(__file__).resolve().parent.parent / "policies" / "default.yaml"
ENGLISH = (
    "Please write to Mrs Eleanor Whitcombe, NHS number 943 476 5919, eleanor.whitcombe@example.org. "
    "She pays from IBAN GB82 WEST 1234 5698 7654 32.",
    "Thank you. Eleanor Whitcombe also gave us her card, 4000 0052 6018 1590. Is the refund of 250 EUR due on 3 May?",
)
FRENCH = (
    "Bonjour, je m'appelle Camille Delaunay, NIR 2 85 07 75 116 042 97, courriel camille.delaunay@example.org. "
    "Mon IBAN : FR76 3000 6000 0112 3456 7890 189.",
)
TOOL_TEXT = "Send the lab report to Eleanor Whitcombe at eleanor.whitcombe@example.org, with a copy to Omar Benhaddou."
VALUES = (
    "Eleanor",
    "Whitcombe",
    "943 476 5919",
    "eleanor.whitcombe@",
    "GB82",
    "WEST",
    "7654 32",
    "4000 0052 6018 1590",
    "Camille",
    "Delaunay",
    "2 85 07 75 116 042 97",
    "camille.delaunay@",
    "FR76",
    "7890 189",
    "Omar",
    "Benhaddou",
)
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "send_mail",
        "description": "Sends a letter by e-mail.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
}


@dataclass
class Demo:
    """One run: where it talks to, what the provider received, what went wrong."""

    client: OpenAI
    echo: Echo
    console: Console
    faults: list[str] = field(default_factory=list)

    def conversation(self, title: str, turns: tuple[str, ...]) -> None:
        """A chat of several turns; the echo answers each user message with its own words."""
        messages: list[Any] = []
        for number, text in enumerate(turns, 1):
            messages.append({"role": "user", "content": text})
            raw = self.client.chat.completions.with_raw_response.create(model="gpt-4o", messages=messages)
            answer = raw.parse().choices[0].message.content or ""
            seen = self.echo.received[-1]["messages"][-1]["content"]
            self.show(f"{title}, turn {number}", text, seen, answer, raw.headers)
            messages.append({"role": "assistant", "content": answer})
        if len(turns) > 1:
            first, last = (self.echo.received[-k]["messages"] for k in (2, 1))
            if last[: len(first)] != first:
                self.faults.append(f"{title}: the beginning of the conversation changed between two turns")

    def tool_call(self) -> None:
        """A streamed tool call: the arguments come back in pieces, and as valid JSON."""
        chunks = self.client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": TOOL_TEXT}], tools=[TOOL], stream=True
        )
        arguments = ""
        for chunk in chunks:
            for call in chunk.choices[0].delta.tool_calls or [] if chunk.choices else []:
                arguments += (call.function.arguments if call.function else None) or ""
        seen = self.echo.received[-1]["messages"][-1]["content"]
        self.show("A streamed tool call", TOOL_TEXT, seen, json.loads(arguments)["text"], None)
        self.console.print(f"  send_mail got the arguments  {escape(arguments)}\n", style="dim", highlight=False)

    def refusal(self) -> None:
        """A prompt over the served limit never leaves."""
        before = len(self.echo.received)
        text = "All work and no play makes a long prompt. " * 2_000
        try:
            self.client.chat.completions.create(model="gpt-3.5-turbo", messages=[{"role": "user", "content": text}])
            self.faults.append("a prompt over the limit was answered")
        except APIStatusError as error:
            if error.status_code != 400 or error.code != "context_length_exceeded":
                self.faults.append(f"a prompt over the limit got status {error.status_code}")
            body = error.body if isinstance(error.body, dict) else {}
            self.console.print(
                Panel(
                    escape(str(body.get("message"))),
                    title=f"Over the limit: HTTP {error.status_code} {error.code}",
                    border_style="red",
                )
            )
        if len(self.echo.received) != before:
            self.faults.append("a prompt over the limit was forwarded")

    def show(self, title: str, wrote: str, saw: str, got: str, headers: Any) -> None:
        if got != wrote:
            self.faults.append(f"{title}: what came back differs from what was written")
        table = Table(show_header=False, box=None, padding=(0, 1))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row("the user wrote", escape(wrote))
        table.add_row("the provider saw", f"[cyan]{escape(saw)}[/cyan]")
        table.add_row("the user got back", escape(got))
        if headers is not None:
            counted = headers.get("x-caviardage-prompt-tokens")
            table.add_row(
                "measured", f"{counted} prompt tokens; found {escape(headers.get('x-caviardage-entities') or '')}"
            )
        self.console.print(Panel(table, title=title, title_align="left"))

    def leaks(self) -> list[str]:
        """Which planted values the provider can read anywhere in what it received."""
        received = json.dumps(self.echo.received, ensure_ascii=False)
        return [
            f"value {number} of {len(VALUES)} reached the provider"
            for number, v in enumerate(VALUES, 1)
            if v in received
        ]


@contextmanager
def serving(upstream: str) -> Iterator[str]:
    """The proxy in front of `upstream`, ready to serve; yields its base URL."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "proxy",
        "serve",
        "--upstream",
        upstream,
        "--policy",
        str(POLICY),
        "--port",
        str(port),
    ]
    quiet, environment = subprocess.DEVNULL, {**os.environ, "CAVIARDAGE_AUDIT": "-"}
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment) as process:  # noqa: S603 - our own
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/healthz", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own loopback address
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the proxy did not become ready; `caviardage serve` shows why")


def run() -> int:
    """Runs the demo; 0 if nothing leaked and everything came back exactly."""
    console = Console(highlight=False)
    echo = Echo()
    console.print(
        "Starting an echo upstream and the proxy (loading the language models takes some seconds) ...", style="dim"
    )
    with Loopback(echo.app) as upstream, serving(f"{upstream.url}/v1") as base_url:
        client = OpenAI(base_url=base_url, api_key="no-key-needed", max_retries=0, timeout=60)
        demo = Demo(client, echo, console)
        demo.conversation("English", ENGLISH)
        demo.conversation("French", FRENCH)
        demo.tool_call()
        demo.refusal()
        faults = demo.faults + demo.leaks()
    if faults:
        console.print(Panel("\n".join(faults), title="FAILED", border_style="red"))
        return 1
    console.print(
        f"None of {len(VALUES)} planted values reached the provider; every text came back letter for letter.",
        style="green",
    )
    return 0

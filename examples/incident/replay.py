"""The replay, layer by layer: who gets to see what, without the proxy, and with one of its checks after another.

Several customers use one faulty engine (`engine.py`) at the same time: two through two replicas of the proxy, one
without it. Then somebody sends a prompt that is longer than the engine can hold. The proxies are the real service,
each on a port of its own; the numbers of tokens are the incident's, divided by `SCALE`.

All names and numbers are made up. May import: engine, proxy, httpx2, openai, rich, the standard library.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from openai import APIError, APIStatusError, OpenAI
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from examples.incident.engine import Engine, PooledGateway
from proxy.app import build
from proxy.echo import Loopback
from proxy.logs import service_log
from proxy.settings import Settings

SCALE = 64
SERVED, ADVERTISED = 681_280 // SCALE, 1_048_576 // SCALE
MODEL = "glm-5.3"
SECRET = b"a secret of this replay, shared by the replicas"
START_SECONDS = 240
PLACEHOLDER = re.compile(r"<[A-Z_]+_[0-9]{6,9}>")
CUSTOMERS = {
    "a law firm, through the proxy": (
        "Draft a letter to Eleanor Whitcombe, eleanor.whitcombe@example.org, about the debit from her account "
        "GB82 WEST 1234 5698 7654 32. She has complained twice, and wants an answer in writing before Friday. "
    ),
    "a hospital, through another replica": (
        "Summarise for the file: patient Omar Benhaddou, NHS number 943 476 5919, phone +44 20 7946 0958, was seen on "
        "Monday with chest pain, sent home the same day, and is to come back for a stress test within two weeks. "
    ),
    "a broker, without the proxy": (
        "Translate into French: Camille Delaunay asks us to move everything to FR76 3000 6000 0112 3456 7890 189 and "
        "to write to camille.delaunay@example.org only. She insists that nobody else learns about the transfer. "
    ),
}
PROTECTED = ("Eleanor", "Whitcombe", "GB82", "7654 32", "Omar", "Benhaddou", "943 476 5919", "7946 0958")
BARE = ("Camille", "Delaunay", "FR76", "7890 189")
FILLER = "The parties agree that notices under this clause are given in writing and take effect on receipt. "


@dataclass(frozen=True)
class Layer:
    """One line of defence: the policy that is in force, and what it must come to. `policy` None: no proxy at all."""

    title: str
    policy: str | None
    outcome: str


@dataclass(frozen=True)
class Outcome:
    """What the sender of the long prompt got, and whether the engine ever saw it."""

    status: int
    code: str
    text: str
    forwarded: bool

    @property
    def raw(self) -> list[str]:
        """Values of customers behind the proxy that can be read in the answer."""
        return [value for value in PROTECTED if value in self.text]

    @property
    def bare(self) -> list[str]:
        return [value for value in BARE if value in self.text]

    @property
    def placeholders(self) -> list[str]:
        return PLACEHOLDER.findall(self.text)


def policy_text(limit: str, answers: str = "") -> str:
    """A policy for the replay: what it replaces is the same in all layers."""
    acted = "PERSON: replace, EMAIL_ADDRESS: replace, PHONE_NUMBER: replace, IBAN_CODE: replace, UK_NHS: replace"
    return (
        f"version: 1\nlanguages: [en, fr]\nlimits: {{models: {{{MODEL}: {limit}}}}}\nentities: {{{acted}}}\n"
        f"answers: {{{answers}}}\n"
    )


_RIGHT = f"{{served: {SERVED}, advertised: {ADVERTISED}, tokenizer: o200k_base, factor: 1.4}}"
_WRONG = f"{{served: {2 * ADVERTISED}, tokenizer: o200k_base, factor: 1.4}}"
_HELD = f"hold_above: {200_000 // SCALE}"
_NO_USAGE = "usage_mismatch: off, usage_missing: off, hold_above: never"
POLICIES = {
    "right": policy_text(_RIGHT, _HELD),
    "wrong limit": policy_text(_WRONG, _HELD),
    "usage off": policy_text(_WRONG, _NO_USAGE),
    "all off": policy_text(_WRONG, f"{_NO_USAGE}, foreign_placeholder: off, unsolicited: off, misplaced: off"),
}
LAYERS = (
    Layer("Without the proxy", None, "pieces of other customers' prompts, with status 200"),
    Layer("The limit that was advertised, in the policy", "wrong limit", "the token count gives it away"),
    Layer("... and token counts not looked at", "usage off", "a stranger's placeholders give it away"),
    Layer("... and no check at all", "all off", "what leaks of those behind the proxy is placeholders"),
    Layer("The limit that is served, in the policy", "right", "the prompt never leaves"),
)


@contextlib.contextmanager
def proxies(upstream: str, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """A proxy for each policy, the first one twice (`replica`), all in front of `upstream`; base URLs by name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        bases = {}
        for name in (*names, "replica"):
            file = Path(folder) / f"{name.replace(' ', '-')}.yaml"
            file.write_text(POLICIES[names[0] if name == "replica" else name])
            settings = Settings(upstream=upstream, policy=file, workers=1, audit=os.devnull, secret=SECRET)
            app = build(settings, service_log("error", io.StringIO()), _failed)
            bases[name] = stack.enter_context(Loopback(app)).url
        for base in bases.values():
            _wait_until_ready(f"{base}/healthz")
        yield {name: f"{base}/v1" for name, base in bases.items()}


def _failed(faults: list[str]) -> None:
    raise RuntimeError("\n".join(faults))


def _wait_until_ready(url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(httpx2.TransportError):
            if httpx2.get(url, timeout=5, trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("a proxy did not become ready")


class Replay:
    """The engine with everybody who uses it. `bases` are the proxies' addresses by the name of their policy."""

    def __init__(self, engine: Engine, direct: str, bases: dict[str, str]) -> None:
        self.engine = engine
        self._direct = direct
        self._bases = bases

    def traffic(self) -> None:
        """What the customers ask, all at once: it goes through the engine's pages."""
        routes = (self._bases["right"], self._bases["replica"], self._direct)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda pair: ask(*pair), zip(routes, CUSTOMERS.values(), strict=True)))

    def attempt(self, layer: Layer, *, stream: bool = False) -> Outcome:
        """A prompt that is longer than what is served, and shorter than what is advertised."""
        self.traffic()
        base = self._direct if layer.policy is None else self._bases[layer.policy]
        before = len(self.engine.prompts)
        status, code, text = ask(base, f"Summarise this contract. {FILLER * (SERVED // 15)}", stream=stream)
        return Outcome(status, code, text, len(self.engine.prompts) > before)


def ask(base: str, text: str, *, stream: bool = False) -> tuple[int, str, str]:
    """Status, code of an error, and all the text that came before it."""
    client = OpenAI(base_url=base, api_key="key-of-one-customer", max_retries=0, timeout=120)
    got: list[str] = []
    try:
        if stream:
            messages: Any = [{"role": "user", "content": text}]
            for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):
                got += [choice.delta.content or "" for choice in chunk.choices]
        else:
            answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}])
            got.append(answer.choices[0].message.content or "")
    except APIStatusError as error:
        return error.status_code, str(error.code), "".join(got)
    except APIError as error:  # an error event in a stream
        return 200, str(error.code), "".join(got)
    finally:
        client.close()
    return 200, "", "".join(got)


class PooledReplay:
    """The other family: an answer that is left in a pooled channel by somebody who did not wait for it."""

    def __init__(self, gateway: PooledGateway, direct: str, bases: dict[str, str]) -> None:
        self.gateway = gateway
        self._direct = direct
        self._bases = bases

    def attempt(self, first: str | None, then: str | None, text: str) -> Outcome:
        """A hospital's request is cancelled on its way; then somebody else asks. Each by a policy's name, or bare."""
        before = self.gateway.cancelled
        self._cancelled_request(self._base(first))
        end = time.monotonic() + START_SECONDS
        while self.gateway.cancelled == before and time.monotonic() < end:
            time.sleep(0.02)
        return Outcome(*ask(self._base(then), text), forwarded=True)

    def _base(self, policy: str | None) -> str:
        return self._direct if policy is None else self._bases[policy]

    def _cancelled_request(self, base: str) -> None:
        text = CUSTOMERS["a hospital, through another replica"]
        body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
        with contextlib.suppress(httpx2.TimeoutException), httpx2.Client(trust_env=False) as client:
            client.post(f"{base}/chat/completions", json=body, timeout=httpx2.Timeout(30, read=self.gateway.delay / 2))


def run() -> int:
    """Shows every layer; 0 if each came to what it must."""
    console = Console(highlight=False)
    console.print(f"One engine: advertised {ADVERTISED:,} tokens, served {SERVED:,}. Starting it and five proxies ...")
    engine, faults = Engine(SERVED, ADVERTISED), 0
    with Loopback(engine.app) as upstream, proxies(f"{upstream.url}/v1", tuple(POLICIES)) as bases:
        replay = Replay(engine, f"{upstream.url}/v1", bases)
        for number, layer in enumerate(LAYERS):
            outcome = replay.attempt(layer)
            good = as_expected(number, outcome)
            faults += not good
            console.print(panel(number, layer, outcome, good))
    return 1 if faults else 0


def as_expected(number: int, outcome: Outcome) -> bool:
    """What each layer must come to."""
    if number == 0:
        return outcome.status == 200 and bool(outcome.bare)
    if number == 3:
        return outcome.status == 200 and bool(outcome.placeholders) and not outcome.raw
    codes = {1: (502, "usage_mismatch"), 2: (502, "foreign_placeholder"), 4: (400, "context_length_exceeded")}
    nothing = not (outcome.text or outcome.raw or outcome.bare)
    return (outcome.status, outcome.code) == codes[number] and nothing and outcome.forwarded == (number != 4)


def panel(number: int, layer: Layer, outcome: Outcome, good: bool) -> Panel:
    said = f"HTTP {outcome.status} {outcome.code}".strip()
    lines = [
        f"must be     {layer.outcome}",
        f"came        {said}",
        f"forwarded   {'yes' if outcome.forwarded else 'no'}",
    ]
    if outcome.text:
        lines.append(f"the answer  {escape(' '.join(outcome.text.split())[:400])} ...")
    lines.append(f"values of customers behind the proxy: {len(outcome.raw)}, of the one without: {len(outcome.bare)}")
    title = f"{number}  {layer.title}"
    return Panel("\n".join(lines), title=title, title_align="left", border_style="green" if good else "red")

"""What a run found, as JSON, as a picture (SVG) and on the terminal. Pure. May import: search, verdict, rich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from rich.table import Table

from proxy.probing.search import Plan
from proxy.probing.verdict import GOOD, Probe

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 720, 320, 60, 40, 50
_COLOURS = {"good": "#1a7f37", "refused": "#9a6700", "wrong": "#cf222e"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result: `served` tokens by our count, `provider` by the provider's where it tells, `factor` between them.

    `complete` is False if the run was not finished; `limited` whether a length was reached that is not served.
    """

    model: str
    served: int
    provider: int | None
    factor: float | None
    complete: bool
    limited: bool


def finding(model: str, plan: Plan, probes: Sequence[Probe]) -> Finding:
    """What the probes come to."""
    done = {probe.aim: probe.is_good for probe in probes}
    longest, bad = plan.bounds(done)
    good = [probe for probe in probes if probe.is_good and probe.aim <= longest]
    served = max((probe.tokens for probe in good), default=0)
    told = [(probe.usage, probe.tokens) for probe in good if probe.usage is not None and probe.tokens >= 1_000]
    provider = max((usage for usage, _ in told), default=None)
    factor = max((usage / tokens for usage, tokens in told), default=None)
    return Finding(model, served, provider, factor, plan.next(done) is None, bad is not None)


def to_json(found: Finding, plan: Plan, probes: Sequence[Probe]) -> dict[str, Any]:
    """The report, and all that a later run needs to go on."""
    return {
        "model": found.model,
        "served": found.served,
        "provider_tokens": found.provider,
        "factor": None if found.factor is None else round(found.factor, 4),
        "complete": found.complete,
        "limited": found.limited,
        "plan": {"low": plan.low, "high": plan.high, "resolution": plan.resolution},
        "probes": [probe.to_json() for probe in probes],
    }


def policy_line(found: Finding) -> str:
    """What to write into a policy, under `limits: models:`."""
    served = found.provider or found.served
    return f"{found.model}: {served}"


def verdict(found: Finding, tokenizer: str) -> str:
    """What came of a finished run. A number is proposed for the policy only where a limit was found above it."""
    if not found.limited:
        return (
            f"Found no limit: prompts of up to {found.served:,} tokens by {tokenizer} were answered rightly, and "
            "longer ones were not tried. Raise --advertised to look further."
        )
    if not found.served:
        return "Found no length that is served: the shortest prompt failed too. Try a smaller --start."
    line = policy_line(found)
    return f"Found the limit that is served: {found.served:,} tokens by {tokenizer}. For the policy:  {line}"


def table(probes: Sequence[Probe]) -> Table:
    """Length against recall and usage, for a terminal."""
    shown = Table(box=None, header_style="bold")
    for name in ("tokens", "verdict", "words found", "provider's count", "of ours", "foreign"):
        shown.add_column(name, justify="right" if name != "verdict" else "left")
    for probe in sorted(probes, key=lambda probe: probe.tokens):
        usage = "-" if probe.usage is None else f"{probe.usage:,}"
        share = "-" if probe.usage is None else f"{probe.usage / probe.tokens:.0%} {_bar(probe.usage / probe.tokens)}"
        style = "green" if probe.verdict == GOOD else "red"
        words = "".join("x" if found else "." for found in probe.found)
        shown.add_row(f"{probe.tokens:,}", f"[{style}]{probe.verdict}[/]", words, usage, share, str(probe.foreign))
    return shown


def _bar(share: float) -> str:
    full = max(0, min(10, round(share * 10)))
    return "#" * full + "." * (10 - full)


def svg(found: Finding, probes: Sequence[Probe]) -> str:
    """Length (across) against the share of words found (bars) and of tokens counted (dots)."""
    ordered = sorted(probes, key=lambda probe: probe.tokens)
    longest = max((probe.tokens for probe in ordered), default=1)
    inner = _WIDTH - _LEFT - 20

    def across(tokens: int) -> float:
        return round(_LEFT + inner * tokens / longest, 1)

    def down(share: float) -> float:
        return round(_TOP + (_HEIGHT - _TOP - _FOOT) * (1 - min(share, 1.2) / 1.2), 1)

    title = escape(f"{found.model}: {found.served:,} tokens are served")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{title}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="24" font-size="15">{title}</text>',
    ]
    for share in (0.0, 0.5, 1.0):
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 20}" y1="{down(share)}" y2="{down(share)}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{down(share) + 4}" text-anchor="end">{share:.0%}</text>')
    for probe in ordered:
        x, colour = across(probe.tokens), _COLOURS[probe.verdict]
        top = down(sum(probe.found) / len(probe.found))
        parts.append(f'<rect x="{x - 3}" y="{top}" width="6" height="{round(down(0) - top, 1)}" fill="{colour}"/>')
        if probe.usage is not None:
            y = down(probe.usage / probe.tokens)
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="none" stroke="#0969da" stroke-width="2"/>')
    edge = across(found.served)
    parts.append(f'<line x1="{edge}" x2="{edge}" y1="{_TOP}" y2="{down(0)}" stroke="#24292f" stroke-dasharray="4 3"/>')
    foot = "bars: words found; circles: the provider's token count as a share of ours; across: tokens of the prompt"
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 14}">{foot}</text>')
    parts.append(f'<text x="{_WIDTH - 20}" y="{down(0) + 16}" text-anchor="end">{longest:,}</text></svg>')
    return "\n".join(parts) + "\n"

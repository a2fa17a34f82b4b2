"""The report as one page of HTML: tables and plots, nothing to load and no script. Pure.

May import: trail.sums, the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from proxy.trail.sums import HEADS, Sum, Sums, ordered

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900, 260, 60, 40
_COLOURS = {
    "release": "#2a7f62",
    "refuse": "#b3541e",
    "block": "#8c1c3f",
    "upstream_error": "#5b5ea6",
    "cancelled": "#7a7a7a",
}
_MOST = 20
"""Bars of a plot; the table has them all."""
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:0 0 1rem}
th,td{padding:.2rem .8rem;border-bottom:1px solid #8886;text-align:left}
td+td,th+th{text-align:right;font-variant-numeric:tabular-nums}
svg{max-width:100%;height:auto} svg text{font:12px system-ui,sans-serif;fill:currentColor}
"""


def page(sums: Sums, files: Sequence[str], verified: str) -> str:
    """The whole page. `verified` says in a sentence what the examination of the chain found."""
    parts = [
        f"<h1>Audit report</h1><p>{escape(', '.join(files))}</p>",
        f"<p><strong>{escape(verified)}</strong></p>",
        f"<p>{sums.requests:,} requests; {sums.unfinished:,} that were forwarded and whose end is not here.</p>",
        _days(sums.days),
        _bars("Findings by entity", [(name, one.findings) for name, one in ordered("entity", sums.tables["entity"])]),
        _bars("Requests by tenant", [(name, one.requests) for name, one in ordered("tenant", sums.tables["tenant"])]),
        _bars("Alarms", sums.alarms.most_common()),
        *(_table(by, table) for by, table in sums.tables.items()),
    ]
    head = '<!doctype html><html lang="en"><head><meta charset="utf-8"/><title>Audit report</title>'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    security = f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>'
    return f"{head}{security}<style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"


def _table(by: str, table: Mapping[str, Sum]) -> str:
    if not table:
        return ""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in (by, *HEADS[2:]))
    rows = "".join(
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{value:,}</td>' for value in one.row())}</tr>"
        for name, one in ordered(by, table)
    )
    return f"<h2>By {escape(by)}</h2><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _days(days: Mapping[str, Mapping[str, int]]) -> str:
    """A stacked column a day."""
    if not days:
        return ""
    most = max(sum(counts.values()) for counts in days.values())
    step = (_WIDTH - _LEFT) / len(days)
    drawn = [_label(_LEFT - 8, 14, f"{most:,}", "end"), _label(_LEFT - 8, _HEIGHT - _BOTTOM, "0", "end")]
    every = -(-len(days) // 10)
    for index, day in enumerate(sorted(days)):
        left, top = _LEFT + index * step, float(_HEIGHT - _BOTTOM)
        for verdict, count in sorted(days[day].items()):
            high = count / most * (_HEIGHT - _BOTTOM - 10)
            top -= high
            title = f"<title>{escape(f'{day}: {count:,} {verdict}')}</title>"
            drawn.append(_rect(left + 1, top, max(1.0, step - 2), high, _COLOURS.get(verdict, "#444"), title))
        if index % every == 0:
            drawn.append(_label(left + step / 2, _HEIGHT - _BOTTOM + 18, day[5:], "middle"))
    seen = sorted({verdict for counts in days.values() for verdict in counts})
    key = "".join(f'<span style="color:{_COLOURS.get(name, "#444")}">■</span> {escape(name)} ' for name in seen)
    return f"<h2>Requests by day</h2>{_svg('Requests by day and verdict', _HEIGHT, drawn)}<p>{key}</p>"


def _bars(title: str, rows: Sequence[tuple[str, int]]) -> str:
    rows = sorted(rows, key=lambda row: -row[1])[:_MOST]
    most = max((value for _, value in rows), default=0)
    if not most:
        return ""
    drawn = []
    for index, (name, value) in enumerate(rows):
        top, wide = index * 24, value / most * (_WIDTH - 320)
        drawn += [_label(212, top + 16, name, "end"), _rect(220, top + 3, wide, 17, "#2f6690", "")]
        drawn.append(_label(226 + wide, top + 16, f"{value:,}", "start"))
    return f"<h2>{escape(title)}</h2>{_svg(title, 24 * len(rows), drawn)}"


def _svg(title: str, height: int, drawn: Iterable[str]) -> str:
    return f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {_WIDTH} {height}">{"".join(drawn)}</svg>'


def _rect(left: float, top: float, wide: float, high: float, colour: str, inner: str) -> str:
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}">{inner}</rect>'


def _label(left: float, top: float, text: str, anchor: str) -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

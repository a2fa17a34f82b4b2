"""Renders the chart with Helm's own engine: `python -m tests.helm < values.json`.

A program of its own, because the engine brings the Go runtime with it, whose threads do not survive a fork.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CHART = Path(__file__).resolve().parent.parent / "deploy" / "chart"


def rendered(values: dict[str, Any], release: str = "redact") -> tuple[str, list[dict[str, Any]]]:
    """All manifests as one YAML stream, and what lint says (severity 2 is a warning, 3 an error)."""
    asked = json.dumps({"values": values, "release": release})
    done = subprocess.run(
        [sys.executable, "-m", "tests.helm"],
        input=asked,
        text=True,
        capture_output=True,
        timeout=120,
        cwd=CHART.parents[1],
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    told = json.loads(done.stdout)
    return told["manifests"], told["messages"]


def main() -> None:
    from helm_python.chart import Chart, lint

    asked = json.load(sys.stdin)
    made = Chart.load(CHART).render(asked["values"], name=asked["release"], namespace="apps")
    text = "\n---\n".join(body for name, body in sorted(made.items()) if not name.endswith(".tpl"))
    report = lint(CHART, asked["values"], strict=True, kube_version="v1.31.0")
    json.dump({"manifests": text, "messages": report["messages"]}, sys.stdout)


if __name__ == "__main__":
    main()

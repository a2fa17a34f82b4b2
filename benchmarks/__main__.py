"""`python -m benchmarks [name ...]`: prints tables, and writes them into docs/benchmarks.md if told to.

May import: its neighbours in this package, the standard library.
"""

from __future__ import annotations

import os

# As in a detection worker. Must stand before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks import report

SUBJECTS = ("latency", "detection", "contract", "counting")


def main() -> None:
    """Runs one subject after the other, so that they do not disturb one another."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed, measured side by side.")
    options.add_argument(
        "names", nargs="*", metavar="name", help=f"what to measure ({', '.join(SUBJECTS)}); all if none"
    )
    options.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables between the markers of this file"
    )
    options.add_argument("--quick", action="store_true", help="small sizes: to see that it works, not to quote")
    options.add_argument("--slow", action="store_true", help="also what takes minutes (stock Presidio on 1 MB)")
    chosen = options.parse_args()
    if chosen.quick and chosen.markdown is not None:
        options.error("the figures of a quick run are not for quoting")
    for name in chosen.names:
        if name not in SUBJECTS:
            options.error(f"there is no {name}; there are {', '.join(SUBJECTS)}")
    for name in chosen.names or SUBJECTS:
        with report.watched() as watch:
            tables = import_module(f"benchmarks.{name}").run(report.Options(quick=chosen.quick, slow=chosen.slow))
        text = "\n\n".join([*(table.markdown() for table in tables), watch.line])
        print(f"\n## {name}\n\n{text}", flush=True)
        if chosen.markdown is not None:
            report.rewrite(chosen.markdown, name, text)


if __name__ == "__main__":
    main()

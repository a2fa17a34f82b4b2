"""The command line. May import: commands, typer.

Every command is a function in `proxy/commands`; here they only get their names.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import typer

import proxy

OUR_FAULT = 70


def command_line() -> typer.Typer:
    """All commands, each imported when the command line is built and not before `check_package` has passed."""
    from proxy.commands import audit, key
    from proxy.commands.calibrate import calibrate
    from proxy.commands.check import check
    from proxy.commands.count import count
    from proxy.commands.demo import demo
    from proxy.commands.diff import diff
    from proxy.commands.explain import explain
    from proxy.commands.probe import probe
    from proxy.commands.scan import scan
    from proxy.commands.serve import serve
    from proxy.commands.test import test

    line = typer.Typer(
        name="caviardage",
        help="A self-hosted redaction proxy in front of hosted LLM APIs.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    for command in (serve, demo, check, test, diff, explain, scan, count, probe, calibrate):
        line.command()(command)
    trail = typer.Typer(no_args_is_help=True, help="Examines and sums up audit files.")
    trail.command()(audit.verify)
    trail.command()(audit.report)
    line.add_typer(trail, name="audit")
    keys = typer.Typer(no_args_is_help=True, help="Makes keys for tenants.")
    keys.command()(key.new)
    line.add_typer(keys, name="key")
    return line


def check_package() -> None:
    """Exits if the package named `proxy` is not this one: proxy.py on PyPI installs one of the same name."""
    ours = (proxy.__doc__ or "").startswith("Caviardage")
    found = Path(proxy.__file__ or "").resolve().parent
    if not ours or found != Path(__file__).resolve().parent:
        sys.exit(
            f"caviardage: the package 'proxy' in {found} belongs to another program (proxy.py has one of that name). "
            "Install Caviardage into an environment of its own."
        )


def end_at(error: Exception) -> NoReturn:
    """Ends this process with where a fault of ours is, and never what: its text may quote what was worked on."""
    from proxy.logs import describe

    found = describe(error)
    sys.stderr.write(f"caviardage: internal fault ({found['exception']} at {found.get('place', 'unknown')})\n")
    sys.exit(OUR_FAULT)


def main() -> None:
    """Runs the command line. A fault of ours ends in one line, which says where and never what."""
    check_package()
    try:
        command_line()()
    except Exception as error:
        end_at(error)


if __name__ == "__main__":
    main()

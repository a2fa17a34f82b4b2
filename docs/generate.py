"""Writes the parts of the documentation that the program itself knows: `python docs/generate.py`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->` in a Markdown file; everything else in the file
is written by hand and left alone. `tests/test_docs.py` renders the parts again and compares.

May import: proxy, recognizers, tests.surface.decisions, typer, the standard library.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from typer import Typer, rich_utils
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proxy.__main__ import command_line  # noqa: E402
from proxy.policy import load_policy  # noqa: E402
from proxy.policy.rules import TABLE, Rule  # noqa: E402
from recognizers import ENTITIES  # noqa: E402
from tests.surface.decisions import decided  # noqa: E402

FILES = ("README.md", "docs/operations.md", "docs/entities.md", "docs/fields.md")
PART = re.compile(r"(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = 100
POLICIES = ("default", "strict", "health", "banking")

READING = (
    ("What the words mean, and the path of a request", ("proxy/__init__.py", "proxy/pipeline.py")),
    ("What stages hand to one another, and how a request ends early", ("proxy/model.py", "proxy/errors.py")),
    ("Where text lives in a request", ("proxy/wire/walk.py", "proxy/wire/chat.py")),
    ("How a value is found: the engine, and one recognizer", ("recognizers/base.py", "recognizers/iban.py")),
    ("Placeholders, there and back", ("proxy/vault.py", "proxy/substitute.py", "proxy/restore.py")),
    ("Restoring a stream without adding or dropping an event", ("proxy/wire/hold.py", "proxy/wire/stream.py")),
    ("Whether the answer can belong to the prompt, and its way back", ("proxy/verify.py", "proxy/answering.py")),
    ("What is written down", ("proxy/audit.py",)),
)
"""The reading guide: what to read for which question, in this order."""


def lines_of(name: str) -> int:
    """Lines of a file."""
    return len((ROOT / name).read_text(encoding="utf-8").splitlines())


def about(number: int) -> int:
    """Rounded to tens: a size to plan with, which does not change at every commit."""
    return max(10, round(number, -1))


def reading() -> str:
    """The reading guide as a table."""
    rows = [
        f"| {number} | {question} | {', '.join(f'[`{name}`]({name}) ({about(lines_of(name))})' for name in names)} |"
        for number, (question, names) in enumerate(READING, 1)
    ]
    total = sum(lines_of(name) for _, names in READING for name in names)
    return table(("", "question", "files (lines)"), rows) + f"\nTogether about {round(total, -2):,} lines.\n"


def help_of(command: str) -> str:
    """What `caviardage COMMAND --help` prints on a terminal of `COLUMNS` columns, without colours."""
    rich_utils.MAX_WIDTH, rich_utils.FORCE_TERMINAL = COLUMNS, None
    arguments = [*command.split(), "--help"]
    plain = {"NO_COLOR": "1", "FORCE_COLOR": None, "TTY_COMPATIBLE": None}
    result = CliRunner().invoke(command_line(), arguments, prog_name="caviardage", env=plain)
    assert result.exit_code == 0, result.output  # noqa: S101
    shown = "\n".join(line.rstrip() for line in result.output.strip("\n").splitlines())
    return f"```text\n$ caviardage {' '.join(arguments)}\n{shown}\n```\n"


def names() -> list[str]:
    """The names of all commands, those of a group behind its name."""
    return list(_names(command_line(), ""))


def _names(line: Typer, before: str) -> Iterator[str]:
    yield from (before + str(made.name or made.callback.__name__) for made in line.registered_commands if made.callback)
    for group in line.registered_groups:
        if group.typer_instance is not None:
            yield f"{before}{group.name}"
            yield from _names(group.typer_instance, f"{before}{group.name} ")


def commands() -> str:
    """The help of all commands but `serve`, which has a section of its own."""
    return "\n".join(help_of(name) for name in ("", *names()) if name != "serve")


def measured(name: str) -> str:
    """Measured recall and precision in percent with what they were counted on; `-` where nothing was annotated."""
    path = ROOT / "docs" / "evaluation.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["entities"] if path.is_file() else {}
    row = rows.get(name)
    if row is None:
        return "-"
    recall, precision = ("-" if row[key] is None else f"{100 * row[key]:.0f}" for key in ("recall", "precision"))
    return f"{recall} of {row['spans']}, {precision} of {row['found']}"


def entities() -> str:
    """Every built-in entity with what the shipped policies do about it."""
    policies = [load_policy(ROOT / "policies" / f"{name}.yaml", entities=ENTITIES) for name in POLICIES]
    rows = [
        f"| `{row.name}` | {cell(row.title)} | {cell(row.checked)} | {cell(row.source)} | {code(row.value)} | "
        + f"{measured(row.name)} | "
        + " | ".join(policy.rule(row.name).action for policy in policies)
        + " |"
        for row in ENTITIES.values()
    ]
    heads = ("entity", "what it is", "what decides", "source of the format", "example", "measured", *POLICIES)
    return f"{len(ENTITIES)} entities.\n\n" + table(heads, rows)


SECTIONS = {
    "request": "In requests",
    "types": "Types of a list or a choice",
    "answer": "In answers",
    "events": "Events of the stream",
    "stream": "In these events",
}


def fields(api: str) -> str:
    """What was decided about the SDKs' types of one API."""
    return "\n".join(
        f"### {api.capitalize()}: {SECTIONS[section].lower()}\n\n"
        + table(("type", "what is done"), [f"| `{record}` | {_decision(told)} |" for record, told in records.items()])
        for section, records in decided()[api].items()
    )


def _decision(told: dict[str, list[str]]) -> str:
    return "; ".join(
        cell(made) + (": " + ", ".join(code(name) for name in names) if names != [""] else "")
        for made, names in told.items()
    )


EXAMPLES = ROOT / "tests" / "rules"
EXPECTED = re.compile(r"^# expect: (.*)\n", re.MULTILINE)


def rule_pages() -> dict[str, str]:
    """Every file of `docs/rules/` by its name: an index, and a page for each rule of a policy."""
    rows = [f"| [`{rule.id}`]({rule.id}.md) | {rule.severity} | {cell(rule.what)} |" for rule in TABLE.values()]
    head = (
        "# Rules\n\nWhat `caviardage check` can say about a policy or a tenants file. An error does not load; a "
        "warning loads and may surprise.\n\n"
    )
    pages = {"README.md": head + table(("rule", "severity", "what it says"), rows)}
    return pages | {f"{rule.id}.md": _rule_page(rule) for rule in TABLE.values()}


def _rule_page(rule: Rule) -> str:
    told = f"# `{rule.id}`\n\n{rule.severity.capitalize()}. {rule.what}\n\n{rule.why}\n"
    if not (EXAMPLES / rule.id).is_dir():
        return told
    bad, good = ((EXAMPLES / rule.id / f"{name}.yaml").read_text(encoding="utf-8") for name in ("bad", "good"))
    shown = EXPECTED.sub("", bad)
    name = "policy" if rule.about == "policy" else "tenants"
    said = "\n".join(f"{name}.yaml:{line}" for line in EXPECTED.findall(bad))
    return (
        f"{told}\nThis is told about:\n\n```yaml\n{shown}```\n\n```text\n{said}\n```\n\n"
        f"This is right:\n\n```yaml\n{good}```\n"
    )


def table(heads: Iterable[str], rows: Iterable[str]) -> str:
    """A Markdown table of rows that are already written."""
    heads = tuple(heads)
    return "\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *rows, ""])


def cell(text: str) -> str:
    """Text inside a table."""
    return text.replace("|", "\\|")


def code(text: str) -> str:
    """A value inside a table, letter for letter."""
    return f"`{cell(text)}`"


def part(name: str) -> str:
    """The part of that name. Raises `KeyError` if there is none."""
    made: dict[str, Callable[[], str]] = {
        "reading": reading,
        "entities": entities,
        "commands": commands,
        "serve": lambda: help_of("serve"),
        **{f"fields {api}": functools.partial(fields, api) for api in decided()},
    }
    return made[name]()


def render(text: str) -> str:
    """A file with every generated part as it should be."""
    return PART.sub(lambda match: match[1] + part(match[2]) + match[3], text)


def main() -> None:
    """Rewrites the files in place."""
    for name in FILES:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = render(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{name} renewed\n")
    folder = ROOT / "docs" / "rules"
    folder.mkdir(exist_ok=True)
    for name, text in rule_pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

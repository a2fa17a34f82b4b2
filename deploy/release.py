"""What goes with a release: `python deploy/release.py bom DIR` and `python deploy/release.py notes [VERSION]`.

`bom` writes `sbom.cdx.json` (CycloneDX, from the lock files of what runs) and `licences.md` into DIR; exit status 1
if a package says nothing about its licence. `notes` prints a version's section of the changelog.

May import: cyclonedx-bom's command, the standard library.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements/run.txt", "requirements/models.txt")
UNKNOWN, ABSENT = "unknown", "not installed on this system"
_OWN = "Apache-2.0"
_CLASSIFIER = "License :: OSI Approved :: "


def bom() -> dict[str, Any]:
    """A CycloneDX document of every package in the lock files, with the licence that the installed one states."""
    locked = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
    tool = Path(sys.executable).with_name("cyclonedx-py")
    made = subprocess.run(  # noqa: S603 - our own environment's program
        [str(tool), "requirements", "-", "--pyproject", str(ROOT / "pyproject.toml"), "--of", "JSON", "-o", "-"],
        input=locked,
        capture_output=True,
        text=True,
        check=True,
    )
    document: dict[str, Any] = json.loads(made.stdout)
    for component in document["components"]:
        component.pop("description", None)  # the line of the lock file, hashes and all
        told = licence(component["name"])
        if told not in (UNKNOWN, ABSENT):
            component["licenses"] = [{"license": {"name": told}}]
    return document


def licence(name: str) -> str:
    """What an installed package says about its licence, in its own words; `UNKNOWN` if it says nothing; or `ABSENT`."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ABSENT
    for field in ("License-Expression", "License"):
        told = (about.get(field) or "").strip()
        if told and "\n" not in told and len(told) < 80 and told.upper() != "UNKNOWN":
            return told
    classifiers = [value for value in about.get_all("Classifier") or () if value.startswith(_CLASSIFIER)]
    if classifiers:
        return " / ".join(value.removeprefix(_CLASSIFIER) for value in classifiers)
    first = (about.get("License") or "").strip().splitlines()
    return first[0].strip()[:80] if first else UNKNOWN


def licences(document: dict[str, Any]) -> tuple[str, list[str]]:
    """The licence report as Markdown, and the packages whose licence is not known."""
    rows, unknown = [], []
    for component in sorted(document["components"], key=lambda one: str(one["name"]).lower()):
        told = licence(component["name"])
        rows.append(f"| {component['name']} | {component.get('version', '')} | {told} |")
        if told == UNKNOWN:
            unknown.append(str(component["name"]))
    head = f"# Licences\n\nCaviardage: {_OWN}. What it is run with, by what each package says of itself:\n"
    return "\n".join((head, "| package | version | licence |", "|---|---|---|", *rows, "")), unknown


def notes(version: str) -> str:
    """The changelog's section about a version (`Unreleased` for what is next). Raises `KeyError` if there is none."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        found = re.match(r"\[?([^\]\s]+)\]?", head)
        if found is not None and found[1] == version:
            linked = re.sub(r"\]\((?!https?:)([^)]+)\)", r"](../../blob/HEAD/\1)", body.strip())
            return f"# Caviardage {version}\n\n{linked}\n"
    raise KeyError(version)


def main(arguments: list[str]) -> int:
    """Does what is asked for; the exit status."""
    if arguments[:1] == ["notes"]:
        sys.stdout.write(notes((arguments[1:] or ["Unreleased"])[0]))
        return 0
    out = Path(arguments[1])
    out.mkdir(parents=True, exist_ok=True)
    document = bom()
    report, unknown = licences(document)
    (out / "sbom.cdx.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (out / "licences.md").write_text(report, encoding="utf-8")
    for name in unknown:
        sys.stderr.write(f"{name}: no licence is stated\n")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

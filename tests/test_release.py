"""What goes with a release: the bill of materials is that of the lock files, and the notes are the changelog's."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parent.parent


def _release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("deploy_release", ROOT / "deploy" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RELEASE = _release()


def test_the_bill_of_materials_is_that_of_the_lock_files(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(ROOT / "deploy" / "release.py"), "bom", str(tmp_path)], check=False)
    assert done.returncode == 0
    text = (tmp_path / "sbom.cdx.json").read_text()
    document = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.from_version(document["specVersion"])).validate_str(text) is None
    locked = {
        (name, version)
        for lock in RELEASE.LOCKS
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE)
    }
    assert {(one["name"], one["version"]) for one in document["components"]} == locked
    assert len(locked) > 50
    assert document["metadata"]["component"]["name"] == "caviardage"
    report = (tmp_path / "licences.md").read_text()
    rows = dict(re.findall(r"^\| (\S+) \| \S* \| (.+) \|$", report, re.MULTILINE))
    assert set(rows) >= {name for name, _ in locked}
    assert rows["redis"] == "MIT"
    assert RELEASE.UNKNOWN not in rows.values()


def test_a_package_without_a_licence_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, more in (
        ("silent", ""),
        ("stated", "License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License\n"),
    ):
        (tmp_path / f"{name}_x-1.dist-info").mkdir()
        (tmp_path / f"{name}_x-1.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}-x\nVersion: 1\n{more}"
        )
    document = {"components": [{"name": name, "version": "1"} for name in ("silent-x", "stated-x", "no-such-package")]}
    report, unknown = RELEASE.licences(document)
    assert unknown == ["silent-x"]
    assert "| stated-x | 1 | MIT License |" in report
    assert RELEASE.licence("no-such-package") == RELEASE.ABSENT


def test_release_notes_are_the_changelogs() -> None:
    text = RELEASE.notes("Unreleased")
    assert text.startswith("# Caviardage Unreleased\n")
    assert "### Added" in text
    assert not re.search(r"\]\(docs/", text)
    with pytest.raises(KeyError):
        RELEASE.notes("0.0.0")

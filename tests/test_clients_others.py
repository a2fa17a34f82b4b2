"""LlamaIndex and instructor through the real service, each in the environment that has it (.venv-others)."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e import EMAIL, NAME, ROOT, TEXT, VALUES, Service

PROGRAM = Path(__file__).resolve().parent / "clients" / "others.py"
PYTHON = ROOT / ".venv-others" / "bin" / "python"


def _checks() -> list[str]:
    """The names in the program's table, which this environment cannot import."""
    for node in ast.parse(PROGRAM.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CHECKS":
            assert isinstance(node.value, ast.Tuple)
            return [ast.unparse(name) for name in node.value.elts]
    raise AssertionError("the program has no table of checks")


@pytest.mark.parametrize("check", _checks())
def test_framework(service: Service, check: str) -> None:
    assert PYTHON.exists(), "no .venv-others: run `make setup`"
    environment = {
        **os.environ,
        "BASE_URL": service.base_url,
        "PLANTED": json.dumps({"TEXT": TEXT, "NAME": NAME, "EMAIL": EMAIL}),
    }
    done = subprocess.run(
        [str(PYTHON), str(PROGRAM), check], env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert service.provider.received
    assert service.provider.leaks(*VALUES) == []

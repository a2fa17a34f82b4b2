"""Is this file or folder the one that the policy means? Its sha256 says so.

May import: the standard library.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

_IGNORED = "__pycache__"


def digest(path: Path) -> str:
    """The sha256 of a file; of a folder, that of the list of its files as `sha256sum` writes it.

    The same as `find . -type f -not -path '*/__pycache__/*' | LC_ALL=C sort | xargs sha256sum | sha256sum` prints in
    the folder. A link that leads out of the folder would not be part of what was hashed, so it raises ValueError.
    """
    if path.is_file():
        return _of_file(path)
    lines = [f"{_of_file(path / name)}  ./{name}\n" for name in sorted(_files(path), key=str.encode)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def check(path: Path, expected: str) -> None:
    """Raises ValueError if there is nothing at `path` or something other than what was pinned."""
    if not path.exists():
        raise ValueError(f"{path}: there is no such file or folder")
    found = digest(path)
    if found != expected:
        raise ValueError(f"{path} is not what the policy pinned: its sha256 is {found}, expected {expected}")


def _files(folder: Path) -> list[str]:
    names = []
    for path in folder.rglob("*"):
        if path.is_symlink():
            raise ValueError(f"{path}: a link, which a pinned folder may not hold")
        if path.is_file() and _IGNORED not in path.parts:
            names.append(path.relative_to(folder).as_posix())
    return names


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

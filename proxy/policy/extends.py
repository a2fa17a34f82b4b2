"""A policy that builds on another one: `extends` followed from file to file, and one tree laid over the other.

Sections are merged key by key. What stands under a key of theirs is one thing and is replaced whole: one entity's
rule, one model's limit, one recognizer, and every list. May import: proxy.policy.{faults,tree}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from proxy.policy import tree
from proxy.policy.faults import Fault, PolicyError, ask, listed, nearest

SHIPPED = Path(__file__).resolve().parents[2] / "policies"
MERGED = frozenset(
    {
        (),
        ("limits",),
        ("limits", "models"),
        ("limits", "budgets"),
        ("entities",),
        ("recognizers",),
        ("deny",),
        ("attachments",),
        ("answers",),
        ("answers", "restore_in_tools"),
        ("state",),
        ("detection",),
    }
)
"""Where keys of both are kept."""
MOST = 8
"""Policies on top of one another."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A policy with all that it extends: one tree, what is wrong with the YAML of any, and the files as they are named,
    its own first."""

    root: tree.Node
    faults: tuple[Fault, ...]
    files: tuple[Path, ...]


def read(path: str | Path) -> bytes:
    """The content of a file. Raises `PolicyError`."""
    file = str(path)
    try:
        with Path(path).open("rb") as stream:
            return stream.read(tree.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise PolicyError([Fault(file, 1, 1, "unreadable", f"cannot be read: {_reason(error)}")]) from None


def decode(content: bytes, file: str) -> str:
    """The text of a file. Raises `PolicyError`."""
    if len(content) > tree.MAX_BYTES:
        fault = Fault(file, 1, 1, "unreadable", f"larger than {tree.MAX_BYTES} bytes")
        raise PolicyError([fault])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise PolicyError([Fault(file, line, column, "encoding", "not UTF-8", "save the file as UTF-8")]) from None


def parsed(content: bytes, file: str) -> tuple[tree.Node, list[Fault]]:
    """The tree of one file. Raises `PolicyError` where there is none."""
    try:
        return tree.parse(decode(content, file), file)
    except tree.Unreadable as error:
        raise PolicyError([error.fault]) from None


def whole(content: bytes, file: str, *, paths: bool) -> Whole:
    """Everything that a policy is made of. Raises `PolicyError`.

    Without `paths` it is no file, and may extend nothing but what is shipped.
    """
    return _whole(content, file, (Path(file),) if paths else ())


def _whole(content: bytes, file: str, above: tuple[Path, ...]) -> Whole:
    root, faults = parsed(content, file)
    if not isinstance(root.value, dict):
        what = "the file is empty" if root.value is None else "a policy is a mapping of keys to values"
        raise PolicyError([Fault(root.file, root.line, root.column, "empty", what, "begin with version: 1")])
    named = root.value.get("extends")
    if named is None:
        return Whole(root, tuple(faults), above[-1:])
    try:
        path = _path(named, file, above)
        base = _whole(_content(path, named), str(path), (*above, path))
    except PolicyError as error:
        raise PolicyError([*faults, *error.faults]) from None
    own = replace(root, value={key: value for key, value in root.value.items() if key != "extends"})
    return Whole(_over(base.root, own), (*faults, *base.faults), (*above[-1:], *base.files))


def names_file(name: str) -> bool:
    """Whether what is extended is a file by its path, not a shipped policy by its name."""
    return "/" in name or name.endswith((".yaml", ".yml"))


def _path(named: tree.Node, file: str, above: tuple[Path, ...]) -> Path:
    name = named.value
    if not isinstance(name, str) or not name:
        raise _wrong(named, "'extends' must be the name of a shipped policy, or a path", rule="wrong-type")
    shipped = {path.stem: path for path in sorted(SHIPPED.glob("*.yaml"))}
    is_path = names_file(name)
    if not is_path and name not in shipped:
        raise _wrong(named, f"no policy '{name}' is shipped", ask(nearest(name, shipped)) or "a path ends with .yaml")
    if is_path and not above:
        raise _wrong(named, "what is no file can only extend a shipped policy", f"name one: {listed(shipped)}")
    if is_path and Path(name).is_absolute():
        raise _wrong(named, "this is an absolute path", "write it as it is seen from this file")
    path = Path(file).parent / name if is_path else shipped[name]
    if path.resolve() in {one.resolve() for one in above}:
        raise _wrong(named, "this leads back to a policy that extends this one", "one of them has to stand alone")
    if len(above) > MOST:
        raise _wrong(named, f"more than {MOST} policies on top of one another")
    return path


def _content(path: Path, named: tree.Node) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(tree.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _wrong(named, f"the policy that this extends cannot be read: {_reason(error)}") from None


def _over(base: tree.Node, own: tree.Node, path: tuple[str, ...] = ()) -> tree.Node:
    if path not in MERGED or not isinstance(base.value, dict) or not isinstance(own.value, dict):
        return own
    values = dict(base.value)
    for key, value in own.value.items():
        values[key] = _over(values[key], value, (*path, key)) if key in values else value
    return replace(own, value=values, keys={**base.keys, **own.keys})


def _wrong(at: tree.Node, message: str, mend: str = "", rule: str = "bad-extends") -> PolicyError:
    return PolicyError([Fault(at.file, at.line, at.column, rule, message, mend)])


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "not a path"

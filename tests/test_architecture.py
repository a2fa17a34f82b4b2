"""The shape that the code must keep: who imports whom, and nothing mutable that two requests could share."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for top in ("proxy", "recognizers") for path in (ROOT / top).rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    ("recognizers",),
    ("proxy.model", "proxy.errors"),
    (
        "proxy.policy",
        "proxy.vault",
        "proxy.chain",
        "proxy.store",
        "proxy.wire",
        "proxy.tokens",
        "proxy.headers",
        "proxy.inflate",
        "proxy.pieces",
        "proxy.place",
        "proxy.recall",
        "proxy.documents",
        "proxy.strangers",
        "proxy.unsolicited",
        "proxy.offloop",
    ),
    (
        "proxy.measure",
        "proxy.detect",
        "proxy.extract",
        "proxy.substitute",
        "proxy.forward",
        "proxy.verify",
        "proxy.restore",
        "proxy.audit",
        "proxy.keeping",
    ),
    ("proxy.trip", "proxy.trail", "proxy.budgets", "proxy.rates", "proxy.windows"),
    ("proxy.prompt", "proxy.closing"),
    ("proxy.answering", "proxy.batching"),
    ("proxy.pipeline", "proxy.analysis", "proxy.rehearsal", "proxy.door", "proxy.live", "proxy.plan", "proxy.tenants"),
    ("proxy.entrance", "proxy.upstreams"),
    ("proxy.ingress", "proxy.routes"),
    ("proxy.inspector",),
    (
        "proxy.app",
        "proxy.service",
        "proxy.watch",
        "proxy.notes",
        "proxy.books",
        "proxy.traces",
        "proxy.__main__",
        "proxy.commands",
        "proxy.demo",
        "proxy.probing",
        "proxy.calibration",
        "proxy.echo",
        "proxy.settings",
        "proxy.logs",
        "proxy.metrics",
        "proxy.seat",
        "proxy.fleet",
        "proxy.template",
        "proxy.tls",
    ),
)
STAGES = LAYERS[3]
FREE = ("proxy.settings", "proxy.logs", "proxy.metrics", "proxy.echo")  # leaves of the composition root
OWNERS = {
    "httpx2": ("proxy.forward",),
    "limits": ("proxy.budgets", "proxy.rates", "proxy.windows"),
    "watchfiles": ("proxy.watch",),
    "tiktoken": ("proxy.tokens",),
    "tokenizers": ("proxy.tokens", "recognizers"),
    "onnxruntime": ("recognizers",),
    "spacy": ("recognizers",),
    "presidio_analyzer": ("recognizers",),
    "presidio_anonymizer": ("proxy.substitute",),
    "phonenumbers": ("recognizers", "proxy.policy"),
    "re2": ("recognizers",),
    "ruamel": ("proxy.policy",),
    "pebble": ("proxy.detect", "proxy.extract"),
    "pypdf": ("proxy.documents",),
    "docx": ("proxy.documents",),
    "python_multipart": ("proxy.wire",),
    "cachetools": ("proxy.detect",),
    "jiter": ("proxy.wire",),
    "prometheus_client": ("proxy.metrics", "proxy.commands.probe"),
    "openai": ("proxy.demo", "proxy.probing", "proxy.commands.probe"),
    "opentelemetry": ("proxy.traces",),
    "requests": ("proxy.traces",),
    "redis": ("proxy.store.shared",),
    "cryptography": ("proxy.store.sealing",),
}
MUTABLE_CALLS = {
    "dict",
    "list",
    "set",
    "defaultdict",
    "Counter",
    "deque",
    "OrderedDict",
    "LRUCache",
    "ContextVar",
    "bytearray",
}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if module == name or module.startswith(f"{name}.")), None)


def layer(module: str) -> int | None:
    return next((index for index, names in enumerate(LAYERS) if within(module, names)), None)


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_go_down_only(path: Path) -> None:
    module = module_of(path)
    if module == "proxy":
        return
    own = layer(module)
    assert own is not None, f"{module} belongs to no layer"
    for target in imports(path):
        other = layer(target)
        if other is None or within(target, FREE):
            continue
        assert other <= own, f"{module} imports {target}, which is above it"
        if within(module, STAGES) and within(target, STAGES):
            assert within(module, STAGES) == within(target, STAGES), f"the stage {module} imports the stage {target}"


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_one_owner_per_third_party_package(path: Path) -> None:
    module = module_of(path)
    for target in imports(path):
        owners = OWNERS.get(target.split(".")[0])
        assert owners is None or within(module, owners), f"{module} imports {target}, which belongs to {owners}"


@pytest.mark.parametrize("path", [p for p in SOURCES if module_of(p).startswith("proxy")], ids=module_of)
def test_no_mutable_state_at_module_level(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        name = ast.unparse(targets[0])
        value = node.value
        if name == "__all__":
            continue
        called = value.func if isinstance(value, ast.Call) else None
        called_name = (
            called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        )
        assert called_name not in MUTABLE_CALLS, f"{module_of(path)}.{name} is mutable and shared by all requests"
        if isinstance(value, ast.List | ast.Set | ast.ListComp | ast.SetComp):
            pytest.fail(
                f"{module_of(path)}.{name} is a mutable {type(value).__name__.lower()}; make it a tuple or frozenset"
            )
        if isinstance(value, ast.Dict | ast.DictComp):
            # A table of constants is fine as long as nothing in the module ever changes it.
            assert not _changes(path, name), f"{module_of(path)} changes its module-level {name}"
    assert not any(isinstance(node, ast.Global) for node in ast.walk(ast.parse(path.read_text()))), (
        f"{module_of(path)}: global"
    )


def _changes(path: Path, name: str) -> bool:
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and ast.unparse(node.value) == name
        ):
            return True
        changers = {"update", "setdefault", "pop", "popitem", "clear"}
        if isinstance(node, ast.Attribute) and node.attr in changers and ast.unparse(node.value) == name:
            return True
    return False


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    tree = ast.parse(path.read_text())
    docstring = ast.get_docstring(tree)
    assert docstring, f"{path} has no docstring"

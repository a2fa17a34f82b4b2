"""Which paths exist in which dialect, and in whose form a refusal is written."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from proxy.errors import UnsupportedByPolicy
from proxy.routes import ROUTES, Target, find
from proxy.settings import Settings, StartError
from proxy.wire import stored
from proxy.wire.dialects import DEFAULT, NAMES, Dialects
from tests.e2e import ROOT

REFUSAL = UnsupportedByPolicy("no", param="$.x")
CHAT = "/v1/chat/completions"
DEPLOYED = "/openai/deployments/gpt-4o/chat/completions"


def form(path: str, *headers: str, names: tuple[str, ...] = DEFAULT) -> Any:
    body = Dialects(names).error_for(path, [(name, "x") for name in headers])(REFUSAL)
    assert isinstance(body, dict)
    error = body["error"]
    if body.get("type") == "error":
        return "anthropic"
    return "text" if isinstance(error, str) else "azure" if isinstance(error, dict) and "status" in error else "openai"


@pytest.mark.parametrize(
    ("path", "headers", "wanted"),
    [
        (CHAT, (), "openai"),
        (CHAT, ("x-api-key",), "openai"),
        (DEPLOYED, (), "azure"),
        ("/openai/assistants", (), "azure"),
        ("/v1/nothing", ("api-key",), "azure"),
        ("/v1/messages", ("authorization",), "anthropic"),
        ("/v1/messages/batches", ("authorization",), "anthropic"),
        ("/v1/files", ("anthropic-version", "authorization"), "anthropic"),
        ("/v1/files", ("x-api-key",), "anthropic"),
        ("/v1/nothing", ("authorization",), "openai"),
    ],
)
def test_a_refusal_has_the_form_of_the_clients_api(path: str, headers: tuple[str, ...], wanted: str) -> None:
    assert form(path, *headers) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_every_path_that_is_let_in_is_served_and_no_other(name: str) -> None:
    """The table of paths and the tables of the dialects say the same."""
    dialects = Dialects((name,))
    for route in ROUTES:
        if route.target is not Target.PIPELINE or not route.body:
            continue
        for path in _paths(route.pattern.pattern):
            assert route.pattern.fullmatch(path), path
            if stored.find(route.method, path) is not None:
                continue  # what the provider keeps has a table of its own
            if path.startswith(("/v1/files", "/v1/batches")):
                continue  # so have files of requests
            assert (dialects.endpoint(path) is not None) == (name in route.dialects), (name, path)


def _paths(pattern: str) -> list[str]:
    """Every path that a pattern stands for, with `x` for a name."""
    pattern = re.sub(r"\[[^]]*\]\{1,\d+\}", "x", pattern)
    parts = re.split(r"(\(\?:(?:[^()]|\([^()]*\))*\)\??)", pattern.replace("(?:/(?:", "(?:/(?:"))
    choices = []
    for part in parts:
        if not part.startswith("(?:"):
            choices.append([part])
            continue
        optional = part.endswith("?")
        inside = part.removesuffix("?")[3:-1]
        nested = _paths(inside) if "(?:" in inside else inside.split("|")
        choices.append(nested + ([""] if optional else []))
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def test_a_path_of_a_dialect_that_was_not_chosen_does_not_exist() -> None:
    find("POST", CHAT.encode(), b"", ("openai",))
    find("POST", DEPLOYED.encode(), b"api-version=2024-10-21", ("azure",))
    find("GET", b"/healthz", b"", ("azure",))
    for path, names in ((CHAT, ("azure",)), (DEPLOYED, ("openai", "anthropic")), ("/v1/messages", ("openai",))):
        with pytest.raises(UnsupportedByPolicy):
            find("POST", path.encode(), b"", names)
        assert Dialects(names).endpoint(path) is None


@pytest.mark.parametrize(
    "query", [b"api-version=mira@example.com", b"api-version=2024-10-21&x=1", b"api-version=2024-10-21-Mira", b"x=1"]
)
def test_an_azure_query_is_an_api_version_and_nothing_else(query: bytes) -> None:
    with pytest.raises(UnsupportedByPolicy):
        find("POST", DEPLOYED.encode(), query, ("azure",))


def settings(dialect: str) -> Settings:
    return Settings(upstream="https://api.example.com/v1", policy=ROOT / "policies" / "default.yaml", dialect=dialect)


def test_dialects_are_named_with_commas_between_them() -> None:
    assert settings("azure, openai,azure").dialects == ("azure", "openai")
    for wrong in ("", "openal", "openai;azure"):
        with pytest.raises(StartError, match="dialect"):
            settings(wrong)

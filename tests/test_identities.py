"""Who a request is from: read like text, hashed or refused, as the policy says, in every API that has such a field."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.errors import UnsupportedByPolicy
from proxy.model import Leaf
from proxy.substitute import substitute
from proxy.vault import Vault
from proxy.wire.endpoints import ENDPOINTS, Aids
from proxy.wire.seals import NoSeals

AIDS = Aids(None, NoSeals())
CHAT: dict[str, Any] = {"model": "m", "messages": []}
CASES: list[tuple[str, dict[str, Any], str]] = [
    *(("/v1/chat/completions", CHAT, name) for name in ("user", "safety_identifier", "prompt_cache_key")),
    *(("/v1/responses", {"model": "m"}, name) for name in ("user", "safety_identifier", "prompt_cache_key")),
    *((path, {"model": "m"}, "user") for path in ("/v1/completions", "/v1/embeddings", "/v1/moderations")),
]
NOTED = [("/v1/chat/completions", CHAT), ("/v1/responses", {"model": "m"}), ("/v1/messages", CHAT)]


def sent(path: str, body: Any, says: str, salt: bytes = b"salt") -> Any:
    def visit(leaf: Leaf) -> str:
        return substitute(leaf, [], Vault(b"k"), salt)

    return ENDPOINTS[path].rewrite_request(body, visit, frozenset({f"identities.{says}"}), AIDS)


@pytest.mark.parametrize(("path", "base", "name"), CASES)
def test_a_field(path: str, base: dict[str, Any], name: str) -> None:
    body = {**base, name: "jdoe"}
    assert sent(path, body, "read")[name] == "jdoe"
    hashed = sent(path, body, "hash")[name]
    assert hashed == sent(path, body, "hash")[name] != sent(path, {**base, name: "jdoe2"}, "hash")[name]
    assert hashed != sent(path, body, "hash", b"another tenant")[name]
    assert (len(hashed), "jdoe" in hashed) == (32, False)
    with pytest.raises(UnsupportedByPolicy, match="identities"):
        sent(path, body, "refuse")
    assert sent(path, {**base, name: None}, "refuse")[name] is None


@pytest.mark.parametrize(("path", "base"), NOTED)
def test_metadata(path: str, base: dict[str, Any]) -> None:
    body = {**base, "metadata": {"user_id": "jdoe", "n": 1, "none": None}}
    assert sent(path, body, "read") == body
    hashed = sent(path, body, "hash")["metadata"]
    assert hashed == {"user_id": hashed["user_id"], "n": 1, "none": None}
    assert hashed["user_id"] != "jdoe"
    with pytest.raises(UnsupportedByPolicy):
        sent(path, body, "refuse")

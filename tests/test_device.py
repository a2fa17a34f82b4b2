"""Where models run: what is chosen and why, what refuses, and one process that all workers ask.

No machine of the tests has a GPU. The process that would hold it runs here with the same models on the processor;
what is particular to CUDA (loading there, its speed) is not covered by any test.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proxy.analysis import settings_for
from proxy.detect import Detector
from proxy.errors import Unavailable
from proxy.model import Leaf
from proxy.policy import load_policy
from recognizers import ENTITIES
from recognizers.device import Choice, choose, missing
from recognizers.shared import Call, _answer

ROOT = Path(__file__).resolve().parent.parent


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def cupy(count: Callable[[], int], zeros: Callable[[int], Any] = lambda n: SimpleNamespace(sum=lambda: 0)) -> Any:
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count)), zeros=zeros)


WORKING = cupy(lambda: 1, lambda n: SimpleNamespace(sum=lambda: SimpleNamespace(item=lambda: 0)))
CASES = [
    (raising(ImportError("cupy")), "no_cupy", "not installed"),
    (raising(OSError("libcuda")), "no_cupy", "does not load (OSError)"),
    (lambda _: cupy(raising(RuntimeError("x"))), "no_driver", "driver does not answer"),
    (lambda _: cupy(lambda: 0), "no_device", "shows no device"),
    (lambda _: cupy(lambda: 1, raising(RuntimeError("x"))), "no_compute", "does not compute"),
]


@pytest.mark.parametrize(("load", "code", "words"), CASES)
def test_what_is_missing_is_told(load: Callable[[str], Any], code: str, words: str) -> None:
    found = missing(load)
    assert found is not None
    assert found[0] == code
    assert words in found[1]
    assert choose("auto", load)[:2] == ("cpu", code)
    with pytest.raises(ValueError, match="device cuda: "):
        choose("cuda", load)


def test_what_is_there_is_chosen() -> None:
    assert choose("auto", lambda _: WORKING) == Choice("cuda", "found")
    assert choose("cuda", lambda _: WORKING) == Choice("cuda", "asked")
    assert choose("cpu", raising(AssertionError("not asked for"))) == Choice("cpu", "asked")


def test_the_service_refuses_to_start_without_the_device_that_it_was_told_to_use() -> None:
    if missing() is None:
        pytest.skip("this machine has a device")
    command = [sys.executable, "-m", "proxy", "serve", "--device", "cuda", "--port", "0"]
    command += ["--upstream", "http://127.0.0.1:9/v1", "--policy", "policies/default.yaml"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 1
    assert "device cuda: the package cupy is not installed" in ended.stderr
    assert "ready" not in ended.stderr


def test_a_device_that_does_not_exist_is_a_wrong_setting() -> None:
    command = [sys.executable, "-m", "proxy", "serve", "--device", "tpu"]
    command += ["--upstream", "http://127.0.0.1:9/v1", "--policy", "policies/default.yaml"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 2
    assert "device: one of auto, cpu, cuda" in ended.stderr


# --- One process for all workers ------------------------------------------------------------------------------------

TEXTS = [
    "My colleague is Thandiwe Mokoena, she lives in Toulouse.",
    "Je m'appelle Mireille Duval et je travaille chez Renault à Lyon.",
    "Nothing to see here.",
    "JOHN MCALLISTER signed it.\n\nPlease write to Anna Schmidt in Berlin about the contract.",
]


async def _both() -> Path:
    policy = load_policy(ROOT / "policies" / "strict.yaml", entities=ENTITIES)
    alone = Detector(settings_for(policy), workers=1, deadline=300)
    apart = Detector(settings_for(policy), workers=2, deadline=300, device="apart")
    leaves = [Leaf("$", text) for text in TEXTS]
    try:
        await alone.start()
        expected = await alone.detect(leaves, policy, "t")
    finally:
        await alone.stop()
    assert any(expected)
    try:
        await apart.start()
        together = await asyncio.gather(*(apart.detect([leaf], policy, "t") for leaf in leaves))
        assert [found for (found,) in together] == expected
        holder = apart._holder
        assert holder is not None
        _a_stranger_is_not_answered(holder.address.path)
        os.kill(holder._process.pid, signal.SIGKILL)
        holder._process.join()
        assert await _again(apart, policy, "Please call Ingrid Nakamura.")
        pid = holder._process.pid
    finally:
        await apart.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    return Path(holder.address.path)


async def _again(detector: Detector, policy: Any, text: str) -> bool:
    """Whether what died comes back: one refusal, which says to try again, is allowed."""
    for _ in range(3):
        try:
            (found,) = await detector.detect([Leaf("$", text)], policy, "t")
        except Unavailable:
            continue
        return "Ingrid Nakamura" in {text[f.start : f.end] for f in found}
    return False


def _a_stranger_is_not_answered(path: str) -> None:
    with pytest.raises(AuthenticationError):
        Client(path, authkey=b"x" * 32)


def test_one_process_finds_what_each_worker_would_and_comes_back_when_it_dies() -> None:
    assert not asyncio.run(_both()).parent.exists()


def test_a_text_that_breaks_a_batch_breaks_its_own_call_only() -> None:
    def find(texts: Sequence[str]) -> list[int]:
        if "bad" in texts:
            raise ValueError("bad is quoted here")
        return [len(text) for text in texts]

    answers: dict[str, Any] = {}

    def call(name: str, *texts: str) -> Call:
        return Call("m", texts, lambda result: answers.__setitem__(name, result))

    _answer([call("a", "x", "xx"), call("b", "bad"), call("c", "xxx")], {"m": find})
    assert answers == {"a": (True, [1, 2]), "b": (False, "ValueError"), "c": (True, [3])}
    _answer([call("a", "x"), call("c", "xxx", "y")], {"m": find})
    assert answers["a"] == (True, [1])
    assert answers["c"] == (True, [3, 1])
    _answer([call("d", "x")], {})
    assert answers["d"] == (False, "KeyError")

"""Where statistical models run: on the processor, or on an NVIDIA device through CUDA. Says what is missing, in words.

May import: cupy where it is installed, thinc, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias

Device: TypeAlias = Literal["auto", "cpu", "cuda"]
DEVICES: tuple[Device, ...] = ("auto", "cpu", "cuda")


class Choice(NamedTuple):
    """Where models will run, and why: a code of this module, and words for a person where something is missing."""

    device: Literal["cpu", "cuda"]
    code: str
    why: str = ""


def missing(load: Callable[[str], Any] = import_module) -> tuple[str, str] | None:
    """What stands between this machine and CUDA (code, words); None if nothing does. `load` imports by name."""
    try:
        cupy = load("cupy")
    except ImportError:
        return "no_cupy", "the package cupy is not installed: pip install caviardage[gpu]"
    except Exception as error:
        return "no_cupy", f"the package cupy does not load ({type(error).__name__}): does it fit the installed CUDA?"
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # cupy's own errors, whose base depends on its version
        return (
            "no_driver",
            f"the NVIDIA driver does not answer ({type(error).__name__}): is it installed and visible?",
        )
    if count < 1:
        return "no_device", "the NVIDIA driver shows no device: is one visible (CUDA_VISIBLE_DEVICES, --gpus)?"
    try:
        cupy.zeros(1).sum().item()
    except Exception as error:
        return (
            "no_compute",
            f"the device does not compute ({type(error).__name__}): is it too old for this cupy?",
        )
    return None


def choose(asked: Device, load: Callable[[str], Any] = import_module) -> Choice:
    """Raises ValueError if `cuda` is asked for and cannot be had."""
    if asked == "cpu":
        return Choice("cpu", "asked")
    lacking = missing(load)
    if lacking is None:
        return Choice("cuda", "asked" if asked == "cuda" else "found")
    code, words = lacking
    if asked == "cuda":
        raise ValueError(f"device cuda: {words}")
    return Choice("cpu", code, words)


def prepare(cuda: bool) -> None:
    """Where spaCy loads and runs models from now on, in this thread."""
    from thinc.api import NumpyOps, require_gpu, set_current_ops

    if cuda:
        require_gpu()
    else:
        set_current_ops(NumpyOps(use_blis=False))


def has_onnx_cuda() -> bool:
    """True if the installed onnxruntime can use CUDA (the package onnxruntime-gpu)."""
    if find_spec("onnxruntime") is None:
        return False
    return "CUDAExecutionProvider" in import_module("onnxruntime").get_available_providers()

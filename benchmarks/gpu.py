"""What a GPU brings: `python -m benchmarks.gpu`, one script for a machine that is lent for a few minutes.

Needs the service's packages and models, and for a GPU `cupy-cuda12x` (and `onnxruntime-gpu` for `--onnx`). First says
what is there; then reads the same texts with the models on the processor and on the device, compares the spans, and
measures one caller, several callers at once, and a classifier in ONNX form if a folder is given. Without a device it
runs the same steps on the processor, which shows that the script works. Stops by itself after `--seconds`.

May import: its neighbours in this package, proxy, recognizers, the standard library.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import texts
from recognizers import device, pinned
from recognizers.custom import CustomSpec
from recognizers.device import Choice, choose
from recognizers.holder import Holder
from recognizers.onnx import OnnxModel
from recognizers.shared import Remote

BLOCK, BLOCKS = 3_000, 64
CPU = Choice("cpu", "asked")
LABELS = {"GIVEN_NAME": "PERSON", "SURNAME": "PERSON"}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description="What a GPU brings.")
    options.add_argument("--device", choices=device.DEVICES, default="auto")
    options.add_argument("--onnx", type=Path, help="a folder with a token classifier that has the labels of Rampart")
    options.add_argument("--blocks", type=int, default=BLOCKS, help="blocks of 3,000 code points in one reading")
    options.add_argument("--seconds", type=float, default=240.0, help="the longest time that everything may take")
    chosen = options.parse_args()
    until = time.monotonic() + chosen.seconds
    choice = choose(chosen.device)
    print(f"device: {choice.device} ({choice.code}) {choice.why}", flush=True)
    specs: tuple[CustomSpec, ...] = ()
    if chosen.onnx is not None:
        folder = chosen.onnx.resolve()
        specs = (OnnxModel(str(folder), pinned.digest(folder), LABELS),)
    blocks = [texts.natural("en", BLOCK, 7000 + seed) for seed in range(chosen.blocks)]
    _compare(choice, specs, blocks, until)


def _compare(choice: Choice, specs: tuple[CustomSpec, ...], blocks: Sequence[str], until: float) -> None:
    """The processor first, then the device, each in a process of its own."""
    expected: dict[str, list[object]] = {}
    for where in (CPU, choice) if choice.device == "cuda" else (CPU,):
        holder = Holder(("en",), specs, cuda=where.device == "cuda")
        try:
            began = time.monotonic()
            holder.start()
            print(f"\n{where.device}: loaded in {time.monotonic() - began:.1f} s", flush=True)
            for model in ("names:en", *(f"own:{index}" for index in range(len(specs)))):
                found = _read(Remote(holder.address, model), f"{where.device} {model}", blocks, until)
                if model in expected and found:
                    equal = sum(map(_equal, zip(expected[model], found, strict=True)))
                    print(f"{where.device} {model}: {equal} of {len(found)} blocks have the spans of the processor")
                expected.setdefault(model, found)
                for callers in (2, 8):
                    _at_once(holder, model, f"{where.device} {model}", blocks, callers, until)
        finally:
            holder.stop()


def _equal(pair: tuple[object, object]) -> bool:
    one, other = pair
    return _places(one) == _places(other)


def _places(spans: object) -> list[tuple[object, ...]]:
    return [tuple(span[:3]) for span in spans]  # type: ignore[attr-defined]


def _read(ask: Callable[[Sequence[str]], list[object]], name: str, blocks: Sequence[str], until: float) -> list[object]:
    if time.monotonic() > until:
        print(f"{name}: no time left")
        return []
    ask(blocks[:4])
    began = time.monotonic()
    found = ask(blocks)
    _say(f"{name}, one caller", blocks, time.monotonic() - began)
    return found


def _at_once(holder: Holder, model: str, name: str, blocks: Sequence[str], callers: int, until: float) -> None:
    """Several callers, each with a share of the blocks and four at a time, as small prompts come."""
    if time.monotonic() > until:
        return

    def one(share: Sequence[str]) -> None:
        ask = Remote(holder.address, model)
        for first in range(0, len(share), 4):
            ask(share[first : first + 4])

    threads = [threading.Thread(target=one, args=(blocks[index::callers],)) for index in range(callers)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _say(f"{name}, {callers} callers, four blocks a call", blocks, time.monotonic() - began)


def _say(what: str, blocks: Sequence[str], seconds: float) -> None:
    size = sum(map(len, blocks))
    print(f"{what}: {size / 1e6 / seconds:.3f} MB/s ({size / 1000:.0f} KB in {seconds:.2f} s)", flush=True)


if __name__ == "__main__":
    main()

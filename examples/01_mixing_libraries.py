# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes a photograph through four libraries, on a GPU if there is one, else on the CPU.

Pillow -> NumPy -> Spanwise -> a strided op and a CUDA C filter of 2012 in one compiled function ->
JAX, PyTorch or NumPy -> a PNG with before and after side by side. For each step it prints the two
libraries, whether memory was shared and why, how many bytes were copied, and the time.

    python examples/01_mixing_libraries.py [--device cuda:0] [--out FILE]      IMAGE=path chooses the picture
"""

import argparse
import importlib.util
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image

import spanwise as sw

HERE = pathlib.Path(__file__).resolve().parent


def find_picture() -> pathlib.Path:
    """$IMAGE, else the portrait of Grace Hopper that the matplotlib package ships."""
    if "IMAGE" in os.environ:
        return pathlib.Path(os.environ["IMAGE"])
    package = importlib.util.find_spec("matplotlib")
    if package is None or package.origin is None:
        raise SystemExit("no picture: set IMAGE=path, or install matplotlib, which ships one")
    return pathlib.Path(package.origin).parent / "mpl-data/sample_data/grace_hopper.jpg"


def compile_sketch(device: str) -> Callable[..., sw.Array]:
    """uint8[h, w, 3] with any strides -> float32[h, w], dark edges on white."""
    luma = sw.kernel_op(
        "luma",
        (HERE / "luma.cu").read_text(),
        inputs=["pixels: strided uint8[h, w, 3]"],
        outputs=["grey: contiguous float32[h, w]"],
        arguments=["pixels", "grey"],
        block=(32, 8),
        grid=("cdiv(w, 32)", "cdiv(h, 8)"),
    )
    sobel = sw.kernel_op(
        "sobel",
        (HERE / "legacy" / "sobel.cu").read_text(),
        inputs=["grey: contiguous float32[h, w]"],
        outputs=["edges: contiguous float32[h, w]"],
        arguments=["grey", "edges", "w", "h"],
        block=(16, 16),
        grid=("cdiv(w, 16)", "cdiv(h, 16)"),
    )
    pixels = sw.tensor.tensor("uint8", shape=(None, None, 3), name="pixels")
    return sw.function([pixels], sobel(luma(pixels)), name="sketch", device=device)


def choose_peer() -> str:
    """The target library: the first installed one of JAX and PyTorch, else NumPy."""
    return next((name for name in ("jax", "torch") if importlib.util.find_spec(name)), "numpy")


class Log:
    """Runs the steps of the program, and prints a line for each."""

    def run_step(
        self,
        step: str,
        run: Callable[[], Any],
        explained: sw.Exchange | None = None,
        reason: str = "",
    ) -> Any:
        start = time.perf_counter()
        result = run()
        sw.synchronize()
        microseconds = (time.perf_counter() - start) * 1e6
        shares = explained is None or explained.shares
        outcome = "shared" if shares else "copied"
        copied_bytes = 0 if explained is None else explained.bytes
        if explained is not None:
            reason = explained.reason
        print(
            f"{step:<28} {outcome}  {copied_bytes:>9,} bytes  {microseconds:>11,.1f} us   {reason}"
        )
        return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=str(sw.default_device()))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/demo.png"))
    options = parser.parse_args()
    device, log = options.device, Log()

    # Interleaved, read-only bytes; strided, since the alpha channel is left out.
    picture = PIL.Image.open(find_picture()).convert("RGBA")
    pixels = np.asarray(picture)[:, :, :3]
    print(
        f"{pixels.shape} {pixels.dtype}, strides {pixels.strides}, writeable {pixels.flags.writeable}; on {device}"
    )

    x = log.run_step(
        "NumPy -> Spanwise", lambda: sw.asarray(pixels, copy=False), sw.explain(pixels, "spanwise")
    )
    if device != "cpu":
        x = log.run_step(f"Spanwise cpu -> {device}", lambda: x.to(device), sw.explain(x, device))
    sketch = compile_sketch(device)
    log.run_step(
        "sketch, first call", lambda: sketch(x), reason="kernels compiled, or read from the cache"
    )
    edges = log.run_step(
        "sketch: luma, then sobel",
        lambda: sketch(x),
        reason="strided in by View, contiguous between",
    )
    peer = choose_peer()
    theirs = log.run_step(
        f"Spanwise -> {peer}", lambda: sw.convert(edges, peer), sw.explain(edges, peer)
    )
    after = log.run_step(
        f"{peer} -> NumPy",
        lambda: sw.convert(theirs, "numpy", copyif=True),
        sw.explain(theirs, "numpy"),
    )

    before = np.asarray(pixels)
    sketched = np.repeat(after.astype(np.uint8)[:, :, None], 3, axis=2)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.fromarray(np.concatenate([before, sketched], axis=1)).save(options.out)
    print(f"before and after: {options.out}")


if __name__ == "__main__":
    main()

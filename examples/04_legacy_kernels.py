# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Uses existing kernels: a .cu file, a PTX binary without source, a shared library with a launcher.

    python examples/04_legacy_kernels.py [--device cuda:0]

The three are unmodified, in examples/legacy/. The binary needs a GPU. The library is built with
nvcc for a GPU; for the CPU its host reference is built with the C++ compiler.
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import spanwise as sw

LEGACY = Path(__file__).parent / "legacy"


def histogram(device: Any) -> None:
    """A .cu file from 2009. `print(old)` shows its kernels and the code that declares them."""
    old = sw.wrap_cu(LEGACY / "histogram.cu")
    print(old.kernels[0].name, old.kernels[0].signature, sep=": ")
    kernel = old.module(device=device).get_function("histogram256")
    declared = kernel.bind(args=old.kernels[0].declarations)

    image = np.random.default_rng().integers(0, 256, (480, 640, 3), dtype="uint8")
    pixels = sw.array(image, device=device)
    bins = sw.zeros(256, dtype="uint32", device=device)
    declared(bins, pixels[::2, :, 1], 240 * 640, block=256, grid=64)  # green, every second row
    expected = np.bincount(image[::2, :, 1].ravel(), minlength=256)
    assert (bins.numpy() == expected).all()


def saxpy(device: Any) -> None:
    """PTX without source: parameter sizes come from the binary, their types from bind()."""
    if device.kind != "cuda":
        print("saxpy.ptx: needs a GPU")
        return
    kernel = sw.Module.load(LEGACY / "saxpy.ptx", device=device).get_function("saxpy")
    typed = kernel.bind(
        args=("contiguous float32*", "contiguous const float32*", "float32", "int32")
    )
    x, y = np.random.default_rng().standard_normal((2, 1000)).astype("float32")
    on_device = sw.array(y, device=device)
    typed(on_device, sw.array(x, device=device), 2.0, 1000, block=256, grid=4)
    assert np.allclose(on_device.numpy(), 2 * x + y)


def smooth(device: Any, folder: Path) -> None:
    """A shared library whose functions launch kernels themselves."""
    library = folder / "libsmooth.so"
    source = str(LEGACY / "smooth.cu")
    if device.kind == "cuda":
        if shutil.which("nvcc") is None:
            print("smooth.cu: nvcc is not in PATH")
            return
        command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", source]
    else:
        command = ["c++", "-x", "c++", "-shared", "-fPIC", source]
    subprocess.run([*command, "-o", str(library)], check=True)

    built = sw.HostLibrary(library)
    declaration = "const float *in, float *out, int width, int height"
    smooth_rows = built.launcher("smooth_rows", declaration + ", cudaStream_t", returns="int")
    smooth_default = built.launcher("smooth_rows_default", declaration, returns="int")

    host = np.random.default_rng().standard_normal((37, 53)).astype("float32")
    image, out = sw.array(host, device=device), sw.empty((37, 53), "float32", device=device)
    padded = np.pad(host, ((0, 0), (1, 1)), mode="edge")
    expected = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    for launcher in (smooth_rows, smooth_default):
        out[...] = 0
        launcher(image, out, 53, 37)
        assert np.allclose(out.numpy(), expected, atol=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=str(sw.default_device()))
    device = sw.device(parser.parse_args().device)
    histogram(device)
    saxpy(device)
    with tempfile.TemporaryDirectory() as folder:
        smooth(device, Path(folder))
    print("legacy kernels on", device)


if __name__ == "__main__":
    main()

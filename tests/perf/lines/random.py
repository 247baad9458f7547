# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers beside NumPy's default_rng(), and on a GPU beside CuPy's and PyTorch's."""

import numpy as np
from harness import Result, installed, interleave

import spanwise as sw

SIZES = (16, 1000, 1_000_000, 10_000_000)
ON_GPU = 1 << 28


def measure():
    ours, theirs = sw.random.default_rng(1, "cpu"), np.random.default_rng(1)
    for size in SIZES:
        for dtype in ("float32", "float64"):
            for name in ("random", "standard_normal", "standard_exponential"):
                what = f"{name} of {size} {dtype}"
                yield _beside_numpy(what, ours, theirs, name, size, dtype)
        for dtype in ("int8", "int64"):
            what = f"integers of {size} {dtype}"
            yield _beside_numpy(what, ours, theirs, "integers", -100, 101, size, dtype)
        yield _beside_numpy(f"normal(1, 2) of {size}", ours, theirs, "normal", 1.0, 2.0, size)
        yield _beside_numpy(f"permutation of {size}", ours, theirs, "permutation", size)
        yield _beside_numpy(
            f"choice of {size} of 1000 with probabilities",
            ours, theirs, "choice", 1000, size, True, np.full(1000, 1e-3),
        )  # fmt: skip
    gpu = str(sw.devices()[0])
    if gpu != "cpu":
        yield from _on_gpu(gpu)


def _beside_numpy(what, ours, theirs, name, *arguments):
    mine, numpys = getattr(ours, name), getattr(theirs, name)
    calls = {"spanwise": lambda: mine(*arguments), "numpy": lambda: numpys(*arguments)}
    return Result(
        what,
        "spanwise",
        interleave(calls, rounds=7, seconds=0.01),
        goal=("ratio", "numpy", 1.0),
    )


def _on_gpu(gpu):
    """1 GiB of float32 into memory that is there already, beside setting it to a number."""
    g = sw.random.default_rng(1, gpu)
    target = sw.empty((ON_GPU,), "float32", device=gpu)
    calls = {
        "random": {"spanwise": lambda: g.random(dtype="float32", out=target)},
        "standard_normal": {"spanwise": lambda: g.standard_normal(dtype="float32", out=target)},
    }
    if installed("cupy"):
        import cupy

        theirs = cupy.random.default_rng(1, bit_generator=cupy.random.Philox4x3210)
        memory = cupy.empty(ON_GPU, "float32")
        calls["random"]["cupy"] = lambda: theirs.random(dtype="float32", out=memory)
        calls["standard_normal"]["cupy"] = lambda: theirs.standard_normal(
            dtype="float32", out=memory
        )
    if installed("torch"):
        import torch

        tensor = torch.empty(ON_GPU, dtype=torch.float32, device=gpu)
        calls["random"]["torch"] = tensor.uniform_
        calls["standard_normal"]["torch"] = tensor.normal_
    for name, contenders in calls.items():
        contenders["fill"] = lambda: target.fill(1.0)
        # Devices of all libraries are one: waiting for ours waits for theirs.
        after = dict.fromkeys(contenders, lambda: sw.synchronize(gpu))
        goal = ("ratio", "torch", 1.0) if "torch" in contenders else None
        yield Result(
            f"{name} of 1 GiB of float32 on the GPU",
            "spanwise",
            interleave(contenders, rounds=7, after=after),
            goal=goal,
        )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products on a GPU, compared with CuPy and PyTorch if installed."""

import numpy as np
from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw

# Matrices that are multiplied by a vector, as they are and transposed. Small ones use a kernel of
# Spanwise, large ones cuBLAS.
MATRICES = (
    ((400, 784), "float32"),
    ((4000, 784), "float32"),
    ((2048, 2048), "float32"),
    ((2048, 2048), "float64"),
    ((4096, 4096), "float16"),
    ((4096, 4096), "float32"),
    ((40000, 784), "float32"),
)


def measure():
    gpu = first_gpu()
    for n, dtype in ((64, "float32"), (4096, "float32"), (4096, "float16"), (2048, "float64")):
        x = np.random.default_rng(0).random((n, n)).astype(dtype)
        yield _line(f"{n} x {n} {dtype} by its transpose", gpu, [x], lambda a: a @ a.T)
    for (rows, columns), dtype in MATRICES:
        rng = np.random.default_rng(0)
        x, v, w = (rng.random(n).astype(dtype) for n in ((rows, columns), columns, rows))
        name = f"{rows} x {columns} {dtype}"
        yield _line(f"{name} by a vector", gpu, [x, v], lambda a, v: a @ v)
        yield _line(f"{name}, transposed, by a vector", gpu, [x, w], lambda a, w: a.T @ w)


def _line(label, gpu, factors, multiply):
    """Times multiply(*factors) by each library."""
    arrays = {"spanwise": [sw.asarray(x, device=gpu) for x in factors]}
    if installed("torch"):
        import torch

        arrays["torch"] = [torch.as_tensor(x, device="cuda") for x in factors]
    if installed("cupy"):
        import cupy

        arrays["cupy"] = [cupy.asarray(x) for x in factors]
    calls = {
        name: queued(lambda factors=factors: multiply(*factors)) for name, factors in arrays.items()
    }
    return Result(
        f"{QUEUED} x matmul of {label} on {gpu}",
        "spanwise",
        interleave(calls, rounds=5),
        goal=("ratio", "torch", 1.05) if "torch" in calls else None,
    )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Products on a GPU, compared with CuPy and PyTorch if installed."""

import numpy as np
from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw


def measure():
    gpu = first_gpu()
    for n, dtype in ((64, "float32"), (4096, "float32"), (4096, "float16"), (2048, "float64")):
        x = np.random.default_rng(0).random((n, n)).astype(dtype)
        a = sw.asarray(x, device=gpu)
        calls = {"spanwise": lambda a=a: a @ a.T}
        if installed("torch"):
            import torch

            t = torch.as_tensor(x, device="cuda")
            calls["torch"] = lambda t=t: t @ t.T
        if installed("cupy"):
            import cupy

            c = cupy.asarray(x)
            calls["cupy"] = lambda c=c: c @ c.T
        yield Result(
            f"{QUEUED} x matmul of {n} x {n} {dtype} by its transpose on {gpu}",
            "spanwise",
            interleave({name: queued(call) for name, call in calls.items()}, rounds=5),
            goal=("ratio", "torch", 1.05) if "torch" in calls else None,
        )

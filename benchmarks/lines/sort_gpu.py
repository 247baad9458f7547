# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts and distinct values on a GPU, compared with CuPy and PyTorch, whose sort gives indices too."""

from functools import partial

import numpy as np
from gpu import first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw

#: Calls of one timing, and the largest ratio to CuPy's time.
CALLS, GOALS = 3, {"sort": 1.0, "argsort": 1.0, "unique": 1.1}


def measure():
    gpu = first_gpu()
    for dtype in ("float32", "int64"):
        for shape in ((1 << 26,), (1 << 16, 1 << 10)):
            bits = np.random.default_rng(0).integers(0, 1 << 62, shape)
            values = bits if dtype == "int64" else (bits / (1 << 61) - 1).astype(dtype)
            for name, goal in GOALS.items():
                if name == "unique" and len(shape) > 1:
                    continue
                yield _line(name, values, gpu, goal)


def _line(name, values, gpu, goal):
    arrays = {"spanwise": (sw, sw.asarray(values, device=gpu))}
    if installed("cupy"):
        import cupy

        arrays["cupy"] = (cupy, cupy.asarray(values))
    if installed("torch"):
        import torch

        arrays["torch"] = (torch, torch.as_tensor(values, device="cuda"))
    calls = {
        library: queued(partial(getattr(module, name), x), CALLS)
        for library, (module, x) in arrays.items()
    }
    return Result(
        f"{CALLS} x {name} of {values.dtype}, {values.shape}, on {gpu}",
        "spanwise",
        interleave(calls, rounds=5),
        goal=("ratio", "cupy", goal) if "cupy" in calls else None,
    )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Searches in sorted arrays on a GPU, compared with CuPy and PyTorch if installed."""

import numpy as np
from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw

# The numbers of searches and of elements, and whether the searched values are sorted: adjacent threads
# then follow the same path.
SEARCHES = (
    (16, 1 << 20, "float32", False),
    (1 << 20, 1 << 10, "float32", False),
    (1 << 20, 1 << 24, "float32", False),
    (1 << 24, 1 << 24, "float32", False),
    (1 << 24, 1 << 24, "float32", True),
    (1 << 24, 1 << 24, "int64", False),
)


def measure():
    gpu = first_gpu()
    for wanted, among, dtype, in_order in SEARCHES:
        rng = np.random.default_rng(0)
        table, values = (rng.integers(0, 1 << 40, size).astype(dtype) for size in (among, wanted))
        table.sort()
        if in_order:
            values.sort()
        what = f"{_shown(wanted)}{' sorted' * in_order} among {_shown(among)} {dtype}"
        calls = _searches(table, values, gpu)
        yield Result(
            f"{QUEUED} x searchsorted of {what} on a GPU",
            "spanwise",
            interleave({name: queued(call) for name, call in calls.items()}, rounds=7),
            goal=("ratio", "torch", 1.0) if "torch" in calls else None,
        )


def _searches(table, values, gpu):
    """The calls by library."""
    a, v = sw.asarray(table, device=gpu), sw.asarray(values, device=gpu)
    calls = {"spanwise": lambda: sw.searchsorted(a, v)}
    if installed("torch"):
        import torch

        t, u = torch.as_tensor(table, device="cuda"), torch.as_tensor(values, device="cuda")
        calls["torch"] = lambda: torch.searchsorted(t, u)
    if installed("cupy"):
        import cupy

        c, d = cupy.asarray(table), cupy.asarray(values)
        calls["cupy"] = lambda: cupy.searchsorted(c, d)
    return calls


def _shown(size):
    return (
        f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}k" if size >= 1 << 10 else str(size)
    )

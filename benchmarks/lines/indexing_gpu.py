# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Index arrays and searches on a GPU, compared with CuPy and PyTorch if installed.

Spanwise checks the indices before it uses them, and waits for the result of the check; the others do
not.
"""

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


# The shape that is indexed along axis 0, the number of indices and the dtype.
INDEXED = (
    ((1 << 10,), 16, "float32"),
    ((1 << 24,), 1 << 24, "float32"),
    ((1 << 24,), 1 << 24, "uint8"),
    ((1 << 20, 64), 1 << 20, "float32"),
    ((1 << 20, 96), 1 << 20, "uint8"),
)


def measure():
    yield from _accesses(first_gpu())
    yield from _all_searches(first_gpu())


def _accesses(gpu):
    for shape, count, dtype in INDEXED:
        calls = {"a[i]": {}, "a[i] = b": {}, "add.at": {}}
        for name, (read, write, add) in _accesses_by_library(shape, count, dtype, gpu).items():
            calls["a[i]"][name], calls["a[i] = b"][name], calls["add.at"][name] = read, write, add
        for operation, by_library in calls.items():
            if dtype == "uint8" and operation == "add.at":
                continue  # CuPy has none
            yield Result(
                f"{QUEUED} x {operation}, {_size_text(count)} int64 indices into {shape} {dtype} on a GPU",
                "spanwise",
                interleave({name: queued(call) for name, call in by_library.items()}, rounds=5),
            )


def _accesses_by_library(shape, count, dtype, gpu):
    """Reading, writing and adding at random indices, no index twice, by library."""
    rng = np.random.default_rng(0)
    indices = rng.permutation(shape[0])[:count]
    data = rng.integers(0, 100, shape).astype(dtype)
    value = data[indices]
    a, i, b = (sw.asarray(x, device=gpu) for x in (data, indices, value))
    calls = {
        "spanwise": (lambda: a[i], lambda: a.__setitem__(i, b), lambda: sw.add.at(a, i, b)),
    }
    if installed("torch"):
        import torch

        t, u, v = (torch.as_tensor(x, device="cuda") for x in (data, indices, value))
        calls["torch"] = (
            lambda: t[u],
            lambda: t.index_copy_(0, u, v),
            lambda: t.index_add_(0, u, v),
        )
    if installed("cupy"):
        import cupy

        c, d, e = (cupy.asarray(x) for x in (data, indices, value))
        calls["cupy"] = (
            lambda: c[d],
            lambda: c.__setitem__(d, e),
            lambda: cupy.add.at(c, d, e),
        )
    return calls


def _all_searches(gpu):
    for value_count, table_size, dtype, is_sorted in SEARCHES:
        rng = np.random.default_rng(0)
        table, values = (
            rng.integers(0, 1 << 40, size).astype(dtype) for size in (table_size, value_count)
        )
        table.sort()
        if is_sorted:
            values.sort()
        sizes = f"{_size_text(value_count)}{' sorted' * is_sorted} among {_size_text(table_size)}"
        calls = _searches(table, values, gpu)
        yield Result(
            f"{QUEUED} x searchsorted of {sizes} {dtype} on a GPU",
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


def _size_text(size):
    return (
        f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}k" if size >= 1 << 10 else str(size)
    )

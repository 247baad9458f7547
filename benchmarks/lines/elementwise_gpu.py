# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations and reductions on a GPU, compared with the driver's copy of the same size and peers."""

from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw


def measure():
    gpu = first_gpu()
    yield _host_time(gpu)
    for size in (1 << 24, 1 << 28):
        yield from _elementwise(gpu, size)
    yield from _sums(gpu)


def _host_time(gpu):
    a = sw.ones(16, "float32", device=gpu)
    contenders = {"sw": lambda: a + a}
    after = {"sw": lambda: a.sync()}
    if installed("cupy"):
        import cupy

        b = cupy.ones(16, "float32")
        contenders["cupy"] = lambda: b + b
        after["cupy"] = cupy.cuda.Device().synchronize
    if installed("torch"):
        import torch

        c = torch.ones(16, device="cuda")
        contenders["torch"] = lambda: c + c
        after["torch"] = torch.cuda.synchronize
    return Result(
        "host time of a + b on a GPU, 16 float32",
        "sw",
        interleave(contenders, after=after, rounds=9, seconds=0.0005),
        goal=("at most", None, 4.0e-6),
    )


def _elementwise(gpu, size):
    """Each compared with a driver copy that reads and writes the same number of bytes in total."""
    x, y = sw.ones(size, "float32", device=gpu), sw.ones(size, "float32", device=gpu)
    z = sw.empty(size, "float32", device=gpu)
    matrix = (1 << 12, size >> 12)
    column = x.reshape(matrix)[:, :1].copy()
    calls = {
        "exp(x)": (lambda: sw.exp(x, out=z), 2),
        "x + 1": (lambda: sw.add(x, 1.0, out=z), 2),
        "x + y": (lambda: sw.add(x, y, out=z), 3),
        "x + y, float16": (
            lambda: sw.add(x.view("float16"), y.view("float16"), out=z.view("float16")),
            3,
        ),
        "matrix + column": (
            lambda: sw.add(x.reshape(matrix), column, out=z.reshape(matrix)),
            2,
        ),
        "matrix + matrix.T": (
            lambda: sw.add(
                x.reshape(matrix).T, y.reshape(matrix[::-1]), out=z.reshape(matrix[::-1])
            ),
            3,
        ),
        "x[::-1] + y": (lambda: sw.add(x[::-1], y, out=z), 3),
    }
    for name, (call, arrays) in calls.items():
        source = sw.zeros(arrays * size * 2, "uint8", device=gpu)
        target = sw.empty(source.shape, "uint8", device=gpu)
        yield _compared_with_copy(f"{name} of {size >> 20}M float32", call, source, target, 0.95)


def _sums(gpu):
    """Compared with a copy of half the array, which accesses the same number of bytes."""
    array = sw.random.default_rng(1, gpu).random(1 << 28, "float32")
    half, target = array[: 1 << 27], sw.zeros(1 << 27, "float32", device=gpu)
    square = array.reshape(1 << 14, 1 << 14)
    calls = {
        "sum": lambda: array.sum(),
        "sum along axis 0": lambda: square.sum(axis=0),
        "sum along axis 1": lambda: square.sum(axis=1),
        "max": lambda: array.max(),
        "argmax": lambda: array.argmax(),
        "cumsum": lambda: array[: 1 << 27].cumsum(),
        "cumsum along axis 1": lambda: square[: 1 << 13].cumsum(axis=1),
    }
    for name, call in calls.items():
        fraction = 1 / 1.15 if name.startswith("cumsum") else 0.95
        yield _compared_with_copy(f"{name} of 1 GiB of float32", call, half, target, fraction)


def _compared_with_copy(name, call, source, target, fraction):
    """The goal is `fraction` of the bandwidth of a copy from `source` to `target`."""
    ours, floor = f"{QUEUED} x spanwise", f"{QUEUED} x the driver's copy"
    contenders = {ours: queued(call), floor: queued(lambda: sw.copyto(target, source))}
    return Result(
        f"{name} on a GPU",
        ours,
        interleave(contenders, rounds=7),
        goal=("ratio", floor, 1 / fraction),
    )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies on a GPU, one line per layout, compared with the driver's copy of the same size.

Arrays are larger than the L2 cache and several copies are queued, so that memory bandwidth is measured.
Only bytes of elements count; goals take the granularity of memory accesses into account.
"""

import math

from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave
from layouts import LAYOUTS, memory

import spanwise as sw

# Goals other than 0.90 of the driver's copy: short rows and every other word move whole sectors of 32
# bytes; a broadcast only writes.
GOALS = {
    "contiguous": 0.98,
    "rows of 64 bytes, pitch 96": 0.78,
    "transpose uint8": 0.85,
    "transpose float16": 0.88,
    "small axes (N, 5, 4)": 0.70,
    "a row to all": 1.0,
    "a column to all": 1.0,
    "every other": 0.63,
}
CASTS = [("float32", "float16"), ("uint8", "float32"), ("float64", "float32")]
# The first axis is longer than for the CPU by this factor, so that arrays exceed the L2 cache.
LENGTH_FACTOR = 4


def measure():
    gpu = first_gpu()
    for layout in LAYOUTS:
        yield _line(gpu, *layout)
    for dtypes in CASTS:
        yield _cast(gpu, *dtypes)
    yield _small(gpu)
    yield _small_block(gpu)


def _line(gpu, name, dtype, shape, view):
    factor = LENGTH_FACTOR if len(shape) > 1 or shape[0] > 1 << 20 else 1
    host = memory((factor * shape[0], *shape[1:]), dtype)
    base = sw.asarray(host).to(gpu)
    source = view(base)
    target = sw.empty(source.shape, dtype=dtype, device=gpu)
    packed = sw.empty(source.nbytes, dtype="uint8", device=gpu)
    packed_target = sw.empty(source.nbytes, dtype="uint8", device=gpu)

    ours, floor = f"{QUEUED} x sw.copyto", f"{QUEUED} x the driver's copy"
    contenders = {
        ours: queued(lambda: sw.copyto(target, source)),
        floor: queued(lambda: sw.copyto(packed_target, packed)),
    }
    figures = interleave(contenders, rounds=7)
    assert target[::7].numpy().tobytes() == view(host)[::7].tobytes()
    rate = 2 * QUEUED * source.nbytes / figures[floor].median
    return Result(
        f"copy on {gpu}: {name}, {dtype}, {math.ceil(source.nbytes / 2**20)} MiB",
        ours,
        figures,
        note=f"the driver's copy moves {rate / 1e12:.2f} TB/s",
        goal=("ratio", floor, 1 / GOALS.get(name, 0.9)),
    )


def _cast(gpu, source_dtype, target_dtype):
    """Compared with the driver's copy that reads and writes as many bytes."""
    source = sw.zeros((8192, 8192), dtype=source_dtype, device=gpu)
    target = sw.empty(source.shape, dtype=target_dtype, device=gpu)
    packed, packed_target = (
        sw.empty((source.nbytes + target.nbytes) // 2, dtype="uint8", device=gpu) for _ in range(2)
    )
    ours, floor = f"{QUEUED} x sw.copyto", f"{QUEUED} x the driver's copy"
    contenders = {
        ours: queued(lambda: sw.copyto(target, source, casting="unsafe")),
        floor: queued(lambda: sw.copyto(packed_target, packed)),
    }
    return Result(
        f"cast on {gpu}: {source_dtype} to {target_dtype}, 64M elements",
        ours,
        interleave(contenders, rounds=7),
        goal=("ratio", floor, 1 / 0.9),
    )


def _small(gpu):
    target = sw.empty((64, 64), device=gpu)
    return _host_time(f"a small transpose on {gpu}", target, sw.zeros((64, 64), device=gpu).T, {})


def _small_block(gpu):
    target, source = sw.empty((64, 64), device=gpu), sw.zeros((64, 64), device=gpu)
    peers = {}
    if installed("torch"):
        import torch

        if torch.cuda.is_available():
            a, b = torch.empty(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")
            peers["torch"] = lambda: a.copy_(b)
    if installed("cupy"):
        import cupy

        c, d = cupy.empty((64, 64), "float32"), cupy.zeros((64, 64), "float32")
        peers["cupy"] = lambda: cupy.copyto(c, d)
    return _host_time(f"a small copy on {gpu}", target, source, peers)


def _host_time(name, target, source, peers):
    contenders = {"sw.copyto": lambda: sw.copyto(target, source), **peers}
    wait = lambda: sw.synchronize(target.device)  # noqa: E731
    return Result(
        f"host time of {name}",
        "sw.copyto",
        interleave(contenders, after=dict.fromkeys(contenders, wait), rounds=9, seconds=0.0005),
        goal=("at most", None, 4.0e-6),
    )

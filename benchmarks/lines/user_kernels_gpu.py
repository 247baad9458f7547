# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels made of expressions, on a GPU: host time of a call and bandwidth, compared with CuPy and
PyCUDA."""

import functools
from importlib import import_module

import numpy as np
from gpu import QUEUED, first_gpu, queued
from harness import Result, installed, interleave

import spanwise as sw

# The same kernel, declared as for PyCUDA and as for CuPy.
PYCUDA_AXPY = ("float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]", "axpy")
CUPY_AXPY = ("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", "axpy")


def measure():
    gpu = first_gpu()
    yield _host_time(gpu)
    yield _bandwidth(gpu)
    yield from _reductions(gpu)


def _contenders(gpu, n):
    """Two dicts by library: functions that call the kernel on arrays of n elements, and functions
    that wait until it has run."""
    kernel, x = sw.ElementwiseKernel(*PYCUDA_AXPY), sw.ones(n, "float32", device=gpu)
    y, z = sw.ones(n, "float32", device=gpu), sw.empty(n, "float32", device=gpu)
    kernel(z, 2.0, x, y)
    np.testing.assert_array_equal(z[:16].numpy(), 3)
    cupy_style = sw.ElementwiseKernel(*CUPY_AXPY)
    calls = {
        "sw": lambda: kernel(z, 2.0, x, y),
        "sw, declared as for CuPy": lambda: cupy_style(2.0, x, y, z),
    }
    after = {name: lambda: z.sync() for name in calls}
    if installed("cupy"):
        import cupy

        cx, cy, cz = (cupy.ones(n, "float32") for _ in range(3))
        cupy_kernel = cupy.ElementwiseKernel(*CUPY_AXPY)
        calls["cupy"] = lambda: cupy_kernel(np.float32(2), cx, cy, cz)
        after["cupy"] = cupy.cuda.Device().synchronize
    if installed("pycuda"):
        import_module("pycuda.autoprimaryctx")  # makes the device's primary context current
        from pycuda import driver, gpuarray
        from pycuda.elementwise import ElementwiseKernel

        px, py, pz = (gpuarray.to_gpu(np.ones(n, "float32")) for _ in range(3))
        pycuda_kernel = ElementwiseKernel(*PYCUDA_AXPY)
        calls["pycuda"] = lambda: pycuda_kernel(pz, np.float32(2), px, py)
        after["pycuda"] = driver.Context.synchronize
    return calls, after


def _host_time(gpu):
    calls, after = _contenders(gpu, 16)
    return Result(
        "host time of an ElementwiseKernel with three arrays on a GPU, 16 float32",
        "sw",
        # Short rounds, so that the GPU's queue does not fill; the host waits if it is full.
        interleave(calls, after=after, rounds=9, seconds=0.0005),
        goal=("at most", None, 3.5e-6),
    )


def _bandwidth(gpu):
    n = 1 << 27
    calls, _ = _contenders(gpu, n)
    # The copy reads 6 n bytes and writes 6 n; the kernel accesses three arrays of 4 n bytes.
    source, target = (sw.zeros(6 * n, "uint8", device=gpu) for _ in range(2))
    floor = f"{QUEUED} x the driver's copy"
    contenders = {f"{QUEUED} x {name}": queued(call) for name, call in calls.items()}
    contenders[floor] = queued(lambda: sw.copyto(target, source))
    return Result(
        "ElementwiseKernel z = a x + y of 128M float32 on a GPU",
        f"{QUEUED} x sw",
        interleave(contenders, rounds=7),
        goal=("ratio", floor, 1 / 0.9),  # 90% of the bandwidth of the copy
    )


def _reductions(gpu):
    """A reduction is compared with a copy of half the array, which accesses as many bytes; a scan
    with a copy of the whole array."""
    matrix = sw.ones((1 << 14, 1 << 13), "float32", device=gpu)
    total = sw.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    running = sw.ScanKernel("float32", "a + b", name_prefix="running")
    flat, out = matrix.reshape(-1), sw.empty(matrix.size, "float32", device=gpu)
    source = sw.zeros(matrix.nbytes, "uint8", device=gpu)
    target = sw.empty(source.shape, "uint8", device=gpu)
    half = matrix.nbytes // 2
    assert float(total(matrix[:2])) == 2 << 13
    calls = {
        "ReductionKernel": (lambda: total(matrix), half, 1 / 0.8),
        "ReductionKernel along axis 0": (lambda: total(matrix, axis=0), half, 1 / 0.8),
        "ReductionKernel along axis 1": (lambda: total(matrix, axis=1), half, 1 / 0.8),
        "ScanKernel": (lambda: running(flat, out), matrix.nbytes, 1.15),
    }
    floor = f"{QUEUED} x the driver's copy"
    for name, (call, size, max_ratio) in calls.items():
        ours = f"{QUEUED} x spanwise"
        copy = functools.partial(sw.copyto, target[:size], source[:size])
        contenders = {ours: queued(call), floor: queued(copy)}
        yield Result(
            f"{name} of 512 MiB of float32 on a GPU",
            ours,
            interleave(contenders, rounds=7),
            goal=("ratio", floor, max_ratio),
        )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from one expression on the CPU, compared with equivalent loops in C++."""

import ctypes

import numpy as np
from harness import Result, interleave
from native import build

import spanwise as sw

FLOATS = ctypes.POINTER(ctypes.c_float)
AXPY = ("float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]", "axpy")


def measure():
    n = 1 << 22
    x, y = (np.random.default_rng(k).random(n, dtype="float32") for k in (0, 1))
    z = np.empty_like(x)
    loops = build("user_loops")
    loops.plain_dot.restype = ctypes.c_float
    yield _call()
    with sw.config.change(cpu_threads=1):
        yield _axpy(loops, z, x, y, "one thread")
        yield _rows(loops, z, x, y)
        yield _dot(loops, x, y)
        yield _running_sum(loops, z, x)
    yield _axpy(loops, z, x, y, "all threads", max_ratio=1.0)


def _pointers(*arrays):
    return [array.ctypes.data_as(FLOATS) for array in arrays]


def _call():
    axpy = sw.ElementwiseKernel(*AXPY)
    add = sw.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    x, z = sw.ones(16, "float32", device="cpu"), sw.empty(16, "float32", device="cpu")
    a = np.ones(16, "float32")
    out = np.empty_like(a)
    return Result(
        "call of an ElementwiseKernel with three arrays, 16 float32, on the CPU",
        "axpy(z, 2.0, x, x)",
        interleave(
            {
                "axpy(z, 2.0, x, x)": lambda: axpy(z, 2.0, x, x),
                "add(x, x), a new result": lambda: add(x, x),
                "np.add(x, y, out=z)": lambda: np.add(a, a, out=out),
            }
        ),
        goal=("ratio", "np.add(x, y, out=z)", 2.5),
    )


def _axpy(loops, z, x, y, note, max_ratio=1.3):
    kernel = sw.ElementwiseKernel(*AXPY)
    sz, sx, sy = map(sw.asarray, (z, x, y))
    pointers = _pointers(x, y)
    plain = lambda: loops.plain_axpy(  # noqa: E731
        *_pointers(z), ctypes.c_float(2), *pointers, ctypes.c_long(z.size)
    )
    z.fill(np.nan)
    kernel(sz, 2.0, sx, sy)
    np.testing.assert_allclose(z, 2 * x + y, rtol=1e-6)
    return Result(
        f"ElementwiseKernel z = a x + y, 4M float32, {note}",
        "ElementwiseKernel",
        interleave({"ElementwiseKernel": lambda: kernel(sz, 2.0, sx, sy), "plain loop": plain}),
        goal=("ratio", "plain loop", max_ratio),
    )


def _rows(loops, z, x, y):
    kernel = sw.ElementwiseKernel("T x, T row", "T z", "z = x + row", "add_row")
    shape = (2048, z.size // 2048)
    sz, sx = sw.asarray(z).reshape(shape), sw.asarray(x).reshape(shape)
    row = sw.asarray(y)[: shape[1]]
    pointers = _pointers(z, x, y)
    kernel(sx, row, sz)
    np.testing.assert_array_equal(z.reshape(shape), x.reshape(shape) + y[: shape[1]])
    return Result(
        "ElementwiseKernel of a matrix and a row, 4M float32, one thread",
        "ElementwiseKernel",
        interleave(
            {
                "ElementwiseKernel": lambda: kernel(sx, row, sz),
                "plain loop": lambda: loops.plain_add_row(*pointers, *map(ctypes.c_long, shape)),
            }
        ),
        goal=("ratio", "plain loop", 1.3),
    )


def _dot(loops, x, y):
    kernel = sw.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
    sx, sy = map(sw.asarray, (x, y))
    pointers = _pointers(x, y)
    np.testing.assert_allclose(float(kernel(sx, sy)), np.dot(x.astype("f8"), y), rtol=1e-5)
    return Result(
        "ReductionKernel of x y, 4M float32, one thread",
        "ReductionKernel",
        interleave(
            {
                "ReductionKernel": lambda: kernel(sx, sy),
                "plain loop": lambda: loops.plain_dot(*pointers, ctypes.c_long(x.size)),
                "np.dot(x, y)": lambda: np.dot(x, y),
            }
        ),
        goal=("ratio", "plain loop", 1.0),
    )


def _running_sum(loops, z, x):
    kernel = sw.ScanKernel("float32", "a + b", name_prefix="running")
    sz, sx = map(sw.asarray, (z, x))
    pointers = _pointers(z, x)
    kernel(sx, sz)
    np.testing.assert_allclose(z, x.astype("f8").cumsum(), rtol=1e-4)
    return Result(
        "ScanKernel, running sum of 4M float32, one thread",
        "ScanKernel",
        interleave(
            {
                "ScanKernel": lambda: kernel(sx, sz),
                "plain loop": lambda: loops.plain_running_sum(*pointers, ctypes.c_long(x.size)),
                "np.cumsum(x, out=z)": lambda: np.cumsum(x, out=z),
            }
        ),
        goal=("ratio", "plain loop", 1.5),
    )

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on a GPU whose driver is the fake one, which copies and fills, but runs no kernel: of
those the number of launches is compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import spanwise as sw
from faults.fake_driver import FakeDriver
from faults.operations import Call
from spanwise import driver, tensor

GPU = "cuda:0"
DRIVER_OPERATIONS: dict[str, Callable[[], tuple[Call, Any]]] = {}
A = np.arange(24, dtype=np.float32).reshape(4, 6)


def operation(make: Callable[[], tuple[Call, Any]]) -> Callable[[], tuple[Call, Any]]:
    DRIVER_OPERATIONS[make.__name__] = make
    return make


def launches_of(work: Call) -> Call:
    fake = FakeDriver()

    def call() -> Any:
        before = fake.launches()
        work()
        sw.synchronize()
        return fake.launches() - before

    return call


@operation
def copy_in_and_out() -> tuple[Call, Any]:
    return lambda: sw.asarray(A, device=GPU).numpy(), A


@operation
def large_copy() -> tuple[Call, Any]:
    values = np.arange(1 << 20, dtype=np.float32)
    return lambda: sw.asarray(values, device=GPU).numpy(), values


@operation
def copy_on_device() -> tuple[Call, Any]:
    a = sw.asarray(A, device=GPU)

    b = sw.empty_like(a)
    return launches_of(lambda: driver.memcpy_dtod(b, a, a.nbytes)), 1


@operation
def fill() -> tuple[Call, Any]:
    return lambda: sw.full((3, 5), 7, "int32", device=GPU).numpy(), np.full((3, 5), 7)


@operation
def many_arrays() -> tuple[Call, Any]:
    def call() -> Any:
        arrays = [sw.zeros(size, device=GPU) for size in (1, 1000, 10**6, 3 * 10**6)]
        return sum(a.size for a in arrays)

    return call, 4001001


@operation
def streams_and_events() -> tuple[Call, Any]:
    def call() -> Any:
        a = sw.asarray(A, device=GPU)
        stream, other = sw.Stream(GPU), sw.Stream(GPU)
        with stream:
            b = sw.full((3, 5), 7, "int32", device=GPU)
            first, last = sw.Event(timing=True), sw.Event(timing=True)
            first.record(stream)
            last.record(stream)
        last.synchronize()
        other.wait(first)
        other.wait(b)
        return a.numpy(), b.shape, stream.query()  # a kernel fills b

    return call, (A, (3, 5), True)


@operation
def elementwise() -> tuple[Call, Any]:
    a = sw.asarray(A, device=GPU)
    return launches_of(lambda: a + 1), 1


@operation
def compile_and_launch() -> tuple[Call, Any]:
    x = sw.asarray(A, device=GPU)

    def work() -> None:
        # A text of its own each time, so that a module is loaded.
        source = f"__global__ void f(float *x, int n) {{ x[0] = n; }} // {time.monotonic_ns()}"
        kernel = sw.SourceModule(source, device=GPU).get_function("f")
        assert kernel.attributes.max_threads_per_block == 1024
        kernel(x, 3, grid=2, block=32, shared=50 << 10)

    return launches_of(work), 1


@operation
def repeated_launch() -> tuple[Call, Any]:
    x = sw.asarray(A, device=GPU)
    source = "__global__ void f(float *x, int n) { x[0] = n; }"
    kernel = sw.SourceModule(source, device=GPU).get_function("f")

    def work() -> None:
        for n in range(12):  # the later ones as a graph
            kernel(x, n, grid=1, block=32)

    return launches_of(work), 12


@operation
def compiled_function() -> tuple[Call, Any]:
    x = tensor.fmatrix("x")
    function = sw.function([x], [tensor.exp(x).sum(axis=0) * 2, x + 1])
    a = sw.asarray(A, device=GPU)
    call = launches_of(lambda: function(a))
    for _ in range(6):
        call()
    return call, call()


@operation
def recorded_function() -> tuple[Call, Any]:
    x = tensor.fmatrix("x")
    w = sw.shared(A, target=GPU)
    y = x
    for axis in (0, 1) * 6:
        y = x + y.sum(axis=axis, keepdims=True)
    function = sw.function([x], y, updates={w: w + y})
    a = sw.asarray(A, device=GPU)
    for _ in range(6):
        function(a)
    return lambda: function(a).shape, A.shape


@operation
def memory_figures() -> tuple[Call, Any]:
    def call() -> Any:
        stats = sw.memory.stats(GPU)
        sw.memory.pool(GPU).trim()
        return bool(stats)

    return call, True


@operation
def between_devices() -> tuple[Call, Any]:
    a = sw.asarray(A)
    return lambda: a.to(GPU).to("cpu").numpy(), A

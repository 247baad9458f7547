# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Captures by PyTorch and CuPy: memory that a graph uses lives as long as the graph, and dropping
arrays during a capture does not end it.

Each test runs on one GPU with the real library. Fresh arrays that a replay overwrites, or a capture
that ends with an error, are the faults that these tests look for.
"""

import gc
import threading

import numpy as np
import pytest
from bridges.captures import (
    BlockingCupyCapture,
    CupyCapture,
    TorchCapture,
    assert_untouched,
    filled,
    fresh_arrays,
    idle_pool,
    pool_returns_to,
)

import spanwise as sw

SIZES = (1000, 1 << 20)  # cached per stream as a small block; directly from the pool

SPIN = """
extern "C" __global__ void spin(float* x, int n, float value, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}
"""
CYCLES = 100_000_000  # some 50 milliseconds


@pytest.fixture(params=[TorchCapture, CupyCapture], ids=["torch", "cupy"])
def capture(request, gpu):
    return request.param(gpu)


@pytest.fixture(scope="module", autouse=True)
def kernels_loaded(gpu):
    """Compiles and loads the kernels before any capture, which must not load modules."""
    x = sw.ones(8, dtype="float32", device=gpu)
    ((x * 2) * 3 + 1).numpy()
    sw.synchronize(gpu)


@pytest.fixture(scope="module")
def spin(gpu):
    kernel = sw.SourceModule(SPIN, device=gpu).get_function("spin")

    def run(x, value, stream):
        kernel(
            x,
            np.int32(x.size),
            np.float32(value),
            np.int64(CYCLES),
            block=(256, 1, 1),
            grid=(1, 1),
            stream=stream,
        )

    return run


@pytest.mark.parametrize("n", SIZES)
def test_a_temporary_of_a_capture_is_not_reused_while_the_graph_exists(gpu, capture, n):
    x = filled(gpu, n, 2)
    with capture:
        y = (x * 2) * 3 + 1
    others = fresh_arrays(gpu, capture, n)
    for value in (2, 5):
        x[...] = value
        sw.synchronize(gpu)
        capture.replay()
        assert_untouched(others)
        np.testing.assert_array_equal(y.numpy(), np.full(n, value * 6 + 1, "float32"))


@pytest.mark.parametrize("n", SIZES)
def test_a_result_dropped_after_a_capture_is_not_reused_while_the_graph_exists(gpu, capture, n):
    x = filled(gpu, n, 2)
    with capture:
        y = x * 2
    del y
    others = fresh_arrays(gpu, capture, n)
    capture.replay()
    assert_untouched(others)


def test_a_source_array_dropped_in_a_capture_keeps_its_values_for_the_replays(gpu, capture):
    n = 1 << 20
    x = filled(gpu, n, 2)
    with capture:
        y = x * 2
        del x
    others = fresh_arrays(gpu, capture, n)
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(n, 4, "float32"))
    assert_untouched(others)


@pytest.mark.parametrize("allocator", ["torch", "cupy"])
def test_a_temporary_of_another_allocator_is_not_reused_while_the_graph_exists(
    gpu, capture, allocator
):
    pytest.importorskip(allocator, reason=f"{allocator} is not installed")
    n = 1 << 20
    x = filled(gpu, n, 2)
    with sw.memory.use_allocator(allocator, gpu):
        (x * 2) * 3 + 1
        sw.synchronize(gpu)
        with capture:
            y = (x * 2) * 3 + 1
        others = fresh_arrays(gpu, capture, n)
    capture.replay()
    assert_untouched(others)
    np.testing.assert_array_equal(y.numpy(), np.full(n, 13, "float32"))


def test_memory_of_a_graph_is_freed_with_the_graph(gpu, capture):
    n = 1 << 20
    x = filled(gpu, n, 2)
    pool = idle_pool(gpu)
    before = pool.used
    with capture:
        y = (x * 2) * 3 + 1
    del y
    fresh_arrays(gpu, capture, 8)
    assert pool.used >= before + 8 * n, "the graph still writes there"
    capture.replay()
    capture.drop()
    assert pool_returns_to(pool, before)


def test_aborted_capture_frees_its_memory(gpu):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    capture = CupyCapture(gpu)
    x = filled(gpu, 1 << 20, 2)
    pool = idle_pool(gpu)
    before = pool.used
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError), capture:  # noqa: PT012
        y = x * 2
        capture.stream.synchronize()  # not allowed, so that there will be no graph
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
        capture.stream.end_capture()
    del y
    capture.drop()
    assert pool_returns_to(pool, before)


@pytest.mark.parametrize("stream_kind", ["default", "own"])
def test_array_of_another_stream_dropped_in_a_capture_is_read_by_the_replay(
    gpu, capture, stream_kind
):
    with sw.current_stream(gpu) if stream_kind == "default" else sw.Stream(gpu):
        x = filled(gpu, 1 << 20, 2)
    with capture:
        y = x * 2
        del x
        gc.collect()
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(1 << 20, 4, "float32"))


def test_import_dropped_in_a_capture_is_read_by_the_replay(gpu, capture):
    theirs = capture.tensor(2, 1 << 20)
    sw.synchronize(gpu)
    ours = sw.asarray(theirs)
    with capture:
        y = ours * 2
        del ours
        gc.collect()
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(1 << 20, 4, "float32"))


def test_import_of_another_stream_dropped_in_a_capture_is_read_by_the_replay(gpu, capture):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    with cupy.cuda.Stream(non_blocking=True):
        theirs = cupy.full(1 << 20, 2, dtype="float32")
        ours = sw.asarray(theirs)
    sw.synchronize(gpu)
    with capture:
        y = ours * 2
        del ours
        gc.collect()
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(1 << 20, 4, "float32"))


@pytest.mark.parametrize("kind", [TorchCapture, CupyCapture, BlockingCupyCapture])
def test_unused_arrays_dropped_in_a_capture_leave_it_valid(gpu, kind):
    capture = kind(gpu)
    x = filled(gpu, 1000, 2)
    z = filled(gpu, 1 << 20, 3)
    with sw.Stream(gpu):
        results = z + 1, z + 2  # z has work on two streams
    sw.synchronize(gpu)
    with capture.spanwise_stream:
        # Allocated before the capture: a blocking capture must not use the legacy stream.
        y = x * 1
    sw.synchronize(gpu)
    with capture:
        sw.copyto(y, y * 2)
        del z, results
        gc.collect()
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(1000, 4, "float32"))


def test_import_in_a_capture_works_while_another_owner_waits_for_its_end(gpu, capture, spin):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    stream = sw.Stream(gpu)
    with cupy.cuda.Stream(non_blocking=True):
        theirs = cupy.zeros(1000, "float32")
        ours = sw.asarray(theirs)
    source = capture.tensor(2, 1000)
    sw.synchronize(gpu)
    spin(ours, 1, stream)  # compiled and loaded before the capture
    sw.synchronize(gpu)
    with capture:
        spin(ours, 5, stream)
        del ours
        gc.collect()
        y = sw.asarray(source) * 2
    capture.replay()
    np.testing.assert_array_equal(y.numpy(), np.full(1000, 4, "float32"))
    sw.synchronize(gpu)
    np.testing.assert_array_equal(cupy.asnumpy(theirs), np.full(1000, 5, "float32"))


def test_another_thread_may_drop_arrays_during_a_capture(gpu, capture):
    x = filled(gpu, 1 << 20, 2)
    done = threading.Event()

    def work():
        with sw.Stream(gpu):
            a = sw.ones(1 << 20, "float32", device=gpu)
        while not done.is_set():
            b = a * 2 + 1
            del b

    captures = []  # kept: destroying a graph of PyTorch's during its next capture ends that capture
    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(5):
            with capture.__class__(gpu) as current:
                captures.append(current)
                y = (x * 2) * 3 + 1
            current.replay()
            np.testing.assert_array_equal(y.numpy(), np.full(1 << 20, 13, "float32"))
    finally:
        done.set()
        worker.join()

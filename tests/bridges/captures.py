# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Stream captures by PyTorch and CuPy, and arrays created afterwards, which no replay may overwrite."""

import gc
import time

import numpy as np
import pytest

import spanwise as sw


class TorchCapture:
    """`with capture:` records torch's stream, which is spanwise's current one meanwhile."""

    def __init__(self, gpu):
        self.torch = pytest.importorskip("torch", reason="torch is not installed")
        self.stream = self.torch.cuda.Stream()
        self.graph = self.torch.cuda.CUDAGraph()
        self.spanwise_stream = sw.Stream.foreign(self.stream, gpu)
        self.recording = self.torch.cuda.graph(self.graph, stream=self.stream)

    def __enter__(self):
        self.recording.__enter__()
        self.spanwise_stream.__enter__()
        return self

    def __exit__(self, *error):
        self.spanwise_stream.__exit__(*error)
        return self.recording.__exit__(*error)

    def replay(self):
        self.graph.replay()
        self.torch.cuda.synchronize()

    def drop(self):
        self.torch.cuda.synchronize()
        self.graph = self.recording = None
        gc.collect()

    def tensor(self, value, n):
        return self.torch.full((n,), float(value), device="cuda")


class CupyCapture:
    """`with capture:` records a stream of CuPy, whose methods begin and end the capture."""

    non_blocking = True

    def __init__(self, gpu):
        self.cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        self.stream = self.cupy.cuda.Stream(non_blocking=self.non_blocking)
        self.spanwise_stream = sw.Stream.foreign(self.stream, gpu)

    def __enter__(self):
        self.cupy.cuda.Device().synchronize()
        self.stream.__enter__()
        self.stream.begin_capture()
        self.spanwise_stream.__enter__()
        return self

    def __exit__(self, *error):
        self.spanwise_stream.__exit__(*error)
        try:
            self.graph = self.stream.end_capture()
        finally:
            self.stream.__exit__(*error)

    def replay(self):
        self.graph.launch(self.stream)
        self.stream.synchronize()

    def drop(self):
        self.stream.synchronize()
        self.graph = None
        gc.collect()

    def tensor(self, value, n):
        return self.cupy.full(n, float(value), dtype="float32")


class BlockingCupyCapture(CupyCapture):
    """Captures a stream that synchronizes with the legacy default stream, which must not be used during
    the capture."""

    non_blocking = False


def fresh_arrays(gpu, capture, n):
    """Arrays filled with 7 on several streams after a capture."""
    sw.zeros(1, device=gpu)  # memory that waits for the end of the capture may be freed now
    sw.synchronize(gpu)
    arrays = []
    for stream in (sw.current_stream(gpu), capture.spanwise_stream, sw.Stream(gpu)):
        with stream:
            arrays += [sw.full(n, 7, dtype="float32", device=gpu) for _ in range(16)]
    sw.synchronize(gpu)
    return arrays


def assert_untouched(arrays):
    for array in arrays:
        np.testing.assert_array_equal(array.numpy(), np.full(array.size, 7, "float32"))


def filled(gpu, n, value):
    array = sw.full(n, value, dtype="float32", device=gpu)
    sw.synchronize(gpu)
    return array


def idle_pool(gpu):
    """The pool after memory of graphs of earlier tests was freed, which the driver reports on another
    thread."""
    for _ in range(3):
        gc.collect()
        time.sleep(0.1)
        sw.zeros(1, device=gpu)
    return sw.memory.pool(gpu)


def pool_returns_to(pool, used):
    """Waits up to 30 seconds until the pool uses at most so many bytes; whether it does."""
    deadline = time.monotonic() + 30
    while pool.used > used and time.monotonic() < deadline:
        time.sleep(0.01)
        sw.zeros(1, device=pool.device)
    return pool.used <= used

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Producers and consumers on different streams, kernels slow on purpose, random orders: no stale read.

Without the ordering the same programs read stale values, which shows that they would detect a missing
wait. The foreign side launches kernels on bare addresses, which Spanwise does not track.
"""

import os
import random

import numpy as np
import pytest

import spanwise as sw

ORDERS = int(os.environ.get("SPANWISE_TEST_ORDERS", "10000"))
LENGTH = 256
CYCLES = 50_000  # some 30 microseconds

SOURCE = """
__device__ void wait(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
extern "C" __global__ void fill(unsigned long long where, int n, float value, long long cycles) {
  wait(cycles);
  if (threadIdx.x < n) ((float*)where)[threadIdx.x] = value;
}
extern "C" __global__ void fill_array(float* out, int n, float value, long long cycles) {
  wait(cycles);
  if (threadIdx.x < n) out[threadIdx.x] = value;
}
extern "C" __global__ void copy(unsigned long long from, unsigned long long to, int n) {
  if (threadIdx.x < n) ((float*)to)[threadIdx.x] = ((const float*)from)[threadIdx.x];
}
"""


class Exporter:
    """Memory that Spanwise sees for the first time, with work queued on a stream."""

    def __init__(self, address, stream):
        self.__cuda_array_interface__ = {
            "shape": (LENGTH,),
            "typestr": "<f4",
            "data": (address, False),
            "version": 3,
            "stream": stream,
        }


@pytest.fixture(scope="module")
def kernels(gpu):
    return sw.SourceModule(SOURCE, device=gpu)


class Workload:
    """Few buffers that all steps reuse, and for each step a result that is checked at the end."""

    def __init__(self, gpu, orders, buffers=8, streams=4):
        self.theirs = [sw.Stream(gpu) for _ in range(streams)]
        self.ours = [sw.Stream(gpu) for _ in range(streams)]
        self.buffers = [sw.zeros(LENGTH, dtype="float32", device=gpu) for _ in range(buffers)]
        self.results = [sw.zeros(LENGTH, dtype="float32", device=gpu) for _ in range(orders)]
        self.last = [[] for _ in range(buffers)]  # streams that a buffer was last used on
        sw.synchronize()

    def stale(self):
        sw.synchronize()
        values = np.stack([result.numpy() for result in self.results])
        expected = np.arange(1, len(self.results) + 1, dtype=np.float32)
        return int((values != expected[:, None]).any(axis=1).sum())


def import_filled(gpu, kernels, orders, ordered):
    """The foreign side fills a buffer on its stream; Spanwise imports it and copies it on another."""
    fill = kernels.get_function("fill")
    workload, rng = Workload(gpu, orders), random.Random(1)
    for i in range(orders):
        k = rng.randrange(len(workload.buffers))
        theirs, ours = rng.choice(workload.theirs), rng.choice(workload.ours)
        for before in workload.last[k]:  # the foreign side orders its own work
            theirs.wait(before)
        address = workload.buffers[k].ptr
        fill(
            address, LENGTH, float(i + 1), CYCLES, block=(LENGTH, 1, 1), grid=(1, 1), stream=theirs
        )
        with ours:
            sw.copyto(
                workload.results[i],
                sw.asarray(Exporter(address, theirs.handle if ordered else None)),
            )
        workload.last[k] = [theirs, ours]
    return workload.stale()


def export_filled(gpu, kernels, orders, ordered):
    """Spanwise fills a buffer on its stream; the foreign side imports it and copies it on another."""
    fill, copy = kernels.get_function("fill_array"), kernels.get_function("copy")
    workload, rng = Workload(gpu, orders), random.Random(2)
    for i in range(orders):
        k = rng.randrange(len(workload.buffers))
        theirs, ours = rng.choice(workload.theirs), rng.choice(workload.ours)
        for before in workload.last[k]:
            ours.wait(before)
        buffer = workload.buffers[k]
        fill(buffer, LENGTH, float(i + 1), CYCLES, block=(LENGTH, 1, 1), grid=(1, 1), stream=ours)
        buffer.__dlpack__(stream=theirs.handle if ordered else -1, max_version=(1, 0))
        result = workload.results[i]
        copy(buffer.ptr, result.ptr, LENGTH, block=(LENGTH, 1, 1), grid=(1, 1), stream=theirs)
        workload.last[k] = [theirs]
    return workload.stale()


@pytest.mark.parametrize("direction", [import_filled, export_filled])
def test_no_stale_read(gpu, kernels, direction):
    assert direction(gpu, kernels, ORDERS, ordered=True) == 0


@pytest.mark.parametrize("direction", [import_filled, export_filled])
def test_stale_reads_occur_without_the_ordering(gpu, kernels, direction):
    assert direction(gpu, kernels, 500, ordered=False) > 0


def test_random_orders_of_work_on_torch_streams(gpu):
    """Both directions and release: torch may write to memory as soon as we release it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    orders = ORDERS // 10
    workload, rng = Workload(gpu, orders), random.Random(3)
    tensors = [torch.zeros(LENGTH, device="cuda:0") for _ in range(8)]
    streams = [torch.cuda.Stream() for _ in range(4)]
    torch.cuda.synchronize()
    last = [streams[0]] * len(tensors)
    for i in range(orders):
        k, stream, ours = rng.randrange(8), rng.choice(streams), rng.choice(workload.ours)
        stream.wait_stream(last[k])
        with torch.cuda.stream(stream):
            torch.cuda._sleep(CYCLES)
            tensors[k].fill_(i + 1)
            with ours:
                array = sw.asarray(tensors[k])
                sw.copyto(workload.results[i], array)
            del array
        last[k] = stream
    assert workload.stale() == 0


def test_random_orders_of_work_on_cupy_streams(gpu):
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    orders = ORDERS // 10
    workload, rng = Workload(gpu, orders), random.Random(4)
    arrays = [cupy.zeros(LENGTH, dtype="float32") for _ in range(8)]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
    cupy.cuda.Device().synchronize()
    slow = cupy.RawKernel(SOURCE, "fill_array")
    for i in range(orders):
        k, stream, ours = rng.randrange(8), rng.choice(streams), rng.choice(workload.ours)
        for before in workload.last[k]:  # CuPy's next work on it must wait for these
            sw.Stream.foreign(stream, gpu).wait(before)
        with stream:
            slow(
                (1,), (LENGTH,), (arrays[k], np.int32(LENGTH), np.float32(i + 1), np.int64(CYCLES))
            )
            with ours:
                sw.copyto(workload.results[i], sw.asarray(arrays[k]))
        workload.last[k] = [sw.Stream.foreign(stream, gpu), ours]
    assert workload.stale() == 0

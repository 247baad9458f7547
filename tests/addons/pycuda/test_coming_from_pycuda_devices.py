# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented features of devices, contexts, streams and modules, one test for each row of docs/coming-from-pycuda.md."""

import subprocess
import sys

import numpy as np
import pytest
from addons.pycuda.pycuda_rows import SCALE, on_device, random
from support.tree import ROOT

import spanwise as sw
import spanwise.driver as drv
from spanwise import SourceModule

pytestmark = pytest.mark.usefixtures("default_device")


@pytest.fixture
def scale():
    return SourceModule(SCALE).get_function("scale")


def test_device_attributes(device):
    dev = drv.Context.get_device()
    attributes = drv.device_attribute
    assert attributes.MAX_THREADS_PER_BLOCK == 1 and attributes.COMPUTE_CAPABILITY_MAJOR == 75
    assert dev.WARP_SIZE == dev.get_attribute(attributes.WARP_SIZE) == device.properties.warp_size
    assert device.properties.max_block[2] == dev.MAX_BLOCK_DIM_Z
    assert (
        dev.get_attributes()[attributes.MULTIPROCESSOR_COUNT] == device.properties.multiprocessors
    )
    with pytest.raises(AttributeError, match="device_attribute"):
        dev.MAX_SPEED  # noqa: B018
    if device.kind == "cpu":
        assert drv.get_version() == (0, 0, 0)
        with pytest.raises(sw.DeviceError, match="the CPU has no CLOCK_RATE"):
            dev.get_attribute(attributes.CLOCK_RATE)
    else:
        assert dev.compute_capability()[0] == dev.COMPUTE_CAPABILITY_MAJOR
        assert drv.get_driver_version() >= 12040


def test_context_limits_and_profiler(device):
    drv.start_profiler()
    drv.stop_profiler()
    if device.kind == "cpu":
        with pytest.raises(sw.DeviceError, match="cpu_stack_kb"):
            drv.Context.get_limit(drv.limit.STACK_SIZE)
        return
    before = drv.Context.get_limit(drv.limit.STACK_SIZE)
    try:
        drv.Context.set_limit(drv.limit.STACK_SIZE, 2 * before)
        assert drv.Context.get_limit(drv.limit.STACK_SIZE) >= 2 * before
    finally:
        drv.Context.set_limit(drv.limit.STACK_SIZE, before)


SET_PRINTF_LIMIT = """
import spanwise as sw, spanwise.driver as drv

with sw.device("cuda:0"):
    limit, before = drv.limit.PRINTF_FIFO_SIZE, drv.Context.get_limit(drv.limit.PRINTF_FIFO_SIZE)
    drv.Context.set_limit(limit, 2 * before)
    assert drv.Context.get_limit(limit) >= 2 * before
    f = sw.SourceModule('__global__ void f() { printf("printed"); }').get_function("f")
    f(block=(1, 1, 1), grid=(1, 1))
    sw.synchronize()
    try:
        drv.Context.set_limit(limit, 4 * before)
    except sw.DeviceError as error:
        print(error)
"""


def test_limit_fixed_by_loaded_kernels_raises(device):
    if device.kind == "cpu":
        pytest.skip("the CPU has no limits")
    # In a new process, in which no kernel has printed yet.
    done = subprocess.run(
        [sys.executable, "-c", SET_PRINTF_LIMIT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "printed" in done.stdout
    assert "PRINTF_FIFO_SIZE only before the first kernel that prints" in done.stdout


def test_streams_and_events(scale):
    stream, other = drv.Stream(), drv.Stream()
    x = on_device(np.ones(1000, "float32"))
    start, end = drv.Event(), drv.Event()
    start.record(stream)
    scale(x, 2.0, 1000, block=250, grid=4, stream=stream)
    end.record(stream)
    other.wait_for_event(end)
    scale(x, 2.0, 1000, block=250, grid=4, stream=other)
    other.synchronize()
    assert other.is_done() and end.query()
    assert start.time_till(end) >= 0 and end.time_since(start) >= 0
    assert (x.numpy() == 4).all()


def test_contexts(device):
    this_device = drv.Device(str(device))
    context = this_device.make_context()
    try:
        assert drv.Context.get_current() == context == this_device.retain_primary_context()
        assert drv.Context.get_device() == this_device
        assert (context.handle == 0) == (device.kind == "cpu")
        assert sw.zeros(1).device == device
        drv.Context.synchronize()
    finally:
        context.pop()
    with context:
        assert drv.Context.get_current() == context
    context.detach()
    with pytest.raises(sw.ArgumentError, match="push"):
        drv.Context.pop()


def test_devices(device):
    this_device = drv.Device(str(device))
    assert this_device.name() and this_device.total_memory() > 0
    assert drv.Device.count() == sum(d.kind == "cuda" for d in sw.devices())
    if device.kind == "cuda":
        assert this_device.compute_capability() >= (5, 0)
    else:
        with pytest.raises(sw.DeviceError, match="compute capability"):
            this_device.compute_capability()


def test_modules_from_binaries(device):
    file = ROOT / "examples" / "legacy" / "saxpy.ptx"
    if device.kind == "cpu":
        with pytest.raises(sw.ArgumentError, match="CUDA device"):
            drv.module_from_file(file)
        return
    for mod in (drv.module_from_file(file), drv.module_from_buffer(file.read_bytes())):
        y = on_device(np.ones(10, "float32"))
        mod.get_function("saxpy")(y, y, np.float32(2), np.int32(10), block=10)
        assert y.tolist() == [3] * 10


def test_linking():
    twice = 'extern "C" __device__ float twice(float x) { return 2 * x; }'
    kernel = """
        extern "C" __device__ float twice(float x);
        __global__ void k(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
    """
    for mod in (SourceModule(kernel, link=[twice]), SourceModule("", link=[kernel, twice])):
        x = on_device(random(50))
        expected = 2 * x.numpy()
        mod.get_function("k")(x, block=50)
        np.testing.assert_array_equal(x.numpy(), expected)


def test_occupancy(scale, device):
    assert 1 <= scale.max_active_blocks(128) <= 64
    assert scale.max_active_blocks((64, 2), shared=1024) >= 1
    min_grid, block = scale.occupancy_block_size()
    assert 1 <= block <= scale.max_threads_per_block and block % 32 == 0
    assert min_grid >= device.properties.multiprocessors
    for wrong in (0, 4096):
        with pytest.raises(sw.KernelArgumentError, match="block"):
            scale.max_active_blocks(wrong)
    with pytest.raises(TypeError, match="at most 1 arguments by position"):
        scale.occupancy_block_size(1, 2)
    with pytest.raises(sw.KernelArgumentError, match="shared="):
        scale.occupancy_block_size(shared="much")

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's documented features of kernels and launches, one test for each row of docs/coming-from-pycuda.md."""

import numpy as np
import pytest
from addons.pycuda.pycuda_rows import SCALE, on_device
from support.cuda_toolkit import toolkit_headers

import spanwise as sw
import spanwise.driver as drv
from spanwise import SourceModule

pytestmark = pytest.mark.usefixtures("default_device")


@pytest.fixture
def scale():
    return SourceModule(SCALE).get_function("scale")


def test_prepared_calls(scale, device):
    x = on_device(np.ones(256, "float32"))
    prepared = scale.prepare("Pfi")
    prepared.prepared_call((1, 1), (256, 1, 1), x, 2.0, 256)
    prepared.prepared_async_call((1, 1), (256, 1, 1), sw.Stream(device), x, 2.0, 256)
    seconds = prepared.prepared_timed_call((1, 1), (256, 1, 1), x, 2.0, 256)()
    assert 0 <= seconds < 10 and (x.numpy() == 8).all()
    with pytest.raises(sw.KernelArgumentError, match="prepare"):
        scale.prepare("PPi")


def test_attributes(scale, device):
    names = drv.function_attribute
    assert scale.get_attribute(names.NUM_REGS) == scale.num_regs
    assert scale.get_attribute(names.SHARED_SIZE_BYTES) == scale.shared_size_bytes == 0
    assert scale.get_attribute(names.LOCAL_SIZE_BYTES) == scale.local_size_bytes
    assert scale.get_attribute(names.CONST_SIZE_BYTES) == scale.const_size_bytes
    assert scale.get_attribute(names.MAX_THREADS_PER_BLOCK) == scale.max_threads_per_block >= 256
    limit = scale.get_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES)
    assert limit == device.properties.max_shared_bytes_optin
    scale.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, limit)
    scale.set_cache_config(drv.func_cache.PREFER_L1)
    for call in (
        lambda: scale.get_attribute("SPEED"),
        lambda: scale.set_attribute(names.NUM_REGS, 1),
        lambda: scale.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, limit + 1),
        lambda: scale.set_cache_config("PREFER_SPEED"),
    ):
        with pytest.raises(sw.KernelArgumentError, match="kernel 'scale'.*expected"):
            call()


def test_globals():
    mod = SourceModule(
        """
        __constant__ float table[4];
        __device__ int calls;
        __global__ void look_up(float *out) { out[threadIdx.x] = table[threadIdx.x]; if (threadIdx.x == 0) ++calls; }
        """
    )
    table = mod.get_global("table")
    assert table.nbytes == 16 and table.ptr > 0
    drv.memcpy_htod(table, np.float32([4, 3, 2, 1]))
    out = sw.zeros(4, dtype="float32")
    mod.get_function("look_up")(out, block=4)
    assert out.tolist() == [4, 3, 2, 1]
    table.view("float32")[...] = 7
    mod.get_function("look_up")(out, block=4)
    assert out.tolist() == [7] * 4 and mod.get_global("calls").view("int32").item() == 2


def test_templates():
    source = "template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }"
    mod = SourceModule(source, names=["scale<float>", "scale<long long>"])
    for name, dtype in (("scale<float>", "float32"), ("scale<long long>", "int64")):
        x = on_device(np.arange(5).astype(dtype))
        mod.get_function(name)(x, 3, block=5)
        assert x.tolist() == [0, 3, 6, 9, 12]


def test_dynamic_shared_memory(device):
    mod = SourceModule(
        """
        __global__ void reverse(int *x, int n)
        {
          extern __shared__ int s[];
          for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
          __syncthreads();
          for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[n - 1 - i];
        }
        """
    )
    limit = device.properties.max_shared_bytes_optin
    for count in (1000, min(limit, 96 << 10) // 4):  # above 48 KiB a GPU's kernel must opt in
        x = on_device(np.arange(count, dtype="int32"))
        mod.get_function("reverse")(x, count, block=256, shared=4 * count)
        np.testing.assert_array_equal(x.numpy(), np.arange(count)[::-1])
    with pytest.raises(sw.KernelArgumentError, match="shared"):
        mod.get_function("reverse")(x, 1, block=1, shared=1 << 24)


def test_printf(capfd):
    mod = SourceModule(
        '__global__ void say() { printf("thread %d says %s\\n", threadIdx.x, "hello"); }'
    )
    mod.get_function("say")(block=3)
    drv.Context.synchronize()
    lines = sorted(capfd.readouterr().out.splitlines())
    assert lines == [f"thread {i} says hello" for i in range(3)]


def test_kernels_that_launch_kernels(device):
    source = """
        __global__ void child(int *x, int n) { x[threadIdx.x] = n + threadIdx.x; }
        __global__ void parent(int *x) { if (threadIdx.x == 0) child<<<1, 8>>>(x, 40); }
    """
    if device.kind == "cpu":
        with pytest.raises(sw.CompileError, match="kernel launches in device code"):
            SourceModule(source)
        return
    mod = SourceModule(source)
    assert mod.function_names == ["child", "parent"]
    x = sw.zeros(8, dtype="int32")
    mod.get_function("parent")(x, block=32)
    assert x.tolist() == list(range(40, 48))


def test_cooperative_launch(device):
    plain = "__global__ void k(int *x, int *y) { atomicAdd(x, 1); y[blockIdx.x] = blockDim.x; }"
    x, y = sw.zeros(1, dtype="int32"), sw.zeros(4, dtype="int32")
    SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cooperative=True)
    assert x.item() == 128 and y.tolist() == [32] * 4
    grid_sync = """
        #include <cooperative_groups.h>
        __global__ void k(int *x, int *y)
        {
          atomicAdd(x, 1);
          cooperative_groups::this_grid().sync();
          if (threadIdx.x == 0) y[blockIdx.x] = *x;
        }
    """
    if device.kind == "cpu":
        with pytest.raises(sw.KernelFaultError, match="whole grid.*needs a GPU, unless"):
            SourceModule(grid_sync).get_function("k")(x, y, block=32, grid=4, cooperative=True)
        with pytest.raises(sw.KernelArgumentError, match="cluster"):
            SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cluster=2)
        return
    if drv.Device(str(device)).compute_capability() >= (9, 0):
        SourceModule(plain).get_function("k")(x, y, block=32, grid=4, cluster=(2, 1, 1))
        with pytest.raises(sw.KernelArgumentError, match="cluster"):
            SourceModule(plain).get_function("k")(x, y, block=32, grid=3, cluster=2)
    x[...] = 0
    with toolkit_headers():
        module = SourceModule(grid_sync)
    module.get_function("k")(x, y, block=32, grid=4, cooperative=True)
    assert y.tolist() == [128] * 4
    with pytest.raises(sw.KernelArgumentError, match="run at once"):
        module.get_function("k")(x, y, block=1024, grid=100_000, cooperative=True)

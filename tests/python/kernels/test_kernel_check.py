# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""config.kernel_check: accesses outside of arrays and results that depend on the order of
threads."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

# The first kernel of Theano's tutorial on PyCUDA: 400 threads over 100 elements.
MULTIPLY = """__global__ void multiply_them(float *dest, float *a, float *b)
{
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
"""


def compiled(device, source, name):
    return sw.SourceModule(source, device=device).get_function(name)


def arrays(device, *hosts):
    return [sw.array(host, device=device) for host in hosts]


@pytest.mark.parametrize("mode", ["bounds", "order", "all"])
def test_too_many_threads_for_the_array_raise(device, compiler, mode):
    multiply = compiled(device, MULTIPLY, "multiply_them")
    host = np.random.default_rng().standard_normal(100).astype("float32")
    dest, a, b = arrays(device, np.full(100, np.nan, "float32"), host, host)
    with sw.config.change(kernel_check=mode):
        multiply(dest, a, b, block=(100, 1, 1), grid=(1, 1))
        np.testing.assert_array_equal(dest.numpy(), host * host)
        dest[...] = 7
        with pytest.raises(sw.DeviceError, match="multiply_them") as caught:
            multiply(dest, a, b, block=(400, 1, 1), grid=(1, 1))
    message = str(caught.value)
    if device.kind == "cpu":
        assert "reads 4 bytes outside of the array of argument" in message
        assert "400 bytes behind its first byte, and it has 400" in message
        assert "thread (100, 0, 0) of block (0, 0, 0)" in message
        assert "kernel.cu:4" in message or shutil.which("addr2line") is None
    else:
        assert "behind the end of the array of argument 1 ('float *dest')" in message
        assert "bytes 400 to 1599" in message and "compute-sanitizer" in message
    assert (dest.numpy() == 7).all(), "a launch that raised changed the array"
    multiply(dest, a, b, block=(100, 1, 1), grid=(1, 1))  # the device is still usable
    np.testing.assert_array_equal(dest.numpy(), host * host)


#: Launches 400 threads over 100 elements, and keeps arrays so that each round has other neighbours.
PROGRAM = f"""
import numpy as np
import spanwise as sw

multiply = sw.SourceModule('''{MULTIPLY}''', device="cpu").get_function("multiply_them")
hosts = np.random.default_rng(1).standard_normal((2, 100)).astype("float32")
kept = []
for round in range(300):
    a, b = (sw.array(host, device="cpu") for host in hosts)
    others = [sw.full(n, n, "int32", device="cpu") for n in (1, 50, 100, 128, 200)]
    dest = sw.zeros(100, "float32", device="cpu")
    multiply(dest, a, b, block=(400, 1, 1), grid=(1, 1))
    assert (dest.numpy() == hosts[0] * hosts[1]).all()
    assert (a.numpy() == hosts[0]).all() and (b.numpy() == hosts[1]).all()
    assert all((x.numpy() == x.size).all() for x in others)
    if round % 3:
        kept.append((dest, others))
print("ended")
"""


def test_out_of_bounds_tutorial_program_does_not_change_other_arrays(compiler):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_cpu_slack_is_a_number_of_bytes():
    assert int(sw.config.cpu_slack) >= 1200  # PROGRAM reads and writes 300 floats behind its arrays
    for value in ("-1", "4KiB", str(1 << 40)):
        with pytest.raises(sw.ArgumentError, match="cpu_slack: expected a number of bytes"):
            sw.config.cpu_slack = value


def test_write_before_or_far_after_an_array_raises(device, compiler):
    source = "__global__ void put(int *x, int at) { x[at] = 1; }"
    put = compiled(device, source, "put")
    (x,) = arrays(device, np.zeros(10, "int32"))
    with sw.config.change(kernel_check="bounds"):
        put(x, 9, block=1)
        for at in (-1, 10, -1000, 5000):
            with pytest.raises(sw.DeviceError, match="argument 1"):
                put(x, at, block=1)
    assert x.tolist() == [0] * 9 + [1]


def test_access_outside_a_view_raises_though_inside_its_storage(device, compiler):
    put = compiled(device, "__global__ void put(int *x, int at) { x[at] = 1; }", "put")
    (x,) = arrays(device, np.zeros(10, "int32"))
    with sw.config.change(kernel_check="bounds"):
        put(x[2:5], 2, block=1)
        with pytest.raises(sw.DeviceError, match="has 12"):
            put(x[2:5], 3, block=1)
    assert x.tolist() == [0, 0, 0, 0, 1] + [0] * 5


def test_overlapping_views_share_one_checked_copy(device, compiler):
    source = "__global__ void add(int *out, const int *x, int n) { int i = threadIdx.x; if (i < n) out[i] += x[i]; }"
    add = compiled(device, source, "add")
    (x,) = arrays(device, np.arange(8, dtype="int32"))
    with sw.config.change(kernel_check="all"):
        add(x, x, 8, block=32)
        assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
        add(x[4:], x[:4], 4, block=32)
    assert x.tolist() == [0, 2, 4, 6, 8, 12, 16, 20]


def test_two_imports_of_one_memory_share_one_checked_copy(compiler):
    source = "__global__ void add(int *out, const int *x, int n) { int i = threadIdx.x; if (i < n) out[i] += x[i]; }"
    add = compiled("cpu", source, "add")
    host = np.arange(8, dtype="int32")
    for n, views in (
        (8, lambda: (host, host)),
        (7, lambda: (host[1:], host[:-1])),
        (3, lambda: (host[2:5], host)),
    ):
        out, x = (sw.asarray(view, device="cpu") for view in views())
        results = []
        for mode in ("none", "bounds", "all"):
            if mode == "all" and n == 7:
                continue  # each thread reads what its neighbour writes
            host[:] = np.arange(8)
            with sw.config.change(kernel_check=mode):
                add(out, x, n, block=32)
            results.append(host.tolist())
        assert results == [results[0]] * len(results)


def test_adjacent_and_empty_arguments_are_accepted(device, compiler):
    source = "__global__ void put(int *a, int *b, int *c) { a[0] = 1; b[0] = 2; }"
    put = compiled(device, source, "put")
    (x,) = arrays(device, np.zeros(8, "int32"))
    with sw.config.change(kernel_check="bounds"):
        put(x[:4], x[4:], x[4:4], block=1)
    assert x.tolist() == [1, 0, 0, 0, 2, 0, 0, 0]


def test_views_are_checked_by_their_shape(device, compiler):
    source = """
    #include <spanwise/view.cuh>
    __global__ void put(spanwise::View<float, 2> x, int row, int column) { x(row, column) = 1; }
    """
    put = compiled(device, source, "put")
    (x,) = arrays(device, np.zeros((4, 6), "float32"))
    with sw.config.change(kernel_check="bounds"):
        put(x[::-2, ::3], 1, 1, block=1)
        assert x.numpy().nonzero() == ([1], [3])
        if device.kind == "cpu":  # a failed assert ends a GPU's context
            with pytest.raises(sw.DeviceError, match=r"view\.cuh|assert"):
                put(x[::-2, ::3], 1, 2, block=1)


RACES = """
__global__ void shift(int *x, int n) { int i = threadIdx.x; if (i + 1 < n) x[i] = x[i + 1]; }
__global__ void no_barrier(int *x)
{
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void barrier(int *x)
{
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void blocks(int *x) { x[0] = blockIdx.x; }
__global__ void sums(int *n, float *f)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(n, i);
  atomicAdd(f, 1.0f / (i + 1));
}
"""


@pytest.mark.parametrize(("name", "grid"), [("shift", 1), ("no_barrier", 1), ("blocks", 5)])
def test_races_are_reported(device, compiler, name, grid):
    if device.kind != "cpu":
        pytest.skip("races are found by another order of threads, which a GPU does not offer")
    kernel = compiled(device, RACES, name)
    (x,) = arrays(device, np.arange(64, dtype="int32"))
    with sw.config.change(kernel_check="order"), pytest.raises(sw.DeviceError) as caught:
        kernel(*([x, 64] if name == "shift" else [x]), block=64, grid=grid)
    assert f"kernel '{name}'" in str(caught.value) and "race" in str(caught.value)
    memory = "shared memory 's'" if name == "no_barrier" else "the array of argument 1 ('int *x')"
    assert memory in str(caught.value)
    assert x.tolist() == list(range(64))


def test_valid_kernels_are_not_reported_as_races(device, compiler):
    (x, n, f) = arrays(
        device, np.arange(64, dtype="int32"), np.zeros(1, "int32"), np.zeros(1, "float32")
    )
    with sw.config.change(kernel_check="all"):
        compiled(device, RACES, "barrier")(x, block=64)
        compiled(device, RACES, "sums")(n, f, block=64, grid=40)
    assert x.tolist() == list(range(64))[::-1]
    assert n.item() == 2560 * 2559 // 2
    np.testing.assert_allclose(f.item(), np.sum(1 / np.arange(1, 2561)), rtol=1e-5)


SHARED = """
__global__ void fixed(int *x)
{
  __shared__ int s[64];
  s[threadIdx.x + 1] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void dynamic(int *x)
{
  extern __shared__ int s[];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def test_access_outside_of_shared_memory_is_reported(device, compiler):
    if device.kind != "cpu":
        pytest.skip("a GPU does not check shared memory; compute-sanitizer does")
    (x,) = arrays(device, np.arange(64, dtype="int32"))
    with sw.config.change(kernel_check="bounds"):
        with pytest.raises(sw.DeviceError, match=r"index 64 is outside.*int ?\[64\].*kernel.cu:5"):
            compiled(device, SHARED, "fixed")(x, block=64)
        with pytest.raises(sw.DeviceError, match=r"dynamic shared memory, 128 bytes.*\(32, 0, 0\)"):
            compiled(device, SHARED, "dynamic")(x, block=64, shared=128)
        compiled(device, SHARED, "dynamic")(x, block=64, shared=256)
    assert x.tolist() == list(range(64))[::-1]


def test_declared_layouts_streams_scalars_and_empty_arrays_pass_the_check(device, compiler):
    source = "__global__ void add(float *x, const float *y, float a, int n) { int i = threadIdx.x; if (i < n) x[i] += a * y[i]; }"
    add = compiled(device, source, "add").bind(("contiguous float*", "contiguous", "float", "int"))
    x, y = arrays(device, np.zeros((4, 2), "float32"), np.ones((2, 4), "float32"))
    with sw.config.change(kernel_check="all"):
        add(x.T, y, 2.0, 8, block=32, stream=sw.Stream(device))
        add(x[:0], y[:0], 2.0, 0, block=32)
        add(x, None, 2.0, 0, block=32)
        with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments"):
            add(x, block=1)
    assert (x.numpy() == 2).all()


def test_in_and_out_arguments_are_checked(device, compiler):
    multiply = compiled(device, MULTIPLY, "multiply_them")
    host = np.ones(100, "float32")
    out = np.zeros(100, "float32")
    with sw.config.change(kernel_check="bounds"):
        multiply(sw.driver.Out(out), sw.driver.In(host), sw.driver.In(host), block=100)
        assert (out == 1).all()
        with pytest.raises(sw.DeviceError):
            multiply(sw.driver.Out(out), sw.driver.In(host), sw.driver.In(host), block=400)


def test_kernel_check_rejects_unknown_modes():
    assert sw.config.kernel_check == os.environ.get("SPANWISE_KERNEL_CHECK", "none")
    with pytest.raises(sw.ArgumentError, match="kernel_check.*bounds"):
        sw.config.kernel_check = "yes"

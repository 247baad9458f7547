# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Several sources in one module: SourceModule(link=)."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

APPLY = """
extern "C" __device__ float scale(float x);
extern __device__ float shift(float x, int n);
extern __constant__ float table[4];
__global__ void apply(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = shift(scale(x[i]), i) + table[i % 4];
}
"""
SCALE = """
static __device__ float helper(float x) { return FACTOR * x; }
__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __device__ float scale(float x) { return helper(x); }
__global__ void second(int *p, int n) { p[threadIdx.x] = n; }
"""
SHIFT = """
static __device__ float helper(float x) { return x + 1; }
__device__ float shift(float x, int n) { return helper(x) + n + threadIdx.x; }
"""


@pytest.fixture(scope="module")
def linked(device):
    return sw.SourceModule(APPLY, options=["-DFACTOR=3"], link=[SCALE, SHIFT], device=device)


def test_functions_and_variables_of_other_sources_are_found(linked, device):
    x = np.random.default_rng().integers(-50, 50, 300).astype("float32")
    y = sw.array(np.full(300, np.nan, "float32"), device=device)
    linked.get_function("apply")(y, sw.array(x, device=device), np.int32(300), block=64, grid=5)
    i = np.arange(300)
    np.testing.assert_array_equal(y.numpy(), 3 * x + 1 + i + i % 64 + 1 + i % 4)
    table = linked.get_global("table").view("float32")
    assert table.tolist() == [1, 2, 3, 4]
    table[...] = 0
    linked.get_function("apply")(y, sw.array(x, device=device), np.int32(300), block=64, grid=5)
    np.testing.assert_array_equal(y.numpy(), 3 * x + 1 + i + i % 64)


def test_module_has_the_kernels_of_all_sources(linked, device):
    assert linked.function_names == ["apply", "second"]
    second = linked.get_function("second")
    assert [(p.type.replace(" ", ""), p.name) for p in second.parameters] == [
        ("int*", "p"),
        ("int", "n"),
    ]
    p = sw.zeros(8, dtype="int32", device=device)
    second(p, 7, block=8)
    assert p.tolist() == [7] * 8


def test_function_of_another_source_may_use_barriers_and_shared_memory(device):
    """The source of the kernel contains no barrier that would show that the linked function has one."""
    kernel = """
        extern __device__ void turn(int *out);
        __global__ void k(int *out) {
          extern __shared__ int written[];
          written[threadIdx.x] = threadIdx.x;
          turn(out);
        }
    """
    turn = """
        __device__ void turn(int *out) {
          extern __shared__ int values[];
          __syncthreads();
          out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
        }
    """
    out = sw.zeros(64, dtype="int32", device=device)
    f = sw.SourceModule(kernel, link=[turn], device=device).get_function("k")
    f(out, block=64, shared=256)
    assert out.tolist() == list(range(63, -1, -1))


def test_changed_header_is_compiled_again_in_all_sources(device, tmp_path):
    (tmp_path / "both.h").write_text("template <class T> T twice(T x) { return x + x; }\n")
    first = """
        #include "both.h"
        extern __device__ int four_times(int x);
        template <class T> __global__ void k(T *p) { *p = twice<T>(four_times(1)); }
    """
    second = '#include "both.h"\n__device__ int four_times(int x) { return twice(twice(x)); }'

    def kernel():
        module = sw.SourceModule(
            first, link=[second], names=["k<float>"], include_dirs=[tmp_path], device=device
        )
        return module.get_function("k<float>")

    p = sw.zeros(1, dtype="float32", device=device)
    kernel()(p, block=1)
    assert p.item() == 8
    (tmp_path / "both.h").write_text("template <class T> T twice(T x) { return 3 * x; }\n")
    kernel()(p, block=1)
    assert p.item() == 27


def test_link_error_names_missing_and_duplicate_symbols(device):
    options = {"options": ["-DFACTOR=3"], "device": device}
    with pytest.raises(sw.CompileError, match="shift") as caught:
        sw.SourceModule(APPLY, link=[SCALE], **options)
    assert "shift" in caught.value.log and "declared extern" in str(caught.value)
    # Linkers name only the first duplicate symbol.
    with pytest.raises(sw.CompileError, match="scale|table"):
        sw.SourceModule(APPLY, link=[SCALE, SHIFT, SCALE], **options)


def test_compile_error_of_a_linked_source_shows_its_line(device):
    broken = "// the second line\nbroken !\n"
    with pytest.raises(sw.CompileError, match=r"link\[1\]\.cu[:(]2") as caught:
        sw.SourceModule(APPLY, link=[SHIFT, broken], device=device)
    assert re.search(r"2 \| broken !", caught.value.source)


def test_disk_cache_distinguishes_linked_sources(device, tmp_path):
    program = f"""if True:
        import sys
        import spanwise as sw
        link = ["__device__ int f(int x) {{ return x + " + sys.argv[1] + "; }}"]
        source = "extern __device__ int f(int); __global__ void k(int *p) {{ *p = f(1); }}"
        module = sw.SourceModule(source, link=link, device="{device}")
        p = sw.zeros(1, dtype="int32", device="{device}")
        module.get_function("k")(p, block=1)
        print(p.item(), module.from_cache)
    """

    def run(added):
        environment = {**os.environ, "SPANWISE_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", program, str(added)]
        return subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        ).stdout.split()

    assert run(1) == ["2", "False"]
    assert run(1) == ["2", "True"]
    assert run(2) == ["3", "False"]


PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) triple(.param .b32 x) {
  .reg .f32 %f<3>; ld.param.f32 %f1, [x]; mul.f32 %f2, %f1, 0f40400000;
  st.param.f32 [result], %f2; ret;
}
"""


def test_compiled_code_is_linked_on_a_gpu_and_refused_on_the_cpu(device):
    source = """
        extern "C" __device__ float triple(float x);
        __global__ void k(float *p) { *p = triple(*p); }
    """
    if device.kind == "cpu":
        with pytest.raises(sw.ArgumentError, match=r"link\[0\].cu.*only a GPU"):
            sw.SourceModule(source, link=[PTX], device=device)
        return
    p = sw.array(np.full(1, 5, "float32"), device=device)
    for compiled in (PTX, bytearray(PTX), memoryview(PTX)):
        sw.SourceModule(source, link=[compiled], device=device).get_function("k")(p, block=1)
    assert p.item() == 135


@pytest.mark.parametrize("link", ["a source", b"bytes", [1], 3])
def test_link_rejects_other_types(link):
    with pytest.raises(sw.ArgumentError, match="link"):
        sw.SourceModule(APPLY, link=link, device="cpu")


def test_kernel_check_finds_faults_in_linked_sources(device):
    if device.kind != "cpu":
        pytest.skip("only the CPU's check names the source and line")
    source = """
        extern __device__ void put(int *p, int i);
        __global__ void k(int *p) { put(p, threadIdx.x); }
    """
    put = "__device__ void put(int *p, int i) { p[i] = i; }"
    with sw.config.change(kernel_check="bounds"):
        f = sw.SourceModule(source, link=[put], device=device).get_function("k")
        p = sw.zeros(4, dtype="int32", device=device)
        f(p, block=4)
        assert p.tolist() == [0, 1, 2, 3]
        with pytest.raises(
            sw.DeviceError, match=r"outside of the array of argument 1.*link\[0\]\.cu:1"
        ):
            f(p, block=8)

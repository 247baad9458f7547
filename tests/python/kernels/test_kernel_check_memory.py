# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels under config.kernel_check read and write module variables, the heap and memory by address
as unchecked ones do, although checked launches run on copies of arrays."""

import numpy as np
import pytest

import spanwise as sw

VARIABLES = r"""
__constant__ int factor;
__device__ int offset = 3;
static __device__ int hidden;
namespace inner { __device__ int level = 5; }
struct Start { int v; __device__ constexpr Start() : v(7) {} };
__device__ Start start;
__device__ float root = 2.0f;
__device__ int *kept;
__device__ int pool[4] = {1, 2, 3, 4};
__device__ int *chosen = pool + 1;

__global__ void use(int *x)
{
  x[threadIdx.x] = factor * 1000 + offset * 100 + inner::level * 10 + hidden;
}
__global__ void change(int *x)
{
  if (threadIdx.x > 0) return;
  ++offset; ++inner::level; ++hidden;
}
__global__ void initialised(int *x) { x[threadIdx.x] = start.v + (int)root + *chosen; }
__global__ void keep(int *x) { if (threadIdx.x == 0) { kept = (int *)malloc(4); *kept = 40; } }
__global__ void use_kept(int *x) { if (threadIdx.x == 0) x[0] = ++*kept; }
__global__ void through_address(int *x, long long address)
{
  int *p = (int *)address;
  p[threadIdx.x] += 1;
}
"""


@pytest.fixture
def module(compiler):
    return sw.SourceModule(VARIABLES, device="cpu")


@pytest.fixture
def x():
    return sw.zeros(32, "int32", device="cpu")


def call(module, name, *args):
    module.get_function(name)(*args, block=32)


@pytest.mark.parametrize("mode", ["none", "bounds", "order", "all"])
def test_checked_launches_read_and_write_module_variables(module, x, mode):
    with sw.config.change(kernel_check=mode):
        module.get_global("factor").view("int32")[0] = 2
        call(module, "use", x)
        assert x.tolist() == [2350] * 32  # factor 2, offset 3, level 5, hidden 0
        call(module, "change", x)
        call(module, "use", x)
        assert x.tolist() == [2461] * 32  # each but factor is one more
        module.get_global("offset").view("int32")[0] = 9
    call(module, "use", x)  # the next launch continues with the same values
    assert x.tolist() == [2961] * 32
    with sw.config.change(kernel_check=mode):
        call(module, "use", x)
    assert x.tolist() == [2961] * 32


@pytest.mark.parametrize("mode", ["none", "all"])
def test_checked_launches_see_initialised_variables_and_heap_pointers(module, x, mode):
    with sw.config.change(kernel_check=mode):
        call(module, "initialised", x)
        assert x.tolist() == [7 + 2 + 2] * 32
        call(module, "keep", x)
        call(module, "use_kept", x)
        call(module, "use_kept", x)
    assert x[0].item() == 42


@pytest.mark.parametrize("mode", ["none", "bounds", "all"])
def test_checked_launch_changes_memory_at_a_raw_address_once(module, x, mode):
    y = sw.zeros(32, "int32", device="cpu")
    with sw.config.change(kernel_check=mode):
        call(module, "through_address", x, np.int64(y.ptr))
        call(module, "through_address", x, np.int64(y.ptr))
    assert y.tolist() == [2] * 32


def test_checked_modules_have_separate_variables(x):
    modules = [sw.SourceModule(VARIABLES, device="cpu") for _ in range(2)]
    for factor, module in enumerate(modules, 1):
        module.get_global("factor").view("int32")[0] = factor
    with sw.config.change(kernel_check="all"):
        for factor, module in enumerate(modules, 1):
            call(module, "use", x)
            assert x[5].item() == 1000 * factor + 350


def test_checked_launch_reads_variables_of_linked_sources(compiler, x):
    first = "__device__ int set; extern __device__ int other();\n__global__ void k(int *x) { x[threadIdx.x] = set + other(); }"
    second = "static __device__ int calls = 4;\n__device__ int other() { return calls; }"
    module = sw.SourceModule(first, link=[second], device="cpu")
    module.get_global("set").view("int32")[0] = 50
    with sw.config.change(kernel_check="all"):
        call(module, "k", x)
    assert x.tolist() == [54] * 32

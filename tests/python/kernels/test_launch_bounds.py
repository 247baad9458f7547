# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""__launch_bounds__ and __cluster_dims__ limit launches on the CPU as on a GPU, however they are
written."""

import pytest

import spanwise as sw

BODY = "(int *x) { atomicAdd(x, 1); }"

#: name -> (source, name expression of a kernel of at most 64 threads)
SOURCES = {
    "after_the_type": (f"__global__ void __launch_bounds__(64) f{BODY}", "f"),
    "before_the_type": (f'extern "C" __global__ __launch_bounds__(64) void f{BODY}', "f"),
    "before_global": (f"static __launch_bounds__(32 + 32, 2) __global__ void f{BODY}", "f"),
    "macro_as_value": (
        f"#define N 8\n__global__ void __launch_bounds__(N * N) f{BODY}\n#undef N",
        "f",
    ),
    "constant": (f"constexpr int n = 64;\n__global__ void __launch_bounds__(n) f{BODY}", "f"),
    "macro_as_attribute": (
        f"#define BOUNDS __launch_bounds__(64, 1)\n__global__ void BOUNDS f{BODY}",
        "f",
    ),
    "macro_with_arguments": (
        f"#define AT_MOST(n) __launch_bounds__(n)\n__global__ void AT_MOST(64) f{BODY}",
        "f",
    ),
    "namespace": (
        f"namespace a {{ namespace b {{ __global__ void __launch_bounds__(64) f{BODY} }} }}",
        "a::b::f",
    ),
    "block_of_linkage": (f'extern "C" {{ __global__ void __launch_bounds__(64) f{BODY} }}', "f"),
    "prototype": (f"__global__ void __launch_bounds__(64) f(int *);\n__global__ void f{BODY}", "f"),
    "template": (
        "template <class T> __global__ void __launch_bounds__(64) f(T *x) { atomicAdd(x, 1); }",
        "f<int>",
    ),
    "template_value": (
        f"template <int N> __global__ void __launch_bounds__(N * 2) f{BODY}",
        "f<32>",
    ),
    "template_in_a_namespace": (
        f"namespace a {{ template <class T, int N = 64> __global__ __launch_bounds__(N) void f{BODY} }}",
        "a::f<float, 64>",
    ),
    "conditional": (
        f"#if 1\n__global__ void __launch_bounds__(64) f{BODY}\n#else\n__global__ void __launch_bounds__(1024) f{BODY}\n"
        "#endif",
        "f",
    ),
    "other_kernels": (
        f"__global__ void __launch_bounds__(1024) g{BODY}\n__global__ void __launch_bounds__(64) f{BODY}\n"
        f"__global__ void h{BODY}",
        "f",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_block_beyond_the_bounds_is_refused(device, compiler, name):
    source, kernel = SOURCES[name]
    f = sw.SourceModule(
        source, device=device, names=[kernel] if "<" in kernel else []
    ).get_function(kernel)
    assert f.max_threads_per_block == 64
    x = sw.zeros(1, "int32", device=device)
    f(x, block=64)
    for block in (65, (8, 8, 2)):
        with pytest.raises(sw.KernelArgumentError, match="64"):
            f(x, block=block)
    assert x.item() == 64


@pytest.mark.parametrize("mode", ["bounds", "all"])
def test_bounds_hold_with_checks(device, mode):
    f = sw.SourceModule(SOURCES["after_the_type"][0], device=device).get_function("f")
    with sw.config.change(kernel_check=mode), pytest.raises(sw.KernelArgumentError, match="64"):
        f(sw.zeros(1, "int32", device=device), block=128)


def test_kernels_without_bounds_keep_the_limit_of_the_device(device, compiler):
    module = sw.SourceModule(SOURCES["other_kernels"][0], device=device)
    for name in "gh":
        assert module.get_function(name).max_threads_per_block == 1024


@pytest.mark.parametrize(
    "attributes", ["__launch_bounds__(64, 2, 1)", "__maxnreg__(32)", "__cluster_dims__(1, 1, 1)"]
)
def test_attributes_of_newer_gpus_compile_for_the_cpu(compiler, attributes):
    f = sw.SourceModule(f"__global__ void {attributes} f{BODY}", device="cpu").get_function("f")
    assert f.max_threads_per_block == (64 if "64" in attributes else 1024)
    x = sw.zeros(1, "int32", device="cpu")
    f(x, block=64)
    assert x.item() == 64


def test_grid_of_partial_clusters_is_refused_on_the_cpu(compiler):
    f = sw.SourceModule(
        f"__global__ void __cluster_dims__(2, 1, 1) f{BODY}", device="cpu"
    ).get_function("f")
    x = sw.zeros(1, "int32", device="cpu")
    f(x, block=8, grid=4)
    with pytest.raises(sw.KernelArgumentError, match=r"__cluster_dims__ \(2, 1, 1\)"):
        f(x, block=8, grid=3)
    assert x.item() == 32

# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""config.kernel_check finds the same fault whichever function launches the user's code."""

import numpy as np
import pytest

import spanwise as sw

SOURCE = """
__global__ void shifted(float *z, const float *x, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i + FAR] = 2 * x[i];
}
"""
VIEW = """
#include <spanwise/view.cuh>
__global__ void shifted(spanwise::View<float, 1> z, spanwise::View<const float, 1> x)
{
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x.size()) z.data[i + FAR] = 2 * x(i);
}
"""


def source_module(far, x, z):
    f = sw.SourceModule(SOURCE, device=x.device, options=[f"-DFAR={far}"]).get_function("shifted")
    f(z, x, np.int32(x.size), block=64, grid=2)


def raw_kernel(far, x, z):
    f = sw.RawKernel(SOURCE, "shifted", options=(f"-DFAR={far}",))
    with sw.config.change(device=str(x.device)):
        f((2,), (64,), (z, x, np.int32(x.size)))


def elementwise_kernel(far, x, z):
    sw.ElementwiseKernel("float *z, const float *x", f"z[i + {far}] = 2 * x[i]", "shifted")(z, x)


def elementwise_kernel_of_views(far, x, z):
    both = sw.zeros((x.size, 2), "float32", device=x.device)
    both[:, 0] = x
    kernel = sw.ElementwiseKernel("float *z, const float *x", f"z[i + {far}] = 2 * x[i]", "shifted")
    kernel(z, both[:, 0])


def kernel_op_contiguous(far, x, z):
    op = op_of("contiguous", SOURCE, far, ["z", "x", "n"])
    z[...] = op(x)


def kernel_op_strided(far, x, z):
    z[...] = op_of("strided", VIEW, far, ["z", "x"])(x)


def kernel_op_in_a_graph(far, x, z):
    v = sw.tensor.vector("v", dtype="float32")
    f = sw.function([v], op_of("contiguous", SOURCE, far, ["z", "x", "n"])(v), device=x.device)
    z[...] = f(x)


def op_of(layout, source, far, arguments):
    return sw.kernel_op(
        "shifted",
        source,
        [f"x: {layout} float32[n]"],
        [f"z: {layout} float32[n]"],
        arguments=arguments,
        block=(64,),
        options=[f"-DFAR={far}"],
    )


LAUNCHES = [
    source_module,
    raw_kernel,
    elementwise_kernel,
    elementwise_kernel_of_views,
    kernel_op_contiguous,
    kernel_op_strided,
    kernel_op_in_a_graph,
]


@pytest.mark.parametrize("mode", ["bounds", "all"])
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch.__name__)
def test_write_behind_an_array_is_found(device, compiler, launch, mode):
    host = np.random.default_rng(3).standard_normal(100).astype("float32")
    x = sw.array(host, device=device)
    z = sw.full(100, 7, "float32", device=device)
    with sw.config.change(kernel_check=mode):
        with pytest.raises(sw.KernelFaultError, match="array of argument"):
            launch(1000, x, z)
        np.testing.assert_array_equal(z.numpy(), np.full(100, 7, "float32"))
        launch(0, x, z)
    np.testing.assert_array_equal(z.numpy(), 2 * host)
    np.testing.assert_array_equal(x.numpy(), host)


@pytest.mark.parametrize("layout", ["dense", "reversed", "step", "raw"])
def test_read_outside_of_an_array_is_found_in_expression_kernels(compiler, layout):
    host = np.arange(1000, dtype="float32")
    x = sw.array(host, device="cpu")
    x = {"dense": x, "reversed": x[::-1], "step": x[::2], "raw": x}[layout]
    n = x.size
    kernel = sw.ElementwiseKernel("raw float32 x, int32 k", "float32 z", "z = x[i + k]", "shifted")
    total = sw.ReductionKernel(
        "raw float32 x, float32 w, int32 k",
        "float32 z",
        "x[i + k] * w",
        "a + b",
        "z = a",
        "0",
        "total",
    )
    one = sw.ones(n, "float32", device="cpu")
    expected = x.numpy()
    with sw.config.change(kernel_check="all"):
        np.testing.assert_array_equal(kernel(x, 0, size=n).numpy(), expected)
        assert total(x, one, 0).item() == expected.sum()
        for call in (lambda: kernel(x, n, size=n), lambda: total(x, one, n)):
            with pytest.raises(sw.KernelFaultError, match="reads 4 bytes outside"):
                call()


@pytest.mark.parametrize("mode", ["bounds", "order", "all"])
def test_correct_expression_kernels_compute_the_same_with_checks(device, compiler, mode):
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 37, 53)).astype("float32")
    x, y = sw.array(a, device=device), sw.array(b, device=device)
    add = sw.ElementwiseKernel("T x, T y", "T z", "z = x + 2 * y", "add")
    largest = sw.ReductionKernel("T x", "T z", "x", "max(a, b)", "z = a", "-1e30", "largest")
    running = sw.InclusiveScanKernel("int64", "a + b")
    line = sw.array(np.arange(100_000) % 7, device=device)
    with sw.config.change(kernel_check=mode):
        np.testing.assert_array_equal(add(x, y).numpy(), a + 2 * b)
        np.testing.assert_array_equal(add(x.T, y.T).numpy(), (a + 2 * b).T)
        np.testing.assert_array_equal(
            add(x[::-1, ::2], y[:, ::2]).numpy(), a[::-1, ::2] + 2 * b[:, ::2]
        )
        assert largest(x).item() == a.max()
        np.testing.assert_array_equal(largest(x, axis=0).numpy(), a.max(axis=0))
        np.testing.assert_array_equal(largest(x, axis=1).numpy(), a.max(axis=1))
        sums = running(line)
    np.testing.assert_array_equal(sums.numpy(), np.cumsum(np.arange(100_000) % 7))
